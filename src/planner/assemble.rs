//! Conclusions to a plan: changes in address order, the state they start from, what was left out. Chooses nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Hit, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Inputs;
use super::answers;
use super::walk::{Found, Part, Progress};
use crate::address::{Instance, InstanceKey, Mode, ProviderInstance};
use crate::lower::existing::MOST_DEPENDENCIES;
use crate::lower::structure::{NodeKind, ResourceId};
use crate::observe::Observer;
use crate::observe::object::Prior;
use crate::plan::{Action, Change, Identities, LeftOut, OutputChange, Plan};
use crate::request::PlanMode;
use crate::state::{self, ResourceState, State};
use crate::value::path::mark_paths;
use crate::value::{Str, Value};

/// What a plan is put together from.
pub(super) struct Parts<'p, 'a> {
    pub inputs: &'p Inputs<'a>,
    pub observer: &'p Observer<'a>,
    pub progress: &'p Progress,
    pub outputs: BTreeMap<Str, OutputChange>,
    pub selection: &'p Selection,
    pub flags: &'p [String],
    pub facts: &'p Facts,
    pub spread: &'p Spread,
    pub serving: FxHashMap<Node, ProviderInstance>,
}

/// Puts the plan together.
pub(super) fn assemble(parts: Parts<'_, '_>, errored: bool) -> Plan {
    let inputs = parts.inputs;
    let mut changes: Vec<Change> = Vec::with_capacity(parts.progress.found.len());
    let mut drift = Vec::new();
    for (node, found) in &parts.progress.found {
        if inputs.request.mode != PlanMode::RefreshOnly {
            changes.extend(change(&parts, *node, found));
        }
        drift.extend(found.prior.as_ref().and_then(|it| drifted(&parts, *node, it)));
    }
    if inputs.request.mode == PlanMode::Normal {
        changes.extend(parts.progress.gone.iter().filter_map(|it| gone(&parts, it.0, &it.1)));
    }
    changes.sort_by(|a, b| (&a.address, &a.deposed).cmp(&(&b.address, &b.deposed)));
    drift.extend(parts.progress.gone.iter().filter_map(|it| drifted(&parts, it.0, &it.1)));
    drift.sort_by(|a, b| (&a.address, &a.deposed).cmp(&(&b.address, &b.deposed)));
    Plan {
        mode: inputs.request.mode,
        errored,
        drift,
        prior_state: prior_state(&parts),
        previous_state: inputs.state.clone(),
        variables: variables(inputs),
        targets: inputs.request.targets.iter().map(|it| it.target.to_string()).collect(),
        excludes: inputs.request.excludes.iter().map(|it| it.target.to_string()).collect(),
        replaces: inputs.request.replaces.iter().map(|it| it.0.clone()).collect(),
        timestamp: parts.observer.values.plan_time.unwrap_or_else(|| parts.inputs.world.now()),
        left_out: left_out(&parts),
        checks: parts.observer.checks.finish(),
        relevant_attributes: super::relevant::attributes(
            inputs,
            parts.observer.pool,
            &changes,
            &parts.outputs,
            &module_outputs(&parts),
        ),
        workspace: inputs.workspace.to_owned(),
        outputs: parts.outputs,
        changes,
    }
}

/// The outputs of modules that have a value: they are made anew in every plan.
fn module_outputs(parts: &Parts<'_, '_>) -> Vec<(crate::address::ModuleInstance, Str)> {
    if parts.inputs.request.mode == PlanMode::Destroy {
        return Vec::new();
    }
    let structure = &parts.observer.values.structure;
    let mut found = Vec::new();
    for module in structure.modules.iter().filter(|it| !it.address.is_root() && !it.pending) {
        for (name, &node) in &module.outputs {
            if parts.observer.values.value(node).is_ok_and(|it| !it.is_null()) {
                found.push((module.address.clone(), name.clone()));
            }
        }
    }
    found
}

