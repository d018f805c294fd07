//! Key sets that only the walk could know: new instances, and what of the state they leave behind.

use entail_rules::{Facts, Flag, Hit, KeyKind, Node, instances};
use rustc_hash::FxHashMap;

use super::walk::{Part, Progress};
use crate::address::{Instance, InstanceKey, Mode, Resource};
use crate::config::Repetition;
use crate::config::expansion::{self, Keys};
use crate::expression;
use crate::lower::requested::covers;
use crate::lower::structure::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, ResourceId, Style,
};
use crate::observe::Observer;
use crate::request::PlanMode;
use crate::value::Value;

/// The module instances that each stand-in of a pending call turned out to be.
#[derive(Debug, Default)]
pub struct Real {
    modules: FxHashMap<ModuleId, Vec<ModuleId>>,
}

impl Real {
    fn of(&self, observer: &Observer<'_>, module: ModuleId) -> Vec<ModuleId> {
        if observer.values.structure.module(module).pending {
            return self.modules.get(&module).cloned().unwrap_or_default();
        }
        vec![module]
    }
}

/// Expands what is waiting for it.
pub fn expand(observer: &mut Observer<'_>, progress: &mut Progress, real: &mut Real) {
    for node in std::mem::take(&mut progress.to_expand) {
        let outcome = match observer.values.structure.kind(node).clone() {
            NodeKind::Pending(resource) => resource_keys(observer, progress, real, node, resource),
            NodeKind::CallKeys(call) => call_keys(observer, progress, real, call),
            _ => true,
        };
        if !outcome {
            progress.by_node.fail(node);
        }
        observer.values.grow();
        let count = observer.values.structure.nodes.len();
        progress.schedule.skip_to(count);
        progress.parts.resize(count, Part::NoObject);
        observer.values.settle(node, Value::NULL);
        progress.expanded.insert(node);
        progress.schedule.again(node.0);
    }
}

