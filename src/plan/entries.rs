//! What the entries of a plan file may be called. Nothing is ever unpacked, and still a name that leads anywhere is refused:
//! whoever wrote it did not mean a plan.

/// Returns whether an entry of this name belongs to a plan.
pub(super) fn is_known(name: &str) -> bool {
    match name {
        "tfplan" | "tfstate" | "tfstate-prev" | ".terraform.lock.hcl" | super::signature::ENTRY => {
            true
        }
        _ => match (name.strip_prefix("tfconfig/"), name.strip_prefix("facts/")) {
            (Some(source), _) => is_source(source),
            (_, Some(facts)) => {
                !facts.is_empty() && facts.bytes().all(|it| it.is_ascii_lowercase())
            }
            _ => false,
        },
    }
}

/// Returns whether a name is that of a file below the root module's folder, or below one above it: `../net/main.tf`.
fn is_source(name: &str) -> bool {
    let is_plain = !name.contains(['\0', '\\']) && !name.chars().any(char::is_control);
    let mut steps = name.split('/').skip_while(|it| *it == "..").peekable();
    is_plain && steps.peek().is_some() && steps.all(|it| !["", ".", ".."].contains(&it))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn names_lead_nowhere_else() {
        for name in [
            "tfplan",
            "tfconfig/main.tf",
            "tfconfig/modules.json",
            "tfconfig/../net/main.tf",
            "tfconfig/../../a b/.terraform/modules/x/main.tofu.json",
            "facts/structure",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in [
            "",
            "other",
            "/tfplan",
            "tfconfig/",
            "tfconfig//etc/passwd",
            "tfconfig/a//b.tf",
            "tfconfig/a/../b.tf",
            "tfconfig/./a.tf",
            "tfconfig/..",
            "tfconfig/../..",
            "tfconfig/a/",
            "tfconfig/a\\b.tf",
            "tfconfig/C:\\a.tf",
            "tfconfig/a\nb.tf",
            "tfconfig/a\0b.tf",
            "../tfplan",
            "facts/../x",
            "facts/",
        ] {
            assert!(!is_known(name), "{name:?}");
        }
    }
}
