//! The secrets that a request sends, so that an error that repeats one is shown without it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::world::secrets::Secrets;

/// The ends of the names of headers that hold secrets.
const HEADERS: [&str; 4] = ["authorization", "token", "-key", "cookie"];

/// The arguments of an address, and the fields of a form, that hold secrets.
const ARGUMENTS: [&str; 12] = [
    "access_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "password",
    "refresh_token",
    "sig",
    "subject_token",
    "token",
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-signature",
];

/// Returns the secrets in the headers and the address of a request.
pub fn secrets_of(headers: &HeaderMap, url: &Url) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in headers {
        let is_secret = HEADERS.iter().any(|it| name.as_str().ends_with(it));
        if let (true, Ok(text)) = (is_secret, value.to_str()) {
            secrets.add(text);
            add_credentials(&mut secrets, text);
        }
    }
    add_arguments(&mut secrets, url);
    secrets
}

/// Adds the secrets of a form that a request sends as its body. Other bodies have no such fields.
#[cfg(feature = "cloud")]
pub fn add_form(secrets: &mut Secrets, body: &[u8]) {
    let (Ok(mut url), Ok(text)) = (Url::parse("http://form/"), std::str::from_utf8(body)) else {
        return;
    };
    url.set_query(Some(text));
    add_arguments(secrets, &url);
}

/// Adds the parts of `Bearer TOKEN`, `Basic LOGIN` and `SharedKey ACCOUNT:SIGNATURE` that are secrets by themselves.
fn add_credentials(secrets: &mut Secrets, text: &str) {
    let Some((scheme, shown)) = text.split_once(' ') else { return };
    secrets.add(shown);
    let pair = match &*scheme.to_ascii_lowercase() {
        "basic" => STANDARD.decode(shown).ok().and_then(|it| String::from_utf8(it).ok()),
        "sharedkey" => Some(shown.to_owned()),
        _ => None,
    };
    if let Some((_, secret)) = pair.as_deref().and_then(|it| it.split_once(':')) {
        secrets.add(secret);
    }
}

/// Adds the arguments that are secrets, as they are and as the address writes them.
fn add_arguments(secrets: &mut Secrets, url: &Url) {
    let is_secret = |name: &str| ARGUMENTS.contains(&&*name.to_ascii_lowercase());
    for (_, value) in url.query_pairs().filter(|(name, _)| is_secret(name)) {
        secrets.add(&value);
    }
    let written = url.query().unwrap_or_default().split('&').filter_map(|it| it.split_once('='));
    for (_, value) in written.filter(|(name, _)| is_secret(name)) {
        secrets.add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], url: &str, hidden: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("the text of a header"));
        }
        let url = Url::parse(url).expect("an address");
        let shown = secrets_of(&map, &url).hide(hidden);
        assert_eq!(shown, "no: (sensitive).", "{hidden}");
    }

    #[test]
    fn what_a_request_shows_of_its_credentials_is_hidden() {
        let plain = "https://a.example/b";
        check(&[("authorization", "Bearer hush")], plain, "no: hush.");
        check(&[("authorization", "Bearer hush")], plain, "no: Bearer hush.");
        check(&[("authorization", "Basic bWU6aHVzaA==")], plain, "no: hush.");
        check(&[("authorization", "Basic bWU6aHVzaA==")], plain, "no: bWU6aHVzaA==.");
        check(&[("authorization", "SharedKey acc:c2ln")], plain, "no: c2ln.");
        check(&[("x-consul-token", "hush")], plain, "no: hush.");
        check(&[("x-ms-encryption-key", "aHVzaA==")], plain, "no: aHVzaA==.");
        check(&[], "https://a.example/b?sv=1&sig=a%2Bb", "no: a+b.");
        check(&[], "https://a.example/b?sv=1&sig=a%2Bb", "no: a%2Bb.");
    }

    #[cfg(feature = "cloud")]
    #[test]
    fn what_a_form_shows_of_its_credentials_is_hidden() {
        let mut secrets = Secrets::default();
        add_form(&mut secrets, b"grant_type=client_credentials&client_secret=a%2Fb");
        assert_eq!(secrets.hide("client_credentials: a/b"), "client_credentials: (sensitive)");
    }
}
