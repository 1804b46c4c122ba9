//! Spaces, members, principals, tokens and the audit.

use tulving_core::model::error::{Conflict, Error, Invalid, StoreError, Unique};
use tulving_core::model::id::{OrgId, SpaceId, TeamId};
use tulving_core::model::request::{AuditFilter, Caller, SaveRequest, TokenRequest};
use tulving_core::model::space::{MemberOf, Secret, Token};
use tulving_core::model::vocabulary::{AuditAct, Boundary, Origin, PrincipalKind, Role, SpaceKind};
use tulving_core::ports::Directory;

use crate::bed::{Bed, refused, within, words};

fn token_for(principal: &str, role: Role, spaces: &[SpaceId]) -> TokenRequest {
    TokenRequest {
        label: format!("{principal}'s"),
        introduce: None,
        principal: principal.to_owned(),
        spaces: spaces.to_vec(),
        role,
    }
}

fn speak(bed: &Bed, secret: &Secret) -> Caller {
    bed.engine.authenticate(secret, Origin::Mcp, Some("agent")).expect("a good token")
}

fn mint(bed: &Bed, by: &Caller, request: &TokenRequest) -> (Secret, Token) {
    bed.engine.create_token(by, request).expect("a token")
}

/// Returns the name of the principal that every home starts with.
fn user_name(bed: &Bed) -> String {
    let id = bed.user().viewer.principal;
    bed.engine.names(&[id]).expect("names").remove(&id).expect("the user has a name")
}

#[test]
fn whoever_makes_a_space_is_its_first_admin() {
    let bed = Bed::new();
    let user = bed.user();
    let space = bed.engine.create_space(&user, "team-a", SpaceKind::Hub).unwrap();
    let members = bed.engine.members(&user, "team-a").unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!((members[0].0.id, members[0].1.role), (user.viewer.principal, Role::Admin));
    let inside = bed.engine.enter(&user, "team-a").unwrap();
    assert_eq!(inside.space, space.id);
    assert_eq!(bed.engine.space(&inside).unwrap(), space);
    assert_eq!(bed.engine.enter(&user, &space.id.to_string()).unwrap(), inside);
}

#[test]
fn a_name_is_taken_once_and_must_fit() {
    let bed = Bed::new();
    let user = bed.user();
    bed.hub("taken");
    refused!(
        bed.engine.create_space(&user, "taken", SpaceKind::Group),
        Error::NameTaken { name } if name == "taken"
    );
    bed.person("taken");
    refused!(
        bed.engine.create_principal(&user, "taken", PrincipalKind::Agent),
        Error::Store(StoreError::Conflict(Conflict::Taken { what: Unique::PrincipalName }))
    );
    for wrong in ["", "..", "Upper", "a/b", "a b"] {
        refused!(bed.engine.create_space(&user, wrong, SpaceKind::Hub), Error::Invalid(Invalid::Name { .. }));
        refused!(
            bed.engine.create_principal(&user, wrong, PrincipalKind::Person),
            Error::Invalid(Invalid::Name { .. })
        );
    }
}

#[test]
fn a_space_that_may_not_be_seen_does_not_exist() {
    let bed = Bed::new();
    bed.hub("hidden");
    let stranger = bed.person("stranger");
    let hidden = words(bed.engine.enter(&stranger, "hidden"));
    let missing = words(bed.engine.enter(&stranger, "missing"));
    assert_eq!(hidden.replace("hidden", "missing"), missing);
    refused!(bed.engine.members(&stranger, "hidden"), Error::NoSpace { .. });
    assert!(bed.engine.spaces(&stranger).unwrap().is_empty());
}

#[test]
fn managing_members_takes_an_admin() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let writer = bed.member("writer", hub, Role::Writer);
    bed.person("new");
    refused!(bed.engine.set_member(&writer, "hub", "new", Role::Reader), Error::Denied { .. });
    refused!(bed.engine.remove_member(&writer, "hub", "writer"), Error::Denied { .. });
    refused!(bed.engine.create_space(&writer, "own", SpaceKind::Hub), Error::Denied { .. });
    refused!(bed.engine.create_principal(&writer, "more", PrincipalKind::Agent), Error::Denied { .. });
    let admin = bed.member("admin", hub, Role::Admin);
    bed.engine.set_member(&admin, "hub", "new", Role::Reader).unwrap();
    let weak = Caller { ceiling: Role::Writer, ..admin.clone() };
    refused!(bed.engine.set_member(&weak, "hub", "new", Role::Admin), Error::Denied { .. });
    refused!(bed.engine.set_member(&admin, "hub", "nobody", Role::Admin), Error::NoPrincipal { .. });
}

