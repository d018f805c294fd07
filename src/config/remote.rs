//! Where a package is that a module comes from: a repository, a bucket, a registry of images, a server of archives.

use super::source::clean_path;
use crate::error::Error;

/// How a package is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Getter {
    /// From a git repository.
    Git,
    /// From a Mercurial repository.
    Hg,
    /// From a server of archives.
    Http,
    /// From this machine.
    File,
    /// From a bucket of S3, or of what speaks like it.
    S3,
    /// From a bucket of Google Cloud Storage.
    Gcs,
    /// From a registry of container images.
    Oci,
}

impl Getter {
    /// Returns what stands before an address so that it is fetched in this way.
    fn forced(self) -> &'static str {
        match self {
            Getter::Git => "git::",
            Getter::Hg => "hg::",
            Getter::S3 => "s3::",
            Getter::Gcs => "gcs::",
            Getter::Http | Getter::File | Getter::Oci => "",
        }
    }

    fn of(forced: &str, scheme: &str) -> Result<Getter, Error> {
        match (forced, scheme) {
            ("git", _) | ("", "git") => Ok(Getter::Git),
            ("hg", _) => Ok(Getter::Hg),
            ("http" | "https", _) | ("", "http" | "https") => Ok(Getter::Http),
            ("file", _) | ("", "file") => Ok(Getter::File),
            ("s3", _) => Ok(Getter::S3),
            ("gcs", _) => Ok(Getter::Gcs),
            ("oci" | "", "oci") => Ok(Getter::Oci),
            ("oci", _) => {
                Err("an address in a registry of container images begins with oci://".into())
            }
            ("", scheme) => Err(format!("download not supported for scheme {scheme:?}").into()),
            (other, _) => Err(format!("download not supported for scheme {other:?}").into()),
        }
    }
}

/// The address of a package that lies elsewhere, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// How it is fetched.
    pub getter: Getter,
    /// From where, without arguments.
    pub url: String,
    /// The arguments behind `?`.
    pub query: Vec<(String, String)>,
    /// What stands behind `#`: a generation, in Google Cloud Storage. Empty everywhere else.
    pub fragment: String,
    /// The folder within the package; empty for the package itself.
    pub folder: String,
}

impl RemoteAddress {
    /// Takes an address apart; shorthands are written out.
    pub fn parse(text: &str) -> Result<RemoteAddress, Error> {
        let (forced, rest) = match text.split_once("::") {
            Some((forced, rest)) if forced.chars().all(char::is_alphanumeric) => (forced, rest),
            _ => ("", text),
        };
        let is_google = forced == "gcs" || forced.is_empty() && rest.contains(".googleapis.com/");
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) if is_google => (rest, fragment),
            _ => (rest, ""),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let start = rest.find("://").map_or(0, |it| it + 3);
        let (address, folder) = match rest[start..].find("//") {
            Some(at) => (&rest[..start + at], rest[start + at + 2..].trim_matches('/')),
            None => (rest, ""),
        };
        let (getter, url, inner) = match address.contains("://") {
            true => (forced, address.to_owned(), String::new()),
            false => shorthand(forced, address)?,
        };
        let getter = Getter::of(getter, url.split_once("://").map_or("", |it| it.0))?;
        let folder = match (inner.as_str(), folder) {
            (inner, "") => inner.to_owned(),
            ("", folder) => folder.to_owned(),
            (inner, folder) => format!("{inner}/{folder}"),
        };
        let folder = if folder.is_empty() { folder } else { clean_path(&folder) };
        if folder == ".." || folder.starts_with("../") || folder.starts_with('/') {
            return Err(format!("the folder {folder:?} lies outside of the package").into());
        }
        let pair = |it: &str| {
            let (name, value) = it.split_once('=').unwrap_or((it, ""));
            (name.to_owned(), value.to_owned())
        };
        let query = query.split('&').filter(|it| !it.is_empty()).map(pair).collect();
        Ok(RemoteAddress { getter, url, query, fragment: fragment.to_owned(), folder })
    }

    /// Returns an argument behind `?`.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns the address to ask, without arguments that are meant for whoever asks.
    pub fn without(&self, names: &[&str]) -> String {
        format!("{}{}", self.url, self.arguments(names))
    }

    /// Returns the address of the package.
    pub fn package(&self) -> String {
        self.written("")
    }

    /// Returns the whole address, as the list of installed modules has it.
    pub fn recorded(&self) -> String {
        match self.folder.as_str() {
            "" => self.package(),
            folder => self.written(&format!("//{folder}")),
        }
    }

    fn written(&self, folder: &str) -> String {
        let fragment = match self.fragment.as_str() {
            "" => String::new(),
            fragment => format!("#{fragment}"),
        };
        format!("{}{}{folder}{}{fragment}", self.getter.forced(), self.url, self.arguments(&[]))
    }

    fn arguments(&self, left_out: &[&str]) -> String {
        let kept = self.query.iter().filter(|it| !left_out.contains(&it.0.as_str()));
        let kept: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
        match kept.is_empty() {
            true => String::new(),
            false => format!("?{}", kept.join("&")),
        }
    }
}

