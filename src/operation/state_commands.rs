//! What the `state` commands and `taint` do with a state: each a function from a state to a state and what to say.
//!
//! Reading, locking and writing is the caller's.

use crate::world::PROGRAM;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

pub use super::state_problems::{missing_is_allowed, no_state};
use super::state_problems::{no_instance, no_such, nothing_to_remove, unknown};
use crate::address::target::Target;
use crate::address::{Instance, InstanceKey, ModuleInstance, Provider, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{Attributes, InstanceState, Object, ResourceState, State, Status};
use crate::value::Str;

mod moves;

pub use self::moves::mv;

/// Whether a command changes the state or only says what it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Change it.
    Real,
    /// `-dry-run`
    Dry,
}

/// Lists the instances that any of the filters names, all of them without a filter, in address order filter by filter.
///
/// - `id`: only instances whose attribute `id` is this.
pub fn list(
    state: &State,
    filters: &[Target],
    id: Option<&str>,
) -> Result<Vec<Instance>, Diagnostics> {
    let mut found = Vec::new();
    let mut diagnostics = Diagnostics::new();
    if filters.is_empty() {
        found = state.instances().map(|it| it.0).collect();
    }
    for filter in filters {
        let some = matching(state, filter);
        if some.is_empty() {
            diagnostics.push(unknown(filter));
        }
        found.extend(some);
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if let Some(id) = id {
        found.retain(|it| state.current(it).and_then(object_id).as_deref() == Some(id));
    }
    Ok(found)
}

/// Returns the one instance that `state show` is about, and its object.
pub fn show<'a>(
    state: &'a State,
    address: &Instance,
) -> Result<(&'a ResourceState, &'a Object), Diagnostic> {
    let resource = state.resources.get(&address.of());
    let instance = resource.and_then(|it| Some((it, it.instances.get(&address.key)?)));
    let object = |it: &'a InstanceState| {
        it.current.as_deref().or_else(|| it.deposed.values().next().map(|it| &**it))
    };
    instance.and_then(|(resource, it)| Some((&**resource, object(it)?))).ok_or_else(no_instance)
}

/// Returns a state that has nothing but one instance.
pub fn only(state: &State, address: &Instance) -> State {
    let mut only = State { outputs: Default::default(), unconfirmed: Vec::new(), ..state.clone() };
    only.resources.retain(|it, _| *it == address.of());
    only.resources.values_mut().for_each(|it| it.instances.retain(|key, _| *key == address.key));
    only
}

/// Forgets instances with all their objects. Returns the lines to print.
pub fn remove(state: &mut State, targets: &[Target], run: Run) -> Result<Vec<String>, Diagnostics> {
    let mut found: Vec<Instance> = targets.iter().flat_map(|it| matching(state, it)).collect();
    found.extend(unconfirmed(state, targets, &found));
    let verb = if run == Run::Dry { "Would remove" } else { "Removed" };
    let mut lines: Vec<String> = found.iter().map(|it| format!("{verb} {it}")).collect();
    if run == Run::Dry {
        if found.is_empty() {
            lines.push("Would have removed nothing.".into());
        }
        return Ok(lines);
    }
    if found.is_empty() {
        return Err(nothing_to_remove().into());
    }
    forget(state, &found);
    found.iter().for_each(|it| state.confirm(it));
    lines.push(format!("Successfully removed {} resource instance(s).", found.len()));
    Ok(lines)
}

/// Finds the instances without an object of which the state notes that one may exist.
fn unconfirmed(state: &State, targets: &[Target], found: &[Instance]) -> Vec<Instance> {
    let is_named = |it: &Instance| {
        targets.iter().any(|target| match target {
            Target::Module(module) => contains(module, &it.module),
            Target::Resource(address) => it.of() == *address,
            Target::Instance(address) => it == address,
        })
    };
    let notes = state.unconfirmed.iter().map(|it| &it.address);
    notes.filter(|it| is_named(it) && !found.contains(it)).cloned().collect()
}

/// Takes instances out with all their objects; what rested on one of them now rests on what that one rested on.
pub fn forget(state: &mut State, addresses: &[Instance]) {
    let mut reads: FxHashMap<String, Vec<Str>> = FxHashMap::default();
    let mut dependencies: FxHashMap<String, Vec<Str>> = FxHashMap::default();
    for address in addresses {
        let of = address.of();
        let Some(resource) = state.resources.get_mut(&of) else { continue };
        let Some(gone) = resource.instances.remove(&address.key) else { continue };
        let objects = || gone.current.iter().chain(gone.deposed.values());
        // Records name an instance, or all of its resource.
        for name in [address.to_string(), of.to_string()] {
            let found = objects().flat_map(|it| it.reads.iter().flatten().cloned());
            reads.entry(name).or_default().extend(found);
        }
        let block = dependencies.entry(address.config().to_string()).or_default();
        block.extend(objects().flat_map(|it| it.dependencies.iter().cloned()));
        if resource.instances.is_empty() {
            state.resources.remove(&of);
        }
    }
    // A block that still has an instance anywhere goes on standing for itself.
    dependencies.retain(|_, it| !it.is_empty());
    if !dependencies.is_empty() {
        let left: FxHashSet<String> =
            state.resources.keys().map(|it| it.config().to_string()).collect();
        dependencies.retain(|block, _| !left.contains(block));
    }
    let removed: BTreeSet<Resource> = addresses.iter().map(Instance::of).collect();
    let stays = removed.iter().filter(|it| state.resources.contains_key(it));
    let stays: FxHashSet<String> = stays.map(Resource::to_string).collect();
    for object in all_objects(state) {
        if let Some(known) =
            object.reads.as_mut().filter(|it| it.iter().any(|it| reads.contains_key(&**it)))
        {
            let mut left = spliced(known, &reads);
            left.retain(|it| !reads.contains_key(&**it) || stays.contains(&**it));
            *known = left.into();
        }
        if object.dependencies.iter().any(|it| dependencies.contains_key(&**it)) {
            // The name that is gone stays: other programs keep it too, and it does no harm.
            object.dependencies = spliced(&object.dependencies, &dependencies).into();
        }
    }
}

