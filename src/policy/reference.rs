//! The reference of the library that ships, as Markdown: every rule with its severity, its sentence and the ids under which others know it.

use std::fmt::Write;
use std::sync::OnceLock;

use entail_rules::catalogue::{ADDED, RENAMED};
use entail_rules::library::LIBRARY;

use super::{Policies, PolicySource};
use crate::diagnostic::Sources;

/// Returns the page: one table for each file.
pub fn library_markdown() -> String {
    let sources = PolicySource::library().collect();
    let (policies, _) = Policies::read(sources, &Sources::default());
    let mut out = format!(
        "# The library of policies\n\n{} rules that ship. `-policy=library:aws` brings all for one provider into force, `-policy=library:aws/s3` those of \
         one file, on `plan`, `apply` and `policy check`. Generated from `rules/library/`; where they differ from other tools, and why, say\n\
         [`aws`](policy-library-notes-aws.md), [`azure`](policy-library-notes-azure.md), [`google`](policy-library-notes-google.md) and \
         [`general`](policy-library-notes-general.md).\n",
        policies.rules.len()
    );
    for (file, _) in LIBRARY {
        let group = format!("library:{file}");
        let _ = write!(
            out,
            "\n## {file}\n\n| Rule | Severity | Says | Known as |\n|---|---|---|---|\n"
        );
        for rule in policies.rules.iter().filter(|it| it.group == group) {
            let (severity, ids) = (rule.severity.name(), rule.ids.join(", "));
            let sentence = rule.sentence.replace('|', "\\|");
            let _ = writeln!(out, "| `{}` | {severity} | {sentence} | {ids} |", rule.name);
        }
    }
    out
}

/// A relation of the vocabulary, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationWords {
    /// How it is used: `resource(r, type)`.
    pub usage: String,
    /// The kinds of its columns.
    pub columns: String,
    /// What a row of it says.
    pub says: String,
    /// The version of the catalogue that brought it.
    pub since: &'static str,
    /// Its name in earlier versions, which still means it.
    pub former: Option<&'static str>,
}

impl RelationWords {
    /// Returns its name.
    pub fn name(&self) -> &str {
        self.usage.split('(').next().unwrap_or(&self.usage)
    }

    /// Returns whether a name is its name or its former name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.former == Some(name)
    }
}

/// Returns the vocabulary alone, read once.
pub fn vocabulary_policies() -> &'static Policies {
    static POLICIES: OnceLock<Policies> = OnceLock::new();
    POLICIES.get_or_init(|| Policies::read(Vec::new(), &Sources::default()).0)
}

/// Returns the public relations, in the order of the vocabulary.
pub fn vocabulary() -> &'static [RelationWords] {
    static RELATIONS: OnceLock<Vec<RelationWords>> = OnceLock::new();
    RELATIONS.get_or_init(|| relations(vocabulary_policies()))
}

/// Returns the relations that policies may rely on, in the order of the vocabulary.
pub fn relations(policies: &Policies) -> Vec<RelationWords> {
    let relations = policies.program.relations.iter();
    let ours = relations.filter(|it| !it.name.contains(['@', ':']) && !it.doc.is_empty());
    let told = ours.map(|it| {
        let doc = it.doc.join(" ");
        let (usage, says) = doc.split_once("`: ").unwrap_or((&it.name, &doc));
        let columns = match it.columns.len() {
            // The last column of a verdict is the number of its rule.
            many if many > usage.matches(',').count() + 1 => it.columns[..many - 1].join(", "),
            _ => it.columns.join(", "),
        };
        RelationWords {
            usage: usage.trim_start_matches('`').to_owned(),
            columns,
            says: says.to_owned(),
            since: ADDED.iter().find(|added| added.0 == it.name).map_or("1.0", |added| added.1),
            former: RENAMED.iter().find(|renamed| renamed.1 == it.name).map(|renamed| renamed.0),
        }
    });
    told.collect()
}

/// Returns the file of the library that has a rule of this name.
pub(super) fn file_of(rule: &str) -> Option<&'static str> {
    let is_named = |line: &str| {
        let named =
            line.trim_start().strip_prefix("// @rule ").and_then(|it| it.strip_prefix(rule));
        named.is_some_and(|it| it.starts_with(':'))
    };
    LIBRARY.iter().find(|it| it.1.lines().any(is_named)).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use entail_rules::library::LIBRARY;

    use crate::diagnostic::Sources;
    use crate::policy::{Policies, PolicySource};

    #[test]
    fn the_library_is_whole_and_has_no_problem() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/library");
        let mut files = BTreeSet::new();
        for provider in std::fs::read_dir(&folder).expect("the library").flatten() {
            for file in std::fs::read_dir(provider.path()).expect("a folder").flatten() {
                let path = file.path();
                if path.extension().is_some_and(|it| it == "rules") {
                    let name = path.strip_prefix(&folder).expect("below").with_extension("");
                    files.insert(name.to_string_lossy().into_owned());
                }
            }
        }
        let listed: BTreeSet<String> = LIBRARY.iter().map(|it| it.0.to_owned()).collect();
        assert_eq!(files, listed, "rules/library.rs lists every file of rules/library");
        let all = PolicySource::library().collect();
        let (policies, problems) = Policies::read(all, &Sources::default());
        assert_eq!(problems.0, []);
        for rule in &policies.rules {
            assert!(rule.help.is_some(), "{} says how to mend what it finds", rule.name);
        }
    }
}
