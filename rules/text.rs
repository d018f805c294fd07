//! Facts and conclusions as text: `reads(app, db).` – for tests, and for people.
//!
//! Names are free words; each kind of id has its own. Words of a closed vocabulary are written bare: `hit(db, Exclude, f)`.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::atom::{constant, vocabularies};
use crate::facts::Facts;
use crate::ledger::Conclusions;
use crate::tables::Tables;

/// The names of ids, by kind. The id is the name's position.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_kind: BTreeMap<String, Vec<String>>,
}

impl Names {
    /// Returns the number of a name in a column of this kind, giving it the next free one if it is new.
    pub fn word(&mut self, kind: &str, name: &str) -> u64 {
        if let Some(word) = constant(kind, name) {
            return word;
        }
        // Named ids, such as `Module::ROOT`, take the first numbers.
        let reserved = vocabularies().find(|it| it.kind == kind).map_or(0, |it| it.words.len());
        let names =
            self.by_kind.entry(kind.to_owned()).or_insert_with(|| vec![String::new(); reserved]);
        let index = names.iter().position(|it| it == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        index as u64
    }

    /// Returns the name of a number in a column of this kind.
    pub fn name(&self, kind: &str, word: u64) -> String {
        let vocabulary = vocabularies().find(|it| it.kind == kind);
        if let Some(found) = vocabulary.and_then(|it| it.words.iter().find(|it| it.1 == word)) {
            return found.0.to_owned();
        }
        let named = usize::try_from(word).ok().and_then(|it| self.by_kind.get(kind)?.get(it));
        named.cloned().unwrap_or_else(|| word.to_string())
    }

    /// Returns a row as text, without the full stop.
    pub fn row(&self, relation: &str, kinds: &[&str], row: &[u64]) -> String {
        let cells: Vec<String> =
            kinds.iter().zip(row).map(|(kind, word)| self.name(kind, *word)).collect();
        format!("{relation}({})", cells.join(", "))
    }
}

/// Reads `relation(name, name).` sentences, each into the first of `tables` that has the relation; `//` starts a comment.
///
/// # Panics
///
/// If a relation is unknown, or a row does not fit it.
pub fn read(text: &str, names: &mut Names, tables: &mut [&mut dyn Tables]) {
    let without_comments: Vec<&str> =
        text.lines().map(|it| it.split("//").next().unwrap_or_default()).collect();
    for sentence in without_comments.join(" ").split_terminator(").").map(str::trim) {
        if sentence.is_empty() {
            continue;
        }
        let (name, cells) = sentence.split_once('(').expect("a sentence is `relation(names).`");
        let cells: Vec<&str> =
            cells.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        let (known, table) = tables
            .iter_mut()
            .find_map(|it| Some((it.relations().iter().find(|it| it.name == name.trim())?, it)))
            .unwrap_or_else(|| panic!("no relation {name}"));
        assert_eq!(known.columns.len(), cells.len(), "columns of {sentence}");
        let row: Vec<u64> =
            known.columns.iter().zip(cells).map(|(kind, cell)| names.word(kind, cell)).collect();
        assert!(table.push_row(known.name, &row), "{sentence} does not fit");
    }
}

/// Reads sentences into facts and earlier conclusions, wherever each relation belongs.
///
/// # Panics
///
/// Like [`read`].
pub fn read_ledger(text: &str, names: &mut Names) -> (Facts, Conclusions) {
    let (mut facts, mut earlier) = (Facts::default(), Conclusions::default());
    let mut tables: Vec<&mut dyn Tables> = vec![&mut facts];
    tables.extend(earlier.tables_mut());
    read(text, names, &mut tables);
    (facts, earlier)
}

/// Prints every row as a sentence, relation by relation.
pub fn print(tables: &dyn Tables, names: &Names) -> String {
    let mut out = String::new();
    let mut row = Vec::new();
    tables.for_each_relation(&mut |relation, rows| {
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            let _ = writeln!(out, "{}.", names.row(relation.name, relation.columns, &row));
        }
    });
    out
}
