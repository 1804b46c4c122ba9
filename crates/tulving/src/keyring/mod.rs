//! The system's keyring, for a key that must not be in a file: the kernel keyring on Linux, the keychain on macOS.
//!
//! Errors never contain the content of an entry.

#[cfg(target_os = "linux")]
mod kernel;

use std::sync::Arc;

use keyring_core::error::PlatformError;
use keyring_core::{CredentialPersistence, CredentialStore, Entry, Error};
use tulving_core::model::error::LlmError;

/// The service that all entries belong to, in addition to their own name.
const SERVICE: &str = "tulving";

/// A keyring.
pub(crate) struct Keyring(keyring_core::Result<Arc<CredentialStore>>);

/// The lifetime of an entry that is not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyLifetime {
    /// Until it is removed.
    Always,
    /// Until the machine is restarted, or until some days after it was last used.
    WhileUsed,
    /// Until the last process of the user ends.
    WithUser,
}

impl KeyLifetime {
    /// Returns the lifetime as a sentence.
    pub(crate) const fn said(self) -> &'static str {
        match self {
            Self::Always => "It stays there until it is forgotten.",
            Self::WhileUsed => {
                "The kernel forgets it when the machine restarts, or when it was not used for some days."
            }
            Self::WithUser => "The kernel forgets it when the last process of this user ends.",
        }
    }
}

impl Keyring {
    /// Opens the system's keyring.
    pub(crate) fn system() -> Self {
        Self(system())
    }

    /// Returns the content of an entry.
    pub(crate) fn key(&self, name: &str) -> Result<String, LlmError> {
        let secret = self.entry(name)?.get_secret().map_err(|error| refused(name, &error))?;
        let key = String::from_utf8(secret).unwrap_or_default().trim().to_owned();
        match key.is_empty() {
            true => Err(LlmError::Keyring { entry: name.to_owned(), why: "it contains no text".to_owned() }),
            false => Ok(key),
        }
    }

    /// Writes a key to an entry, which is made if it does not exist.
    pub(crate) fn keep(&self, name: &str, key: &str) -> Result<KeyLifetime, LlmError> {
        let entry = self.entry(name)?;
        entry.set_secret(key.as_bytes()).map_err(|error| refused(name, &error))?;
        Ok(self.lasts(&entry))
    }

    /// Removes an entry.
    pub(crate) fn forget(&self, name: &str) -> Result<(), LlmError> {
        self.entry(name)?.delete_credential().map_err(|error| refused(name, &error))
    }

    fn entry(&self, name: &str) -> Result<Entry, LlmError> {
        let store = self.0.as_ref().map_err(|error| refused(name, error))?;
        store.build(SERVICE, name, None).map_err(|error| refused(name, &error))
    }

    fn lasts(&self, entry: &Entry) -> KeyLifetime {
        match self.0.as_ref().map(|store| store.persistence()) {
            Ok(CredentialPersistence::UntilDelete) => KeyLifetime::Always,
            Ok(CredentialPersistence::UntilReboot) if is_persistent(entry) => KeyLifetime::WhileUsed,
            _ => KeyLifetime::WithUser,
        }
    }
}

#[cfg(target_os = "linux")]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(Arc::new(kernel::KernelKeyring))
}

#[cfg(target_os = "macos")]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Error::NotSupportedByStore("Tulving supports no keyring of this system".to_owned()))
}

/// True if the kernel keeps the entry when no process of the user is left.
#[cfg(target_os = "linux")]
fn is_persistent(entry: &Entry) -> bool {
    entry.as_any().downcast_ref::<kernel::KernelEntry>().is_some_and(|kept| kept.persistent)
}

#[cfg(not(target_os = "linux"))]
fn is_persistent(_: &Entry) -> bool {
    true
}

/// Returns why an entry was refused, without its content.
fn refused(name: &str, error: &Error) -> LlmError {
    let entry = name.to_owned();
    let why = match error {
        Error::NoEntry => return LlmError::NoEntry { entry },
        Error::NoStorageAccess(why) | Error::PlatformFailure(why) => said(why),
        Error::NotSupportedByStore(why) => why.clone(),
        Error::TooLong(..) => "it is longer than an entry may be".to_owned(),
        Error::Ambiguous(_) => "there are several of that name".to_owned(),
        _ => "the system refuses it".to_owned(),
    };
    LlmError::Keyring { entry, why }
}

#[cfg(target_os = "linux")]
fn said(why: &PlatformError) -> String {
    why.downcast_ref().map_or_else(|| why.to_string(), |error| kernel::said(*error))
}

