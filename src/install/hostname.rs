//! The name of a host that offers services, as users write it, as requests need it, and as it is compared.

use super::web::Url;
use crate::error::Error;

/// A host's name, with its port where that is not the usual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostname {
    name: String,
    shown: String,
}

impl Hostname {
    /// Reads a name. Letters of all scripts may stand in it.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Hostname, Error> {
        let (name, port) = text.split_once(':').map_or((text, None), |it| (it.0, Some(it.1)));
        let port = match port.map(str::parse::<u16>) {
            None | Some(Ok(443)) => String::new(),
            Some(Ok(port)) if port > 0 => format!(":{port}"),
            _ if ["http", "https"].contains(&name.to_lowercase().as_str()) => {
                return Err("it is an address, and the name of a host with a port where it needs one is wanted".into());
            }
            _ => return Err("its port is no number from 1 to 65535".into()),
        };
        let shown = name.to_lowercase();
        for label in shown.split('.') {
            let is_letter = |it: char| it.is_alphanumeric() || it == '-';
            if label.is_empty() {
                return Err("a part between two dots is empty".into());
            }
            if label.starts_with("xn--") {
                return Err(format!("{label:?} is punycode, and the name itself is wanted").into());
            }
            if !label.chars().all(is_letter) || label.starts_with('-') || label.ends_with('-') {
                return Err(format!("{label:?} can be no part of a name").into());
            }
        }
        let name = match shown.is_ascii() {
            true => shown.clone(),
            false => punycode(&shown).ok_or("it can be the name of no host")?,
        };
        Ok(Hostname { name: name + &port, shown: shown + &port })
    }

    /// Returns it as requests and helpers need it: in ASCII.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns it as people and the CLI configuration write it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns whether a text names this host, too.
    pub fn is(&self, text: &str) -> bool {
        Hostname::parse(text).is_ok_and(|it| it.name == self.name)
    }
}

fn punycode(name: &str) -> Option<String> {
    let url = Url::parse(&format!("https://{name}/")).ok()?;
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Hostname;

    #[test]
    fn names_are_brought_into_one_form() {
        for (text, name, shown) in [
            ("Example.COM", "example.com", "example.com"),
            ("localhost:8443", "localhost:8443", "localhost:8443"),
            ("example.com:443", "example.com", "example.com"),
            ("CAFÉ.fr", "xn--caf-dma.fr", "café.fr"),
        ] {
            let host = Hostname::parse(text).expect(text);
            assert_eq!((host.name(), host.shown()), (name, shown));
            assert!(host.is(text));
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for (text, why) in [
            ("https://example.com", "it is an address"),
            ("example.com:x", "its port"),
            ("example.com:0", "its port"),
            ("", "is empty"),
            ("a..b", "is empty"),
            ("xn--caf-dma.fr", "punycode"),
            ("a_b.c", "no part of a name"),
            ("-a.b", "no part of a name"),
            ("a/b", "no part of a name"),
            ("user@a", "no part of a name"),
        ] {
            let told = Hostname::parse(text).expect_err(text).to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