/// Writes a shorthand out: getter, address, folder within the package.
fn shorthand<'a>(forced: &'a str, text: &str) -> Result<(&'a str, String, String), Error> {
    for host in ["github.com", "bitbucket.org"] {
        if let Some(rest) = text.strip_prefix(&format!("{host}/")) {
            let parts: Vec<&str> = rest.splitn(3, '/').collect();
            let [owner, name, inner @ ..] = &parts[..] else {
                return Err(format!("an address on {host} is {host}/OWNER/NAME").into());
            };
            let name = name.strip_suffix(".git").unwrap_or(name);
            let inner = inner.first().copied().unwrap_or_default().to_owned();
            return Ok(("git", format!("https://{host}/{owner}/{name}.git"), inner));
        }
    }
    if let Some((host, path)) = text.split_once(':')
        && (host.contains('@') || forced == "git")
        && !path.starts_with("//")
    {
        return Ok((
            "git",
            format!("ssh://{host}/{}", path.trim_start_matches('/')),
            String::new(),
        ));
    }
    let or = |usual: &'a str| if forced.is_empty() { usual } else { forced };
    if text.contains(".googleapis.com/") {
        return Ok((or("gcs"), in_google(text)?, String::new()));
    }
    if text.contains(".amazonaws.com/") {
        return Ok((or("s3"), in_aws(text)?, String::new()));
    }
    if text.starts_with('/') {
        return Ok((or("file"), format!("file://{text}"), String::new()));
    }
    Err(format!("it is not clear how {text:?} is fetched").into())
}

/// `www.googleapis.com/storage/v1/BUCKET/OBJECT`
fn in_google(text: &str) -> Result<String, Error> {
    let parts: Vec<&str> = text.splitn(5, '/').collect();
    let [_, _, version, bucket, object] = parts[..] else {
        let form =
            "an address in Google Cloud Storage is www.googleapis.com/storage/v1/BUCKET/OBJECT";
        return Err(form.into());
    };
    Ok(format!("https://www.googleapis.com/storage/{version}/{bucket}/{object}"))
}

