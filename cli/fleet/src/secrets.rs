//! Names and texts of attributes that hold secrets: older programs do not mark them in states, and a lake is read by many.

use entail::value::json::from_json_implied;
use entail::value::{Str, Value};

/// Words that name a secret, also at the end of a word without separators, such as `clientsecret`.
const WORDS: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "clientkey",
    "connectionstring",
    "credential",
    "dockerconfigjson",
    "kubeconfig",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "sharedkey",
    "signingkey",
    "token",
];

/// What a word contains that names a secret, such as `passwordhash`.
const WORD_PARTS: &[&str] = &["passphrase", "passwd", "password"];

/// The words before `key` that make the two the name of a secret.
const KEYS: &[&str] = &[
    "access",
    "account",
    "api",
    "auth",
    "client",
    "preshared",
    "private",
    "secret",
    "shared",
    "signing",
];

/// Words that together name a secret.
const PHRASES: &[&[&str]] =
    &[&["connection", "string"], &["kube", "config", "raw"], &["kube", "admin", "config", "raw"]];

/// Words that say something of a secret where they end a name: `password_length`, `secret_name`, `access_key_id`.
const DESCRIBING: &[&str] = &[
    "age",
    "algorithm",
    "arn",
    "audience",
    "count",
    "date",
    "day",
    "description",
    "enabled",
    "encryption",
    "endpoint",
    "expiration",
    "expiry",
    "file",
    "filename",
    "fingerprint",
    "format",
    "from",
    "hour",
    "id",
    "identity",
    "interval",
    "issuer",
    "label",
    "length",
    "lifetime",
    "manager",
    "method",
    "minute",
    "mode",
    "name",
    "namespace",
    "path",
    "period",
    "policy",
    "provider",
    "ref",
    "reference",
    "region",
    "required",
    "rotation",
    "scope",
    "second",
    "source",
    "spec",
    "stage",
    "state",
    "status",
    "time",
    "ttl",
    "type",
    "unit",
    "uri",
    "url",
    "usage",
    "use",
    "validity",
    "version",
];

/// Names that sound like a secret and are none; words are parted by `_`.
const EXCEPTIONS: &[&str] = &["http_tokens"];

/// Parts of an object with the name of a secret that only say which one is meant.
const REFERENCES: &[&str] = &[
    "default_mode",
    "description",
    "format",
    "name",
    "namespace",
    "secret_arn",
    "secret_id",
    "secret_name",
    "title",
    "type",
    "valueFrom",
    "value_from",
];

/// Attributes of single types that hold secrets under names that others have, too.
const OF_TYPES: &[(&str, &str)] = &[
    ("kubernetes_secret", "data"),
    ("kubernetes_secret", "binary_data"),
    ("kubernetes_secret_v1", "data"),
    ("kubernetes_secret_v1", "binary_data"),
    ("local_sensitive_file", "content"),
    ("local_sensitive_file", "content_base64"),
    ("random_password", "bcrypt_hash"),
    ("random_password", "result"),
    ("vault_approle_auth_backend_login", "secret_id"),
    ("vault_approle_auth_backend_role_secret_id", "secret_id"),
    ("vault_generic_secret", "data_json"),
    ("vault_kv_secret_v2", "data_json"),
];

/// Returns whether an attribute is taken for a secret although the state does not mark it: by its name, its text, or those of a part.
pub fn is_secret(kind: &str, attribute: &str, value: &Value) -> bool {
    OF_TYPES.contains(&(kind, attribute)) && has_text(value)
        || is_secret_under(attribute, value)
        || has_secret(value)
}

/// Whether a value is a secret because of the name that it has.
fn is_secret_under(name: &str, value: &Value) -> bool {
    if is_name(name) {
        return has_secret_text(value);
    }
    let Some(text) = value.as_str() else { return false };
    match words(name).iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["auth"] | [.., "basic", "auth"] => !text.is_empty(),
        [.., "authorization"] => {
            let text = text.to_ascii_lowercase();
            text.starts_with("basic ") || text.starts_with("bearer ")
        }
        _ => false,
    }
}