#[cfg(not(target_os = "linux"))]
fn said(why: &PlatformError) -> String {
    why.to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use keyring_core::mock;

    use super::*;

    const NAME: &str = "openai";

    /// Creates a keyring that only this process uses.
    pub(crate) fn own() -> Keyring {
        Keyring(mock::Store::new().map(|store| store as Arc<CredentialStore>))
    }

    fn failing(keyring: &Keyring, error: Error) {
        let entry = keyring.entry(NAME).expect("an entry");
        entry.as_any().downcast_ref::<mock::Cred>().expect("of the mock").set_error(error);
    }

    #[test]
    fn what_is_kept_is_found_until_it_is_forgotten() {
        let keyring = own();
        let none = LlmError::NoEntry { entry: NAME.to_owned() };
        assert_eq!(keyring.key(NAME), Err(none.clone()));
        assert_eq!(keyring.keep(NAME, "sk-1"), Ok(KeyLifetime::WithUser));
        assert_eq!(keyring.keep(NAME, "sk-2"), Ok(KeyLifetime::WithUser));
        assert_eq!(keyring.key(NAME).as_deref(), Ok("sk-2"));
        assert!(keyring.key("other").is_err());
        assert_eq!(keyring.forget(NAME), Ok(()));
        assert_eq!((keyring.key(NAME), keyring.forget(NAME)), (Err(none.clone()), Err(none)));
    }

    #[test]
    fn what_goes_wrong_names_the_entry_and_not_what_is_in_it() {
        let keyring = own();
        keyring.keep(NAME, "sk-hidden").expect("kept");
        let locked = || Error::NoStorageAccess("the keychain is locked".into());
        for (error, why) in [
            (locked(), "the keychain is locked"),
            (Error::PlatformFailure("no such service".into()), "no such service"),
            (Error::BadEncoding(b"sk-hidden".to_vec()), "the system refuses it"),
            (Error::Ambiguous(Vec::new()), "there are several of that name"),
        ] {
            failing(&keyring, error);
            let described = keyring.key(NAME).expect_err("refused");
            assert_eq!(described, LlmError::Keyring { entry: NAME.to_owned(), why: why.to_owned() });
            assert!(described.to_string().contains("`openai`") && described.hint().is_some(), "{described}");
        }
        failing(&keyring, locked());
        assert_eq!(keyring.forget(NAME).expect_err("refused").code(), "llm_keyring");
        failing(&keyring, locked());
        assert_eq!(keyring.keep(NAME, "sk-other").expect_err("refused").code(), "llm_keyring");
        assert_eq!(keyring.key(NAME).as_deref(), Ok("sk-hidden"), "what failed changed nothing");
    }

    #[test]
    fn an_entry_that_is_no_text_is_no_key() {
        let keyring = own();
        for secret in [&b"sk-\xff"[..], b" \n"] {
            keyring.entry(NAME).expect("an entry").set_secret(secret).expect("kept");
            assert!(keyring.key(NAME).expect_err("no key").to_string().ends_with("it contains no text"));
        }
    }

    #[test]
    fn a_system_without_a_keyring_says_so() {
        let keyring = Keyring(Err(Error::NotSupportedByStore("none here".to_owned())));
        assert!(keyring.key(NAME).expect_err("none").to_string().ends_with("none here"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_kernel_refuses_is_said_in_words() {
        use linux_keyutils::KeyError;
        let described = |error: KeyError| refused(NAME, &Error::PlatformFailure(error.into())).to_string();
        assert!(described(KeyError::PermissionDenied).ends_with("permission denied"));
        assert!(described(KeyError::KeyRevoked).ends_with("it was revoked"));
        assert!(
            described(KeyError::Unknown(38)).contains("not implemented"),
            "{}",
            described(KeyError::Unknown(38))
        );
    }

    /// Uses the kernel's keyring; if it is refused, as in many containers, the test checks the refusal.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_keeps_a_key_until_it_is_forgotten() {
        let keyring = Keyring::system();
        let name = format!("test-{}", std::process::id());
        let lasts = match keyring.keep(&name, "sk-1") {
            Ok(lasts) => lasts,
            Err(refused) => {
                assert_eq!((keyring.key(&name), refused.code()), (Err(refused.clone()), "llm_keyring"));
                return;
            }
        };
        assert_ne!(lasts, KeyLifetime::Always);
        assert_eq!(keyring.keep(&name, "sk-2"), Ok(lasts));
        let found = Keyring::system().key(&name);
        assert_eq!(keyring.forget(&name), Ok(()));
        assert_eq!(found.as_deref(), Ok("sk-2"));
        assert_eq!(keyring.key(&name), Err(LlmError::NoEntry { entry: name }));
    }
}
