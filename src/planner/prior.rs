//! The state after refresh: every object as it was found, where it stands now and whom it is served by.

use std::borrow::Cow;
use std::collections::BTreeSet;

use entail_rules::decide::Decisions;
use entail_rules::{Node, Reason};
use rustc_hash::FxHashSet;

use super::parts::Parts;
use crate::address::{Instance, InstanceKey, Mode, ProviderInstance, Resource};
use crate::lower::structure::{NodeKind, ResourceId, ResourceNode};
use crate::observe::object::Prior;
use crate::request::PlanMode;
use crate::state::{self, InstanceState, ResourceState, State};
use crate::value::{Marked, Str, Value};

/// The state after refresh: what the changes start from. What stays as it is stays shared with the state before.
pub(super) fn prior_state(parts: &Parts<'_, '_>) -> State {
    let mut state = parts.inputs.state.clone();
    state.checks = None;
    let mut records = Records::of(parts);
    for (node, found) in parts.found.iter() {
        let Some(prior) = &found.prior else { continue };
        let kind = parts.observer.values.structure.kind(node);
        let Some((id, key, deposed)) = kind.object() else { continue };
        let resource = parts.observer.values.structure.resource(id);
        if prior.besides.imported.is_some() {
            adopt(parts, &mut state, &resource.address.instance(key.clone()), prior);
        }
        let is_declared = deposed.is_none() && parts.progress.by_node.is_declared(node);
        let seen = Seen { node, id, resource, key, deposed, prior, is_declared };
        records.bring_up_to_date(&mut state, &seen);
    }
    forget_dropped(parts, &mut state);
    if parts.inputs.request.mode != PlanMode::Destroy {
        known_outputs(parts, &mut state);
    }
    store_results(parts, &mut state);
    state
}

/// An object that was looked at.
struct Seen<'s> {
    node: Node,
    id: ResourceId,
    resource: &'s ResourceNode,
    key: &'s InstanceKey,
    deposed: Option<&'s Str>,
    prior: &'s Prior,
    is_declared: bool,
}

/// What is recorded of the resource and the instance of an object.
#[derive(Clone, Copy)]
struct Recorded<'s> {
    resource: &'s ResourceState,
    instance: &'s InstanceState,
}

impl<'s> Recorded<'s> {
    fn of(state: &'s State, seen: &Seen<'_>) -> Option<Recorded<'s>> {
        let resource = state.resources.get_near(&seen.resource.address, seen.resource.recorded)?;
        Some(Recorded { resource, instance: resource.instances.get(seen.key)? })
    }

    fn is_served_by(&self, serving: &ProviderInstance) -> bool {
        *self.resource.provider == serving.config && self.instance.provider_key == serving.key
    }

    fn object(&self, deposed: Option<&Str>) -> Option<&'s state::Object> {
        match deposed {
            Some(key) => self.instance.deposed.get(key).map(|it| &**it),
            None => self.instance.current.as_deref(),
        }
    }
}

/// What becomes of the record of an object.
enum Becomes {
    Same,
    Gone,
    New(Box<state::Object>),
}

/// What is recorded of objects: what was found of them and, of declared ones, what they rest on and how they are to go.
struct Records<'r, 'p, 'a> {
    parts: &'r Parts<'p, 'a>,
    created_before_destroyed: FxHashSet<Node>,
    /// What the block of a resource names: of the one whose several instances are seen one after the other.
    configured: Option<(ResourceId, Vec<Str>)>,
}

