//! What failed, and what the rules hold back because of it: asked of each phase when it is due.

use std::collections::BTreeSet;

use entail_rules::closing::Closing;
use entail_rules::order::Order;
use entail_rules::{Facts, Ledger, Node, Phase};
use rustc_hash::FxHashMap;

use super::Vertex;
use crate::reason::EngineRef;

/// What failed, and what was held back so far.
pub(super) struct Failures<'a> {
    engine: EngineRef,
    order: &'a Order,
    /// What comes straight before each phase; not looked up before something has failed.
    before: Option<FxHashMap<Vertex, Vec<Vertex>>>,
    failed: BTreeSet<Vertex>,
    /// What is held back, each phase with one that it is held back by.
    held: FxHashMap<Vertex, Vertex>,
}

impl<'a> Failures<'a> {
    /// Nothing has failed yet.
    pub(super) fn of(engine: EngineRef, order: &'a Order) -> Failures<'a> {
        Failures {
            engine,
            order,
            before: None,
            failed: BTreeSet::new(),
            held: FxHashMap::default(),
        }
    }

    /// Says that a step failed.
    pub(super) fn add(&mut self, step: Vertex) {
        self.failed.insert(step);
    }

    /// Returns whether the rules hold a phase back. What comes before it is over.
    pub(super) fn hold_back(&mut self, due: Vertex) -> bool {
        if self.failed.is_empty() {
            return false;
        }
        let before = self.before.get_or_insert_with(|| straight_before(self.order));
        let before = before.get(&due).map(Vec::as_slice).unwrap_or_default();
        let rows = before.iter().map(|it| (it.0, it.1, due.0, due.1));
        let failed = before.iter().filter(|it| self.failed.contains(it)).copied();
        let earlier = before.iter().filter_map(|it| Some((*it, *self.held.get(it)?)));
        let earlier = earlier.map(|(held, by)| (held.0, held.1, by.0, by.1));
        let facts = Facts { step_failed: failed.collect(), ..Facts::default() };
        let order = Order { before: rows.collect(), ..Order::default() };
        let earlier = Closing { held_back: earlier.collect(), ..Closing::default() };
        let ledger = Ledger::of(&facts).with(&order).with(&earlier);
        let concluded: Closing = self.engine.conclude(&ledger);
        let by = concluded.held_back.iter().find(|it| (it.0, it.1) == due).map(|it| (it.2, it.3));
        self.held.extend(by.map(|it| (due, it)));
        by.is_some()
    }

    /// Returns what failed of itself, sorted.
    pub(super) fn failed(&self) -> Vec<(Node, Phase)> {
        self.failed.iter().copied().collect()
    }

    /// Returns what failed of itself and holds a phase back.
    pub(super) fn first_cause(&self, held: Vertex) -> Option<Vertex> {
        let mut cause = *self.held.get(&held)?;
        while let Some(earlier) = self.held.get(&cause) {
            cause = *earlier;
        }
        Some(cause)
    }

    /// Returns what was held back.
    pub(super) fn held(&self) -> impl Iterator<Item = Vertex> {
        self.held.keys().copied()
    }
}

fn straight_before(order: &Order) -> FxHashMap<Vertex, Vec<Vertex>> {
    let mut before: FxHashMap<Vertex, Vec<Vertex>> = FxHashMap::default();
    order.before.iter().for_each(|it| before.entry((it.2, it.3)).or_default().push((it.0, it.1)));
    before
}