/// Whether a name is that of a secret.
fn is_name(name: &str) -> bool {
    // Conditions of policies have keys such as `token.actions.githubusercontent.com:sub`: the last part is the name.
    let name = name.rsplit([':', '/']).next().unwrap_or_default();
    let words = words(name);
    let describes = words.last().is_some_and(|it| is_among(DESCRIBING, it));
    if describes || EXCEPTIONS.contains(&&*words.join("_")) {
        return false;
    }
    let is_word = |word: &String| {
        WORDS.iter().any(|it| word.ends_with(it) || singular(word).ends_with(it))
            || WORD_PARTS.iter().any(|it| word.contains(it))
    };
    let is_key = |two: &[String]| singular(&two[1]) == "key" && is_among(KEYS, &two[0]);
    let is_phrase = |phrase: &&[&str]| {
        words
            .windows(phrase.len())
            .any(|it| it.iter().map(|it| singular(it)).eq(phrase.iter().copied()))
    };
    words.iter().any(is_word)
        || words.windows(2).any(is_key)
        || PHRASES.iter().any(is_phrase)
        || words.last().is_some_and(|it| it == "pass")
}

fn is_among(words: &[&str], word: &str) -> bool {
    words.contains(&word) || words.contains(&singular(word))
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

/// Splits a name into words of small letters: at changes of case, at digits, and at all that is no letter.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let is_after_small = at > 0 && letters[at - 1].is_lowercase();
        let is_before_small = letters.get(at + 1).is_some_and(|it| it.is_lowercase());
        let begins = letter.is_uppercase() && (is_after_small || is_before_small);
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

/// Whether a part of a value is a secret by its name or its text.
fn has_secret(value: &Value) -> bool {
    let bare = value.bare();
    match bare {
        Value::String(text) => is_secret_text(text),
        Value::Object(_) | Value::Map(_) => {
            let entries = bare.entries();
            is_named_pair(&entries)
                || entries.iter().any(|(name, it)| is_secret_under(name, it) || has_secret(it))
        }
        _ => bare.children().any(has_secret),
    }
}

/// Whether entries are a name and a value, as variables of containers are listed, and the name is that of a secret.
fn is_named_pair(entries: &[(Str, &Value)]) -> bool {
    let find = |name: &str| entries.iter().find(|it| it.0.eq_ignore_ascii_case(name));
    let is_secret = |it: &(Str, &Value)| it.1.as_str().is_some_and(is_name);
    let is_named = ["name", "key"].into_iter().any(|it| find(it).is_some_and(is_secret));
    is_named && find("value").is_some_and(|it| has_secret_text(it.1))
}

/// Whether a text holds a secret: an address with a password, a private key, or a document with a secret in it.
fn is_secret_text(text: &str) -> bool {
    let is_document = || text.trim_start().starts_with(['{', '[']);
    let has_part = || from_json_implied(text.trim()).is_ok_and(|it| has_secret(&it));
    has_address_with_password(text)
        || text.contains("PRIVATE KEY-----")
        || is_connection_string(text)
        || is_document() && has_part()
}

/// Whether a text has an address such as `postgres://user:password@host`.
fn has_address_with_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, found)| {
        let rest = &text[at + found.len()..];
        let is_end = |it: char| "/?#\"'<>".contains(it) || it.is_whitespace();
        let authority = rest.split(is_end).next().unwrap_or_default();
        let user = authority.rsplit_once('@').and_then(|it| it.0.split_once(':'));
        user.is_some_and(|it| !it.1.is_empty())
    })
}

/// Whether a text is a list such as `Server=host;Password=…`.
fn is_connection_string(text: &str) -> bool {
    let is_secret = |(name, value): (&str, &str)| is_name(name) && !value.is_empty();
    text.contains(';') && text.split(';').filter_map(|it| it.split_once('=')).any(is_secret)
}

/// Whether a value under the name of a secret holds one: a text that is not only a reference to it.
fn has_secret_text(value: &Value) -> bool {
    let bare = value.bare();
    match bare {
        Value::String(it) => !it.is_empty() && !it.starts_with("arn:"),
        Value::Object(_) | Value::Map(_) => {
            let entries = bare.entries();
            entries.iter().any(|(name, it)| !REFERENCES.contains(&&**name) && has_secret_text(it))
        }
        _ => bare.children().any(has_secret_text),
    }
}

fn has_text(value: &Value) -> bool {
    match value.bare() {
        Value::String(it) => !it.is_empty(),
        bare => bare.children().any(has_text),
    }
}

#[cfg(test)]
mod tests {
    use entail::value::Value;
    use entail::value::json::from_json_implied;

    use super::{is_name, is_secret, words};