fn variables(inputs: &Inputs<'_>) -> BTreeMap<Str, Value> {
    let all = inputs.variables.iter().filter(|it| !it.1.contains_ephemeral());
    all.map(|(name, value)| (name.clone(), value.unmark_deep().0)).collect()
}

fn change(parts: &Parts<'_, '_>, node: Node, found: &Found) -> Option<Change> {
    let structure = &parts.observer.values.structure;
    let (resource, key, deposed) = match structure.kind(node) {
        NodeKind::Object(resource, key) => (*resource, key, None),
        NodeKind::Deposed(resource, key, deposed) => (*resource, key, Some(deposed.clone())),
        _ => return None,
    };
    let address = structure.resource(resource).address.instance(key.clone());
    let (provider, provider_key) = provider(parts, node, resource, key);
    let ty = parts
        .observer
        .values
        .types
        .get(resource.index())
        .copied()
        .unwrap_or(crate::value::Type::DYNAMIC);
    let before = found.prior.as_ref().map_or(Value::Null(ty), |it| it.value.clone());
    let action = answers::action(found.action);
    Some(Change {
        previous_address: parts
            .inputs
            .moved
            .get(&address)
            .filter(|_| deposed.is_none() && parts.inputs.request.mode != PlanMode::Destroy)
            .cloned(),
        deposes: (action == Action::CreateThenDelete).then(|| new_key(parts)),
        deposed,
        provider,
        provider_key,
        action,
        reason: answers::reason(found.reason),
        before,
        after: match &found.recorded_marks {
            Some(marks) => mark_paths(&found.after.unmark_deep().0, marks),
            None => found.after.clone(),
        },
        replace_paths: found.replace_paths.clone(),
        private: found.private.clone(),
        identity: Identities {
            before: found.prior.as_ref().and_then(|it| it.identity.clone()),
            after: found.identity.clone(),
        },
        importing: found.prior.as_ref().and_then(|it| it.imported.clone()),
        generated_config: parts
            .observer
            .imports
            .generated(&address.config())
            .map(|it| it.0.text.clone()),
        address,
    })
}

fn provider(
    parts: &Parts<'_, '_>,
    node: Node,
    resource: ResourceId,
    key: &InstanceKey,
) -> (crate::address::ProviderConfig, InstanceKey) {
    if let Some(serving) = parts.serving.get(&node) {
        return (serving.config.clone(), serving.key.clone());
    }
    let node = parts.observer.values.structure.resource(resource);
    let recorded = parts.inputs.state.resources.get(&node.address);
    let declared = node.provider.clone().or_else(|| recorded.map(|it| it.provider.clone()));
    let recorded_key =
        recorded.and_then(|it| it.instances.get(key)).map(|it| it.provider_key.clone());
    let config = declared.unwrap_or_else(|| crate::address::ProviderConfig {
        module: Default::default(),
        provider: crate::address::Provider::implied(
            node.address.resource.kind.split('_').next().unwrap_or_default(),
        ),
        alias: None,
    });
    (config, if node.declared { InstanceKey::None } else { recorded_key.unwrap_or_default() })
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
    let nothing = Found {
        action: entail_rules::Action::NoOp,
        reason: entail_rules::Reason::Plain,
        prior: None,
        after: Value::Null(prior.value.ty()),
        private: Vec::new(),
        identity: None,
        replace_paths: Vec::new(),
        recorded_marks: None,
    };
    change(parts, node, &nothing)
}

