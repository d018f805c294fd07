//! The rule in which a fault of a policy stands: what is wrong with a rule names it.

use crate::diagnostic::{Diagnostic, Sources};

/// The line above a rule that names it.
const NAME: &str = "// @rule ";

/// Says in which rule a fault stands, where it has a name that is not told yet.
pub(super) fn with_rule(mut problem: Diagnostic, sources: &Sources) -> Diagnostic {
    let name = problem.subject.and_then(|it| {
        let source = sources.get(it.file())?;
        rule_at(source.text(), it.start() as usize).map(str::to_owned)
    });
    if let Some(name) = name.filter(|it| !problem.detail.contains(&format!("`{it}`"))) {
        problem.detail = format!("{} This stands in the rule `{name}`.", problem.detail);
    }
    problem
}

/// The name of the rule around a place. It is read from the text: what is at fault may be no rule at all.
fn rule_at(text: &str, at: usize) -> Option<&str> {
    let end = text.get(at..)?.find('\n').map_or(text.len(), |it| at + it);
    for (number, line) in text[..end].lines().rev().enumerate() {
        if let Some(said) = line.trim_start().strip_prefix(NAME) {
            let name = said.split(':').next().unwrap_or(said).trim();
            return (!name.is_empty()).then_some(name);
        }
        // Another rule ends here. A text that has one in it keeps the name to itself, which is no harm.
        let is_comment = line.trim_start().starts_with("//");
        if number > 0 && !is_comment && line.contains(';') {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::rule_at;

    #[test]
    fn the_rule_around_a_place_is_the_one_that_is_named_above_it() {
        let text = "// @rule a.b: x\n// @help y\ndeny(n, \"m\")\n  <-- resource(n, _);\nown(n) <-- resource(n, _);\n";
        let at = |part: &str| rule_at(text, text.find(part).expect("a part of the text"));
        assert_eq!(at("@help"), Some("a.b"));
        assert_eq!(at("<-- resource"), Some("a.b"));
        assert_eq!(at("own"), None);
    }
}
