//! Objects whose provider instance is gone: which they are, what still asks for it, and the way out.

use crate::world::PROGRAM;
use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Config, Node};

use super::{Inputs, Structured};
use crate::address::{Instance, InstanceKey, Mode, ProviderConfig, ProviderInstance};
use crate::config::expansion::key_text;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// An object without a provider instance.
struct WithoutProvider {
    /// What it is called; deposed objects are told from current ones.
    name: String,
    address: Instance,
    through: ProviderInstance,
    /// Whether it is there and can be destroyed.
    exists: bool,
    /// Where it asks for the instance, if it is declared.
    asks: Option<String>,
}

/// A provider configuration that lacks an instance, and where it is written.
struct Lacking<'a> {
    config: &'a ProviderConfig,
    place: Option<Span>,
    shown_place: String,
    repeats: bool,
}

/// One message for each provider configuration that lacks instances.
pub(super) fn explain(
    without_provider: &[(Node, Instance)],
    known: &Structured,
    inputs: &Inputs<'_>,
) -> Diagnostics {
    let chosen: BTreeMap<Node, _> =
        known.providers.chosen.iter().map(|it| (it.0, (it.1, it.2))).collect();
    let mut by_config: BTreeMap<Config, Vec<WithoutProvider>> = BTreeMap::new();
    for (node, address) in without_provider {
        let Some((config, key)) = chosen.get(node) else { continue };
        let Some(through) = known.lowered.serving.instance(*config, *key) else { continue };
        let is_managed = address.resource.mode == Mode::Managed;
        let one = WithoutProvider {
            name: known.lowered.structure.name(*node),
            address: address.clone(),
            through,
            exists: is_managed && inputs.state.instance(address).is_some(),
            asks: place_of_key(*node, address, known, inputs),
        };
        by_config.entry(*config).or_default().push(one);
    }
    let problem = |(config, objects): (Config, Vec<WithoutProvider>)| {
        let serving = &known.lowered.serving;
        let place = serving.repetitions.get(&config).or_else(|| serving.blocks.get(&config));
        let lacking = Lacking {
            config: serving.config_at(config)?,
            place: place.copied(),
            shown_place: place.map(|it| inputs.sources.place(*it)).unwrap_or_default(),
            repeats: serving.repetitions.contains_key(&config),
        };
        Some(of_config(&lacking, &objects))
    };
    Diagnostics(by_config.into_iter().filter_map(problem).collect())
}

/// Where the key expression of a declared object stands, in its block or in the call that passes the configuration.
fn place_of_key(
    node: Node,
    address: &Instance,
    known: &Structured,
    inputs: &Inputs<'_>,
) -> Option<String> {
    known.lowered.facts.declared.binary_search(&(node,)).ok()?;
    let block = inputs.graph.block_at(inputs.config, &known.lowered.structure, &address.of())?;
    let choice = inputs.graph.configured.serves(block)?.choice;
    choice.map(|it| inputs.sources.place(it.expression.span))
}

fn of_config(lacking: &Lacking<'_>, objects: &[WithoutProvider]) -> Diagnostic {
    let made: Vec<&WithoutProvider> = objects.iter().filter(|it| it.exists).collect();
    let asking: Vec<&WithoutProvider> = objects.iter().filter(|it| it.asks.is_some()).collect();
    let mut parts = Vec::new();
    if !made.is_empty() {
        parts.push(of_made(lacking, &made));
    }
    if !asking.is_empty() {
        parts.push(of_asking(lacking, &asking, made.is_empty()));
    }
    parts.extend(way_out(lacking, &made, &asking));
    let all: Vec<&WithoutProvider> = objects.iter().collect();
    parts.push(format!(
        "To leave the objects alone for now:\n\n  {PROGRAM} plan {}",
        flags("-exclude", &all)
    ));
    if !asking.is_empty() && !made.is_empty() {
        parts.push("This is commonly caused by one collection that both a resource, or its module, and the provider configuration repeat over: keep two, and take a key out of the provider's last.".to_owned());
    }
    let problem = Diagnostic::error("Provider instance not present").detail(parts.join("\n\n"));
    let problem = match objects {
        [one] => problem.about(&one.address),
        _ => problem,
    };
    match lacking.place {
        Some(place) => problem.at(place),
        None => problem,
    }
}

