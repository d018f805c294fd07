//! `state mv`: objects, resources and modules under another address, in this state or in another.

use super::super::state_problems::{invalid_source, invalid_target, module_exists, unlike};
use super::Run;
use crate::address::target::Target;
use crate::address::{Instance, InstanceKey, ModuleInstance, ProviderConfig, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::renames::Renames;
use crate::state::{InstanceState, Shared, State};
use crate::value::Str;

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
        target.resources.served_by(address, &provider).instances.insert(key, instance);
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

type Taken = (Resource, InstanceKey, Shared<ProviderConfig>, InstanceState);

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
/// does – the next apply records them anew –; our own record follows, and keeps what they said where there was none.
fn rename(state: &mut State, renamed: &[(Instance, Instance)]) {
    let renames = Renames::of(state, renamed.iter().map(|(old, new)| (old, new)));
    for (address, resource) in state.resources.iter_mut() {
        for instance in resource.instances.values_mut() {
            let objects = instance.current.iter_mut().chain(instance.deposed.values_mut());
            for object in objects {
                renames.follow_own(object);
                if renames.concern(object) {
                    let dependencies = renames.dependencies(object);
                    object.reads.get_or_insert_with(|| {
                        let named =
                            dependencies.iter().flat_map(|it| renames.named(it, &address.module));
                        named.map(|it| Str::from(it.to_string())).collect()
                    });
                    object.dependencies = Box::default();
                }
            }
        }
    }
}
