//! What objects wait for because the arguments of their provider instance depend on it.

use entail_rules::Node;
use entail_rules::instances::Instances;
use entail_rules::providers::Providers;
use rustc_hash::FxHashSet;

use crate::address::Mode;
use crate::lists::Lists;
use crate::lower::structure::{NodeKind, Structure};
use crate::lower::{Lowered, Reads, When, leave_out};
use crate::request::PlanMode;

/// Writes `waits_for` among the things that the arguments of provider instances depend on, in a destroy run.
///
/// Such a run has no `reads`. Managed objects and data sources have the value that the state records; ephemeral
/// resources are opened, so that their own arguments and providers count too.
pub(crate) fn of_arguments(lowered: &mut Lowered, reads: &Reads) {
    let structure = &lowered.structure;
    let read_by = Lists::of(reads.reads.iter().map(|it| (it.0.0, it.1)));
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    let mut open: Vec<Node> = structure.providers.iter().map(|it| it.1).collect();
    while let Some(node) = open.pop() {
        if !seen.insert(node) || has_recorded_value(structure, node) {
            continue;
        }
        let read = read_by.get(node.0);
        lowered.facts.waits_for.extend(read.iter().map(|it| (node, *it)));
        open.extend(read);
    }
}

fn has_recorded_value(structure: &Structure, node: Node) -> bool {
    match structure.kind(node) {
        NodeKind::Object(id, _) => structure.resource(*id).address.resource.mode != Mode::Ephemeral,
        NodeKind::Deposed(..) => true,
        _ => false,
    }
}

/// What the rules concluded of objects before it is known what these wait for.
pub struct Waits<'a> {
    /// Which provider instance serves which object.
    pub providers: &'a Providers,
    /// Which objects exist and are not declared.
    pub instances: &'a Instances,
}

impl Waits<'_> {
    /// Writes `reads(n, p)` for objects that exist and that nothing declares; the trace has written it for the others. In
    /// a destroy run, writes `waits_for(n, p)` for every object whose provider instance depends on anything.
    pub fn lower(&self, lowered: &mut Lowered, mode: PlanMode) {
        match mode {
            PlanMode::Destroy => self.destroyed(lowered),
            PlanMode::Normal | PlanMode::RefreshOnly => self.undeclared(lowered),
        }
        leave_out(&mut lowered.facts, When::Always);
    }

    fn destroyed(&self, lowered: &mut Lowered) {
        let facts = &mut lowered.facts;
        let depends: FxHashSet<Node> = facts.waits_for.iter().map(|it| it.0).collect();
        let managed: FxHashSet<Node> = facts.managed.iter().map(|it| it.0).collect();
        let of_both = self.providers.serves.iter();
        let waiting = of_both.filter(|it| depends.contains(&it.0) && managed.contains(&it.1));
        facts.waits_for.extend(waiting.map(|&(provider, node)| (node, provider)));
        facts.waits_for.sort_unstable();
        facts.waits_for.dedup();
    }

    fn undeclared(&self, lowered: &mut Lowered) {
        let facts = &mut lowered.facts;
        let forgotten: FxHashSet<Node> =
            self.instances.only_forgotten.iter().map(|it| it.0).collect();
        let in_state = facts.in_state.iter().map(|it| it.0);
        let structure = &lowered.structure;
        let gone = in_state.filter(|it| is_undeclared(structure, *it) && !forgotten.contains(it));
        let gone: FxHashSet<Node> = gone.collect();
        if gone.is_empty() {
            return;
        }
        let serving = self.providers.serves.iter().filter(|it| gone.contains(&it.1));
        facts.reads.extend(serving.map(|&(provider, node)| (node, provider)));
        facts.reads.sort_unstable();
        facts.reads.dedup();
    }
}

/// Returns whether a node stands for a managed object without a declaration, or for a deposed object.
pub fn is_undeclared(structure: &Structure, node: Node) -> bool {
    match structure.kind(node) {
        NodeKind::Object(id, key) => {
            let resource = structure.resource(*id);
            resource.address.resource.mode == Mode::Managed
                && resource.instances.get(key) != Some(&node)
        }
        NodeKind::Deposed(..) => true,
        _ => false,
    }
}