/// What changed outside: the object as recorded against the object as read.
fn drifted(parts: &Parts<'_, '_>, node: Node, prior: &Prior) -> Option<Change> {
    let structure = &parts.observer.values.structure;
    let NodeKind::Object(resource, key) = structure.kind(node) else { return None };
    let address = structure.resource(*resource).address.instance(key.clone());
    let moved = parts.inputs.moved.get(&address).cloned();
    let is_same = prior.previous == prior.value;
    if prior.previous.is_null()
        || (is_same && (moved.is_none() || parts.inputs.request.mode != PlanMode::RefreshOnly))
    {
        return None;
    }
    let action = match (is_same, prior.value.is_null()) {
        (true, _) => Action::NoOp,
        (_, true) => Action::Delete,
        _ => Action::Update,
    };
    let (provider, provider_key) = provider(parts, node, *resource, key);
    Some(Change {
        address,
        deposed: None,
        previous_address: moved,
        provider,
        provider_key,
        action,
        reason: None,
        before: prior.previous.clone(),
        after: prior.value.clone(),
        replace_paths: Vec::new(),
        private: Vec::new(),
        identity: Identities::default(),
        importing: None,
        generated_config: None,
        deposes: None,
    })
}

/// The state after refresh: what the changes start from.
fn prior_state(parts: &Parts<'_, '_>) -> State {
    let mut state = parts.inputs.state.clone();
    state.checks = None;
    let cbd: FxHashSet<Node> = parts.spread.cbd.iter().map(|it| it.0).collect();
    let mut dependencies: FxHashMap<ResourceId, Vec<Str>> = FxHashMap::default();
    for (node, found) in &parts.progress.found {
        let Some(prior) = &found.prior else { continue };
        let (resource, key, deposed) = match parts.observer.values.structure.kind(*node) {
            NodeKind::Object(resource, key) => (*resource, key.clone(), None),
            NodeKind::Deposed(resource, key, deposed) => {
                (*resource, key.clone(), Some(deposed.clone()))
            }
            _ => continue,
        };
        let address = parts.observer.values.structure.resource(resource).address.instance(key);
        if prior.imported.is_some() {
            adopt(parts, &mut state, &address, prior);
        }
        let declared = deposed.is_none() && parts.progress.by_node.is_declared(*node);
        if declared && let Some(serving) = parts.serving.get(node) {
            serve(&mut state, &address, serving);
        }
        refresh(parts, &mut state, &address, deposed.as_deref(), prior);
        // An import at once records what it found; what the object rests on is for the next plan to tell.
        let rests = declared && parts.inputs.request.adopts.is_none();
        // What stays as it is stays shared with the state before.
        if rests && let Some(object) = state.current(&address) {
            let block = parts.observer.values.structure.block(resource);
            let configured = dependencies.entry(resource).or_insert_with(|| {
                parts.inputs.graph.dependencies(&address.config(), MOST_DEPENDENCIES)
            });
            let known = recorded_dependencies(parts, found, configured, &object.dependencies);
            // Of an import that changes nothing the next plan records these.
            let is_known = prior.imported.is_none();
            let first = is_known && cbd.contains(node);
            let skip =
                is_known && block.is_some_and(|it| it.lifecycle.destroy.is_some_and(|it| !it.0));
            let same = object.dependencies == *known
                && object.create_before_destroy == first
                && object.skip_destroy == skip;
            let known = (!same).then(|| known.into_owned());
            if let Some(known) = known
                && let Some(object) = object_in(&mut state, &address, None)
            {
                object.dependencies = known;
                object.create_before_destroy = first;
                object.skip_destroy = skip;
            }
        }
    }
    // A data source that is read later has no result until then.
    let unread = parts
        .progress
        .found
        .iter()
        .filter(|it| it.1.action == entail_rules::Action::Read)
        .map(|it| it.0);
    for node in parts.progress.dropped.iter().chain(unread) {
        if let Some(address) = parts.observer.values.structure.instance(*node) {
            let deposed = match parts.observer.values.structure.kind(*node) {
                NodeKind::Deposed(_, _, key) => Some(key.clone()),
                _ => None,
            };
            state.remove_object(&address, deposed.as_deref());
        }
    }
    if parts.inputs.request.mode != PlanMode::Destroy {
        known_outputs(parts, &mut state);
    }
    for (node, value) in &parts.progress.results {
        if let NodeKind::Object(resource, key) = parts.observer.values.structure.kind(*node) {
            store_result(parts, &mut state, *resource, key, value);
        }
    }
    state
}