/// `s3.amazonaws.com/BUCKET/KEY`, `s3-REGION.amazonaws.com/BUCKET/KEY`, `BUCKET.s3.amazonaws.com/KEY`,
/// `BUCKET.s3-REGION.amazonaws.com/KEY`, `BUCKET.s3.REGION.amazonaws.com/KEY`: the bucket comes to stand in the path.
fn in_aws(text: &str) -> Result<String, Error> {
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let labels: Vec<&str> = host.split('.').collect();
    let (service, bucket) = match labels[..] {
        [service, _, _] => (service.to_owned(), ""),
        // The region of an address without a bucket in its host.
        ["s3", region, _, _] => (format!("s3.{region}"), ""),
        [bucket, service, _, _] => (service.to_owned(), bucket),
        [bucket, "s3", region, _, _] => (format!("s3.{region}"), bucket),
        _ => {
            return Err(format!(
                "{host:?} is no host of S3: s3.REGION.amazonaws.com and BUCKET.s3.REGION.amazonaws.com are"
            )
            .into());
        }
    };
    Ok(match bucket {
        "" => format!("https://{service}.amazonaws.com/{path}"),
        bucket => format!("https://{service}.amazonaws.com/{bucket}/{path}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_packages_are_taken_apart_and_written_out() {
        let check = |text: &str, recorded: &str| {
            let address = RemoteAddress::parse(text).map(|it| it.recorded());
            assert_eq!(address.unwrap_or_else(String::from), recorded);
        };
        check("github.com/a/b", "git::https://github.com/a/b.git");
        check("github.com/a/b/c/d?ref=v1", "git::https://github.com/a/b.git//c/d?ref=v1");
        check("bitbucket.org/a/b.git//c", "git::https://bitbucket.org/a/b.git//c");
        check("git@example.com:a/b.git//c?ref=x", "git::ssh://git@example.com/a/b.git//c?ref=x");
        check("git::ssh://git@example.com/a.git", "git::ssh://git@example.com/a.git");
        check("git::https://e.com/a.git//x?depth=1", "git::https://e.com/a.git//x?depth=1");
        check("hg::https://e.com/a//x?rev=default", "hg::https://e.com/a//x?rev=default");
        check("hg::/opt/repository", "hg::file:///opt/repository");
        check("https://e.com/a.zip//x", "https://e.com/a.zip//x");
        check("/opt/modules/x", "file:///opt/modules/x");
        check("ssh://e.com/a", "download not supported for scheme \"ssh\"");
        check("svn::https://e.com/a", "download not supported for scheme \"svn\"");
        check("https://e.com/a.zip//../x", "the folder \"../x\" lies outside of the package");
    }

    #[test]
    fn shorthands_of_buckets_are_written_out() {
        let check = |text: &str, recorded: &str| {
            let address = RemoteAddress::parse(text).map(|it| it.recorded());
            assert_eq!(address.unwrap_or_else(String::from), recorded);
        };
        check("s3::https://e.com/b/k.zip//x?region=r", "s3::https://e.com/b/k.zip//x?region=r");
        check("s3.amazonaws.com/b/k.zip", "s3::https://s3.amazonaws.com/b/k.zip");
        check("s3-eu-west-1.amazonaws.com/b/k", "s3::https://s3-eu-west-1.amazonaws.com/b/k");
        check("s3.eu-west-1.amazonaws.com/b/k", "s3::https://s3.eu-west-1.amazonaws.com/b/k");
        check("b.s3.amazonaws.com/k.zip//x", "s3::https://s3.amazonaws.com/b/k.zip//x");
        check("b.s3-eu-west-1.amazonaws.com/k", "s3::https://s3-eu-west-1.amazonaws.com/b/k");
        check("b.s3.eu-west-1.amazonaws.com/k", "s3::https://s3.eu-west-1.amazonaws.com/b/k");
        check(
            "a.b.s3.eu-west-1.amazonaws.com/k",
            "\"a.b.s3.eu-west-1.amazonaws.com\" is no host of S3: s3.REGION.amazonaws.com and BUCKET.s3.REGION.amazonaws.com are",
        );
        check(
            "www.googleapis.com/storage/v1/b/o.zip//x#42",
            "gcs::https://www.googleapis.com/storage/v1/b/o.zip//x#42",
        );
        check(
            "gcs::https://www.googleapis.com/storage/v1/b/o?archive=zip#42",
            "gcs::https://www.googleapis.com/storage/v1/b/o?archive=zip#42",
        );
        check(
            "www.googleapis.com/storage/v1",
            "an address in Google Cloud Storage is www.googleapis.com/storage/v1/BUCKET/OBJECT",
        );
        check("oci://e.com/a/b//x?tag=1", "oci://e.com/a/b//x?tag=1");
        check("oci::oci://e.com/a/b", "oci://e.com/a/b");
        check(
            "oci::https://e.com/a",
            "an address in a registry of container images begins with oci://",
        );
    }
}
