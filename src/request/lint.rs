//! `-lint=LIST`: which lint rules are asked for.
//!
//! The form of the list is that of OpenTofu's RFC "Built-in Linting". Which identifiers mean anything is not known here.

use std::sync::LazyLock;

use regex::Regex;

use crate::diagnostic::Diagnostic;
use crate::value::text::shown;

/// The identifiers that `-lint` includes and excludes: of lint rules, or of groups of them. Some may mean nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintSelection {
    /// The identifiers to include. If there are none, nothing is asked for.
    pub included: Vec<String>,
    /// The identifiers to exclude, which outweigh those to include.
    pub excluded: Vec<String>,
}

impl LintSelection {
    /// Reads identifiers that are separated by commas. A `!` before an identifier excludes it.
    ///
    /// # Errors
    ///
    /// If an item is no identifier, or no identifier is included.
    pub fn read(list: &str) -> Result<LintSelection, Diagnostic> {
        let mut selection = LintSelection::default();
        for item in list.split(',') {
            let (id, into) = match item.strip_prefix('!') {
                Some(id) => (id, &mut selection.excluded),
                None => (item, &mut selection.included),
            };
            if let Some(wrong) = fault(id) {
                return Err(malformed(list, item, &wrong));
            }
            into.push(id.to_owned());
        }
        match selection.is_empty() {
            true => Err(nothing_included(list)),
            false => Ok(selection),
        }
    }

    /// Returns whether no lint rule is asked for.
    pub fn is_empty(&self) -> bool {
        self.included.is_empty()
    }
}

/// A namespace: a letter or digit, and then anything that can be printed, except a colon.
static NAMESPACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}\p{Nd}][[\p{L}\p{M}\p{N}\p{P}\p{S} ]&&[^:]]*$").expect("a valid expression")
});

/// A name: an identifier without uppercase and titlecase letters.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\p{XID_Start}&&[^\p{Lu}\p{Lt}]][\p{XID_Continue}&&[^\p{Lu}\p{Lt}]]*$")
        .expect("a valid expression")
});

/// Returns what keeps a text from being an identifier.
fn fault(id: &str) -> Option<String> {
    if id == "all" {
        return None;
    }
    match id.split_once(':') {
        _ if id.is_empty() => Some("it is empty".to_owned()),
        None if NAME.is_match(id) => Some(format!("it has no namespace, as core:{id} has")),
        None => Some("it has no namespace".to_owned()),
        Some((namespace, _)) if !NAMESPACE.is_match(namespace) => Some(format!(
            "its namespace {} does not begin with a letter or a digit, or has characters that cannot be printed",
            shown(namespace)
        )),
        Some((_, name)) if !NAME.is_match(name) => Some(format!(
            "its name {} is not an identifier of lowercase letters and digits",
            shown(name)
        )),
        Some(_) => None,
    }
}

/// What the option takes.
const FORM: &str = "hint: -lint takes identifiers separated by commas: all, or NAMESPACE:NAME such as core:confusing. A ! before an identifier excludes it, as in -lint='all,!core:confusing'.";

fn malformed(list: &str, item: &str, wrong: &str) -> Diagnostic {
    Diagnostic::error("Invalid -lint option").detail(format!(
        "Item {} of the list {} is no identifier of a lint rule: {wrong}.\n\n{FORM}",
        shown(item),
        shown(list)
    ))
}

fn nothing_included(list: &str) -> Diagnostic {
    Diagnostic::error("Invalid -lint option").detail(format!(
        "The list {} only excludes lint rules. At least one identifier must stand there without a !.\n\n{FORM}",
        shown(list)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, included: &[&str], excluded: &[&str]) {
        let selection = LintSelection::read(list).expect("the list is right");
        assert_eq!(selection.included, included, "{list}");
        assert_eq!(selection.excluded, excluded, "{list}");
    }

    #[track_caller]
    fn refuse(list: &str, why: &str) {
        let problem = LintSelection::read(list).expect_err("the list is wrong");
        assert_eq!(problem.summary, "Invalid -lint option");
        assert!(problem.detail.contains(why), "{list}: {}", problem.detail);
    }

    #[test]
    fn a_list_includes_and_excludes_identifiers() {
        check("all", &["all"], &[]);
        check("all,!core:unuseddeps", &["all"], &["core:unuseddeps"]);
        check(
            "!core:confusing,core:all,core:mistake",
            &["core:all", "core:mistake"],
            &["core:confusing"],
        );
        check("all,!all", &["all"], &["all"]);
        check("all,all", &["all", "all"], &[]);
    }

    #[test]
    fn identifiers_that_nobody_knows_yet_are_read() {
        let foreign = "registry.example.com/a b/c:size2";
        check(&format!("core:future,{foreign},!9:é"), &["core:future", foreign], &["9:é"]);
        check("core:名前,core:a_b·c", &["core:名前", "core:a_b·c"], &[]);
    }

    #[test]
    fn an_item_that_is_no_identifier_is_named() {
        refuse("", "Item \"\" of the list \"\" is no identifier of a lint rule: it is empty.");
        refuse("all,", "Item \"\" of the list \"all,\"");
        refuse(
            "all,!",
            "Item \"!\" of the list \"all,!\" is no identifier of a lint rule: it is empty.",
        );
        refuse("unuseddeps", "it has no namespace, as core:unuseddeps has.");
        refuse(
            "ALL",
            "Item \"ALL\" of the list \"ALL\" is no identifier of a lint rule: it has no namespace.",
        );
        refuse(
            "all, core:mistake",
            "its namespace \" core\" does not begin with a letter or a digit",
        );
        refuse("!!core:mistake,all", "its namespace \"!core\"");
        refuse("a\tb:c", "its namespace \"a\\tb\"");
        for name in ["", "Mistake", "mistake ", "mis-take", "1st", "a:b", "ǅ", "_a"] {
            refuse(
                &format!("core:{name}"),
                "is not an identifier of lowercase letters and digits.",
            );
        }
        refuse("all,core:Mistake", "Item \"core:Mistake\" of the list \"all,core:Mistake\"");
    }

    #[test]
    fn something_must_be_included() {
        refuse("!core:mistake", "The list \"!core:mistake\" only excludes lint rules.");
    }
}