#[test]
fn an_admin_of_the_team_manages_its_spaces() {
    let bed = Bed::new();
    bed.hub("hub");
    let lead = bed.person("lead");
    bed.world().join(lead.viewer.principal, MemberOf::Team(TeamId::LOCAL), Role::Admin);
    bed.person("new");
    bed.engine.set_member(&lead, "hub", "new", Role::Reader).unwrap();
    let hub = bed.engine.enter(&lead, "hub").unwrap();
    refused!(bed.engine.save(&hub, SaveRequest::new("x")), Error::Denied { .. });
}

#[test]
fn the_last_admin_cannot_go() {
    let bed = Bed::new();
    bed.hub("hub");
    let user = bed.user();
    let name = user_name(&bed);
    refused!(bed.engine.remove_member(&user, "hub", &name), Error::LastAdmin { .. });
    refused!(bed.engine.set_member(&user, "hub", &name, Role::Writer), Error::LastAdmin { .. });
    bed.person("second");
    bed.engine.set_member(&user, "hub", "second", Role::Admin).unwrap();
    bed.engine.remove_member(&user, "hub", &name).unwrap();
    refused!(bed.engine.remove_member(&user, "hub", &name), Error::NoMember { .. });
}

#[test]
fn of_two_admins_who_remove_each_other_at_once_one_stays() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Admin));
    bed.engine.remove_member(&ann, "hub", &user_name(&bed)).unwrap();
    let other = bed.beside();
    bed.store.before_next_apply(move |_| {
        other.remove_member(&bob, "hub", "ann").expect("the other was faster");
    });
    refused!(bed.engine.remove_member(&ann, "hub", "bob"), Error::NoSpace { .. } | Error::Denied { .. });
    let left = bed.engine.members(&bed.user(), "hub").unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0.name, "bob");
}

#[test]
fn a_token_cannot_be_confined_to_a_space_that_its_maker_does_not_see() {
    let bed = Bed::new();
    let hidden = bed.hub("hidden");
    let missing = SpaceId::mint(tulving_testkit::build::second(9));
    let member = bed.member("member", bed.hub("hub"), Role::Admin);
    let described = [hidden, missing].map(|space| {
        let request = token_for("member", Role::Reader, &[space]);
        words(bed.engine.create_token(&member, &request)).replace(&space.to_string(), "…")
    });
    assert_eq!(described[0], described[1]);
}

#[test]
fn of_a_token_only_its_hash_is_stored() {
    let bed = Bed::new();
    let (secret, token) = mint(&bed, &bed.user(), &token_for(&user_name(&bed), Role::Admin, &[]));
    assert!(secret.reveal().starts_with("tlv_"));
    let everything = format!("{:?} {:?}", bed.dump(), bed.store.tokens(None));
    assert!(!everything.contains(secret.reveal()));
    let caller = speak(&bed, &secret);
    assert_eq!(caller.viewer, bed.user().viewer);
    assert_eq!((caller.ceiling, caller.origin), (Role::Admin, Origin::Mcp));
    assert_eq!(caller.agent.as_deref(), Some("agent"));
    assert_eq!(bed.engine.tokens(&bed.user()).unwrap(), [token]);
}

#[test]
fn an_unknown_and_a_revoked_token_are_answered_alike() {
    let bed = Bed::new();
    let user = bed.user();
    let (secret, token) = mint(&bed, &user, &token_for(&user_name(&bed), Role::Writer, &[]));
    let unknown = words(bed.engine.authenticate(&Secret::new("tlv_wrong".to_owned()), Origin::Api, None));
    let revoked = bed.engine.revoke_token(&user, &token.label).unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(words(bed.engine.authenticate(&secret, Origin::Api, None)), unknown);
    let again = bed.engine.revoke_token(&user, &token.id.to_string()).unwrap();
    assert_eq!(again.revoked_at, revoked.revoked_at, "again is nothing");
    refused!(bed.engine.revoke_token(&user, "no such"), Error::NoToken { .. });
}

#[test]
fn a_label_that_two_live_tokens_have_names_neither() {
    let bed = Bed::new();
    let user = bed.user();
    let request = token_for(&user_name(&bed), Role::Writer, &[]);
    let (_, first) = mint(&bed, &user, &request);
    mint(&bed, &user, &request);
    refused!(bed.engine.revoke_token(&user, &request.label), Error::AmbiguousToken { count: 2, .. });
    bed.engine.revoke_token(&user, &first.id.to_string()).unwrap();
    bed.engine.revoke_token(&user, &request.label).unwrap();
}

