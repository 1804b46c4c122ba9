//! TLS: reads a certificate and its key from files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// A certificate and its key, ready for handshakes of TLS 1.2 and 1.3.
#[derive(Clone)]
pub struct Tls(pub(super) TlsAcceptor);

/// The reason why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file does not contain the expected data.
    #[error("{} contains no {what} in PEM format", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
    },
    /// A file has invalid content.
    #[error("{} is not valid PEM: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The error and its position in the file.
        why: String,
    },
    /// The key does not match the certificate, or neither can be used.
    #[error("the key in {} does not match the certificate in {}: {source}", key.display(), certificate.display())]
    Unfit {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The cause.
        source: rustls::Error,
    },
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

impl Tls {
    /// Reads a certificate with its chain, and its key.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        require_file(certificate)?;
        require_file(key)?;
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| explain(certificate, "certificate", error))?;
        if chain.is_empty() {
            return Err(TlsError::Missing { path: certificate.to_owned(), what: "certificate" });
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| explain(key, "private key", error))?;
        let unfit =
            |source| TlsError::Unfit { certificate: certificate.to_owned(), key: key.to_owned(), source };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unfit)?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

/// Accepts only a regular file, because reading from a pipe could wait forever.
fn require_file(path: &Path) -> Result<(), TlsError> {
    let unreadable = |source| TlsError::Unreadable { path: path.to_owned(), source };
    match path.metadata().map_err(unreadable)?.is_file() {
        true => Ok(()),
        false => Err(unreadable(io::Error::other("it is not a regular file"))),
    }
}

fn explain(path: &Path, what: &'static str, error: pem::Error) -> TlsError {
    let path = path.to_owned();
    match error {
        pem::Error::Io(source) => TlsError::Unreadable { path, source },
        pem::Error::NoItemsFound => TlsError::Missing { path, what },
        // The error of the parser contains lines of the file, so its text is not used: it could reveal the private key.
        pem::Error::MissingSectionEnd { .. } => {
            TlsError::Broken { path, why: "a section has no end".to_owned() }
        }
        pem::Error::IllegalSectionStart { .. } => {
            TlsError::Broken { path, why: "a section has a wrong beginning".to_owned() }
        }
        pem::Error::Base64Decode(_) => TlsError::Broken { path, why: "it is not base64".to_owned() },
        _ => TlsError::Broken { path, why: "unknown format".to_owned() },
    }
}
