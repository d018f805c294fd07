//! The first line that a plugin prints: where it listens, which version it speaks, and its certificate.

use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::error::Error;

/// The variable by which a plugin knows that it was not started by hand, and its value.
pub(super) const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// Below this, the field of the certificate holds something else.
const CERTIFICATE: usize = 50;

/// Where a plugin listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    /// On a socket of the file system.
    Unix(PathBuf),
    /// On a port of this machine.
    Tcp(String),
}

impl Socket {
    /// Reads network and address.
    ///
    /// # Errors
    ///
    /// If the network is neither `unix` nor `tcp`.
    pub fn of(network: &str, address: &str) -> Result<Socket, Error> {
        match network {
            "unix" => Ok(Socket::Unix(address.into())),
            "tcp" => Ok(Socket::Tcp(address.to_owned())),
            other => Err(format!("listens on the network {other:?}, which is not known").into()),
        }
    }
}

/// What a plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Handshake {
    /// The major version that it chose.
    pub version: u32,
    /// Where it listens.
    pub socket: Socket,
    /// Its certificate, where it speaks under protection.
    pub certificate: Option<Vec<u8>>,
}

/// What kind of plugin a program is started as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PluginKind {
    /// A provider.
    Provider,
    /// A provisioner.
    Provisioner,
}

impl PluginKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            PluginKind::Provider => "provider",
            PluginKind::Provisioner => "provisioner",
        }
    }

    /// Returns the major versions of the protocol that this program speaks with such plugins.
    pub fn versions(self) -> &'static [u32] {
        match self {
            PluginKind::Provider => &[5, 6],
            PluginKind::Provisioner => &[5],
        }
    }

    /// Returns the error for a plugin that chose another version.
    fn unknown_version(self, version: &str) -> String {
        let name = self.name();
        match self {
            PluginKind::Provider => {
                format!(
                    "speaks version {version} of the {name} protocol, and only 5 and 6 are known"
                )
            }
            PluginKind::Provisioner => {
                format!("speaks version {version} of the {name} protocol, and only 5 is known")
            }
        }
    }
}

/// Reads the line of a plugin of this kind. The error says what is wrong with the plugin.
pub(super) fn read(line: &str, kind: PluginKind) -> Result<Handshake, Error> {
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [core, version, network, address, ..] = fields.as_slice() else {
        return Err(format!(
            "is not a plugin, or one of another kind: its first line is {:?}",
            shortened(line)
        )
        .into());
    };
    if *core != "1" {
        return Err(format!("speaks version {core} of the handshake, and only 1 is known").into());
    }
    let known = version.parse::<u32>().ok().filter(|it| kind.versions().contains(it));
    let version = known.ok_or_else(|| kind.unknown_version(version))?;
    match fields.get(4) {
        Some(&"grpc") => {}
        Some(other) => return Err(format!("speaks {other:?}, and only \"grpc\" is known").into()),
        None => {
            return Err("speaks the protocol of very old plugins".into());
        }
    }
    let certificate = match fields.get(5).filter(|it| it.len() > CERTIFICATE) {
        Some(text) => {
            let config = GeneralPurposeConfig::new()
                .with_decode_padding_mode(DecodePaddingMode::Indifferent);
            let decoded = GeneralPurpose::new(&STANDARD, config).decode(text);
            Some(decoded.map_err(|_| "shows a certificate that cannot be read".to_owned())?)
        }
        None => None,
    };
    Ok(Handshake { version, socket: Socket::of(network, address)?, certificate })
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> String {
        check_kind(line, PluginKind::Provider)
    }

    fn check_kind(line: &str, kind: PluginKind) -> String {
        match read(line, kind) {
            Ok(it) => {
                format!("{} {:?} {:?}", it.version, it.socket, it.certificate.map(|it| it.len()))
            }
            Err(why) => why.into(),
        }
    }

    #[test]
    fn the_first_line_says_where_a_plugin_listens() {
        assert_eq!(check("1|5|unix|/tmp/p|grpc|\n"), "5 Unix(\"/tmp/p\") None");
        assert_eq!(check("1|6|tcp|127.0.0.1:10000|grpc\n"), "6 Tcp(\"127.0.0.1:10000\") None");
        let certificate = "QUJD".repeat(20);
        let line = format!("1|6|unix|/tmp/p|grpc|{certificate}|true");
        assert_eq!(check(&line), "6 Unix(\"/tmp/p\") Some(60)");
    }

    #[test]
    fn what_is_no_plugin_of_today_is_refused_with_the_reason() {
        assert_eq!(
            check("hello"),
            "is not a plugin, or one of another kind: its first line is \"hello\""
        );
        assert_eq!(
            check("1|4|unix|/tmp/p|grpc"),
            "speaks version 4 of the provider protocol, and only 5 and 6 are known"
        );
        assert_eq!(
            check_kind("1|6|unix|/tmp/p|grpc", PluginKind::Provisioner),
            "speaks version 6 of the provisioner protocol, and only 5 is known"
        );
        assert_eq!(
            check("2|5|unix|/p|grpc"),
            "speaks version 2 of the handshake, and only 1 is known"
        );
        assert_eq!(check("1|5|unix|/p|netrpc"), "speaks \"netrpc\", and only \"grpc\" is known");
        assert_eq!(check("1|5|unix|/p"), "speaks the protocol of very old plugins");
        assert_eq!(
            check("1|5|vsock|/p|grpc"),
            "listens on the network \"vsock\", which is not known"
        );
    }
}