#[test]
fn a_token_does_no_more_than_its_role() {
    let bed = Bed::new();
    let name = user_name(&bed);
    let (secret, _) = mint(&bed, &bed.user(), &token_for(&name, Role::Reader, &[]));
    let reader = speak(&bed, &secret);
    bed.save(&bed.user(), "readable");
    assert_eq!(bed.contents(&reader), ["readable"]);
    refused!(bed.engine.save(&reader, SaveRequest::new("x")), Error::Denied { .. });
    refused!(bed.engine.create_space(&reader, "x", SpaceKind::Hub), Error::Denied { .. });
    refused!(
        bed.engine.audit(&reader, &AuditFilter { last: 1, ..AuditFilter::default() }),
        Error::Denied { .. }
    );
    refused!(bed.engine.require_org_admin(&reader), Error::Denied { .. });
    refused!(bed.engine.create_token(&reader, &token_for(&name, Role::Writer, &[])), Error::Denied { .. });
    refused!(bed.engine.create_token(&reader, &token_for(&name, Role::Reader, &[])), Error::Denied { .. });
}

#[test]
fn a_confined_token_neither_sees_nor_makes_more() {
    let bed = Bed::new();
    let name = user_name(&bed);
    let user = bed.user();
    let [inside, outside] = ["inside", "outside"].map(|space| bed.hub(space));
    bed.save(&within(&user, inside), "in");
    let out = bed.save(
        &within(&user, outside),
        SaveRequest { boundary: Some(Boundary::Org), ..SaveRequest::new("out") },
    );
    let (secret, _) = mint(&bed, &user, &token_for(&name, Role::Admin, &[inside]));
    let confined = speak(&bed, &secret);
    assert_eq!(confined.space, inside, "it speaks in its own space");
    assert_eq!(bed.contents(&confined), ["in"]);
    refused!(bed.engine.get(&confined, out.memory.id.into()), Error::NoMemory { .. });
    refused!(bed.engine.enter(&confined, "outside"), Error::NoSpace { .. });
    refused!(bed.engine.save(&within(&confined, outside), SaveRequest::new("x")), Error::NoSpace { .. });
    let names: Vec<_> = bed.engine.spaces(&confined).unwrap().into_iter().map(|space| space.name).collect();
    assert_eq!(names, ["inside"]);
    for wider in [&[][..], &[outside], &[inside, outside]] {
        refused!(
            bed.engine.create_token(&confined, &token_for(&name, Role::Reader, wider)),
            Error::Denied { .. } | Error::NoSpace { .. }
        );
    }
    mint(&bed, &confined, &token_for(&name, Role::Reader, &[inside]));
    refused!(bed.engine.require_org_admin(&confined), Error::Denied { .. });
    refused!(bed.engine.create_principal(&confined, "x", PrincipalKind::Agent), Error::Denied { .. });
    refused!(bed.engine.create_space(&confined, "x", SpaceKind::Hub), Error::Denied { .. });
    bed.person("friend");
    bed.engine.set_member(&confined, "inside", "friend", Role::Reader).unwrap();
    refused!(bed.engine.set_member(&confined, "outside", "friend", Role::Reader), Error::NoSpace { .. });
}

#[test]
fn a_lesser_token_cannot_revoke_a_greater_one() {
    let bed = Bed::new();
    let name = user_name(&bed);
    let user = bed.user();
    let hub = bed.hub("hub");
    let (_, great) = mint(&bed, &user, &token_for(&name, Role::Admin, &[]));
    let (reader, _) = mint(&bed, &user, &token_for(&name, Role::Reader, &[]));
    let (confined, own) = mint(&bed, &user, &token_for(&name, Role::Admin, &[hub]));
    for secret in [&reader, &confined] {
        let lesser = speak(&bed, secret);
        refused!(
            bed.engine.revoke_token(&lesser, &great.id.to_string()),
            Error::Denied { .. } | Error::NoToken { .. }
        );
    }
    bed.engine.revoke_token(&speak(&bed, &confined), &own.id.to_string()).unwrap();
}

#[test]
fn a_confined_token_lists_only_tokens_that_it_may_manage() {
    let bed = Bed::new();
    let name = user_name(&bed);
    let user = bed.user();
    let [hub, other] = ["hub", "other"].map(|space| bed.hub(space));
    let labelled = |label: &str, role, spaces: &[SpaceId]| {
        let request = TokenRequest { label: label.to_owned(), ..token_for(&name, role, spaces) };
        mint(&bed, &user, &request)
    };
    labelled("of the home", Role::Admin, &[]);
    labelled("elsewhere", Role::Reader, &[other]);
    labelled("both", Role::Reader, &[hub, other]);
    let (confined, _) = labelled("confined", Role::Writer, &[hub]);
    labelled("greater", Role::Admin, &[hub]);
    labelled("lesser", Role::Reader, &[hub]);
    let labels = |caller: &Caller| {
        let mut labels: Vec<String> =
            bed.engine.tokens(caller).unwrap().into_iter().map(|token| token.label).collect();
        labels.sort();
        labels
    };
    assert_eq!(labels(&speak(&bed, &confined)), ["confined", "lesser"]);
    assert_eq!(labels(&user).len(), 6, "an admin of the org manages all");
    let here = bed.engine.confine(&user, &["hub"]).unwrap();
    assert_eq!(labels(&here), ["confined", "greater", "lesser"], "the same for a call that is confined");
    let hidden = words(bed.engine.revoke_token(&speak(&bed, &confined), "elsewhere"));
    let absent = words(bed.engine.revoke_token(&speak(&bed, &confined), "elsewherf"));
    assert_eq!(hidden.replace("elsewhere", "…"), absent.replace("elsewherf", "…"));
}

