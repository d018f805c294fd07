//! Which values of `backend "s3"` make no sense, alone or together.

use std::time::Duration;

use super::access::{child, member};
use crate::backend::opening::{Opening, Owner};
use crate::diagnostic::Diagnostics;
use crate::value::Value;

/// What was found.
#[derive(Debug)]
pub struct Checks {
    /// Whose arguments they are.
    pub owner: Owner,
    /// What is wrong.
    pub found: Diagnostics,
}

/// Arguments of which one can be set only.
const ALTERNATIVES: &[&[&str]] = &[
    &["kms_key_id", "sse_customer_key"],
    &["shared_credentials_file", "shared_credentials_files"],
    &["force_path_style", "use_path_style"],
    &["allowed_account_ids", "forbidden_account_ids"],
];

/// Older arguments for a role, which `assume_role` has taken the place of.
const OLD_ROLE: &[&str] = &[
    "role_arn",
    "session_name",
    "external_id",
    "assume_role_duration_seconds",
    "assume_role_policy",
    "assume_role_policy_arns",
    "assume_role_tags",
    "assume_role_transitive_tag_keys",
];

impl Checks {
    /// Checks everything that can be told by looking at values.
    pub fn all(&mut self, it: &Opening) {
        let value = |name: &str| it.value(name).unwrap_or(Value::NULL);
        let is_set = |name: &str| !value(name).is_null();
        for (service, old) in [
            ("s3", "endpoint"),
            ("dynamodb", "dynamodb_endpoint"),
            ("iam", "iam_endpoint"),
            ("sts", "sts_endpoint"),
        ] {
            if is_set(old) && child(&value("endpoints"), service).is_some() {
                self.excluding(&[&format!("endpoints.{service}"), old]);
            }
        }
        for name in ["key", "workspace_key_prefix"] {
            let text = it.text(name).unwrap_or_default();
            if text.starts_with('/') || text.ends_with('/') {
                self.wrong(name, "it must not start or end with \"/\"");
            }
        }
        if let Some(key) = it.text("kms_key_id").filter(|it| !is_kms_key(it)) {
            self.wrong(
                "kms_key_id",
                &format!("{key:?} is neither the ID, the alias nor the ARN of a KMS key"),
            );
        }
        let old: Vec<&str> = OLD_ROLE.iter().copied().filter(|it| is_set(it)).collect();
        if is_set("assume_role") && !old.is_empty() {
            let names: Vec<&str> = ["assume_role"].into_iter().chain(old).collect();
            self.excluding(&names);
        }
        for arn in it.texts("assume_role_policy_arns") {
            self.policy("assume_role_policy_arns", &arn);
        }
        self.access(it);
    }

    /// Checks what says how services are reached, and as whom.
    pub fn access(&mut self, it: &Opening) {
        let value = |name: &str| it.value(name).unwrap_or(Value::NULL);
        for group in ALTERNATIVES {
            let is_set = |name: &&str| it.has(name) && !value(name).is_null();
            let set: Vec<&str> = group.iter().copied().filter(is_set).collect();
            if set.len() > 1 {
                self.excluding(&set);
            }
        }
        if let Some(mode) = it.text("retry_mode").filter(|it| it != "standard" && it != "adaptive")
        {
            self.wrong("retry_mode", &format!("{mode:?} is neither \"standard\" nor \"adaptive\""));
        }
        if it.text("access_key").is_some() != it.text("secret_key").is_some() {
            self.wrong("access_key", "it is set together with \"secret_key\" or not at all");
        }
        let nested = value("assume_role");
        if !nested.is_null() && member(&nested, "role_arn").is_none() {
            self.wrong("assume_role", "\"role_arn\" is required in it");
        }
        let web = value("assume_role_with_web_identity");
        if child(&web, "web_identity_token").is_some()
            && child(&web, "web_identity_token_file").is_some()
        {
            self.excluding(&["web_identity_token", "web_identity_token_file"]);
        }
        for (name, role) in [("assume_role", &nested), ("assume_role_with_web_identity", &web)] {
            self.role(name, role);
        }
    }