    #[test]
    fn secrets_are_known_by_the_end_of_a_name_and_by_parts() {
        let of = |text: &str| -> Value { from_json_implied(text).expect("a value") };
        let cases = [
            ("aws_db_instance", "password", r#""x""#, true),
            ("aws_db_instance", "password", "null", false),
            ("aws_db_instance", "password_length", "3", false),
            ("aws_iam_access_key", "secret", r#""x""#, true),
            ("x", "has_token", "true", false),
            ("random_password", "result", r#""x""#, true),
            ("random_pet", "result", r#""x""#, false),
            ("x", "login", r#"[{"user":"u","password":"p"}]"#, true),
            ("x", "secretary", r#""x""#, false),
            ("x", "secrets", r#"["x"]"#, true),
            ("x", "secrets", r#"[{"name":"a","valueFrom":"b"}]"#, false),
            ("x", "image_pull_secrets", r#"[{"name":"a"}]"#, false),
            ("x", "credentials", r#""arn:aws:iam::1:role/a""#, false),
            ("aws_instance", "metadata_options", r#"[{"http_tokens":"required"}]"#, false),
            ("aws_api_gateway_method", "authorization", r#""AWS_IAM""#, false),
            ("x", "headers", r#"{"Authorization":"Bearer x"}"#, true),
            ("x", "auth", r#""x""#, true),
            ("x", "auth", r#"[{"type":"iam"}]"#, false),
            ("kubernetes_secret", "data", r#"{"name":"x"}"#, true),
            ("vault_approle_auth_backend_role_secret_id", "secret_id", r#""x""#, true),
            ("aws_secretsmanager_secret_version", "secret_id", r#""x""#, false),
        ];
        for (kind, name, value, is) in cases {
            assert_eq!(is_secret(kind, name, &of(value)), is, "{kind}.{name} = {value}");
        }
    }

    #[test]
    fn names_of_secrets_are_known_in_every_notation() {
        let secret = "DB_PASSWORD dbPassword db-password db.password password_1 Password1 passwords \
            passwordHash master_password_hash password_wo ses_smtp_password_v4 dbpassword pwd DB_PWD \
            passwd passphrase DB_PASS admin_pass clientSecret client_secret secrets secret_value \
            secretString SECRET_KEY_BASE clientsecret accessToken apiToken API_TOKEN_PROD tokens \
            authtoken sas_token apikey apiKey APIKey API_KEY api_keys access_key accessKeys \
            secret_access_key primary_access_key account_key private_key private_key_base64 \
            privateKeyPem private_key_pem_pkcs8 preshared_key shared_key signing_key client_key \
            auth_key credential credentials userCredentials connection_string connectionStrings \
            kube_config_raw kube_admin_config_raw app/db/password";
        for name in secret.split_whitespace() {
            assert!(is_name(name), "{name}");
        }
        let open = "key key_name public_key public_key_openssh kms_key_id access_key_id accessKeyId \
            api_key_source private_key_path token_type tokenEndpoint token_ttl secret_name secretName \
            secret_id secret_arn secret_version password_length password_policy password_file \
            password_encryption credentialsMode customer_master_key_spec http_tokens secretary \
            compass bypass passenger author authority tokenize \
            token.actions.githubusercontent.com:sub aws:TokenIssueTime";
        for name in open.split_whitespace() {
            assert!(!is_name(name), "{name}");
        }
        assert_eq!(words("myHTTPToken2-of_it.x"), ["my", "http", "token", "of", "it", "x"]);
    }

    #[test]
    fn secrets_are_known_in_texts_and_documents() {
        let secret = [
            "postgres://u:p@host/db",
            "see redis://:p@host and others",
            r#"{"environment":[{"name":"DB_PASSWORD","value":"x"}]}"#,
            r#" [{"auths":{"host":{"auth":"dTpw"}}}]"#,
            "Server=host;User Id=u;Password=p",
            "-----BEGIN RSA PRIVATE KEY-----\nx",
        ];
        let open = [
            "",
            "https://host:443/a@b",
            "https://user@host/",
            "https://user:@host/",
            r#"{"Condition":{"StringLike":{"token.actions.githubusercontent.com:sub":"repo:a/b"}}}"#,
            r#"{"secrets":[{"name":"DB_PASSWORD","valueFrom":"arn:aws:x"}]}"#,
            r#"[{"name":"password_encryption","value":"scram-sha-256"}]"#,
            "{ password",
            "a=1;b=2",
        ];
        for (texts, is) in [(&secret[..], true), (&open[..], false)] {
            for text in texts {
                assert_eq!(is_secret("x", "body", &Value::string(text)), is, "{text}");
            }
        }
    }
}
