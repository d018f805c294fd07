//! The command line as the log keeps it: without the values of sensitive variables.

/// What stands for a value that is not kept.
const HIDDEN: &str = "(sensitive)";

/// Returns the words of a command line in which the value of each `-var` is hidden whose variable is secret.
pub fn without_secrets(words: &[String], is_secret: impl Fn(&str) -> bool) -> Vec<String> {
    let hide = |given: &str| match given.split_once('=') {
        Some((name, _)) if !is_secret(name.trim()) => given.to_owned(),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        // Nothing says what this is the value of.
        None => HIDDEN.to_owned(),
    };
    let mut kept = Vec::with_capacity(words.len());
    let mut is_value = false;
    for word in words {
        let flag = word.strip_prefix("--").or(word.strip_prefix('-'));
        kept.push(match (std::mem::take(&mut is_value), flag) {
            (true, _) => hide(word),
            (false, Some("var")) => {
                is_value = true;
                word.clone()
            }
            (false, Some(flag)) if flag.starts_with("var=") => {
                let start = word.len() - flag.len() + "var=".len();
                format!("{}{}", &word[..start], hide(&word[start..]))
            }
            _ => word.clone(),
        });
    }
    kept
}

/// Returns words as a shell reads them.
pub fn shown(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    let quoted = |it: &String| match !it.is_empty() && it.chars().all(is_plain) {
        true => it.clone(),
        false => format!("'{}'", it.replace('\'', "'\\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