/// Outputs whose new value is known stand in the state already.
fn known_outputs(parts: &Parts<'_, '_>, state: &mut State) {
    for (name, change) in &parts.outputs {
        let (value, _) = change.after.unmark_deep();
        let declared = parts.inputs.config.root().outputs.get(name);
        if value.is_null() {
            // What is declared no more stays until it is removed.
            if declared.is_some() {
                state.outputs.remove(name);
            }
        } else if value.is_wholly_known() {
            let output = state::OutputValue {
                ty: value.ty(),
                value,
                sensitive: declared.is_some_and(|it| it.sensitive),
                deprecated: declared.and_then(|it| it.deprecated.clone()),
            };
            state.outputs.insert(name.clone(), output);
        }
    }
}

/// What an object rests on once it is refreshed: on what its block names where nothing is to be done any more, else
/// still on what it was made from as well.
fn recorded_dependencies<'d>(
    parts: &Parts<'_, '_>,
    found: &Found,
    configured: &'d [Str],
    stored: &'d [Str],
) -> Cow<'d, [Str]> {
    let request = parts.inputs.request;
    if request.mode == PlanMode::Normal && found.action == entail_rules::Action::NoOp {
        return configured.into();
    }
    if request.skip_refresh || configured == stored {
        return stored.into();
    }
    let both: BTreeSet<&Str> = configured.iter().chain(stored).collect();
    both.into_iter().cloned().collect()
}

fn refresh(
    parts: &Parts<'_, '_>,
    state: &mut State,
    address: &Instance,
    deposed: Option<&str>,
    prior: &Prior,
) {
    if prior.imported.is_some() || prior.previous.is_null() {
        return;
    }
    if prior.value.is_null() {
        state.remove_object(address, deposed);
        return;
    }
    let moved = parts.inputs.moved.get(address);
    let is_of_another_type = moved.is_some_and(|old| old.resource.kind != address.resource.kind);
    let Some(resource) = state.resources.get(&address.of()) else { return };
    let Some(instance) = resource.instances.get(&address.key) else { return };
    let stored = match deposed {
        Some(key) => instance.deposed.get(key),
        None => instance.current.as_ref(),
    };
    let schema = parts.observer.pool.resource_schema(
        &resource.provider.provider,
        address.resource.mode,
        &address.resource.kind,
    );
    let (Some(stored), Some(schema)) = (stored, schema) else { return };
    let is_current = prior.value == prior.previous
        && stored.schema_version == schema.version
        && !is_of_another_type;
    let identity = state::objects::stored_identity(prior.identity.as_ref(), schema);
    let is_identified = state::objects::same_identity(&stored.identity, &identity);
    if is_current && stored.private == prior.private && is_identified {
        return;
    }
    let Some(object) = object_in(state, address, deposed) else { return };
    object.private.clone_from(&prior.private);
    object.identity = identity;
    if !is_current {
        state::objects::encode(object, &prior.value, schema);
    }
}

/// What is looked at is recorded with the provider instance that serves it now.
fn serve(state: &mut State, address: &Instance, serving: &ProviderInstance) {
    let of = address.of();
    let Some(resource) = state.resources.get(&of) else { return };
    let Some(instance) = resource.instances.get(&address.key) else { return };
    if resource.provider == serving.config && instance.provider_key == serving.key {
        return;
    }
    let Some(resource) = state.resources.get_mut(&of) else { return };
    resource.provider = serving.config.clone();
    if let Some(instance) = resource.instances.get_mut(&address.key) {
        instance.provider_key = serving.key.clone();
    }
}

/// An object to be changed.
fn object_in<'s>(
    state: &'s mut State,
    address: &Instance,
    deposed: Option<&str>,
) -> Option<&'s mut state::Object> {
    let instance = state.resources.get_mut(&address.of())?.instances.get_mut(&address.key)?;
    match deposed {
        Some(key) => instance.deposed.get_mut(key).map(|it| &mut **it),
        None => instance.current.as_deref_mut(),
    }
}

