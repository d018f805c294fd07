//! Objects whose provider instance is gone: which they are, and the way to remove them first.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Node;

use super::{Inputs, Structured};
use crate::address::{Instance, InstanceKey, ProviderConfig, ProviderInstance};
use crate::config::expansion::key_text;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// One message for each provider configuration that lacks instances.
pub(super) fn explain(
    stranded: &[(Node, Instance)],
    known: &Structured,
    inputs: &Inputs<'_>,
) -> Diagnostics {
    let chosen: BTreeMap<Node, _> =
        known.providers.chosen.iter().map(|it| (it.0, (it.1, it.2))).collect();
    let mut by_config: BTreeMap<ProviderConfig, Vec<(ProviderInstance, &Instance)>> =
        BTreeMap::new();
    let mut places: BTreeMap<ProviderConfig, (Option<Span>, bool)> = BTreeMap::new();
    for (node, address) in stranded {
        let Some((config, key)) = chosen.get(node) else { continue };
        let serving = &known.lowered.serving;
        let Some(instance) = serving.instance(*config, *key) else { continue };
        let place = serving.repetitions.get(config).or_else(|| serving.blocks.get(config));
        places.insert(
            instance.config.clone(),
            (place.copied(), serving.repetitions.contains_key(config)),
        );
        by_config.entry(instance.config.clone()).or_default().push((instance, address));
    }
    let problem = |(config, objects): (ProviderConfig, Vec<(ProviderInstance, &Instance)>)| {
        let place = places.get(&config).copied().unwrap_or_default();
        of_config(&config, &objects, place, inputs)
    };
    Diagnostics(by_config.into_iter().map(problem).collect())
}

fn of_config(
    config: &ProviderConfig,
    objects: &[(ProviderInstance, &Instance)],
    (place, repeats_now): (Option<Span>, bool),
    inputs: &Inputs<'_>,
) -> Diagnostic {
    let exist = |it: &&(ProviderInstance, &Instance)| inputs.state.instance(it.1).is_some();
    let (made, new): (Vec<_>, Vec<_>) = objects.iter().partition(|it| exist(it));
    let list = |objects: &[&(ProviderInstance, &Instance)]| {
        let mut lines: Vec<String> =
            objects.iter().map(|it| format!("  {}  through {}", it.1, it.0)).collect();
        lines.sort();
        lines.join("\n")
    };
    let repeats = place.map(|it| inputs.sources.place(it)).unwrap_or_default();
    let keys: BTreeSet<String> =
        made.iter().map(|it| format!("{:?}", key_text(&it.0.key))).collect();
    let keys = keys.into_iter().collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !made.is_empty() {
        let was_single = made.iter().any(|it| it.0.key == InstanceKey::None);
        let (what, first, then, cause) = match (was_single, repeats_now) {
            (true, _) => (
                format!(
                    "{config} repeats now, at {repeats}, and objects in the state were made by the one instance that it had"
                ),
                "let the block be a single one again".to_owned(),
                "let it repeat".to_owned(),
                "",
            ),
            (false, true) => (
                format!(
                    "The for_each of {config} at {repeats} no longer gives the keys of provider instances that objects in the state still need"
                ),
                format!("put back {keys} in the provider's for_each"),
                format!("take {keys} out of the for_each again"),
                "\n\nThis is commonly caused by one collection that both a resource, or its module, and the provider configuration repeat over: keep two, and take a key out of the provider's last.",
            ),
            (false, false) => (
                format!(
                    "{config} at {repeats} no longer repeats, and objects in the state still need its instances"
                ),
                format!("let it repeat again, over {keys} at least"),
                "let it be a single one".to_owned(),
                "",
            ),
        };
        parts.push(format!(
            "{what}:\n\n{}\n\nA provider instance must outlive its objects by one run. First {first}, and remove the objects:\n\n  entail apply {}\n\nThen {then}:\n\n  entail apply\n\nTo leave the objects alone for now:\n\n  entail plan {}{cause}",
            list(&made),
            flags("-destroy -target", &made),
            flags("-exclude", &made),
        ));
    }
    if !new.is_empty() {
        parts.push(format!(
            "{} at {repeats} gives no such key, so that nothing can be made through it:\n\n{}",
            config,
            list(&new),
        ));
    }
    let problem = Diagnostic::error("Provider instance not present").detail(parts.join("\n\n"));
    let problem = match objects {
        [(_, address)] => problem.about(*address),
        _ => problem,
    };
    match place {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// The options that name the objects, as a shell reads them.
fn flags(option: &str, objects: &[&(ProviderInstance, &Instance)]) -> String {
    let (first, name) = option.split_once(" ").map_or(("", option), |it| it);
    let names: BTreeSet<String> = objects.iter().map(|it| it.1.to_string()).collect();
    let quoted = names.into_iter().map(|it| match it.contains(['"', '[', ' ']) {
        true => format!("{name}='{it}'"),
        false => format!("{name}={it}"),
    });
    let all: Vec<String> = quoted.collect();
    [first, &all.join(" ")].join(" ").trim_start().to_owned()
}