impl<'r, 'p, 'a> Records<'r, 'p, 'a> {
    fn of(parts: &'r Parts<'p, 'a>) -> Records<'r, 'p, 'a> {
        let created_before_destroyed = parts.spread.cbd.iter().map(|it| it.0).collect();
        Records { parts, created_before_destroyed, configured: None }
    }

    fn bring_up_to_date(&mut self, state: &mut State, seen: &Seen<'_>) {
        let address = &seen.resource.address;
        let serving = self.parts.observer.serving.known.get(seen.node).filter(|_| seen.is_declared);
        let Some(mut recorded) = Recorded::of(state, seen) else { return };
        if let Some(serving) = serving.filter(|it| !recorded.is_served_by(it)) {
            serve(state, (address, seen.key), serving);
            let Some(again) = Recorded::of(state, seen) else { return };
            recorded = again;
        }
        match self.becomes(recorded, seen) {
            Becomes::Same => {}
            Becomes::Gone => {
                let address = address.instance(seen.key.clone());
                drop(state.remove_object(&address, seen.deposed.map(|it| &**it)));
            }
            Becomes::New(object) => {
                if let Some(record) = object_in(state, (address, seen.key), seen.deposed) {
                    *record = *object;
                }
            }
        }
    }

    fn becomes(&mut self, recorded: Recorded<'_>, seen: &Seen<'_>) -> Becomes {
        let Some(stored) = recorded.object(seen.deposed) else { return Becomes::Same };
        let mut object = Cow::Borrowed(stored);
        if seen.prior.besides.imported.is_none() && !seen.prior.previous.is_null() {
            if seen.prior.value.is_null() {
                return Becomes::Gone;
            }
            refresh(self.parts, &mut object, recorded.resource, seen);
        }
        // An import at once records what it found; what the object rests on is for the next plan to tell.
        if seen.is_declared && self.parts.inputs.request.adopts.is_none() {
            self.complete(&mut object, seen);
        }
        match object {
            Cow::Borrowed(_) => Becomes::Same,
            Cow::Owned(object) => Becomes::New(object.into()),
        }
    }

    /// Records what a declared object rests on, and how it is to go.
    fn complete(&mut self, object: &mut Cow<'_, state::Object>, seen: &Seen<'_>) {
        let parts = self.parts;
        let decisions = &parts.progress.taken.decisions;
        // Of an import that changes nothing the next plan records these.
        let is_known = seen.prior.besides.imported.is_none();
        let first = is_known && self.created_before_destroyed.contains(&seen.node);
        let skip = is_known && parts.progress.by_node.keeps_object(seen.node);
        let configured = self.configured(seen, &object.dependencies);
        let known = recorded_dependencies(decisions, seen.node, &configured, &object.dependencies);
        let is_same = *object.dependencies == *known
            && object.create_before_destroy == first
            && object.skip_destroy == skip;
        if !is_same {
            let known = known.into_owned();
            let object = object.to_mut();
            let is_dropped = object.dependencies.is_empty()
                && object.reads.as_ref().is_some_and(|it| !it.is_empty());
            if *object.dependencies != *known && !is_dropped {
                // What it was made from is not all that it rests on now.
                object.reads = None;
            }
            object.dependencies = known.into();
            object.create_before_destroy = first;
            object.skip_destroy = skip;
        }
    }

    /// What the block of a resource names: looked for once for all of several instances.
    fn configured<'d>(&'d mut self, seen: &Seen<'_>, stored: &'d [Str]) -> Cow<'d, [Str]> {
        let parts = self.parts;
        if seen.resource.instances.len() == 1 {
            return named_by_block(parts, seen, stored);
        }
        let known = self.configured.take().filter(|it| it.0 == seen.id);
        let named = || (seen.id, named_by_block(parts, seen, stored).into_owned());
        (&*self.configured.insert(known.unwrap_or_else(named)).1).into()
    }
}

/// What the block of a resource names, which is likely to be what is stored.
fn named_by_block<'d>(parts: &Parts<'_, '_>, seen: &Seen<'_>, stored: &'d [Str]) -> Cow<'d, [Str]> {
    let graph = parts.inputs.graph;
    let block = graph.block_of(parts.inputs.config, seen.resource);
    block.map_or(Cow::Borrowed(&[]), |it| graph.dependencies_like(it, stored))
}

/// What data sources gave stands in the state, also of those that only a check reads.
fn store_results(parts: &Parts<'_, '_>, state: &mut State) {
    for (node, value) in &parts.progress.results {
        if let NodeKind::Object(resource, key) = parts.observer.values.structure.kind(*node) {
            store_result(parts, state, *resource, key, value);
        }
    }
    for (node, found) in parts.found.iter() {
        if found.reason == Reason::ReadBecauseCheckNested
            && let NodeKind::Object(resource, key) = parts.observer.values.structure.kind(node)
        {
            let marks = found.details.recorded_marks.as_deref().cloned().unwrap_or_default();
            let value = Marked::new(found.after.to_plain(), marks).into();
            store_result(parts, state, *resource, key, &value);
        }
    }
}

/// Takes out what is gone. A data source that is read later keeps its recorded result until it is read: where that fails,
/// providers that it configures still destroy with it.
fn forget_dropped(parts: &Parts<'_, '_>, state: &mut State) {
    for node in parts.progress.dropped.iter().copied() {
        let structure = &parts.observer.values.structure;
        if let Some((resource, key, deposed)) = structure.kind(node).object() {
            let address = structure.resource(resource).address.instance(key.clone());
            state.remove_object(&address, deposed.map(|it| &**it));
        }
    }
}

