//! The reference of relations and rules, as `docs/relations.md` has it.

use std::fmt::Write;

use entail_rules::TEXTS;
use entail_rules::catalogue::{FORMER, VERSION};

use crate::reason::catalogue::{Entry, catalogue};
use crate::reason::shipped;

/// Returns the text of `docs/relations.md`: what the rules are told, what they conclude, and every rule.
pub fn relations_markdown() -> String {
    let mut out = format!(
        "# Relations and rules\n\n\
         What the rules are told and what they conclude: the catalogue of relations, version {VERSION}. Generated from the\n\
         declarations in `rules/`; `entail facts -catalogue` prints the same, with `-json` for other programs.\n\n\
         ## What the rules are told\n",
    );
    write_relations(&mut out, catalogue().iter().filter(|it| it.is_told));
    out.push_str("\n## What the rules conclude\n");
    write_relations(&mut out, catalogue().iter().filter(|it| !it.is_told));
    out.push_str("\n## Rules\n");
    let program = shipped::program();
    for text in TEXTS {
        let _ =
            writeln!(out, "\n### {}\n\n| Rule | Concludes | Because |\n|---|---|---|", text.name);
        for rule in program.rules.iter().filter(|it| it.source == text.name) {
            let sentence = rule.sentence.trim_start_matches('(').trim_end_matches(')');
            let _ = writeln!(
                out,
                "| `{}` | `{}` | {sentence} |",
                rule.name, program.relations[rule.head].name
            );
        }
    }
    out.push_str("\n## Former names\n\n| Was | Is now |\n|---|---|\n");
    for (was, is) in FORMER {
        let _ = writeln!(out, "| `{was}` | `{is}` |");
    }
    out
}

/// Writes one table per group.
fn write_relations<'a>(out: &mut String, entries: impl Iterator<Item = &'a Entry>) {
    let mut group = "";
    for entry in entries {
        if entry.relation.group != group {
            group = entry.relation.group;
            let _ = writeln!(
                out,
                "\n### {group}\n\n| Relation | Columns | Says | Read by | Since |\n|---|---|---|---|---|"
            );
        }
        let (head, says) = entry.sentence();
        let _ = writeln!(
            out,
            "| `{head}` | {} | {says} | {} | {} |",
            entry.relation.columns.join(", "),
            entry.read_by.join(", "),
            entry.relation.since,
        );
    }
}
