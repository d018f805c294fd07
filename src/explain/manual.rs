//! The reference of relations and rules, as `docs/relations.md` has it.

use std::fmt::Write;

use entail_rules::{Facts, Relation, TEXTS};

use crate::datalog::shipped::{self, Conclusions};

/// Returns the text of `docs/relations.md`: what the rules are told, what they conclude, and every rule.
pub fn relations_markdown() -> String {
    let mut out = String::from(
        "# Relations and rules\n\n\
         What the rules are told and what they conclude. Generated from the declarations in `rules/`.\n\n\
         ## What the rules are told\n",
    );
    write_relations(&mut out, Facts::RELATIONS);
    out.push_str("\n## What the rules conclude\n");
    for tables in Conclusions::default().tables() {
        write_relations(&mut out, tables.relations());
    }
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
    out
}

/// Writes one table per group.
fn write_relations(out: &mut String, relations: &[Relation]) {
    let mut group = "";
    for relation in relations {
        if relation.group != group {
            group = relation.group;
            let _ = writeln!(out, "\n### {group}\n\n| Relation | Columns | Says |\n|---|---|---|");
        }
        let doc = relation.doc.join(" ");
        let (head, says) = doc.trim().split_once(": ").unwrap_or((relation.name, doc.trim()));
        let _ = writeln!(out, "| {head} | {} | {says} |", relation.columns.join(", "));
    }
}
