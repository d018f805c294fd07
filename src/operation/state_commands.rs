//! What the `state` commands and `taint` do with a state: each a function from a state to a state and what to say.
//!
//! Reading, locking and writing is the caller's.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::state_problems::{
    invalid_source, invalid_target, module_exists, no_instance, no_such, nothing_to_remove,
    unknown, unlike,
};
pub use super::state_problems::{missing_is_allowed, no_state};
use crate::address::target::Target;
use crate::address::{Instance, InstanceKey, ModuleInstance, Provider, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{Attributes, InstanceState, Object, ResourceState, State, Status};
use crate::value::Str;

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
    let mut only = State { outputs: Default::default(), ..state.clone() };
    only.resources.retain(|it, _| *it == address.of());
    only.resources.values_mut().for_each(|it| it.instances.retain(|key, _| *key == address.key));
    only
}

/// Forgets instances with all their objects. Returns the lines to print.
pub fn remove(state: &mut State, targets: &[Target], run: Run) -> Result<Vec<String>, Diagnostics> {
    let found: Vec<Instance> = targets.iter().flat_map(|it| matching(state, it)).collect();
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
    lines.push(format!("Successfully removed {} resource instance(s).", found.len()));
    Ok(lines)
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
        reads.insert(
            address.to_string(),
            objects().flat_map(|it| it.reads.iter().flatten().cloned()).collect(),
        );
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
    for object in all_objects(state) {
        if let Some(known) =
            object.reads.as_mut().filter(|it| it.iter().any(|it| reads.contains_key(&**it)))
        {
            *known = spliced(known, &reads);
            known.retain(|it| !reads.contains_key(&**it));
        }
        if object.dependencies.iter().any(|it| dependencies.contains_key(&**it)) {
            // The name that is gone stays: other programs keep it too, and it does no harm.
            object.dependencies = spliced(&object.dependencies, &dependencies);
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

/// Moves a module, resource or instance within a state, or to another one. Returns the lines to print.
///
/// - `to`: the other state, where there is one.
pub fn mv(
    from: &mut State,
    to: Option<&mut State>,
    (source, destination): (&Target, &Target),
    run: Run,
) -> Result<Vec<String>, Diagnostics> {
    let moves = planned_moves(from, source, destination)?;
    for it in &moves {
        it.check(from, to.as_deref())?;
    }
    let verb = if run == Run::Dry { "Would move" } else { "Move" };
    let mut lines: Vec<String> = moves
        .iter()
        .map(|it| format!("{verb} {:?} to {:?}", it.source_name(), it.destination_name()))
        .collect();
    if run == Run::Dry {
        if moves.is_empty() {
            lines.push("Would have moved nothing.".into());
        }
        return Ok(lines);
    }
    let mut renamed = Vec::new();
    let mut taken = Vec::new();
    for it in &moves {
        taken.extend(it.take(from, &mut renamed));
    }
    let target = match to {
        Some(to) => to,
        None => from,
    };
    for (address, key, provider, instance) in taken {
        let fresh = || ResourceState { provider, instances: BTreeMap::new() }.into();
        target.resources.entry(address).or_insert_with(fresh).instances.insert(key, instance);
    }
    rename(target, &renamed);
    lines.push(match moves.len() {
        0 => "No matching objects found.".into(),
        count => format!("Successfully moved {count} object(s)."),
    });
    Ok(lines)
}

/// One object that moves.
#[derive(Debug)]
enum Move {
    Module(ModuleInstance, ModuleInstance),
    Resource(Resource, Resource),
    Instance(Instance, Instance),
}

type Taken = (Resource, InstanceKey, crate::address::ProviderConfig, InstanceState);

fn planned_moves(
    state: &State,
    source: &Target,
    destination: &Target,
) -> Result<Vec<Move>, Diagnostic> {
    let nothing = || {
        invalid_source(format!(
            "Cannot move {source}: does not match anything in the current state."
        ))
    };
    match source {
        Target::Module(from) => {
            let mut inside: Vec<&ModuleInstance> = state
                .resources
                .keys()
                .map(|it| &it.module)
                .filter(|it| it.0.starts_with(&from.0))
                .collect();
            inside.dedup();
            if inside.is_empty() {
                return Err(nothing());
            }
            let Target::Module(to) = destination else {
                let why = format!(
                    "Cannot move {from} to {destination}: the target must also be a module."
                );
                return Err(invalid_target(why));
            };
            let moved = |it: &ModuleInstance| {
                ModuleInstance(to.0.iter().chain(&it.0[from.0.len()..]).cloned().collect())
            };
            Ok(inside.into_iter().map(|it| Move::Module(it.clone(), moved(it))).collect())
        }
        Target::Resource(from) => {
            let resource = state.resources.get(from).ok_or_else(nothing)?;
            // Without `count` and `for_each` the name of the resource means its one instance.
            if resource.instances.contains_key(&InstanceKey::None) {
                return instance_move(from.instance(InstanceKey::None), destination)
                    .map(|it| vec![it]);
            }
            match destination {
                Target::Resource(to) => Ok(vec![Move::Resource(from.clone(), to.clone())]),
                _ => Err(invalid_target(format!(
                    "Cannot move {from} to {destination}: the source is a whole resource (not a resource instance) so the \
                     target must also be a whole resource."
                ))),
            }
        }
        Target::Instance(from) => instance_move(from.clone(), destination).map(|it| vec![it]),
    }
}

fn instance_move(from: Instance, destination: &Target) -> Result<Move, Diagnostic> {
    match destination {
        Target::Instance(to) => Ok(Move::Instance(from, to.clone())),
        Target::Resource(to) => Ok(Move::Instance(from, to.instance(InstanceKey::None))),
        Target::Module(_) => Err(invalid_target(format!(
            "Cannot move {from} to {destination}: the target must also be a resource instance."
        ))),
    }
}

impl Move {
    fn source_name(&self) -> String {
        match self {
            Move::Module(from, _) => from.to_string(),
            Move::Resource(from, _) => from.to_string(),
            Move::Instance(from, _) => from.to_string(),
        }
    }

    fn destination_name(&self) -> String {
        match self {
            Move::Module(_, to) => to.to_string(),
            Move::Resource(_, to) => to.to_string(),
            Move::Instance(_, to) => to.to_string(),
        }
    }

    fn check(&self, from_state: &State, to_state: Option<&State>) -> Result<(), Diagnostics> {
        let to_state = to_state.unwrap_or(from_state);
        let mut diagnostics = Diagnostics::new();
        match self {
            Move::Module(_, to) => {
                if to_state.resources.keys().any(|it| it.module == *to) {
                    diagnostics.push(module_exists());
                }
            }
            Move::Resource(from, to) => {
                diagnostics.extend(unlike(from, to));
                if to_state.resources.contains_key(to) {
                    diagnostics.push(invalid_target(format!(
                        "Cannot move to {to}: there is already a resource at that address in the current state."
                    )));
                }
            }
            Move::Instance(from, to) => {
                diagnostics.extend(unlike(&from.of(), &to.of()));
                if to_state.instance(to).is_some() {
                    diagnostics.push(invalid_target(format!(
                        "Cannot move to {to}: there is already a resource instance at that address in the current state."
                    )));
                }
                if from_state.instance(from).is_none() {
                    diagnostics.push(invalid_source(format!(
                        "The current state does not contain {from}."
                    )));
                }
            }
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
    }

    /// Takes the objects out, and notes the old and new address of each instance.
    fn take(&self, state: &mut State, renamed: &mut Vec<(Instance, Instance)>) -> Vec<Taken> {
        let resources: Vec<(Resource, Resource)> = match self {
            Move::Module(from, to) => {
                let inside = state.resources.keys().filter(|it| it.module == *from);
                inside
                    .map(|it| {
                        (it.clone(), Resource { module: to.clone(), resource: it.resource.clone() })
                    })
                    .collect()
            }
            Move::Resource(from, to) => vec![(from.clone(), to.clone())],
            Move::Instance(from, to) => {
                let Some(resource) = state.resources.get_mut(&from.of()) else { return Vec::new() };
                let provider = resource.provider.clone();
                let instance = resource.instances.remove(&from.key);
                if resource.instances.is_empty() {
                    state.resources.remove(&from.of());
                }
                renamed.push((from.clone(), to.clone()));
                return instance
                    .map(|it| (to.of(), to.key.clone(), provider, it))
                    .into_iter()
                    .collect();
            }
        };
        let mut taken = Vec::new();
        for (from, to) in resources {
            let Some(resource) = state.resources.remove(&from) else { continue };
            let resource = resource.into_inner();
            for (key, instance) in resource.instances {
                renamed.push((from.instance(key.clone()), to.instance(key.clone())));
                taken.push((to.clone(), key, resource.provider.clone(), instance));
            }
        }
        taken
    }
}

/// Follows moves in what other objects recorded. Recorded resource dependencies on what moved are dropped, as OpenTofu
/// does – the next apply records them anew –, while our own record names instances and can follow.
fn rename(state: &mut State, renamed: &[(Instance, Instance)]) {
    let names: FxHashMap<String, Str> =
        renamed.iter().map(|(a, b)| (a.to_string(), Str::from(b.to_string()))).collect();
    let blocks: FxHashSet<String> = renamed.iter().map(|it| it.0.config().to_string()).collect();
    let instances = state.resources.values_mut().flat_map(|it| it.instances.values_mut());
    for instance in instances {
        if let Some(object) = &mut instance.current
            && object.dependencies.iter().any(|it| blocks.contains(&**it))
        {
            object.dependencies.clear();
        }
        for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
            for name in object.reads.iter_mut().flatten() {
                if let Some(new) = names.get(&**name) {
                    *name = new.clone();
                }
            }
        }
    }
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
             been added, you must run \"tofu apply\" once to create the corresponding instance(s) before they can be tainted."
        ))
    };
    let resource = state.resources.get_mut(&address.of());
    let instance =
        resource.and_then(|it| it.instances.get_mut(&address.key)).ok_or_else(missing)?;
    instance.current.as_deref_mut().ok_or_else(|| {
        no_such(format!(
            "Resource instance {address} is currently part-way through a create_before_destroy replacement action. Run \
             \"tofu apply\" to complete its replacement before tainting it."
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
        Attributes::Json(text) => serde_json::from_str::<HasId>(text.get()).ok()?.id,
        Attributes::Flat(flat) => flat.get("id").cloned(),
    }
}

#[cfg(test)]
#[path = "state_commands_tests.rs"]
mod tests;