    fn role(&mut self, name: &str, role: &Value) {
        for text in ["external_id", "policy", "session_name"] {
            if child(role, text)
                .is_some_and(|it| it.as_str().is_some_and(|it| it.trim().is_empty()))
            {
                self.wrong(name, &format!("{text:?} in it must not be empty"));
            }
        }
        if let Some(text) = member(role, "duration") {
            let (least, most) = (Duration::from_secs(15 * 60), Duration::from_secs(12 * 60 * 60));
            if !duration(&text).is_some_and(|it| least <= it && it <= most) {
                let why = format!(
                    "{text:?} is no duration between 15 minutes and 12 hours, as \"1h30m\" is one"
                );
                self.wrong(name, &why);
            }
        }
        for arn in child(role, "policy_arns").unwrap_or(Value::NULL).children() {
            self.policy(name, arn.as_str().unwrap_or_default());
        }
    }

    fn policy(&mut self, name: &str, arn: &str) {
        let resource = arn.splitn(6, ':').nth(5).filter(|_| arn.starts_with("arn:"));
        if !resource.is_some_and(|it| it.starts_with("policy/")) {
            self.wrong(name, &format!("{arn:?} is not the ARN of an IAM policy"));
        }
    }

    fn wrong(&mut self, name: &str, why: &str) {
        self.found.push(self.owner.invalid(name, why));
    }

    fn excluding(&mut self, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|it| format!("{it:?}")).collect();
        let text = format!(
            "Of the arguments {} of the {} (or the environment variables that stand in for them) only one can be set, for they say the \
             same or contradict each other.",
            names.join(", "),
            self.owner
        );
        self.found.push(self.owner.wrong(text));
    }
}

fn is_kms_key(text: &str) -> bool {
    let hex =
        |it: &str, length: usize| it.len() == length && it.bytes().all(|it| it.is_ascii_hexdigit());
    let is_id = |it: &str| {
        let groups: Vec<&str> = it.split('-').collect();
        let is_uuid = groups.len() == 5
            && groups.iter().zip([8, 4, 4, 4, 12]).all(|(it, length)| hex(it, length));
        is_uuid || it.strip_prefix("mrk-").is_some_and(|it| hex(it, 32))
    };
    let is_alias = |it: &str| it.strip_prefix("alias/").is_some_and(|it| !it.is_empty());
    match text.strip_prefix("arn:") {
        Some(rest) => {
            let resource = rest.splitn(5, ':').nth(4).unwrap_or_default();
            resource.strip_prefix("key/").is_some_and(is_id) || is_alias(resource)
        }
        None => is_id(text) || is_alias(text),
    }
}

/// Reads a duration as Go writes it: `1h30m`, `900s`.
pub fn duration(text: &str) -> Option<Duration> {
    const UNITS: &[(&str, f64)] = &[
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|it: char| it.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let size = UNITS.iter().find(|it| it.0 == unit)?.1;
        seconds += number.parse::<f64>().ok()? * size;
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(duration("900s"), Some(Duration::from_secs(900)));
        assert_eq!(duration("1.5h"), Some(Duration::from_secs(5400)));
        for bad in ["", "15", "h", "1d", "-1h", "1 h", "1e99h"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn keys_of_kms_have_forms() {
        for good in [
            "12345678-1234-1234-1234-123456789abc",
            "mrk-0123456789abcdef0123456789abcdef",
            "alias/states",
            "arn:aws:kms:eu-west-1:111122223333:key/12345678-1234-1234-1234-123456789abc",
            "arn:aws:kms:eu-west-1:111122223333:alias/states",
        ] {
            assert!(is_kms_key(good), "{good}");
        }
        for bad in ["", "states", "arn:aws:kms:eu-west-1:111122223333:grant/1", "12345678-1234"] {
            assert!(!is_kms_key(bad), "{bad}");
        }
    }
}
