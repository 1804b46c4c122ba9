//! The keyring of the Linux kernel: entries are keys in the user's persistent keyring, which every process of that user
//! can reach.
//!
//! This module reaches the user's keyring through the keyring of the process. Programs usually use the session's keyring,
//! but a service or a container often has no session keyring, and this keyring ends with the session. The entries are never
//! written to disk.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::api::{CredentialApi, CredentialStoreApi};
use keyring_core::{Credential, CredentialPersistence, Entry, Error, Result};
use linux_keyutils::{Key, KeyError, KeyRing, KeyRingIdentifier};

/// The keyring.
#[derive(Debug)]
pub(super) struct KernelKeyring;

impl CredentialStoreApi for KernelKeyring {
    fn vendor(&self) -> String {
        "Linux".to_owned()
    }

    fn id(&self) -> String {
        "kernel".to_owned()
    }

    fn build(&self, service: &str, user: &str, _: Option<&HashMap<&str, &str>>) -> Result<Entry> {
        let (ring, persistent) = ring().map_err(failure)?;
        let description = format!("{service}:{user}");
        Ok(Entry::new_with_credential(Arc::new(KernelEntry { ring, persistent, description })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn persistence(&self) -> CredentialPersistence {
        CredentialPersistence::UntilReboot
    }
}

/// Returns the user's keyring, and whether it outlives the last of their processes. This call also extends its lifetime.
fn ring() -> std::result::Result<(KeyRing, bool), KeyError> {
    match KeyRing::get_persistent(KeyRingIdentifier::Process) {
        Ok(ring) => Ok((ring, true)),
        Err(KeyError::OperationNotSupported) => {
            let ring = KeyRing::from_special_id(KeyRingIdentifier::User, true)?;
            KeyRing::from_special_id(KeyRingIdentifier::Process, true)?.link_keyring(ring)?;
            Ok((ring, false))
        }
        Err(error) => Err(error),
    }
}

/// An entry.
#[derive(Debug)]
pub(super) struct KernelEntry {
    ring: KeyRing,
    /// True if it outlives the last process of the user.
    pub(super) persistent: bool,
    description: String,
}

impl KernelEntry {
    fn key(&self) -> Result<Key> {
        self.ring.search(&self.description).map_err(failure)
    }
}

impl CredentialApi for KernelEntry {
    fn set_secret(&self, secret: &[u8]) -> Result<()> {
        self.ring.add_key(&self.description, secret).map(drop).map_err(failure)
    }

    fn get_secret(&self) -> Result<Vec<u8>> {
        self.key()?.read_to_vec().map_err(failure)
    }

    fn delete_credential(&self) -> Result<()> {
        // The key is unlinked and not invalidated, because an invalidated key would still be found for a while.
        self.ring.unlink_key(self.key()?).map_err(failure)
    }

    fn get_credential(&self) -> Result<Option<Arc<Credential>>> {
        self.key().map(|_| None)
    }

    fn get_specifiers(&self) -> Option<(String, String)> {
        let (service, user) = self.description.split_once(':')?;
        Some((service.to_owned(), user.to_owned()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn failure(error: KeyError) -> Error {
    match error {
        KeyError::KeyDoesNotExist => Error::NoEntry,
        error => Error::PlatformFailure(error.into()),
    }
}

/// Returns the kernel's error as text. Its errors have names and no sentences.
pub(super) fn said(error: KeyError) -> String {
    match error {
        KeyError::PermissionDenied | KeyError::AccessDenied => "permission denied".to_owned(),
        KeyError::KeyRevoked => "it was revoked".to_owned(),
        KeyError::KeyExpired => "it has expired".to_owned(),
        KeyError::QuotaExceeded => "there is no room left for this user".to_owned(),
        KeyError::OperationNotSupported => "the kernel has none".to_owned(),
        KeyError::Unknown(number) => std::io::Error::from_raw_os_error(number).to_string(),
        error => error.to_string(),
    }
}