/// Returns the list with everything that its members lead to, sorted.
fn spliced(list: &[Str], leads_to: &FxHashMap<String, Vec<Str>>) -> Vec<Str> {
    let mut all: BTreeSet<Str> = list.iter().cloned().collect();
    let mut open: Vec<Str> = list.to_vec();
    while let Some(name) = open.pop() {
        for more in leads_to.get(&*name).into_iter().flatten() {
            if all.insert(more.clone()) {
                open.push(more.clone());
            }
        }
    }
    all.into_iter().collect()
}

fn all_objects(state: &mut State) -> impl Iterator<Item = &mut Object> {
    let instances = state.resources.values_mut().flat_map(|it| it.instances.values_mut());
    instances
        .flat_map(|it| it.current.iter_mut().chain(it.deposed.values_mut()).map(|it| &mut **it))
}

/// Finds the resources whose provider `replace_provider` would change.
pub fn served_by<'a>(state: &'a State, provider: &Provider) -> Vec<&'a Resource> {
    state.resources.iter().filter(|it| it.1.provider.provider == *provider).map(|it| it.0).collect()
}

/// Gives resources of one provider to another. Returns how many.
pub fn replace_provider(state: &mut State, from: &Provider, to: &Provider) -> usize {
    let mut count = 0;
    for resource in state.resources.values_mut().filter(|it| it.provider.provider == *from) {
        resource.provider.provider = to.clone();
        count += 1;
    }
    count
}

/// Marks an object to be replaced. Returns the line to print.
pub fn taint(state: &mut State, address: &Instance) -> Result<String, Diagnostic> {
    let object = taintable(state, address)?;
    object.status = Status::Tainted;
    Ok(format!("Resource instance {address} has been marked as tainted."))
}

/// Takes the mark off. Returns the line to print.
pub fn untaint(state: &mut State, address: &Instance) -> Result<String, Diagnostic> {
    let object = taintable(state, address)?;
    if object.status != Status::Tainted {
        return Err(Diagnostic::error("Resource instance is not tainted").detail(format!(
            "Resource instance {address} is not currently tainted, and so it cannot be untainted."
        )));
    }
    object.status = Status::Ready;
    Ok(format!("Resource instance {address} has been successfully untainted."))
}

fn taintable<'a>(state: &'a mut State, address: &Instance) -> Result<&'a mut Object, Diagnostic> {
    if state.is_empty() {
        return Err(no_such(
            "The state currently contains no resource instances whatsoever. This may occur if the configuration has never \
             been applied or if it has recently been destroyed."
                .into(),
        ));
    }
    let missing = || {
        no_such(format!(
            "There is no resource instance in the state with the address {address}. If the resource configuration has just \
             been added, you must run \"{PROGRAM} apply\" once to create the corresponding instance(s) before they can be tainted."
        ))
    };
    let resource = state.resources.get_mut(&address.of());
    let instance =
        resource.and_then(|it| it.instances.get_mut(&address.key)).ok_or_else(missing)?;
    instance.current.as_deref_mut().ok_or_else(|| {
        no_such(format!(
            "Resource instance {address} is currently part-way through a create_before_destroy replacement action. Run \
             \"{PROGRAM} apply\" to complete its replacement before tainting it."
        ))
    })
}

/// Finds the instances that an address names.
fn matching(state: &State, target: &Target) -> Vec<Instance> {
    let keys = |address: &Resource, resource: &ResourceState| -> Vec<Instance> {
        resource.instances.keys().map(|key| address.instance(key.clone())).collect()
    };
    match target {
        Target::Module(module) => {
            let inside = state.resources.iter().filter(|it| contains(module, &it.0.module));
            inside.flat_map(|(address, resource)| keys(address, resource)).collect()
        }
        Target::Resource(address) => {
            state.resources.get(address).map(|it| keys(address, it)).unwrap_or_default()
        }
        Target::Instance(address) => {
            state.instance(address).map(|_| address.clone()).into_iter().collect()
        }
    }
}

/// Returns whether `inner` is `outer` or lies in it. A last step without key stands for every instance of the call.
fn contains(outer: &ModuleInstance, inner: &ModuleInstance) -> bool {
    let Some(((name, key), rest)) = outer.0.split_last() else { return true };
    let Some((other, other_key)) = inner.0.get(rest.len()) else { return false };
    inner.0.starts_with(rest) && name == other && (*key == InstanceKey::None || key == other_key)
}

fn object_id(object: &Object) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct HasId {
        id: Option<String>,
    }
    match &object.attributes {
        Attributes::Json(text) => serde_json::from_str::<HasId>(text).ok()?.id,
        Attributes::Flat(flat) => flat.get("id").cloned(),
    }
}

#[cfg(test)]
#[path = "state_commands_tests.rs"]
mod tests;
