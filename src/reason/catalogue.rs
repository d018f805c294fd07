//! The catalogue of relations, put together: names, columns and what they hold, who writes, who reads, since when.
//!
//! It is public: rules of one's own, `facts` and other programs rely on it, so that it has a version. The reference, the
//! list of relations and the reader of rules take it from here.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use entail_rules::catalogue::{READERS, VERSION, relations};
use entail_rules::{Facts, Relation, atom};
use serde_json::{Value as Json, json};

use super::shipped;
use crate::diagnostic::Diagnostic;

/// A relation of the catalogue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name, columns, sentence, and since when it is there.
    pub relation: &'static Relation,
    /// Whether the rules are told it; else a stratum concludes it.
    pub is_told: bool,
    /// Who reads it: strata, then rooms of the program.
    pub read_by: Vec<&'static str>,
}

/// Returns every relation: what the rules are told, then what each stratum concludes.
pub fn catalogue() -> &'static [Entry] {
    static CATALOGUE: OnceLock<Vec<Entry>> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let entry = |relation: &'static Relation| Entry {
            relation,
            is_told: Facts::RELATIONS.iter().any(|it| it.name == relation.name),
            read_by: readers(relation),
        };
        relations().into_iter().map(entry).collect()
    })
}

/// The strata that rest on a relation, and the rooms that read it.
fn readers(relation: &Relation) -> Vec<&'static str> {
    let program = shipped::program();
    let number = program.relation(relation.name);
    let strata = entail_rules::TEXTS.iter().map(|it| it.name).filter(|stratum| {
        let own = program.rules.iter().filter(|it| it.source == *stratum);
        own.flat_map(|it| &it.body).any(|it| number.is_some() && it.relation() == number)
    });
    let rooms = READERS.iter().filter(|it| it.0 == relation.name).flat_map(|it| it.1);
    strata.chain(rooms.copied()).collect()
}

impl Entry {
    /// Returns the relation as a sentence begins, such as `reads(n, m)`, and what it says.
    pub fn sentence(&self) -> (String, String) {
        let doc = self.relation.doc.join(" ");
        let (head, says) = doc.trim().split_once(": ").unwrap_or((self.relation.name, doc.trim()));
        (head.trim_matches('`').to_owned(), says.to_owned())
    }

    /// Returns the relation as it is declared, such as `reads(Node, Node)`.
    pub fn declaration(&self) -> String {
        format!("{}({})", self.relation.name, self.relation.columns.join(", "))
    }
}

/// Returns the relation of that name, or all of them.
///
/// # Errors
///
/// If there is none of that name.
pub fn named(name: Option<&str>) -> Result<Vec<&'static Entry>, Diagnostic> {
    let wanted = |it: &&Entry| name.is_none_or(|name| it.relation.name == name);
    let found: Vec<&Entry> = catalogue().iter().filter(wanted).collect();
    match name {
        Some(name) if found.is_empty() => Err(no_such_relation(name)),
        _ => Ok(found),
    }
}

/// Nothing in the catalogue is called that: leads to what answers, by what the name says, else by how it is spelled.
pub fn no_such_relation(name: &str) -> Diagnostic {
    let hint = match name {
        "depends_on" | "depends" | "dependencies" | "dependency" | "references" | "refers_to" => {
            " What the configuration of an object refers to is in \"reads\", and what an existing object was made from in \"needs\"."
                .to_owned()
        }
        _ => {
            let names: BTreeSet<&str> = catalogue().iter().map(|it| it.relation.name).collect();
            let near = names.iter().min_by_key(|it| strsim::levenshtein(it, name));
            near.map_or_else(String::new, |it| format!(" Did you mean \"{it}\"?"))
        }
    };
    Diagnostic::error("No such relation")
        .detail(format!("There is no relation called \"{name}\".{hint}"))
}

/// Returns entries of the catalogue as people read them.
pub fn text(entries: &[&Entry]) -> String {
    let mut out = format!("Catalogue of relations, version {VERSION}\n");
    for entry in entries {
        let how = if entry.is_told { "told by" } else { "concluded by" };
        out.push_str(&format!(
            "\n{}\n  {}: {}\n  {how} {}, read by {}, since {}\n",
            entry.declaration(),
            entry.sentence().0,
            entry.sentence().1,
            entry.relation.group,
            entry.read_by.join(", "),
            entry.relation.since,
        ));
    }
    out
}

/// Returns entries of the catalogue as other programs read them.
///
/// `words` has every closed vocabulary, in the words that rows hold; a column of any other kind holds a name.
pub fn document(entries: &[&Entry]) -> Json {
    let entry = |it: &&Entry| {
        json!({
            "name": it.relation.name,
            "columns": it.relation.columns,
            "says": it.sentence().1,
            "as": it.sentence().0,
            "told": it.is_told,
            "written_by": it.relation.group,
            "read_by": it.read_by,
            "since": it.relation.since,
        })
    };
    let closed = atom::vocabularies().filter(|it| !atom::IDS.contains(&it.kind));
    let words: serde_json::Map<String, Json> = closed
        .map(|it| {
            let texts: Vec<&str> = it.words.iter().map(|word| word.2).collect();
            (it.kind.to_owned(), json!(texts))
        })
        .collect();
    json!({
        "format_version": "1.0",
        "catalogue_version": VERSION,
        "relations": entries.iter().map(entry).collect::<Vec<_>>(),
        "words": words,
    })
}
