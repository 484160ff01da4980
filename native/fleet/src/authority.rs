//! The authorities that sign the server's certificate: those that browsers trust, or those in a file.

use std::path::{Path, PathBuf};

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The certificates of authorities, read from a file.
#[derive(Clone, Debug)]
pub struct Authority {
    file: PathBuf,
    certificates: Vec<Certificate<'static>>,
}

/// Why the certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The file cannot be read.
    #[error("the certificates of the server's authority {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file contains something other than certificates.
    #[error(
        "{} has no certificate in it: expected lines between `-----BEGIN CERTIFICATE-----` and \
         `-----END CERTIFICATE-----`", path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
}

impl Authority {
    /// Reads the certificates in the PEM file `path`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a part of it is not a certificate.
    pub fn read(path: &Path) -> Result<Authority, AuthorityError> {
        let file = path.to_owned();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => return Err(AuthorityError::File { path: file, error }),
        };
        let mut certificates = Vec::new();
        for item in parse_pem(&bytes) {
            match item {
                Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
                // A file may contain a key beside its certificate.
                Ok(_) => {}
                Err(_) => return Err(AuthorityError::Form { path: file }),
            }
        }
        match certificates.is_empty() {
            true => Err(AuthorityError::Form { path: file }),
            false => Ok(Authority { file, certificates }),
        }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns a configuration that trusts only these certificates.
    pub(crate) fn tls(&self) -> TlsConfig {
        let roots = RootCerts::new_with_certs(&self.certificates);
        TlsConfig::builder().root_certs(roots).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ca.pem");
        let missing = Authority::read(&file).unwrap_err().to_string();
        assert!(missing.contains("ca.pem"), "{missing}");
        let cut = "-----BEGIN CERTIFICATE-----\nMIIB\n";
        for text in ["", "fleet.example.org\n", cut] {
            std::fs::write(&file, text).expect("written");
            let wrong = Authority::read(&file).unwrap_err();
            assert!(matches!(wrong, AuthorityError::Form { .. }), "{text:?}: {wrong}");
        }
    }
}
