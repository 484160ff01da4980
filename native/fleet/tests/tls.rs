//! A server behind a proxy whose certificate is signed by a private authority.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use onloop_fleet::authority::Authority;
use onloop_fleet::client::Client;
use onloop_fleet::engine::{EngineError, ReadOverview};
use onloop_fleet::key::Key;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// A private authority and the file with its certificate.
struct Ours {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
    _folder: TempDir,
}

impl Ours {
    fn called(name: &str) -> Ours {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, certificate.pem()).expect("written");
        Ours { issuer: Issuer::new(parameters, key), file, _folder: folder }
    }

    /// Returns the address of a server with a certificate of this authority; it refuses every key.
    fn serve(&self) -> String {
        let key = KeyPair::generate().expect("a key");
        let names = vec!["localhost".to_owned()];
        let parameters = CertificateParams::new(names).expect("a name");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.into()], key)
            .expect("a certificate with its key");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("https://localhost:{}", listener.local_addr().expect("bound").port());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { return };
                let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
                // A client that does not trust the authority closes the connection.
                let _ = refuse(StreamOwned::new(session, connection));
            }
        });
        url
    }
}

fn refuse(mut stream: impl Read + Write) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        let mut some = [0; 1024];
        match stream.read(&mut some)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&some[..count]),
        }
    }
    stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n")?;
    stream.flush()
}

#[test]
fn a_server_is_trusted_when_the_authority_named_has_signed_its_certificate() {
    let (ours, others) = (Ours::called("ours"), Ours::called("others"));
    let url = ours.serve();
    let asked = |authority: Option<&Authority>| {
        Client::new(&url, Key::new(), authority)
            .call(&ReadOverview {})
            .expect_err("nobody knows the key")
    };

    let authority = Authority::read(&ours.file).expect("an authority");
    assert!(matches!(asked(Some(&authority)), EngineError::Denied));

    let other = Authority::read(&others.file).expect("an authority");
    for stranger in [None, Some(&other)] {
        let refused = asked(stranger).to_string();
        assert!(refused.contains("ONLOOP_FLEET_CA_FILE"), "{refused}");
    }
}
