//! Conclusions to a plan: changes in address order, the state they start from, what was left out. Chooses nothing.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Hit, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::parts::Parts;
use super::prior::prior_state;
use super::progress::{ObjectDecision, Part};
use super::relevant;
use crate::address::{Instance, InstanceKey};
use crate::config::inputs::RootVariables;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId};
use crate::observe::object::Prior;
use crate::plan::{
    Action, Change, ChangeList, Details, Identities, LeftOut, NotLookedAt, Plan, Reason,
};
use crate::rarely::Rarely;
use crate::reachable::Reachable;
use crate::request::{PlanMode, Selector};
use crate::schema::mark_secrets;
use crate::value::{Marked, Str, Type, Value};

/// Puts the plan together.
pub(super) fn assemble(mut parts: Parts<'_, '_>, errored: bool) -> Plan {
    let inputs = parts.inputs;
    let drift = drift(&parts);
    let prior_state = prior_state(&parts);
    let asks_relevant = inputs.request.is_kept() || !drift.is_empty();
    let made = asks_relevant.then(|| relevant::module_outputs(&parts));
    let moved = only_moved(&parts);
    // The changes hold what is still asked for.
    parts.observer.values.let_go();
    let changes = changes(&mut parts, moved);
    let variables = lasting(&inputs.variables.values);
    let relevant_attributes =
        made.map_or(Vec::new(), |it| relevant::attributes(&parts, &changes, it));
    Plan {
        mode: inputs.request.mode,
        errored,
        drift,
        prior_state,
        previous_state: inputs.state.clone(),
        given_variables: given(inputs.variables, &variables),
        variables,
        targets: asked_by_flags(&inputs.request.targets),
        excludes: asked_by_flags(&inputs.request.excludes),
        replaces: inputs.request.replaces.iter().map(|it| it.instance.clone()).collect(),
        timestamp: parts.observer.values.plan_time.unwrap_or_else(|| parts.inputs.world.now()),
        left_out: left_out(&parts),
        not_looked_at: not_looked_at(&parts),
        checks: parts.observer.checks.finish(),
        relevant_attributes,
        workspace: inputs.workspace.to_owned(),
        outputs: parts.outputs,
        changes,
    }
}

/// What is done with each object. What was found of it is let go of on the way.
///
/// - `moved`: those of objects that only move.
fn changes(parts: &mut Parts<'_, '_>, moved: Vec<Change>) -> ChangeList {
    let mut found = std::mem::take(&mut parts.found);
    let parts = &*parts;
    let mode = parts.inputs.request.mode;
    let mut changes = ChangeList::default();
    if mode != PlanMode::RefreshOnly {
        let in_order = parts.observer.values.structure.objects_in_order();
        let mut places: Vec<(Node, u32)> = in_order.into_iter().zip(0..).collect();
        // Objects lie in memory as they were found, which is nearly the order of nodes.
        places.sort_unstable();
        let count = places.len();
        let all = places.into_iter().map(|(node, place)| {
            (place as usize, found.take(node).and_then(|it| change(parts, node, *it)))
        });
        changes = ChangeList::at_places(count, all);
    }
    let in_order = changes.len();
    if mode == PlanMode::Normal {
        let gone = parts.progress.gone.iter().filter_map(|it| gone(parts, it.0, &it.1));
        changes.extend(gone);
    }
    changes.extend(moved);
    if changes.len() > in_order {
        changes.sort();
    }
    changes
}

/// What changed outside.
fn drift(parts: &Parts<'_, '_>) -> ChangeList {
    let gone: FxHashMap<Node, &Prior> =
        parts.progress.gone.iter().map(|it| (it.0, &it.1)).collect();
    let mut drift = ChangeList::default();
    for &(node, action) in &parts.progress.taken.decisions.drift {
        let found = parts.found.get(node).and_then(|it| it.prior.as_ref());
        let prior = found.or_else(|| gone.get(&node).copied());
        drift.extend(prior.and_then(|it| drifted(parts, node, action, it)));
    }
    drift.sort();
    drift
}

