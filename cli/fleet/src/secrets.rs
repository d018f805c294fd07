//! Names of attributes that hold secrets: programs before the present ones do not mark them in states, and a lake is read by many.

use entail::value::Value;

/// What the name of an attribute ends with that holds a secret; words are parted by `_`.
const NAMES: &[&str] = &[
    "access_key",
    "account_key",
    "admin_pass",
    "api_key",
    "auth_key",
    "client_key",
    "connection_string",
    "kube_admin_config_raw",
    "kube_config_raw",
    "passphrase",
    "passwd",
    "password",
    "password_wo",
    "private_key",
    "private_key_openssh",
    "private_key_pem",
    "private_key_pem_pkcs8",
    "sas_token",
    "secret",
    "secret_access_key",
    "secret_binary",
    "secret_data",
    "secret_key",
    "secret_string",
    "shared_key",
    "signing_key",
    "ses_smtp_password_v4",
    "token",
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
    ("vault_generic_secret", "data_json"),
    ("vault_kv_secret_v2", "data_json"),
];

/// Returns whether an attribute is to be taken for a secret, whatever the state says of it: by its own name, or by that of a part.
pub fn is_secret(kind: &str, attribute: &str, value: &Value) -> bool {
    (is_name(attribute) || OF_TYPES.contains(&(kind, attribute))) && holds_text(value)
        || holds_secret(value)
}

fn is_name(name: &str) -> bool {
    NAMES.iter().any(|it| {
        let before = name.strip_suffix(it);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

/// Whether a part of a value has the name of a secret, and holds text.
fn holds_secret(value: &Value) -> bool {
    let bare = value.bare();
    match bare {
        Value::Object(_) | Value::Map(_) => bare
            .entries()
            .into_iter()
            .any(|(name, it)| is_name(&name) && holds_text(it) || holds_secret(it)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null(_) => false,
        _ => bare.children().any(holds_secret),
    }
}

fn holds_text(value: &Value) -> bool {
    match value.bare() {
        Value::String(it) => !it.is_empty(),
        Value::Number(_) | Value::Bool(_) | Value::Null(_) => false,
        bare => bare.children().any(holds_text),
    }
}

#[cfg(test)]
mod tests {
    use entail::value::Value;
    use entail::value::json::from_json_implied;

    use super::is_secret;

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
        ];
        for (kind, name, value, is) in cases {
            assert_eq!(is_secret(kind, name, &of(value)), is, "{kind}.{name} = {value}");
        }
    }
}