/// Evaluates a repetition; `None` where it cannot be used, which has been reported.
fn keys(
    observer: &Observer<'_>,
    module: ModuleId,
    repetition: &Repetition,
    what: &str,
) -> Option<Vec<(InstanceKey, Option<Value>)>> {
    let Some(expression) = repetition.expression() else {
        return Some(vec![(InstanceKey::None, None)]);
    };
    let scope = observer.values.scope(module);
    let (value, problems) = expression::evaluate(expression, &scope);
    let failed = problems.has_errors();
    observer.values.report(problems);
    if failed {
        return None;
    }
    match expansion::keys(repetition, &value) {
        Keys::Known(keys) => Some(keys),
        Keys::Invalid(problem) => {
            let problem = expansion::blamed(*problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
        // What exists is destroyed, whatever was to be declared.
        Keys::Unknown if observer.request.precedes_destroy => None,
        Keys::Unknown => {
            let problem = expansion::not_known(repetition, what);
            let problem = expansion::blamed(problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
    }
}

fn call_keys(
    observer: &mut Observer<'_>,
    progress: &mut Progress,
    real: &mut Real,
    call: CallId,
) -> bool {
    let (stand_in_parent, name) = (
        observer.values.structure.call(call).parent,
        observer.values.structure.call(call).name.clone(),
    );
    let Some(&stand_in) = observer.values.structure.call(call).instances.get(&InstanceKey::None)
    else {
        return true;
    };
    let mut all = Vec::new();
    let mut passed = true;
    for parent in real.of(observer, stand_in_parent) {
        let config = observer.values.structure.module(parent).config.clone();
        // Of instances that come from different places, only some have this call.
        let Some(block) = config.calls.get(&name) else { continue };
        let what = observer
            .values
            .structure
            .module(parent)
            .address
            .child(&name, InstanceKey::None)
            .to_string();
        let keys = match observer.request.mode != PlanMode::Destroy
            && takes_part(observer, progress, stand_in)
        {
            true => keys(observer, parent, &block.repetition, &what),
            false => Some(existing_modules(observer, parent, &name)),
        };
        let existing = || existing_modules(observer, parent, &name);
        let keys = keys.or_else(|| observer.request.precedes_destroy.then(existing));
        let Some(keys) = keys else {
            passed = false;
            continue;
        };
        let id = match parent == stand_in_parent {
            true => call,
            false => twin(observer, call, parent),
        };
        let structure = &mut observer.values.structure;
        structure.calls[id.index()].instances.clear();
        structure.calls[id.index()].pending = false;
        for (key, each_value) in keys {
            let address = structure.module(parent).address.child(&name, key.clone());
            let mut pattern = structure.module(stand_in).clone();
            if let Some(config) = observer.values.config.module_of(&address) {
                pattern.config = config.clone();
            }
            let child = structure.add_module(ModuleNode {
                address,
                parent: Some((parent, id)),
                key: key.clone(),
                each_value,
                pending: false,
                variables: FxHashMap::default(),
                locals: FxHashMap::default(),
                outputs: Default::default(),
                resources: Default::default(),
                calls: Default::default(),
                checks: Default::default(),
                ..pattern
            });
            structure.calls[id.index()].instances.insert(key, child);
            all.push(child);
        }
    }
    real.modules.insert(stand_in, all);
    passed
}

/// Whether anything in a module whose instances are not known takes part in the run: only then its keys are asked for.
fn takes_part(observer: &Observer<'_>, progress: &Progress, module: ModuleId) -> bool {
    let structure = &observer.values.structure;
    let node = structure.module(module);
    let unfiltered = progress.evaluate_all;
    let is_selected = |it: &ResourceId| {
        structure
            .resource(*it)
            .pending
            .is_some_and(|it| progress.parts[it.0 as usize] == Part::Selected)
    };
    let mut nested = node.calls.values().flat_map(|it| structure.call(*it).instances.values());
    unfiltered
        || node.resources.values().any(is_selected)
        || nested.any(|it| takes_part(observer, progress, *it))
}

/// The instances of a call that the state knows.
fn existing_modules(
    observer: &Observer<'_>,
    parent: ModuleId,
    name: &str,
) -> Vec<(InstanceKey, Option<Value>)> {
    let above = &observer.values.structure.module(parent).address;
    let steps = observer
        .state
        .resources
        .keys()
        .filter_map(|it| it.module.0.strip_prefix(&above.0[..])?.first());
    let keys: std::collections::BTreeSet<InstanceKey> =
        steps.filter(|it| *it.0 == *name).map(|it| it.1.clone()).collect();
    keys.into_iter().map(|it| (it, None)).collect()
}

/// The same call in a module instance that has just been found.
fn twin(observer: &mut Observer<'_>, call: CallId, parent: ModuleId) -> CallId {
    let structure = &mut observer.values.structure;
    let id = CallId(structure.calls.len() as u32);
    let pattern = structure.call(call).clone();
    let name = pattern.name.clone();
    structure.calls.push(CallNode { parent, ..pattern });
    structure.modules[parent.index()].calls.insert(name, id);
    id
}

fn resource_keys(
    observer: &mut Observer<'_>,
    progress: &mut Progress,
    real: &Real,
    pending: Node,
    resource: ResourceId,
) -> bool {
    let Some(stand_in) = observer.values.structure.resource(resource).module else { return true };
    let name = observer.values.structure.resource(resource).address.resource.clone();
    let selected = progress.parts[pending.0 as usize] == Part::Selected;
    let mut passed = true;
    for module in real.of(observer, stand_in) {
        let config = observer.values.structure.module(module).config.clone();
        let Some(block) = config.resources.get(&name) else { continue };
        let address = Resource {
            module: observer.values.structure.module(module).address.clone(),
            resource: name.clone(),
        };
        let keys = match selected && observer.request.mode != PlanMode::Destroy {
            true => keys(observer, module, &block.repetition, &address.to_string()),
            false => Some(existing_keys(observer, &address)),
        };
        let existing = || existing_keys(observer, &address);
        let keys = keys.or_else(|| observer.request.precedes_destroy.then(existing));
        let Some(keys) = keys else {
            passed = false;
            continue;
        };
        let id = real_resource(observer, resource, module, address);
        for (key, _) in keys {
            declare(observer, progress, pending, id, key, selected);
        }
    }
    match passed {
        true => leave_behind(observer, progress, pending, selected),
        false => leave_alone(progress, pending),
    }
    passed
}

fn existing_keys(observer: &Observer<'_>, address: &Resource) -> Vec<(InstanceKey, Option<Value>)> {
    let instances = observer
        .state
        .resources
        .get(address)
        .map(|it| it.instances.keys().cloned().collect::<Vec<_>>());
    instances.unwrap_or_default().into_iter().map(|it| (it, None)).collect()
}

fn real_resource(
    observer: &mut Observer<'_>,
    pattern: ResourceId,
    module: ModuleId,
    address: Resource,
) -> ResourceId {
    let structure = &mut observer.values.structure;
    let known = structure.resource(pattern).clone();
    let name = address.resource.clone();
    let id = if known.address == address {
        pattern
    } else {
        structure.add_resource(address, Some(module), known.style, true)
    };
    structure.modules[module.index()].resources.insert(name, id);
    let node = &mut observer.values.structure.resources[id.index()];
    node.module = Some(module);
    node.declared = true;
    node.style = known.style;
    node.repetition = known.repetition;
    node.collection = known.collection;
    node.provider = known.provider;
    observer.values.grow();
    observer.values.learn_from(id, pattern);
    observer.values.forget_whole(id);
    id
}

fn declare(
    observer: &mut Observer<'_>,
    progress: &mut Progress,
    pending: Node,
    id: ResourceId,
    key: InstanceKey,
    selected: bool,
) {
    let held = observer.values.structure.resource(id).others.contains_key(&key);
    let node = observer.values.structure.add_instance(id, key.clone());
    observer.values.grow();
    observer.values.wait_for(node);
    let address = observer.values.structure.resource(id).address.instance(key);
    progress.schedule.skip_to(node.0 as usize);
    progress.parts.resize(observer.values.structure.nodes.len(), Part::NoObject);
    let excluded = observer.request.excludes.iter().any(|it| covers(&it.target, &address));
    let outside = progress.only_named.contains(&pending)
        && !observer.request.targets.iter().any(|it| covers(&it.target, &address));
    progress.parts[node.0 as usize] = match (selected, excluded, outside) {
        (_, true, _) => Part::Excluded,
        (true, _, false) => Part::Selected,
        (true, _, true) => Part::Untargeted,
        _ => progress.parts[pending.0 as usize],
    };
    let mut facts = Facts { declared: vec![(node,)], ..Facts::default() };
    if !outside {
        facts.late.push((node, pending));
    }
    facts.hit.extend(excluding_flags(observer, &address).map(|flag| (node, Hit::Exclude, flag)));
    match address.resource.mode {
        Mode::Managed => facts.managed.push((node,)),
        Mode::Data => facts.data.push((node,)),
        Mode::Ephemeral => facts.ephemeral.push((node,)),
    }
    facts.object.push((node,));
    facts.member.push((node, pending));
    facts.of.extend(progress.blocks.get(&pending).map(|it| (node, *it)));
    let keeps = observer
        .values
        .structure
        .block(id)
        .is_some_and(|it| it.lifecycle.destroy.is_some_and(|it| !it.0));
    if keeps {
        facts.keeps_object.push((node,));
    }
    facts.reads.extend(progress.by_node.reads_of(pending).iter().map(|it| (node, *it)));
    progress.by_node.hand_on_waits(&mut facts, pending, node);
    if progress.cbd_blocks.contains(&pending) {
        facts.cbd.push((node,));
    }
    progress.by_node.extend(&facts, &[]);
    progress.facts.absorb(&facts);
    observer.leases.as_pending(node, pending);
    match held {
        true => progress.schedule.release_before(node.0, pending.0),
        false => progress.schedule.add_before(node.0, pending.0),
    }
}

/// The flags that leave an instance out by its address. Flags of targets come first.
fn excluding_flags<'o>(
    observer: &'o Observer<'_>,
    address: &Instance,
) -> impl Iterator<Item = Flag> + 'o {
    let first = observer.request.targets.len();
    let address = address.clone();
    let excludes = observer.request.excludes.iter().enumerate();
    excludes
        .filter(move |it| covers(&it.1.target, &address))
        .map(move |it| Flag((first + it.0) as u32))
}

/// Where the keys cannot be known, nothing is said of what the state holds.
fn leave_alone(progress: &mut Progress, pending: Node) {
    for node in progress.late.remove(&pending).unwrap_or_default() {
        progress.parts[node.0 as usize] = Part::Excluded;
        progress.schedule.release_before(node.0, pending.0);
    }
}

/// What the state holds of a block and its new keys do not make is an orphan.
fn leave_behind(
    observer: &mut Observer<'_>,
    progress: &mut Progress,
    pending: Node,
    selected: bool,
) {
    let late = progress.late.remove(&pending).unwrap_or_default();
    let mut facts = Facts { expanded: vec![(pending,)], ..progress.by_node.batch() };
    let mut left = Vec::new();
    for node in late {
        let NodeKind::Object(id, key) = observer.values.structure.kind(node).clone() else {
            continue;
        };
        let resource = observer.values.structure.resource(id);
        if resource.instances.get(&key) == Some(&node) {
            continue;
        }
        let kind = match key {
            InstanceKey::None => KeyKind::Bare,
            InstanceKey::Int(_) => KeyKind::Number,
            InstanceKey::Str(_) => KeyKind::Text,
        };
        facts.in_state.push((node,));
        facts.key_kind.push((node, kind));
        facts.late.push((node, pending));
        if resource.module.is_none() {
            facts.module_gone.push((node,));
        }
        if let Some(block) = progress.blocks.get(&pending) {
            facts.of.push((node, *block));
            facts.repeats.push((*block, repeats(resource.style)));
        }
        let address = resource.address.instance(key);
        let excluded = observer.request.excludes.iter().any(|it| covers(&it.target, &address));
        let outside = progress.only_named.contains(&pending)
            && !observer.request.targets.iter().any(|it| covers(&it.target, &address));
        progress.parts[node.0 as usize] =
            if selected && !excluded && !outside { Part::Selected } else { Part::Excluded };
        left.push(node);
    }
    let judged = instances::judge(&facts);
    progress.facts.absorb(&facts);
    progress.facts.orphan.extend(&judged.orphan);
    progress.by_node.extend(&Facts::default(), &judged.orphan);
    left.into_iter().for_each(|node| progress.schedule.release_before(node.0, pending.0));
}

fn repeats(style: Style) -> entail_rules::Repetition {
    match style {
        Style::Single => entail_rules::Repetition::Single,
        Style::Count => entail_rules::Repetition::Count,
        Style::ForEach => entail_rules::Repetition::ForEach,
        Style::Enabled => entail_rules::Repetition::Enabled,
    }
}
