//! Visibility as SQL. Every read of memories, spaces and turns takes its condition from here.
//!
//! By convention `?1` is the viewer's principal and `?2` the spaces that its token is confined to, as a JSON array of
//! hexadecimal ids, or NULL. The sub-queries depend on nothing outside them, so SQLite runs each once in a statement.
//! The `+` keeps the planner from choosing an index by a condition that most rows meet.

use data_encoding::HEXLOWER;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::space::Viewer;

/// The spaces that the viewer is a member of.
const MEMBER_SPACES: &str = "SELECT of FROM members WHERE principal = ?1 AND realm = 'space'";

/// The spaces of the teams that the viewer is a direct member of.
const TEAM_SPACES: &str = "SELECT s.id FROM spaces s JOIN members x ON x.of = s.team \
     WHERE x.principal = ?1 AND x.realm = 'team'";

/// The spaces of the orgs that the viewer belongs to: as a member of the org, of one of its teams, or of one of its
/// hubs. A group is sealed both ways, so being in one makes nobody a member of the org.
const ORG_SPACES: &str = "SELECT s.id FROM spaces s JOIN teams t ON t.id = s.team WHERE t.org IN (\
       SELECT of FROM members WHERE principal = ?1 AND realm = 'org' \
       UNION SELECT t2.org FROM members x JOIN teams t2 ON t2.id = x.of \
         WHERE x.principal = ?1 AND x.realm = 'team' \
       UNION SELECT t2.org FROM members x JOIN spaces s2 ON s2.id = x.of JOIN teams t2 ON t2.id = s2.team \
         WHERE x.principal = ?1 AND x.realm = 'space' AND s2.kind = 'hub')";

/// True if the viewer may see a memory with this boundary, owner and space.
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

/// Every space that the viewer's token reaches, and the narrowest boundary at which others' memories there are still
/// [`visible`]; `private` if there is none.
pub(super) fn sight() -> String {
    format!(
        "SELECT s.id, CASE WHEN s.id IN ({MEMBER_SPACES}) THEN 'hub' WHEN s.id IN ({TEAM_SPACES}) THEN 'team' \
           WHEN s.id IN ({ORG_SPACES}) THEN 'org' ELSE 'private' END FROM spaces s WHERE {}",
        confined("s.id")
    )
}

/// True if the viewer may see the memory `alias`, forgotten or not.
pub(super) fn memory(alias: &str) -> String {
    visible(&format!("{alias}.boundary"), &format!("{alias}.owner"), &format!("{alias}.space"))
}

/// True if the memory `alias` is in lists and links: visible, neither forgotten nor quarantined.
pub(super) fn shown(alias: &str) -> String {
    format!("{alias}.forgotten_at IS NULL AND {alias}.quarantined_at IS NULL AND {}", memory(alias))
}

/// True if the viewer's token reaches the space.
pub(super) fn confined(space: &str) -> String {
    format!("(?2 IS NULL OR +{space} IN (SELECT unhex(value) FROM json_each(?2)))")
}

/// True if the viewer is a member of the space and its token reaches it.
pub(super) fn member_of(space: &str) -> String {
    format!("({} AND +{space} IN ({MEMBER_SPACES}))", confined(space))
}

/// True if the viewer may see turns and acts in the space by `maker`: in `default` they are private to their maker and
/// to the user of the home, elsewhere they are for all members. The core has the same rule for files.
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

/// The value of `?2`.
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

/// The same for memory ids.
pub(super) fn memory_ids(ids: &[MemoryId]) -> String {
    hex_array(ids.iter().map(MemoryId::as_bytes))
}
