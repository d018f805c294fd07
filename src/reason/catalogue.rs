//! The catalogue of relations, put together: names, columns and what they hold, who writes, who reads, since when.
//!
//! It has a version, because policies, `facts` and other programs use it. The reference, the list of relations
//! (`policy::catalogue`) and the reader of rules take it from here.

use std::sync::OnceLock;

use entail_rules::catalogue::{READERS, relations};
use entail_rules::{Facts, Relation, atom};
use serde_json::{Map, Value as Json, json};

use super::shipped;

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
}

/// Returns every closed vocabulary, by the kind of its column, in the words that rows hold.
pub fn words() -> Map<String, Json> {
    let closed = atom::vocabularies().filter(|it| !atom::IDS.contains(&it.kind));
    closed
        .map(|it| {
            let texts: Vec<&str> = it.words.iter().map(|word| word.2).collect();
            (it.kind.to_owned(), json!(texts))
        })
        .collect()
}
