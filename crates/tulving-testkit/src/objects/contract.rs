//! The contract of [`Objects`], as checks that every store of attachments runs.
//!
//! Each check takes a factory of empty stores and panics with a description of the mistake.

use tulving_core::model::error::ObjectError;
use tulving_core::ports::Objects;

use super::hash;

/// Returns an empty store each time.
pub type ObjectsFactory<'a> = &'a dyn Fn() -> Box<dyn Objects>;

/// A check of one promise of the contract.
pub type ObjectsContractCheck = fn(ObjectsFactory<'_>);

/// Every check, with its name.
pub const ALL: &[(&str, ObjectsContractCheck)] = &[
    ("what_is_put_is_given_back", what_is_put_is_given_back),
    ("the_same_bytes_are_kept_once", the_same_bytes_are_kept_once),
    ("bytes_with_another_hash_are_refused", bytes_with_another_hash_are_refused),
    ("what_is_not_there_is_none", what_is_not_there_is_none),
    ("what_is_removed_is_gone_and_can_be_put_again", what_is_removed_is_gone_and_can_be_put_again),
    ("who_keeps_and_who_removes_wait_for_each_other", who_keeps_and_who_removes_wait_for_each_other),
    ("what_is_not_a_key_is_refused", what_is_not_a_key_is_refused),
    ("several_at_once_do_not_get_in_each_others_way", several_at_once_do_not_get_in_each_others_way),
];

fn put(objects: &dyn Objects, bytes: &[u8]) -> String {
    objects.put(bytes, &hash(bytes)).expect("it can be kept")
}

/// Bytes are returned exactly as they were stored: any bytes, and any number of them.
pub fn what_is_put_is_given_back(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8 ^ (n >> 13) as u8).collect();
    let contents = [&b""[..], b"\0", b"a text\r\n", &large];
    let keys: Vec<String> = contents.iter().map(|bytes| put(&*objects, bytes)).collect();
    for (bytes, key) in contents.iter().zip(&keys) {
        let hash = hash(bytes);
        assert_eq!(*key, format!("sha256/{}/{hash}", &hash[..2]));
        let got = objects.get(key).expect("read").expect("there");
        assert!(got == *bytes, "{key}: {} bytes came back for {}", got.len(), bytes.len());
    }
}

/// The same bytes have one key, and one removal deletes them.
pub fn the_same_bytes_are_kept_once(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let first = put(&*objects, b"once");
    assert_eq!(put(&*objects, b"once"), first);
    let other = put(&*objects, b"twice");
    assert_ne!(first, other);
    objects.remove(&first).expect("removed");
    assert_eq!((objects.get(&first), objects.get(&other)), (Ok(None), Ok(Some(b"twice".to_vec()))));
}

/// Bytes that do not match the given hash are refused.
pub fn bytes_with_another_hash_are_refused(empty: ObjectsFactory<'_>) {
    let objects = empty();
    for wrong in [hash(b"others"), String::new(), hash(b"bytes").to_uppercase(), "../../etc".to_owned()] {
        let error = objects.put(b"bytes", &wrong).expect_err(&wrong);
        assert!(matches!(error, ObjectError::WrongHash { .. }), "{error}");
    }
    let key = put(&*empty(), b"bytes");
    assert_eq!(objects.get(&key), Ok(None));
}

/// A missing object is `None`, and removing it is no error.
pub fn what_is_not_there_is_none(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let key = put(&*empty(), b"elsewhere");
    assert_eq!(objects.get(&key), Ok(None));
    assert_eq!(objects.remove(&key), Ok(()));
}

/// A removed object is gone, the others stay, and it can be put again.
pub fn what_is_removed_is_gone_and_can_be_put_again(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let (gone, stays) = (put(&*objects, b"goes"), put(&*objects, b"stays"));
    objects.remove(&gone).expect("removed");
    assert_eq!(objects.get(&gone), Ok(None));
    assert_eq!(objects.get(&stays), Ok(Some(b"stays".to_vec())));
    assert_eq!(put(&*objects, b"goes"), gone);
    assert_eq!(objects.get(&gone), Ok(Some(b"goes".to_vec())));
}

/// Any number of callers may keep objects at the same time. No caller can remove objects while another keeps some. A
/// caller that wants to keep objects waits while another removes some.
pub fn who_keeps_and_who_removes_wait_for_each_other(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let free = || objects.removing().expect("asked").is_some();
    let (one, other) = (objects.keeping().expect("one"), objects.keeping().expect("another"));
    assert!(!free(), "two are keeping");
    drop(one);
    assert!(!free(), "one is keeping");
    drop(other);
    let removing = objects.removing().expect("asked").expect("nobody is keeping");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| objects.keeping().map(drop));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!writer.is_finished(), "somebody is removing");
        drop(removing);
        writer.join().expect("no panic").expect("kept");
    });
    assert!(free());
}

/// Anything but a key is refused.
pub fn what_is_not_a_key_is_refused(empty: ObjectsFactory<'_>) {
    let objects = empty();
    let (kept, hash) = (put(&*objects, b"bytes"), hash(b"bytes"));
    for wrong in ["", "/", "..", "sha256", &hash, &format!("sha256/{}/../{hash}", &hash[..2])] {
        let refused = |result: Result<(), ObjectError>| {
            assert!(matches!(result, Err(ObjectError::NotAKey { .. })), "{wrong}: {result:?}");
        };
        refused(objects.get(wrong).map(drop));
        refused(objects.remove(wrong));
    }
    assert_eq!(objects.get(&kept), Ok(Some(b"bytes".to_vec())));
}

/// Objects put at the same time are all there, each whole.
pub fn several_at_once_do_not_get_in_each_others_way(empty: ObjectsFactory<'_>) {
    let objects = empty();
    std::thread::scope(|threads| {
        for thread in 0..4_u8 {
            let objects = &objects;
            threads.spawn(move || {
                for n in 0..10_u8 {
                    let shared = vec![n; 50_000];
                    let own = vec![thread + 100, n];
                    for bytes in [shared, own] {
                        let key = put(&**objects, &bytes);
                        assert_eq!(objects.get(&key), Ok(Some(bytes)));
                    }
                }
            });
        }
    });
}
