//! Which statements may have to do with each other: found by the names and keys of their ends, not by comparing each with all.

use rustc_hash::FxHashMap;

use super::ends::{End, EndTarget, StepPattern};
use super::statements::Statement;
use crate::address::{InstanceKey, ModuleInstance, Resource, ResourceName, Str};

/// Returns pairs of positions, each once and in order: every pair of which the first begins where the second ends, or of which one
/// is about something inside of an end of the other; and some besides.
pub(super) fn candidates(statements: &[Statement]) -> Vec<(usize, usize)> {
    let (mut ends, mut around_to, mut around_from) =
        (Index::default(), Index::default(), Index::default());
    for (at, it) in statements.iter().enumerate() {
        ends.add(it.to.path(), same(&it.to), at);
        around_to.add_container(&it.to, at);
        around_from.add_container(&it.from, at);
    }
    let mut found = Vec::new();
    for (at, it) in statements.iter().enumerate() {
        ends.find(it.from.path(), &same(&it.from), &mut |other| found.push((at, other)));
        for end in [&it.from, &it.to] {
            around_to.containers_of(end, &mut |other| found.push((at, other)));
            around_from.containers_of(end, &mut |other| found.push((other, at)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|it| it.0 != it.1);
    found
}

/// Statements by the modules that their ends lead to, and by the resources that these name.
#[derive(Default)]
pub(super) struct Naming {
    modules: Index,
    resources: Index,
}

impl Naming {
    pub fn of(statements: &[Statement]) -> Naming {
        let mut naming = Naming::default();
        for (at, it) in statements.iter().enumerate() {
            for end in [&it.from, &it.to] {
                naming.modules.add(end.path(), As::Around, at);
                if let EndTarget::Resource(name) | EndTarget::Instance(name, _) = &end.subject {
                    naming.resources.add(end.path(), As::Whole(name.clone()), at);
                }
            }
        }
        naming
    }

    /// Returns the positions of statements of which an end may lead to a module instance.
    pub fn module(&self, module: &ModuleInstance) -> Vec<usize> {
        let mut found = Vec::new();
        self.modules.find(&exactly(module), &As::Around, &mut |it| found.push(it));
        found
    }

    /// Returns the positions of statements of which an end may name a resource, or an instance of it.
    pub fn resource(&self, address: &Resource) -> Vec<usize> {
        let (path, what) = (exactly(&address.module), As::Whole(address.resource.clone()));
        let mut found = Vec::new();
        self.resources.find(&path, &what, &mut |it| found.push(it));
        found
    }
}

fn exactly(module: &ModuleInstance) -> Vec<StepPattern> {
    module.0.iter().map(|it| (it.0.clone(), Some(it.1.clone()))).collect()
}

/// What an end is looked up as, behind its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum As {
    /// Something that is the same.
    Same(EndTarget),
    /// A module, with all that is in it.
    Around,
    /// A resource, with its instances.
    Whole(ResourceName),
}

fn same(end: &End) -> As {
    match &end.subject {
        EndTarget::Call | EndTarget::Module => As::Same(EndTarget::Module),
        other => As::Same(other.clone()),
    }
}

/// Positions by path. A step without a key matches any.
#[derive(Default)]
struct Index(FxHashMap<(Vec<Str>, As), Vec<Group>>);

/// Those whose paths have keys at the same steps.
struct Group {
    keyed: Vec<bool>,
    by_keys: FxHashMap<Vec<InstanceKey>, Vec<usize>>,
}

impl Index {
    fn add(&mut self, path: &[StepPattern], what: As, at: usize) {
        let keyed: Vec<bool> = path.iter().map(|it| it.1.is_some()).collect();
        let keys = path.iter().filter_map(|it| it.1.clone()).collect();
        let groups = self.0.entry((names(path), what)).or_default();
        let group = match groups.iter().position(|it| it.keyed == keyed) {
            Some(known) => &mut groups[known],
            None => {
                groups.push(Group { keyed, by_keys: FxHashMap::default() });
                groups.last_mut().expect("one was just added")
            }
        };
        group.by_keys.entry(keys).or_default().push(at);
    }

    fn add_container(&mut self, end: &End, at: usize) {
        match &end.subject {
            EndTarget::Call | EndTarget::Module => self.add(end.path(), As::Around, at),
            EndTarget::Resource(it) => self.add(end.path(), As::Whole(it.clone()), at),
            EndTarget::Instance(..) => {}
        }
    }

    /// Calls `visit` with every position whose path overlaps this one, which is as long.
    fn find(&self, path: &[StepPattern], what: &As, visit: &mut dyn FnMut(usize)) {
        let Some(groups) = self.0.get(&(names(path), what.clone())) else { return };
        for group in groups {
            let steps = path.iter().zip(&group.keyed).filter(|it| *it.1);
            let keys: Option<Vec<InstanceKey>> = steps.map(|it| it.0.1.clone()).collect();
            match keys {
                Some(keys) => {
                    group.by_keys.get(&keys).into_iter().flatten().for_each(|it| visit(*it))
                }
                // A step that matches any key meets them all.
                None => group.by_keys.values().flatten().for_each(|it| visit(*it)),
            }
        }
    }

    /// Calls `visit` with every position whose end may hold this one.
    fn containers_of(&self, end: &End, visit: &mut dyn FnMut(usize)) {
        let path = end.path();
        for depth in 1..=path.len() {
            self.find(&path[..depth], &As::Around, visit);
        }
        if let EndTarget::Instance(it, _) = &end.subject {
            self.find(path, &As::Whole(it.clone()), visit);
        }
    }
}

fn names(path: &[StepPattern]) -> Vec<Str> {
    path.iter().map(|it| it.0.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::ends::unify;
    use super::super::statements::nests;
    use super::*;
    use crate::address::{Instance, Module};
    use crate::config::MoveEndpoint;
    use crate::datalog::random;
    use crate::diagnostic::Span;

    fn modules(draw: &mut dyn FnMut(u64) -> u64, most: u64) -> ModuleInstance {
        let keys = [
            InstanceKey::None,
            InstanceKey::Int(0),
            InstanceKey::Int(1),
            InstanceKey::Str("x".into()),
        ];
        let depth = draw(most + 1);
        let step = |_| (["m", "n"][draw(2) as usize].into(), keys[draw(4) as usize].clone());
        ModuleInstance((0..depth).map(step).collect())
    }

    fn endpoint(draw: &mut dyn FnMut(u64) -> u64, is_module: bool) -> MoveEndpoint {
        let module = modules(draw, 2);
        if is_module && !module.is_root() {
            return MoveEndpoint::Module(module);
        }
        let keys = [InstanceKey::None, InstanceKey::Int(0), InstanceKey::Str("x".into())];
        let resource = ResourceName::managed("t", ["a", "b"][draw(2) as usize]);
        MoveEndpoint::Resource(Instance { module, resource, key: keys[draw(3) as usize].clone() })
    }

    #[test]
    fn no_two_statements_that_have_to_do_with_each_other_are_missed() {
        let (mut related, mut all) = (0, 0);
        for seed in 1..300 {
            let mut draw = random::numbers(seed);
            let statements: Vec<Statement> = (0..20)
                .map(|_| {
                    let is_module = draw(2) == 0;
                    let base = modules(&mut draw, 1);
                    let base = Module(base.0.iter().map(|it| it.0.clone()).collect());
                    let ends = [endpoint(&mut draw, is_module), endpoint(&mut draw, is_module)];
                    let (from, to) = unify(&base, &ends[0], &ends[1]);
                    Statement { from, to, declared: Span::default(), implied: false, of: None }
                })
                .collect();
            let found = candidates(&statements);
            for (s, after) in statements.iter().enumerate() {
                for (t, before) in statements.iter().enumerate().filter(|it| it.0 != s) {
                    all += 1;
                    if after.from.can_equal(&before.to) || nests(after, before) {
                        related += 1;
                        assert!(found.binary_search(&(s, t)).is_ok(), "{after} and {before}");
                    }
                }
            }
        }
        assert!(related > 5_000 && related < all / 2, "{related} of {all}");
    }
}