/// Returns what was given for those variables whose values are in the plan.
fn given(variables: &RootVariables, lasting: &BTreeMap<Str, Value>) -> BTreeMap<Str, Value> {
    let given = variables.given.iter().filter(|it| lasting.contains_key(it.0));
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Ephemeral values are in no plan.
fn lasting(variables: &BTreeMap<Str, Value>) -> BTreeMap<Str, Value> {
    let all = variables.iter().filter(|it| !it.1.contains_ephemeral());
    all.map(|(name, value)| (name.clone(), value.to_plain().into())).collect()
}

fn change(parts: &Parts<'_, '_>, node: Node, found: ObjectDecision) -> Option<Change> {
    let structure = &parts.observer.values.structure;
    let (resource, key, deposed) = structure.kind(node).object()?;
    let deposed = deposed.cloned();
    let address = structure.resource(resource).address.instance(key.clone());
    let served_by = parts.served_by(node)?;
    let ty = parts.observer.values.types.get(resource.index()).copied().unwrap_or(Type::DYNAMIC);
    let name = &address.resource;
    let schema =
        parts.observer.pool.resource_schema(&served_by.config.provider, name.mode, &name.kind);
    let schema = schema.filter(|it| it.block.hides());
    // Whoever tells of the plan later may have no schema at hand.
    let marked = |value: Value| match schema {
        Some(schema) => mark_secrets(&value, &schema.block),
        None => value,
    };
    let (before, imported, identity) = match found.prior {
        Some(prior) => {
            let besides = prior.besides.into_inner();
            (prior.value, besides.imported, besides.identity)
        }
        None => (Value::Null(ty), None, None),
    };
    let decided = found.details.into_inner();
    let recorded_marks = decided.recorded_marks;
    let secrets = recorded_marks.as_ref().map(|it| it.sensitive_paths().into());
    let details = Details {
        configured_secrets: secrets,
        previous_address: parts
            .inputs
            .moved
            .get(&address)
            .filter(|_| deposed.is_none() && parts.inputs.request.mode != PlanMode::Destroy)
            .map(|it| Box::new(it.clone())),
        deposes: (found.action == Action::CreateThenDelete).then(|| new_key(parts)),
        replace_paths: decided.replace_paths,
        private: decided.private,
        identity: Identities::of(identity, decided.identity),
        importing: imported,
        generated_config: parts
            .observer
            .imports
            .generated(|| address.config())
            .map(|it| it.0.text.as_str().into()),
    };
    Some(Change {
        deposed,
        served_by,
        action: found.action,
        reason: found.reason,
        before: marked(before),
        after: marked(match recorded_marks {
            Some(marks) => Marked::new(found.after.to_plain(), *marks).into(),
            None => found.after,
        }),
        details: Rarely::of(details),
        address,
    })
}

/// The key under which an old object is deposed: 8 hexadecimal digits.
fn new_key(parts: &Parts<'_, '_>) -> Str {
    let mut bytes = [0; 4];
    parts.inputs.world.random(&mut bytes);
    bytes.iter().map(|it| format!("{it:02x}")).collect::<String>().into()
}

/// A deposed object that is not there any more: OpenTofu's document names it, though nothing is left to do.
fn gone(parts: &Parts<'_, '_>, node: Node, prior: &Prior) -> Option<Change> {
    let NodeKind::Deposed(..) = parts.observer.values.structure.kind(node) else { return None };
    change(parts, node, nothing(prior.value.ty()))
}

/// Objects that are left out and were moved: the state is all that changes.
fn only_moved(parts: &Parts<'_, '_>) -> Vec<Change> {
    match parts.inputs.request.mode {
        PlanMode::Normal => {
            parts.inputs.moved.keys().filter_map(|it| left_out_and_moved(parts, it)).collect()
        }
        _ => Vec::new(),
    }
}

fn left_out_and_moved(parts: &Parts<'_, '_>, address: &Instance) -> Option<Change> {
    let structure = &parts.observer.values.structure;
    let resource = structure.resource(structure.resource_id(&address.of())?);
    let node = resource.instance(&address.key)?;
    if parts.progress.part(node) != Part::Excluded {
        return None;
    }
    let value = parts.observer.values.object(node)?;
    let change = change(parts, node, nothing(value.ty()))?;
    Some(Change { before: value.clone(), after: value.clone(), ..change })
}

fn nothing(ty: Type) -> ObjectDecision {
    ObjectDecision::unplanned(Action::NoOp, Reason::Plain, None, Value::Null(ty))
}

/// What changed outside: the object as recorded against the object as read.
fn drifted(parts: &Parts<'_, '_>, node: Node, action: Action, prior: &Prior) -> Option<Change> {
    let structure = &parts.observer.values.structure;
    let NodeKind::Object(resource, key) = structure.kind(node) else { return None };
    let address = structure.resource(*resource).address.instance(key.clone());
    let moved = parts.inputs.moved.get(&address).cloned();
    let served_by = parts.served_by(node)?;
    let after = prior.besides.identity.clone().filter(|_| !prior.value.is_null());
    let identity = Identities::of(prior.besides.previous_identity.clone(), after);
    let details = Details { previous_address: moved.map(Box::new), identity, ..Details::default() };
    Some(Change {
        address,
        deposed: None,
        served_by,
        action,
        reason: Reason::Plain,
        before: prior.previous.clone(),
        after: prior.value.clone(),
        details: Rarely::of(details),
    })
}

/// Returns whether a block's keys were not asked for, and the state has no instance of it.
fn is_uncounted(parts: &Parts<'_, '_>, node: Node, id: ResourceId) -> bool {
    let structure = &parts.observer.values.structure;
    let resource = structure.resource(id);
    let has_module = |it: ModuleId| {
        let module = structure.module(it);
        let call = module.parent.map(|it| structure.call(it.1));
        !module.pending
            || (module.key == InstanceKey::None && call.is_some_and(|it| it.instances.is_empty()))
    };
    parts.facts.skipped.binary_search(&(node,)).is_ok()
        && resource.instances.is_empty()
        && resource.module.is_some_and(has_module)
}

/// The flags that make the same plan again: what policies ask for they will ask for again.
fn asked_by_flags(selectors: &[Selector]) -> Vec<String> {
    selectors.iter().filter(|it| !it.is_of_policy).map(|it| it.target.to_string()).collect()
}

/// What each exclusion holds back: the objects that it names, and those that depend on them. An object that several
/// exclusions lead to counts for the first of them, and for each that names it.
fn left_out(parts: &Parts<'_, '_>) -> Vec<LeftOut> {
    let mut roots: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
    for (node, hit, flag) in &parts.facts.hit {
        if matches!(hit, Hit::Exclude | Hit::Part) {
            roots.entry(flag.0).or_default().push(*node);
        }
    }
    let mut objects: BTreeMap<u32, BTreeSet<Instance>> = BTreeMap::new();
    for (flag, named) in &roots {
        let own = named.iter().filter_map(|it| excluded(parts, *it));
        objects.entry(*flag).or_default().extend(own);
    }
    let mut listed: FxHashSet<Node> = FxHashSet::default();
    let mut causes = causes(parts);
    follow(parts, &roots, &causes, (&mut listed, &mut objects));
    // What is left out in doubt alone.
    parts.selection.doubted_by.iter().for_each(|it| causes.entry(it.1).or_default().push(it.0));
    follow(parts, &roots, &causes, (&mut listed, &mut objects));
    let request = parts.inputs.request;
    let listed = objects.into_iter().filter(|it| !it.1.is_empty()).map(|(flag, objects)| {
        let number = (flag as usize).checked_sub(request.targets.len());
        let root = number.and_then(|it| request.excludes.get(it)).map(|it| it.target.to_string());
        LeftOut {
            root: root.unwrap_or_default(),
            flag: parts.flags.get(flag as usize).cloned().unwrap_or_default(),
            objects: objects.iter().map(Instance::to_string).collect(),
        }
    });
    listed.collect()
}

/// Adds to each exclusion what is left out because of it, as far as it is not listed yet.
fn follow(
    parts: &Parts<'_, '_>,
    roots: &BTreeMap<u32, Vec<Node>>,
    causes: &FxHashMap<Node, Vec<Node>>,
    (listed, objects): (&mut FxHashSet<Node>, &mut BTreeMap<u32, BTreeSet<Instance>>),
) {
    let mut reachable =
        Reachable::from([], |it: Node| causes.get(&it).into_iter().flatten().copied());
    for (flag, named) in roots {
        reachable.start(named.iter().copied());
        for node in reachable.by_ref() {
            if let Some(object) = excluded(parts, node).filter(|_| listed.insert(node)) {
                objects.entry(*flag).or_default().insert(object);
            }
        }
    }
}

/// What is left out because of each node.
fn causes(parts: &Parts<'_, '_>) -> FxHashMap<Node, Vec<Node>> {
    let mut causes: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let by = parts.selection.excluded_by.iter();
    by.for_each(|it| causes.entry(it.1).or_default().push(it.0));
    // What stays leads to what it rests on, also through all instances of a resource, which are no object.
    let stays: FxHashSet<Node> = parts.selection.kept.iter().map(|it| it.0).collect();
    let rests = parts.facts.needs.iter().filter(|it| stays.contains(&it.0));
    rests.for_each(|it| causes.entry(it.0).or_default().push(it.1));
    causes
}

/// Returns the address of an object that is left out because of an exclusion. A block whose keys were not asked for is one.
fn excluded(parts: &Parts<'_, '_>, node: Node) -> Option<Instance> {
    let structure = &parts.observer.values.structure;
    match structure.kind(node) {
        _ if parts.progress.part(node) != Part::Excluded => None,
        NodeKind::Pending(id) if is_uncounted(parts, node, *id) => {
            // How many it would have is not known: it counts as one.
            Some(structure.resource(*id).address.instance(InstanceKey::None))
        }
        NodeKind::Pending(_) => None,
        _ => structure.instance(node),
    }
}

/// Counts what the run does not look at because of its flags.
fn not_looked_at(parts: &Parts<'_, '_>) -> NotLookedAt {
    let is_counted = |node: Node| match parts.observer.values.structure.kind(node) {
        NodeKind::Pending(id) => is_uncounted(parts, node, *id),
        _ => true,
    };
    let untargeted = parts.selection.untargeted.iter().filter(|it| is_counted(it.0)).count();
    NotLookedAt { untargeted, data: parts.progress.taken.decisions.reuses.len() }
}
