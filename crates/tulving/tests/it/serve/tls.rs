//! Encryption: a certificate made for the test, and a client that believes nothing else.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use super::client::{Answer, Server, eventually, request};
use crate::binary::Tulving;

const SETTINGS: &str = "[server]\ntls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n";

/// Writes a new certificate with its key into a folder, and gives it.
fn issue(folder: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("cert.pem"), cert.pem()).expect("written");
    fs::write(folder.join("key.pem"), signing_key.serialize_pem()).expect("written");
    cert.der().clone()
}

/// Asks over an encrypted connection that is as good as the certificate.
fn ask(
    server: &Server,
    certificate: &CertificateDer<'static>,
    version: &'static SupportedProtocolVersion,
    bytes: &[u8],
) -> io::Result<Answer> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .expect("a version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = StreamOwned::new(connection, server.connect());
    stream.write_all(bytes)?;
    stream.flush()?;
    Ok(Answer::read(&mut stream))
}

#[test]
fn it_speaks_tls_where_a_certificate_is_set_up() {
    let tulving = Tulving::new();
    let certificate = issue(&tulving.home());
    let server = Server::configured(&tulving, SETTINGS);
    assert_eq!(server.scheme, "https");
    let token = format!("Bearer {}", server.token);
    let headers = [("Host", "localhost"), ("Authorization", token.as_str())];
    let healthy = request(server.address, "GET", "/v1/dialects", &headers, b"");
    for version in [&TLS12, &TLS13] {
        let answer = ask(&server, &certificate, version, &healthy).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("strict-transport-security"), None, "it would hold for all of localhost");
    }
    let address = server.address.to_string();
    let by_address = request(server.address, "GET", "/healthz", &[("Host", &address)], b"");
    let answer = ask(&server, &certificate, &TLS13, &by_address).expect("an answer");
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
    let large = format!("{{\"category\": \"fact\", \"content\": \"{}\"}}", "w ".repeat(500_000));
    let save = request(server.address, "POST", "/v1/dialects/max/tools/remember", &headers, large.as_bytes());
    assert_eq!(ask(&server, &certificate, &TLS13, &save).expect("an answer").status, 200);
    // Plain words get no answer, and another certificate is not believed.
    let mut plain = server.connect();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    let stranger = issue(&tulving.folder().join("elsewhere"));
    assert!(ask(&server, &stranger, &TLS13, &healthy).is_err());
    assert_eq!(ask(&server, &certificate, &TLS13, &healthy).expect("it goes on").status, 200);
}

#[test]
fn a_handshake_that_does_not_come_is_not_waited_for() {
    let tulving = Tulving::new();
    let certificate = issue(&tulving.home());
    let server = Server::configured(&tulving, &format!("{SETTINGS}timeout_seconds = 1\n"));
    let mut silent = server.connect();
    assert_eq!(silent.read(&mut [0; 16]).expect("closed"), 0);
    let healthy = request(server.address, "GET", "/healthz", &[("Host", "localhost")], b"");
    assert_eq!(ask(&server, &certificate, &TLS13, &healthy).expect("an answer").status, 200);
    assert!(server.stop().contains("stopped"));
}

#[test]
fn a_certificate_that_cannot_be_used_is_named_with_its_file() {
    let tulving = Tulving::new();
    let home = tulving.home();
    tulving.configure(SETTINGS);
    let refused = || {
        let (error, code) = tulving.json_error(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!((error["code"].as_str(), code), (Some("invalid_certificate"), 2), "{error}");
        let message = error["message"].as_str().expect("text");
        message.replace(&format!("{}/", home.display()), "")
    };
    assert_eq!(refused(), "cert.pem cannot be read: No such file or directory (os error 2)");
    issue(&home);
    fs::remove_file(home.join("key.pem")).expect("removed");
    assert_eq!(refused(), "key.pem cannot be read: No such file or directory (os error 2)");
    fs::copy(home.join("cert.pem"), home.join("key.pem")).expect("copied");
    assert_eq!(refused(), "key.pem contains no private key in PEM format");
    fs::write(home.join("cert.pem"), "what is this?\n").expect("written");
    assert_eq!(refused(), "cert.pem contains no certificate in PEM format");
    fs::write(home.join("cert.pem"), "-----BEGIN CERTIFICATE-----\n!secret!\n-----END CERTIFICATE-----\n")
        .expect("written");
    assert_eq!(refused(), "cert.pem is not valid PEM: it is not base64");
    issue(&home);
    let key = fs::read(home.join("key.pem")).expect("there");
    issue(&home);
    fs::write(home.join("key.pem"), key).expect("written");
    assert!(refused().starts_with("the key in key.pem does not match the certificate in cert.pem: "));
    tulving.configure("server.tls_key = \"key.pem\"\n");
    let (error, code) = tulving.json_error(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((error["code"].as_str(), code), (Some("incomplete_setting"), 2), "{error}");
    assert_eq!(error["message"], "server.tls_key is set and server.tls_certificate is not");
}

#[test]
fn a_new_certificate_is_taken_up_and_a_bad_one_is_not() {
    let tulving = Tulving::new();
    let first = issue(&tulving.home());
    let server = Server::configured(&tulving, SETTINGS);
    let healthy = request(server.address, "GET", "/healthz", &[("Host", "localhost")], b"");
    let served = |certificate: &CertificateDer<'static>| {
        ask(&server, certificate, &TLS13, &healthy).is_ok_and(|answer| answer.status == 200)
    };
    assert!(served(&first));
    let second = issue(&tulving.home());
    eventually("the new certificate is served", || served(&second));
    assert!(!served(&first));
    fs::write(tulving.home().join("key.pem"), "nothing").expect("written");
    server.says("contains no private key");
    assert!(served(&second), "the one of before goes on");
}

#[test]
fn who_lets_other_machines_in_is_warned_only_of_what_is_so() {
    let tulving = Tulving::new();
    issue(&tulving.home());
    tulving.configure(SETTINGS);
    let (error, _) = tulving.json_error(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(!error["hint"].as_str().expect("a hint").contains("unencrypted"), "{error}");
    let mut everywhere = tulving.command(&["serve", "--listen", "0.0.0.0:0", "--allow-remote"]);
    let mut child = everywhere.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let (mut warned, mut said) = (String::new(), String::new());
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut warned).expect("text");
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut said).expect("text");
    let _ = child.kill();
    child.wait().expect("it ends");
    assert_eq!(warned, "warning: other machines can reach this server, over encrypted connections\n");
    assert!(said.starts_with("Tulving listens on https://127.0.0.1:"), "{said}");
}