fn of_made(lacking: &Lacking<'_>, made: &[&WithoutProvider]) -> String {
    let Lacking { config, shown_place: place, .. } = lacking;
    let what = match (was_single(made), lacking.repeats) {
        (true, _) => format!(
            "{config} repeats now, at {place}, and objects in the state were made by the one instance that it had"
        ),
        (false, true) => format!(
            "The for_each of {config} at {place} no longer gives the keys of provider instances that objects in the state still need"
        ),
        (false, false) => format!(
            "{config} at {place} no longer repeats, and objects in the state still need its instances"
        ),
    };
    format!("{what}:\n\n{}", list(made, |it| format!("through {}", it.through)))
}

fn of_asking(lacking: &Lacking<'_>, asking: &[&WithoutProvider], alone: bool) -> String {
    let Lacking { config, shown_place: place, .. } = lacking;
    let what = match alone {
        true => format!(
            "{config} at {place} gives no such key, so that nothing can be made or read through it"
        ),
        false => "Some objects are still declared with a key that is not there".to_owned(),
    };
    let wants = |it: &WithoutProvider| {
        format!(
            "asks for {:?} at {}",
            key_text(&it.through.key),
            it.asks.as_deref().unwrap_or_default()
        )
    };
    format!("{what}:\n\n{}", list(asking, wants))
}

/// What is to be done, where objects exist that somebody must destroy first.
fn way_out(
    lacking: &Lacking<'_>,
    made: &[&WithoutProvider],
    asking: &[&WithoutProvider],
) -> Option<String> {
    if made.is_empty() {
        return None;
    }
    let keys = keys_of(made);
    let (first, then) = match (was_single(made), lacking.repeats) {
        (true, _) => ("let the block be a single one again".to_owned(), "let it repeat".to_owned()),
        (false, true) => (
            format!("put back {keys} in the provider's for_each"),
            format!("take {keys} out of the for_each again"),
        ),
        (false, false) => (
            format!("let it repeat again, over {keys} at least"),
            "let it be a single one".to_owned(),
        ),
    };
    let also = match asking.is_empty() {
        true => "",
        false => ", and out of what is declared with it",
    };
    Some(format!(
        "A provider instance must outlive its objects by one run. First {first}, and remove the objects:\n\n  {PROGRAM} apply {}\n\nThen {then}{also}:\n\n  {PROGRAM} apply",
        flags("-destroy -target", made),
    ))
}

fn was_single(made: &[&WithoutProvider]) -> bool {
    made.iter().any(|it| it.through.key == InstanceKey::None)
}

fn keys_of(objects: &[&WithoutProvider]) -> String {
    let keys: BTreeSet<String> =
        objects.iter().map(|it| format!("{:?}", key_text(&it.through.key))).collect();
    keys.into_iter().collect::<Vec<_>>().join(", ")
}

fn list(objects: &[&WithoutProvider], what: impl Fn(&WithoutProvider) -> String) -> String {
    let mut lines: Vec<String> =
        objects.iter().map(|it| format!("  {}  {}", it.name, what(it))).collect();
    lines.sort();
    lines.join("\n")
}

/// The options that name the objects, as a shell reads them.
fn flags(option: &str, objects: &[&WithoutProvider]) -> String {
    let (first, name) = option.split_once(" ").map_or(("", option), |it| it);
    let names: BTreeSet<String> = objects.iter().map(|it| it.address.to_string()).collect();
    let quoted = names.into_iter().map(|it| match it.contains(['"', '[', ' ', '\'']) {
        true => format!("{name}='{}'", it.replace('\'', r"'\''")),
        false => format!("{name}={it}"),
    });
    let all: Vec<String> = quoted.collect();
    [first, &all.join(" ")].join(" ").trim_start().to_owned()
}