#[test]
fn tokens_for_others_take_an_admin_of_the_org() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let member = bed.member("member", hub, Role::Admin);
    bed.person("other");
    refused!(bed.engine.create_token(&member, &token_for("other", Role::Reader, &[])), Error::Denied { .. });
    let (_, own) = mint(&bed, &member, &token_for("member", Role::Writer, &[]));
    mint(&bed, &bed.user(), &token_for("other", Role::Reader, &[]));
    assert_eq!(bed.engine.tokens(&member).unwrap(), [own]);
    assert_eq!(bed.engine.tokens(&bed.user()).unwrap().len(), 2);
    refused!(bed.engine.revoke_token(&member, "other's"), Error::NoToken { .. });
}

#[test]
fn acts_on_spaces_members_and_tokens_are_audited() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    bed.member("friend", hub, Role::Reader);
    bed.engine.remove_member(&user, "hub", "friend").unwrap();
    let (_, token) = mint(&bed, &user, &token_for("friend", Role::Reader, &[]));
    bed.engine.revoke_token(&user, &token.label).unwrap();
    let all = AuditFilter { last: 100, ..AuditFilter::default() };
    let entries = bed.engine.audit(&user, &all).unwrap();
    let acts: Vec<_> = entries.iter().map(|entry| entry.act).collect();
    assert_eq!(
        acts,
        [
            AuditAct::TokenRevoked,
            AuditAct::TokenCreated,
            AuditAct::MemberRemoved,
            AuditAct::MemberSet,
            AuditAct::PrincipalCreated,
            AuditAct::SpaceCreated,
        ]
    );
    assert!(entries.iter().all(|entry| entry.by == user.viewer.principal));
    let role = bed.store.role(user.viewer.principal, MemberOf::Org(OrgId::LOCAL));
    assert_eq!(role.unwrap(), Some(Role::Admin));
}

#[test]
fn of_two_admins_who_leave_at_once_one_stays() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Admin));
    bed.engine.remove_member(&ann, "hub", &user_name(&bed)).unwrap();
    let other = bed.beside();
    bed.store.before_next_apply(move |_| {
        other.remove_member(&bob, "hub", "bob").expect("the other was faster");
    });
    refused!(bed.engine.remove_member(&ann, "hub", "ann"), Error::LastAdmin { .. });
}

#[test]
fn a_token_is_made_with_its_principal_and_memberships_or_not_at_all() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    let request =
        TokenRequest { introduce: Some(PrincipalKind::Agent), ..token_for("robot", Role::Writer, &[hub]) };
    let wrong = TokenRequest { label: "bad\u{1}".to_owned(), ..request.clone() };
    let before = bed.dump();
    refused!(bed.engine.create_token(&user, &wrong), Error::Invalid(_));
    assert_eq!(bed.dump(), before, "a refused token leaves nobody behind");
    let (secret, _) = mint(&bed, &user, &request);
    let robot = speak(&bed, &secret);
    bed.save(&robot, "made by a robot");
    let admin = TokenRequest { role: Role::Reader, ..request };
    mint(&bed, &user, &admin);
    let members = bed.engine.members(&user, "hub").unwrap();
    let role = members.iter().find(|(who, _)| who.name == "robot").map(|(_, member)| member.role);
    assert_eq!(role, Some(Role::Writer), "nobody's role is lowered");
}

#[test]
fn a_confined_admin_gives_nobody_a_token_and_changes_nothing_by_trying() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    bed.member("victim", hub, Role::Reader);
    let (secret, _) = mint(&bed, &user, &token_for(&user_name(&bed), Role::Admin, &[hub]));
    let confined = speak(&bed, &secret);
    let before = bed.dump();
    let request =
        TokenRequest { introduce: Some(PrincipalKind::Agent), ..token_for("victim", Role::Admin, &[hub]) };
    refused!(bed.engine.create_token(&confined, &request), Error::Denied { .. });
    assert_eq!(bed.dump(), before);
}

#[test]
fn an_id_is_never_taken_for_a_name() {
    let bed = Bed::new();
    let user = bed.user();
    let group = bed.space("group", SpaceKind::Group);
    refused!(
        bed.engine.create_space(&user, &group.to_string(), SpaceKind::Hub),
        Error::Invalid(Invalid::Name { .. })
    );
    assert_eq!(bed.engine.enter(&user, &group.to_string()).unwrap().space, group);
}
