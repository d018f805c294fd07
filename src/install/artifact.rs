//! Packages of modules in registries of container images: one manifest for each package, whose only archive it is.

use std::fs::File;
use std::sync::LazyLock;

use regex::Regex;

use super::repository::{Descriptor, IMAGE, INDEX, Manifest, Repository, is_digest};
use super::trouble::Trouble;
use super::web::{Url, Web};
use crate::config::source::RemoteAddress;
use crate::error::{Error, ErrorContext};

/// What a manifest says it is.
const PACKAGE: &str = "application/vnd.opentofu.modulepkg";
/// The media type of an archive.
const ARCHIVE: &str = "archive/zip";

/// A package, by its address.
pub struct Artifact {
    repository: Repository,
    /// A tag or a digest.
    reference: String,
}

impl Artifact {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn of(address: &RemoteAddress) -> Result<Artifact, Error> {
        let rest = address.url.strip_prefix("oci://").unwrap_or_default();
        // An address with "@" may hold a password, so it is not repeated.
        if rest.contains('@') {
            return Err("\"@\" has no meaning in the address of an image: write a digest as ?digest=, and a user with a password into an oci_credentials block of the CLI configuration".into());
        }
        let (host, name) = rest.split_once('/').unwrap_or((rest, ""));
        let is_host = Url::parse(&format!("https://{host}/"))
            .is_ok_and(|it| it.has_host() && it.path() == "/");
        if host.is_empty() || !is_host {
            return Err(format!("{host:?} is no host of a registry").into());
        }
        if !fits(&NAME, name) {
            return Err(format!(
                "{name:?} is no repository: small letters, digits and single separators, in parts between slashes, are one"
            )
            .into());
        }
        let reference = reference(address)?;
        Ok(Artifact { repository: Repository::new(host, name), reference })
    }

    /// Loads the archive, and returns the digest that it must have.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be had.
    pub async fn load(&self, web: &Web, into: &mut File) -> Result<String, Error> {
        let kinds = format!("{IMAGE}, {INDEX}");
        let found = self.repository.manifest(web, &self.reference, &kinds).await;
        let manifest = found.map_err(told)?;
        let layer = layer(&manifest)?;
        let retries = web.download_retries();
        let remote = self.repository.blob(layer, retries).await.map_err(told)?;
        web.download(&remote, into).await?;
        Ok(layer.digest.clone())
    }
}

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let part = "[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+)*";
    Regex::new(&format!("^{part}(/{part})*$")).expect("the form of names is an expression")
});
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$").expect("the form of tags is an expression")
});

fn fits(form: &Regex, text: &str) -> bool {
    form.is_match(text)
}

/// Returns the tag or the digest that an address names.
fn reference(address: &RemoteAddress) -> Result<String, Error> {
    let (mut tag, mut digest) = (None, None);
    for (name, value) in &address.query {
        let value = percent_encoding::percent_decode_str(value).decode_utf8();
        let value = value.context("what is escaped in the address is no text")?.into_owned();
        let known = match name.as_str() {
            "tag" => tag.replace(value),
            "digest" => digest.replace(value),
            "archive" => {
                return Err("\"archive\" is not for registries of images: the manifest says what the package is".into());
            }
            other => {
                return Err(format!(
                    "there is no argument {other:?}; known are \"tag\" and \"digest\""
                )
                .into());
            }
        };
        if known.is_some() {
            return Err(format!("{name:?} is there more than once").into());
        }
    }
    match (tag, digest) {
        (Some(_), Some(_)) => {
            Err("\"tag\" and \"digest\" are both there, and one of them is enough".into())
        }
        (Some(tag), None) if fits(&TAG, &tag) => Ok(tag),
        (Some(tag), None) => Err(format!("{tag:?} is no tag").into()),
        (None, Some(digest)) if is_digest(&digest) => Ok(digest),
        (None, Some(digest)) => {
            Err(format!("{digest:?} is no digest: sha256: and 64 small hexadecimal digits are one")
                .into())
        }
        (None, None) => Ok("latest".to_owned()),
    }
}

/// Returns the layer that holds the package.
fn layer(manifest: &Manifest) -> Result<&Descriptor, Error> {
    if manifest.media_type == INDEX {
        return Err(
            "there is an index of several images there, and a package of a module is one image"
                .into(),
        );
    }
    if manifest.media_type != IMAGE {
        return Err(format!(
            "there is something else there than a package of a module: {:?}",
            manifest.media_type
        )
        .into());
    }
    if manifest.artifact_type != PACKAGE {
        return Err(format!(
            "the image there is no package of a module: its artifact type is {:?}, and {PACKAGE:?} is wanted",
            manifest.artifact_type
        )
        .into());
    }
    let mut archives = manifest.layers.iter().filter(|it| it.media_type == ARCHIVE);
    let found = match (archives.next(), archives.next()) {
        (Some(one), None) => one,
        (Some(_), Some(_)) => {
            return Err(format!("the image has more than one layer of type {ARCHIVE:?}").into());
        }
        (None, _) => {
            return Err(format!(
                "the image has no layer of type {ARCHIVE:?}, which is the one that can be unpacked"
            )
            .into());
        }
    };
    match is_digest(&found.digest) {
        true => Ok(found),
        false => {
            Err(format!("the digest {:?} of its layer is none that can be checked", found.digest)
                .into())
        }
    }
}

fn told(trouble: Trouble) -> Error {
    match &trouble {
        Trouble::Unauthorized { host, .. } => format!(
            "{trouble}: log in to {host} with a tool that keeps credentials for Docker or Podman, or write an oci_credentials block into the CLI \
             configuration"
        )
        .into(),
        _ => trouble.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let address = RemoteAddress::parse(text).expect("an address");
        let found = Artifact::of(&address).map(|it| it.reference).unwrap_or_else(String::from);
        assert_eq!(found.split([':', ';']).next(), expected.split([':', ';']).next());
    }

    #[test]
    fn an_address_names_a_tag_or_a_digest() {
        check("oci://example.com/a/b", "latest");
        check("oci://example.com:5000/a/b//sub?tag=v1.0", "v1.0");
        check(&format!("oci://example.com/a?digest=sha256:{}", "a".repeat(64)), "sha256");
        check("oci://example.com/a?tag=", "\"\" is no tag");
        check("oci://example.com/a?tag=a/b", "\"a/b\" is no tag");
        check("oci://example.com/a?tag=a&tag=b", "\"tag\" is there more than once");
        check("oci://example.com/a?digest=abc", "\"abc\" is no digest");
        check(
            &format!("oci://example.com/a?tag=a&digest=sha256:{}", "a".repeat(64)),
            "\"tag\" and \"digest\" are both there, and one of them is enough",
        );
        check("oci://example.com/a?archive=zip", "\"archive\" is not for registries of images");
        check("oci://example.com/a?ref=x", "there is no argument \"ref\"");
        check("oci://example.com/A", "\"A\" is no repository");
        check("oci://example.com/a/../b", "\"a/../b\" is no repository");
        check("oci://example.com", "\"\" is no repository");
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        for source in [
            "oci://me:SECRET@example.com:5000/a",
            "oci://me:SEC/RET@example.com/a",
            "oci://SECRET@/a",
        ] {
            let address = RemoteAddress::parse(source).expect("an address");
            let why = Artifact::of(&address).err().expect("an error").to_string();
            assert!(why.contains("oci_credentials"), "{why}");
            assert!(!why.contains("SEC") && !why.contains("RET"), "{why}");
        }
    }
}