/// Outputs whose new value is known stand in the state already.
fn known_outputs(parts: &Parts<'_, '_>, state: &mut State) {
    for (name, change) in &parts.outputs {
        let value: Value = change.after.to_plain().into();
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

/// Returns the dependencies that are recorded of an object after the refresh. The rules decide between those of its block, those that
/// are stored, and both.
fn recorded_dependencies<'d>(
    decisions: &Decisions,
    node: Node,
    configured: &'d [Str],
    stored: &'d [Str],
) -> Cow<'d, [Str]> {
    let is = |rows: &[(Node,)]| rows.binary_search(&(node,)).is_ok();
    if is(&decisions.keeps_dependencies) {
        return stored.into();
    }
    if configured == stored || !is(&decisions.adds_dependencies) {
        return configured.into();
    }
    let both: BTreeSet<&Str> = configured.iter().chain(stored).collect();
    both.into_iter().cloned().collect()
}

/// Records what a refresh found.
fn refresh(
    parts: &Parts<'_, '_>,
    object: &mut Cow<'_, state::Object>,
    resource: &ResourceState,
    seen: &Seen<'_>,
) {
    let Seen { prior, .. } = seen;
    let address = &seen.resource.address;
    let name = &address.resource;
    let is_of_another_type = || {
        let moved = parts.inputs.moved.get(&address.instance(seen.key.clone()));
        moved.is_some_and(|old| old.resource.kind != name.kind)
    };
    let provider = &resource.provider.provider;
    let schema = parts.observer.pool.resource_schema(provider, name.mode, &name.kind);
    let Some(schema) = schema else { return };
    let is_current = prior.value == prior.previous
        && object.schema_version == schema.version
        && !prior.besides.is_laid_out_otherwise
        && (parts.inputs.moved.is_empty() || !is_of_another_type());
    let identity = state::objects::stored_identity(prior.besides.identity.as_ref(), schema);
    let is_identified = object.besides.identity == identity;
    if is_current && object.besides.private == prior.besides.private && is_identified {
        return;
    }
    let object = object.to_mut();
    object.set_private(prior.besides.private.clone());
    object.set_identity(identity);
    if !is_current {
        state::objects::encode(object, &prior.value, schema);
    }
}

/// What is looked at is recorded with the provider instance that serves it now.
fn serve(state: &mut State, (address, key): (&Resource, &InstanceKey), serving: &ProviderInstance) {
    let Some(resource) = state.resources.get_mut(address) else { return };
    resource.provider = serving.config.clone().into();
    if let Some(instance) = resource.instances.get_mut(key) {
        instance.provider_key = serving.key.clone();
    }
}

/// An object to be changed.
fn object_in<'s>(
    state: &'s mut State,
    (address, key): (&Resource, &InstanceKey),
    deposed: Option<&Str>,
) -> Option<&'s mut state::Object> {
    let instance = state.resources.get_mut(address)?.instances.get_mut(key)?;
    match deposed {
        Some(key) => instance.deposed.get_mut(key).map(|it| &mut **it),
        None => instance.current.as_deref_mut(),
    }
}

/// An imported object stands in the state that the changes start from.
fn adopt(parts: &Parts<'_, '_>, state: &mut State, address: &Instance, prior: &Prior) {
    let structure = &parts.observer.values.structure;
    let resource = structure.resource_id(&address.of()).map(|it| structure.resource(it));
    let Some(node) = resource.and_then(|it| it.instance(&address.key)) else { return };
    let Some(served) = parts.served_by(node) else { return };
    let Some(schema) = parts.observer.pool.resource_schema(
        &served.config.provider,
        Mode::Managed,
        &address.resource.kind,
    ) else {
        return;
    };
    let identity = state::objects::stored_identity(prior.besides.identity.as_ref(), schema);
    let object = state::objects::new_object(&prior.value, schema)
        .kept_with(prior.besides.private.clone(), identity);
    let entry = state.resources.served_by(address.of(), &served.config);
    let instance = entry.instances.or_default(address.key.clone());
    instance.provider_key = served.key.clone();
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
    let Some(served) = node.instance(key).and_then(|it| parts.served_by(it)) else { return };
    let Some(schema) = parts.observer.pool.resource_schema(
        &served.config.provider,
        Mode::Data,
        &node.address.resource.kind,
    ) else {
        return;
    };
    let object = state::objects::new_object(value, schema);
    let entry = state.resources.now_served_by(node.address.clone(), &served.config);
    let instance = entry.instances.or_default(key.clone());
    instance.provider_key = served.key.clone();
    instance.current = Some(state::Object { reads: None, ..object }.into());
}