/// An imported object stands in the state that the changes start from.
fn adopt(parts: &Parts<'_, '_>, state: &mut State, address: &Instance, prior: &Prior) {
    let structure = &parts.observer.values.structure;
    let Some(config) = structure
        .resource_ids
        .get(&address.of())
        .and_then(|it| structure.resource(*it).provider.clone())
    else {
        return;
    };
    let Some(schema) = parts.observer.pool.resource_schema(
        &config.provider,
        Mode::Managed,
        &address.resource.kind,
    ) else {
        return;
    };
    let object = state::Object {
        private: prior.private.clone(),
        identity: state::objects::stored_identity(prior.identity.as_ref(), schema),
        ..state::objects::new_object(&prior.value, schema)
    };
    let node = structure
        .resource_ids
        .get(&address.of())
        .and_then(|it| structure.resource(*it).instance(&address.key));
    let serving = node.and_then(|it| parts.serving.get(&it));
    let config = serving.map_or(config, |it| it.config.clone());
    let entry = state
        .resources
        .entry(address.of())
        .or_insert_with(|| ResourceState { provider: config, instances: BTreeMap::new() }.into());
    let instance = entry.instances.entry(address.key.clone()).or_default();
    instance.provider_key = serving.map(|it| it.key.clone()).unwrap_or_default();
    instance.current = Some(object.into());
}

fn store_result(
    parts: &Parts<'_, '_>,
    state: &mut State,
    resource: ResourceId,
    key: &InstanceKey,
    value: &Value,
) {
    let node = parts.observer.values.structure.resource(resource);
    let Some(config) = node.provider.clone() else { return };
    let Some(schema) = parts.observer.pool.resource_schema(
        &config.provider,
        Mode::Data,
        &node.address.resource.kind,
    ) else {
        return;
    };
    let object = state::objects::new_result(value, schema);
    let entry = state.resources.entry(node.address.clone()).or_insert_with(|| {
        ResourceState { provider: config.clone(), instances: BTreeMap::new() }.into()
    });
    let serving = node.instance(key).and_then(|it| parts.serving.get(&it));
    entry.provider = serving.map_or(config, |it| it.config.clone());
    let instance = entry.instances.entry(key.clone()).or_default();
    instance.provider_key = serving.map(|it| it.key.clone()).unwrap_or_default();
    instance.current = Some(state::Object { reads: None, ..object }.into());
}

/// What each exclusion holds back: every object once, under the first root that leads to it.
fn left_out(parts: &Parts<'_, '_>) -> Vec<LeftOut> {
    let structure = &parts.observer.values.structure;
    let mut causes: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    parts.selection.excluded_by.iter().for_each(|it| causes.entry(it.1).or_default().push(it.0));
    let mut roots: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
    for (node, hit, flag) in &parts.facts.hit {
        if *hit != Hit::Target {
            roots.entry(flag.0).or_default().push(*node);
        }
    }
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    let mut all = Vec::new();
    for (flag, nodes) in roots {
        let mut open = nodes;
        let mut objects = BTreeSet::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            if parts.progress.parts.get(node.0 as usize) == Some(&Part::Excluded) {
                match structure.kind(node) {
                    NodeKind::Pending(_) => {}
                    _ => objects.extend(structure.instance(node)),
                }
            }
            open.extend(causes.get(&node).into_iter().flatten());
        }
        let root = parts
            .inputs
            .request
            .excludes
            .get(flag as usize - parts.inputs.request.targets.len().min(flag as usize))
            .map(|it| it.target.to_string());
        if !objects.is_empty() {
            all.push(LeftOut {
                root: root.unwrap_or_default(),
                flag: parts.flags.get(flag as usize).cloned().unwrap_or_default(),
                objects: objects.iter().map(Instance::to_string).collect(),
            });
        }
    }
    all
}
