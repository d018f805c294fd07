//! What the numbers of modules, providers, configurations and keys stand for in explanations, and where they stand.

use std::collections::BTreeMap;

use crate::diagnostic::{Sources, Span};
use crate::lower::serving::Serving;

/// Names and places, as text: they are saved with a plan.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(in crate::operation) struct Words {
    /// What a number stands for, by the kind of column.
    names: BTreeMap<String, BTreeMap<u64, String>>,
    /// Where the block of each provider configuration stands.
    blocks: BTreeMap<u64, String>,
    /// Where each provider configuration says how it repeats.
    repetitions: BTreeMap<u64, String>,
    /// Where the call of each module stands.
    calls: BTreeMap<u64, String>,
    /// Where each move statement stands.
    #[serde(default)]
    statements: BTreeMap<u64, String>,
}

impl Words {
    /// Returns the words of a plan just made.
    ///
    /// - `statements`: what each move statement says, and where it stands.
    pub(in crate::operation) fn of(
        serving: &Serving,
        statements: &[(String, Span)],
        sources: &Sources,
    ) -> Words {
        let place = |(number, span): (u32, Span)| (u64::from(number), sources.place(span));
        let mut names = serving.words();
        let said = statements.iter().enumerate().map(|(at, it)| (at as u64, it.0.clone()));
        names.insert("Statement".to_owned(), said.collect());
        let written = statements.iter().enumerate().map(|(at, it)| (at as u32, it.1));
        Words {
            names,
            statements: written.map(place).collect(),
            blocks: serving.blocks.iter().map(|it| place((it.0.0, *it.1))).collect(),
            repetitions: serving.repetitions.iter().map(|it| place((it.0.0, *it.1))).collect(),
            calls: serving.calls().map(|it| place((it.0.0, it.1))).collect(),
        }
    }

    /// Returns what a number stands for.
    pub(in crate::operation) fn name(&self, kind: &str, number: u64) -> Option<&String> {
        self.names.get(kind)?.get(&number)
    }

    /// Returns where a base fact about providers or moves stands.
    pub(in crate::operation) fn place(&self, relation: &str, row: &[u64]) -> Option<&String> {
        let at = |column: usize| row.get(column);
        match relation {
            "provider_block" => self.blocks.get(at(3)?),
            "provider_node" => self.blocks.get(at(1)?),
            "repeats_provider" | "each_key" => self.repetitions.get(at(0)?),
            "module_parent" | "passes" => self.calls.get(at(0)?),
            "statement" | "chains" | "nests" => self.statements.get(at(0)?),
            _ => None,
        }
    }
}
