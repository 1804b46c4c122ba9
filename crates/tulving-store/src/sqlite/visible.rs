//! Visibility as SQL. Every read of memories, spaces and turns uses a condition from this module.
//!
//! By convention, `?1` is the viewer's principal. `?2` is the spaces to which its token is confined, as a JSON array of
//! hexadecimal ids, or NULL. The sub-queries do not depend on the outer query, so SQLite runs each of them once in a
//! statement. The `+` keeps SQLite's planner from using an index for a condition that most rows meet.

use data_encoding::HEXLOWER;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::space::Viewer;

/// The spaces that the viewer is a member of.
const MEMBER_SPACES: &str = "SELECT of FROM members WHERE principal = ?1 AND realm = 'space'";

/// The spaces of the teams that the viewer is a direct member of.
const TEAM_SPACES: &str = "SELECT s.id FROM spaces s JOIN members x ON x.of = s.team \
     WHERE x.principal = ?1 AND x.realm = 'team'";

/// The spaces of the orgs that the viewer belongs to: as a member of the org, of one of its teams, or of one of its
/// hubs. A group is sealed, so being in a group makes nobody a member of the org.
const ORG_SPACES: &str = "SELECT s.id FROM spaces s JOIN teams t ON t.id = s.team WHERE t.org IN (\
       SELECT of FROM members WHERE principal = ?1 AND realm = 'org' \
       UNION SELECT t2.org FROM members x JOIN teams t2 ON t2.id = x.of \
         WHERE x.principal = ?1 AND x.realm = 'team' \
       UNION SELECT t2.org FROM members x JOIN spaces s2 ON s2.id = x.of JOIN teams t2 ON t2.id = s2.team \
         WHERE x.principal = ?1 AND x.realm = 'space' AND s2.kind = 'hub')";

/// The condition that the viewer may see a memory with this boundary, owner and space.
pub(super) fn visible(boundary: &str, owner: &str, space: &str) -> String {
    format!(
        "({confined} AND (\
           ({boundary} = 'private' AND +{owner} = ?1) \
           OR ({boundary} <> 'private' AND +{space} IN ({MEMBER_SPACES})) \
           OR ({boundary} IN ('team', 'org') AND +{space} IN ({TEAM_SPACES})) \
           OR ({boundary} = 'org' AND +{space} IN ({ORG_SPACES}))))",
        confined = confined(space),
    )
}

/// Every space that the viewer's token reaches, with the narrowest boundary at which memories of other owners in that
/// space are still [`visible`]; `private` if there is no such boundary.
pub(super) fn visibility() -> String {
    format!(
        "SELECT s.id, CASE WHEN s.id IN ({MEMBER_SPACES}) THEN 'hub' WHEN s.id IN ({TEAM_SPACES}) THEN 'team' \
           WHEN s.id IN ({ORG_SPACES}) THEN 'org' ELSE 'private' END FROM spaces s WHERE {}",
        confined("s.id")
    )
}

/// The condition that the viewer may see the memory `alias`, forgotten or not.
pub(super) fn memory(alias: &str) -> String {
    visible(&format!("{alias}.boundary"), &format!("{alias}.owner"), &format!("{alias}.space"))
}

/// The condition that lists and links show the memory `alias`: it is visible, and neither forgotten nor quarantined.
pub(super) fn shown(alias: &str) -> String {
    format!("{alias}.forgotten_at IS NULL AND {alias}.quarantined_at IS NULL AND {}", memory(alias))
}

/// The condition that the viewer's token reaches the space.
pub(super) fn confined(space: &str) -> String {
    format!("(?2 IS NULL OR +{space} IN (SELECT unhex(value) FROM json_each(?2)))")
}

/// The condition that the viewer is a member of the space and its token reaches the space.
pub(super) fn member_of(space: &str) -> String {
    format!("({} AND +{space} IN ({MEMBER_SPACES}))", confined(space))
}

/// The condition that the viewer may see turns and acts of `maker` in the space. In the space `default`, only their
/// maker and the user of the home may see them. In other spaces, all members may. The core has the same rule for files.
pub(super) fn shares(space: &str, maker: &str) -> String {
    let (default, user) =
        (HEXLOWER.encode(SpaceId::DEFAULT.as_bytes()), HEXLOWER.encode(PrincipalId::USER.as_bytes()));
    format!("({} AND (+{space} <> x'{default}' OR +{maker} = ?1 OR ?1 = x'{user}'))", member_of(space))
}

/// Returns the SQL for the newest visible memory that updates the memory `m` by a link that a caller made.
pub(super) fn superseded_by() -> String {
    format!(
        "(SELECT n.id FROM associations a JOIN memories n ON n.row = a.source \
          WHERE a.target = m.row AND a.relation = 'updates' AND a.linked_by = 'caller' AND {} \
          ORDER BY n.created_at DESC, n.id DESC LIMIT 1)",
        shown("n")
    )
}

/// The value of `?2` for a viewer.
pub(super) fn within(viewer: &Viewer) -> Option<String> {
    viewer.within.as_ref().map(|spaces| hex_array(spaces.iter().map(|space| space.as_bytes())))
}

/// Ids as a JSON array of hexadecimal texts, for `SELECT unhex(value) FROM json_each(?)`.
pub(super) fn hex_array<'a>(ids: impl Iterator<Item = &'a [u8; 16]>) -> String {
    let mut json = String::from("[");
    for id in ids {
        if json.len() > 1 {
            json.push(',');
        }
        json.push('"');
        HEXLOWER.encode_append(id, &mut json);
        json.push('"');
    }
    json.push(']');
    json
}

/// Memory ids as a JSON array of hexadecimal texts; see [`hex_array`].
pub(super) fn memory_ids(ids: &[MemoryId]) -> String {
    hex_array(ids.iter().map(MemoryId::as_bytes))
}
