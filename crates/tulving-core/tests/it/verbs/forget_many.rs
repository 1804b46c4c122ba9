//! forget_many: several memories, as one act.

use tulving_core::model::answer::ForgottenMemories;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef};
use tulving_core::model::limits;
use tulving_core::model::request::{AuditFilter, Caller, ForgetMode, ForgetRequest};
use tulving_core::model::vocabulary::{AuditAct, Role};

use crate::bed::{Bed, refused, within};

fn forget(
    bed: &Bed,
    caller: &Caller,
    which: &[MemoryRef],
    mode: ForgetMode,
) -> Result<ForgottenMemories, Error> {
    bed.engine.forget_many(caller, which, &ForgetRequest { mode, reason: Some("enough".to_owned()) })
}

fn ids(gone: &ForgottenMemories) -> Vec<MemoryId> {
    gone.forgotten.iter().map(|memory| memory.id).collect()
}

#[test]
fn all_that_are_there_go_and_the_others_are_named() {
    let bed = Bed::new();
    let user = bed.user();
    let [one, two, three] = ["one", "two", "three"].map(|content| bed.save(&user, content).memory.id);
    bed.forget(&user, three, ForgetMode::Soft);
    let (number, nothing) = (MemoryRef::Number(MemoryNumber(1)), MemoryRef::Number(MemoryNumber(99)));
    let which = [two.into(), nothing, number, three.into(), one.into(), nothing];
    let before = bed.get(&user, two);
    let soft = forget(&bed, &user, &which, ForgetMode::Soft).unwrap();
    assert_eq!(ids(&soft), [two, one], "each once, in the order of their names");
    assert_eq!(soft.forgotten[0], before, "as it was");
    assert_eq!(soft.missing, [nothing, three.into()], "one that is forgotten is not there");
    assert_eq!(bed.contents(&user), [] as [&str; 0]);
    bed.engine.restore(&user, one.into()).unwrap();
    let hard = forget(&bed, &user, &which, ForgetMode::Hard).unwrap();
    assert_eq!(ids(&hard), [two, one, three], "for good, forgotten or not");
    assert_eq!(hard.missing, [nothing]);
    let filter = AuditFilter { memory: Some(two), last: 9, ..AuditFilter::default() };
    let entries = bed.engine.audit(&user, &filter).unwrap();
    let described: Vec<_> = entries.iter().map(|entry| (entry.act, entry.reason.as_deref())).collect();
    assert_eq!(described, [(AuditAct::Erased, Some("enough")), (AuditAct::Forgot, Some("enough"))]);
    assert_eq!(forget(&bed, &user, &which[..2], ForgetMode::Hard).unwrap().missing, which[..2]);
}

#[test]
fn one_that_may_not_be_forgotten_holds_all_of_them_back() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    let (hers, his) = (bed.save(&ann, "hers").memory.id, bed.save(&bob, "his").memory.id);
    let both = [his.into(), hers.into()];
    refused!(forget(&bed, &bob, &both, ForgetMode::Hard), Error::OwnerOrAdmin { .. });
    assert_eq!(bed.contents(&bob).len(), 2);
    assert_eq!(ids(&forget(&bed, &bob, &both, ForgetMode::Soft).unwrap()), [his, hers]);
    let many = vec![MemoryRef::Number(MemoryNumber(9)); limits::FORGETS + 1];
    refused!(forget(&bed, &bob, &many, ForgetMode::Soft), Error::Invalid(Invalid::TooMany { .. }));
    let admin = within(&bed.user(), hub);
    assert_eq!(ids(&forget(&bed, &admin, &both, ForgetMode::Hard).unwrap()).len(), 2);
}

#[test]
fn one_that_somebody_else_erases_meanwhile_is_missing() {
    let bed = Bed::new();
    let user = bed.user();
    let [one, two] = ["one", "two"].map(|content| bed.save(&user, content).memory.id);
    bed.store.before_next_apply(move |store| tulving_testkit::build::StoreFixture::new(store).erase(one));
    let gone = forget(&bed, &user, &[one.into(), two.into()], ForgetMode::Soft).unwrap();
    assert_eq!((ids(&gone), gone.missing), (vec![two], vec![one.into()]));
}
