//! Blocks that ask, by a key that is written out, for a provider instance that is not there.

use super::Session;
use crate::address::{ConfigResource, ProviderInstance};
use crate::config::Repetition;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::lower::trace::providers::repeated;

/// Returns what asks for a key that is missing: an error where every plan meets it, else a warning.
pub fn missing_keys(session: &Session) -> Diagnostics {
    let (config, graph) = (&session.config, &session.graph);
    if graph.configured.facts.literal_key.is_empty() {
        return Diagnostics::new();
    }
    let missed = graph.configured.missed(session.engine(), &repeated(config, &session.sources));
    let told = missed.into_iter().filter_map(|(block, instance, place)| {
        Some(missing_key(session, &graph.resource(block)?, &instance, place))
    });
    Diagnostics(told.collect())
}

fn missing_key(
    session: &Session,
    resource: &ConfigResource,
    instance: &ProviderInstance,
    place: Span,
) -> Diagnostic {
    let serving = &session.graph.configured.serving;
    let repeats = serving.place_of(&instance.config).map(|it| session.sources.place(it));
    let detail = format!(
        "{resource} asks for {instance}, and what that configuration repeats over at {} gives no such key.",
        repeats.unwrap_or_default()
    );
    let problem = match is_certain(session, resource, instance) {
        true => Diagnostic::error("Provider instance not present").detail(detail),
        false => Diagnostic::warning("Provider instance not present").detail(format!(
            "{detail} No plan is possible in which {resource} has instances, unless variables have other values then."
        )),
    };
    problem.at(place)
}

/// Whether the resource has an instance, and the provider configuration the same keys, whatever variables say.
fn is_certain(session: &Session, resource: &ConfigResource, instance: &ProviderInstance) -> bool {
    let config = &session.config;
    let is_single = |it: &Repetition| matches!(it, Repetition::Single);
    let mut module = resource.module.clone();
    while let Some((parent, call)) = module.parent() {
        let call = config.module(&parent).and_then(|it| it.calls.get(&call));
        if !call.is_some_and(|it| is_single(&it.repetition)) {
            return false;
        }
        module = parent;
    }
    let of = &instance.config;
    let block = config.module(&of.module).and_then(|it| {
        let alias = of.alias.as_deref();
        let mut blocks = it.providers.iter().filter(|it| it.source == of.provider);
        blocks.find(|it| it.alias.as_ref().map(|it| &*it.text) == alias)
    });
    let collection = block.and_then(|it| it.repetition.expression());
    let decided = collection.is_some_and(|it| {
        config.static_module(&of.module).is_some_and(|place| place.decided_by(it).is_empty())
    });
    decided && config.resource(resource).is_some_and(|it| is_single(&it.besides.repetition))
}
