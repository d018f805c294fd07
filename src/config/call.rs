//! `module` blocks.

use crate::rarely::Rarely;
use crate::syntax::{Attribute, Block, Body, Name};

use super::decode::{Decoder, Schema};
use super::provider::reference;
use super::repetition::Repetitions;
use super::{CallBesides, Inputs, ModuleCall, ProviderRef, escape, problems};

const CALL: Schema = Schema {
    attributes: &["source", "version", "count", "for_each", "depends_on", "providers"],
    required: &["source"],
    blocks: &[("_", &[]), ("lifecycle", &[]), ("locals", &[]), ("provider", &["type"])],
};
const LIFECYCLE: Schema = Schema { attributes: &["enabled"], required: &[], blocks: &[] };

/// Returns whether a name means something of its own inside a `module` block, so that no variable may have it.
pub(super) fn is_reserved(name: &str) -> bool {
    CALL.attributes.contains(&name) || CALL.blocks.iter().any(|it| it.0 == name)
}

/// Reads a `module` block.
pub(super) fn call(decoder: &mut Decoder, block: Block) -> Option<ModuleCall> {
    let body_span = block.body.span.first();
    let (content, rest) = decoder.partial(block.body, &CALL);
    let name = block.labels.into_iter().next()?;
    decoder.check_name(&name, "Invalid module instance name");
    let mut repetitions = Repetitions::of(&content);
    let depends_on = content.get("depends_on").map(|it| decoder.traversals(it)).unwrap_or_default();
    let providers =
        content.get("providers").map(|it| passed_providers(decoder, it)).unwrap_or_default();
    let (mut lifecycle, mut rest): (Option<&Block>, _) = (None, escape::Rest::new(rest, "module"));
    for inner in &content.blocks {
        match (&*inner.kind.text, lifecycle) {
            ("lifecycle", Some(first)) => {
                let first = decoder.place(first.header);
                decoder.report(problems::duplicate_block(
                    "lifecycle",
                    "This resource",
                    &first,
                    inner.header,
                ));
            }
            ("lifecycle", None) => {
                lifecycle = Some(inner);
                let content = decoder.content(inner, &LIFECYCLE);
                repetitions.add(content.get("enabled"));
            }
            ("_", _) => rest.add(decoder, inner),
            (kind, _) => decoder.report(problems::reserved_block(kind, "module", inner.kind.span)),
        }
    }
    let repetition = repetitions.finish(decoder, "module instances");
    let version = content.value("version");
    let unexpected: Vec<Name> = rest.body.blocks.iter().map(|it| it.kind.clone()).collect();
    let besides = CallBesides { version, unexpected, providers, depends_on };
    Some(ModuleCall {
        name,
        declared: block.header,
        source: content.value("source"),
        repetition,
        inputs: inputs(decoder, rest.body),
        body_span,
        besides: Rarely::of(besides),
    })
}

/// Everything that is no meta-argument is an input.
fn inputs(decoder: &mut Decoder, rest: Body) -> Inputs {
    decoder.attributes(&Body { blocks: Rarely::default(), ..rest }).into()
}

pub(super) fn passed_providers(
    decoder: &mut Decoder,
    attribute: &Attribute,
) -> Vec<(ProviderRef, ProviderRef)> {
    let Some(pairs) = decoder.pairs(&attribute.value) else {
        decoder.report(problems::not_a_map(attribute.value.span));
        return Vec::new();
    };
    let mut passed: Vec<(ProviderRef, ProviderRef)> = Vec::new();
    for (key, value) in pairs {
        let (Some(child), Some(own)) =
            (reference(decoder, &key, "providers"), reference(decoder, &value, "providers"))
        else {
            continue;
        };
        let is_same = |it: &&(ProviderRef, ProviderRef)| it.0.local_name() == child.local_name();
        if let Some(first) = passed.iter().find(is_same) {
            let detail = format!(
                "A provider configuration was already passed to {} at {}. Each child provider configuration can be assigned only once.",
                child.local_name(),
                decoder.place(first.0.span.to(first.1.span))
            );
            decoder.report(problems::invalid("Duplicate provider address", detail, own.span));
            continue;
        }
        passed.push((child, own));
    }
    passed
}
