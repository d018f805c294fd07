//! What forbids a plan, in words.

use crate::world::{PRODUCT, PROGRAM};
use std::collections::BTreeSet;

use entail_rules::order::Order;
use entail_rules::violations::Violations;
use entail_rules::{Facts, Node, Phase, Violation};

use super::{Inputs, Structured, provider_removed};
use crate::address::{Instance, InstanceKey};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::{self, BlockGraph, Structure};
use crate::schedule::circle;
use crate::value::text::quoted;

/// Refuses to plan a configuration whose circles were opened for who only looks.
pub(super) fn refuse_circles(graph: &BlockGraph) -> Result<(), Diagnostic> {
    if graph.circles.of.is_empty() {
        return Ok(());
    }
    Err(Diagnostic::error("No order of blocks").detail(
        format!("Some blocks of this configuration refer to themselves, or wait for each other, so that no plan can be made. `{PROGRAM} validate` names them."),
    ))
}

/// Blocks cannot be ordered, although the configuration's check found nothing that depends on itself.
pub(super) fn no_order() -> Diagnostic {
    Diagnostic::error("No order of blocks").detail(
        "Some blocks of this configuration wait for each other, but its check found no cycle. Please report this, with the configuration.",
    )
}

/// Something failed, and nobody said why: a plan without it would look as if nothing were wrong.
pub(super) fn unexplained(objects: &[Node], structure: &Structure) -> Diagnostic {
    let names: Vec<String> =
        objects.iter().map(|it| format!("  {}", structure.name(*it))).collect();
    Diagnostic::error("Objects that cannot be planned").detail(format!(
        "Nothing is planned for these, and no reason was given:\n\n{}\n\nPlease report this, with the configuration.",
        names.join("\n")
    ))
}

/// Policies want steps in an order that others do not allow.
pub(super) fn circular(
    order: &Order,
    facts: &Facts,
    (structure, flags): (&Structure, &[String]),
) -> Option<Diagnostic> {
    let circle = circle(order.before.iter().map(|it| ((it.0, it.1), (it.2, it.3))));
    let next = circle.iter().skip(1).chain(circle.first());
    let lines: Vec<String> = circle
        .iter()
        .zip(next)
        .map(|(first, second)| {
            let asks = facts.ordered.iter().find(|it| (it.0, it.1) == (first.0, second.0));
            let asks = asks.and_then(|it| flags.get(it.2.0 as usize));
            let why = asks.map_or("because one rests on the other", String::as_str);
            let named =
                |it: &(Node, Phase)| format!("{} ({})", structure.name(it.0), phase_name(it.1));
            format!("  {} before {}: {why}", named(first), named(second))
        })
        .collect();
    (!lines.is_empty()).then(|| {
        Diagnostic::error("Policies want an impossible order").detail(format!(
            "These steps would have to wait for each other:\n\n{}\n\nChange the rules that conclude `before`, so that they say nothing against what the configuration asks for.",
            lines.join("\n")
        ))
    })
}

/// Returns what a phase does, for people.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Down => "destroy",
        Phase::Up => "make",
        Phase::Settled => "settled",
        Phase::Late => "destroy late",
        Phase::Made => "all is made",
    }
}

/// What `-replace` names although there is no such instance, of a resource that repeats or of none at all.
pub(super) fn unmatched_replaces(inputs: &Inputs<'_>, structure: &Structure) -> Vec<Diagnostic> {
    let unmatched = inputs.request.replaces.iter().filter_map(|it| {
        let address = &it.instance;
        let resource = structure.resource_id(&address.of()).map(|it| structure.resource(it));
        // Nothing in a module instance that only stands in for others is there.
        let is_there = |it: &&lower::structure::ResourceNode| {
            it.module.is_none_or(|it| !structure.module(it).pending)
        };
        let resource = resource.filter(is_there);
        let lacks_key = resource.filter(|it| it.declared && address.key == InstanceKey::None);
        match (lacks_key, resource) {
            (Some(it), _) if it.instances.contains_key(&InstanceKey::None) => None,
            (Some(it), _) => {
                let keys = it.instances.keys().cloned();
                let declared: Vec<Instance> = keys.map(|key| it.address.instance(key)).collect();
                Some(replace_lacks_key(address, &declared))
            }
            // An instance that is only named may not be there.
            (None, Some(it)) if it.instances.contains_key(&address.key) => None,
            (None, Some(_)) if inputs.state.instance(address).is_some() => None,
            (None, _) => Some(lower::requested::replaces_nothing(structure, address)),
        }
    });
    unmatched.collect()
}

/// What is known to forbid the plan before any provider is asked.
pub(super) fn before_walk(
    known: &Structured,
    found: &Violations,
    inputs: &Inputs<'_>,
) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut moves: BTreeSet<String> = BTreeSet::new();
    let mut excluded = false;
    let mut without_provider = Vec::new();
    for (kind, node) in &found.violation {
        let Some(address) = known.lowered.structure.instance(*node) else { continue };
        match kind {
            Violation::NoConfiguration => problems.push(no_configuration(&address, known, inputs)),
            Violation::NoInstance => without_provider.push((*node, address)),
            Violation::NoFallback => problems.push(no_fallback(&address, known, inputs)),
            Violation::MoveExcluded => {
                excluded = true;
                moves.extend(ends(&address, inputs));
            }
            Violation::MoveUntargeted => moves.extend(ends(&address, inputs)),
            // Of these only the walk can know; it tells them itself.
            Violation::PreventsDestroy | Violation::InvalidProtection | Violation::NoTrigger => {}
        }
    }
    problems.extend(provider_removed::explain(&without_provider, known, inputs));
    if !moves.is_empty() {
        let request = inputs.request;
        let given = if excluded { &request.excludes } else { &request.targets };
        let given: BTreeSet<String> = given.iter().map(|it| it.target.to_string()).collect();
        let named = if excluded { &moves & &given } else { &moves - &given };
        // What excludes a move may have another name, that of its module for one.
        problems.push(moved(if named.is_empty() { &moves } else { &named }, excluded));
    }
    problems
}

/// Returns the addresses that a plan with `-target` has to name because objects were moved: where they were, and where they are.
pub(super) fn moved_targets(known: &Structured, inputs: &Inputs<'_>) -> Vec<String> {
    let moved = known.lowered.facts.moved.iter();
    let moved = moved.filter_map(|it| known.lowered.structure.instance(it.0));
    let ends: BTreeSet<String> = moved.flat_map(|it| ends(&it, inputs)).collect();
    ends.into_iter().collect()
}

fn ends(address: &Instance, inputs: &Inputs<'_>) -> Vec<String> {
    let old = inputs.moved.get(address).map(|it| it.of().to_string());
    old.into_iter().chain([address.of().to_string()]).collect()
}

/// `addresses`: the options to remove, where something is excluded; otherwise those that are missing.
fn moved(addresses: &BTreeSet<String>, excluded: bool) -> Diagnostic {
    let option = if excluded { "exclude" } else { "target" };
    let list: Vec<String> =
        addresses.iter().map(|it| format!("  -{option}={}", quoted(it))).collect();
    let advice = match excluded {
        true => "To create a valid plan, remove these options:",
        false => {
            "To create a valid plan, either remove your -target=... options altogether or add the following additional ones:"
        }
    };
    Diagnostic::error("Moved resource instances excluded by targeting").detail(format!(
        "Resource instances in your current state have moved to new addresses in the latest configuration. {PRODUCT} must include those resource instances while planning in order to ensure a correct result, but your options do not fully cover all of them.\n\n{advice}\n{}",
        list.join("\n")
    ))
}

fn no_configuration(address: &Instance, known: &Structured, inputs: &Inputs<'_>) -> Diagnostic {
    let provider = inputs.state.resources.get(&address.of()).map(|it| it.provider.to_string());
    let provider = provider.or_else(|| {
        let id = known.lowered.structure.resource_id(&address.of())?;
        Some(known.lowered.structure.resource(id).provider.as_ref()?.to_string())
    });
    let provider = provider.unwrap_or_else(|| "its provider".into());
    Diagnostic::error("Provider configuration not present").about(address).detail(format!(
        "To work with {address} its original provider configuration at {provider} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {address}, after which you can remove the provider configuration again."
    ))
}

fn no_fallback(address: &Instance, known: &Structured, inputs: &Inputs<'_>) -> Diagnostic {
    let recorded = inputs.state.resources.get(&address.of());
    let recorded = recorded.map(|it| {
        let key = it.instances.get(&address.key).map(|it| it.provider_key.to_string());
        format!("{}{}", it.provider, key.unwrap_or_default())
    });
    let id = known.lowered.structure.resource_id(&address.of());
    let today = id.and_then(|it| known.lowered.structure.resource(it).provider.clone());
    Diagnostic::error("Unable to use fallback provider from state").about(address).detail(format!(
        "{address} is declared no more, so that the state says which provider instance destroys it: {}. But its block uses another provider configuration: {}. Let the block name the recorded configuration until {address} is gone, or leave {address} out with -exclude.",
        recorded.as_deref().unwrap_or("none"),
        today.map_or_else(|| "none".to_owned(), |it| it.to_string()),
    ))
}

/// An object leaves the state, and stays as it is.
pub(super) fn forgotten(address: &Instance) -> Diagnostic {
    Diagnostic::warning("Resource will be removed from the state").detail(format!(
        "After this plan is applied, the resource {address} will not be managed anymore by {PRODUCT}.\n\nIn case you want to manage the resource again, you will have to import it."
    ))
}

/// `-replace` names a resource that repeats, without a key.
pub(super) fn replace_lacks_key(address: &Instance, declared: &[Instance]) -> Diagnostic {
    let quoted = |it: &Instance| quoted(&it.to_string());
    let why = match declared {
        [] => "this resource doesn't have any instances.".to_owned(),
        [only] => format!(
            "it lacks an instance key.\n\nTo force replacement of the single declared instance, use the following option instead:\n  -replace={}",
            quoted(only)
        ),
        several => {
            let options: String =
                several.iter().map(|it| format!("\n  -replace={}", quoted(it))).collect();
            format!(
                "it lacks an instance key.\n\nTo force replacement of particular instances, use one or more of the following options instead:{options}"
            )
        }
    };
    Diagnostic::warning("Incompletely-matched force-replace resource instance").detail(format!(
        "Your force-replace request for {address} doesn't match any resource instances because {why}"
    ))
}
