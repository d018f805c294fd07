//! `mock_provider`, and what stands for real objects: defaults and overrides.

use std::collections::BTreeMap;

use super::super::decode::{Content, Decoder, Schema};
use super::super::repetition::Repetitions;
use super::super::{problems, provider};
use super::{MockProvider, Override, OverrideTarget, addresses};
use crate::address::Mode;
use crate::diagnostic::Diagnostic;
use crate::syntax::{self, Block, Expr, Name};
use crate::value::{Kind, Str, Value};

const PROVIDER: Schema = Schema {
    attributes: &["alias", "for_each"],
    required: &[],
    blocks: &[
        ("mock_resource", &["type"]),
        ("mock_data", &["type"]),
        ("override_resource", &[]),
        ("override_data", &[]),
    ],
};
const DEFAULTS: Schema = Schema { attributes: &["defaults"], required: &[], blocks: &[] };
const OBJECT: Schema =
    Schema { attributes: &["target", "values"], required: &["target"], blocks: &[] };
const MODULE: Schema =
    Schema { attributes: &["target", "outputs"], required: &["target"], blocks: &[] };

/// Reads a `mock_provider` block, or nothing where something in it is wrong.
pub(super) fn mock_provider(decoder: &mut Decoder, block: &Block) -> Option<MockProvider> {
    let before = decoder.problems.0.len();
    let content = decoder.content(block, &PROVIDER);
    let name = block.labels.first()?.clone();
    provider::check_local_name(decoder, &name.text, block.header)?;
    let alias = content.literal("alias").and_then(|it| {
        let text = decoder.text(it);
        if !text.as_deref().is_some_and(syntax::is_identifier) {
            decoder.report(invalid_alias(it.value.span));
        }
        Some(Name::new(text?, it.value.span))
    });
    if let (None, Some(it)) = (&alias, content.get("for_each")) {
        decoder.report(alias_required(it.value.span));
    }
    let mut mock = MockProvider {
        name,
        alias,
        repetition: Repetitions::of(&content).finish(decoder, "provider instances"),
        defaults: BTreeMap::new(),
        overrides: Vec::new(),
        declared: block.header,
    };
    for inner in &content.blocks {
        match &*inner.kind.text {
            "mock_resource" => defaults(decoder, &mut mock, inner, Mode::Managed),
            "mock_data" => defaults(decoder, &mut mock, inner, Mode::Data),
            _ => add_override(decoder, &mut mock, inner),
        }
    }
    let found = &decoder.problems.0[before..];
    (!found.iter().any(Diagnostic::is_error)).then_some(mock)
}

fn defaults(decoder: &mut Decoder, mock: &mut MockProvider, block: &Block, mode: Mode) {
    let content = decoder.content(block, &DEFAULTS);
    let Some(kind) = block.labels.first() else { return };
    let before = decoder.problems.0.len();
    let values = object(decoder, &content, "defaults");
    if decoder.problems.0[before..].iter().any(Diagnostic::is_error) {
        return;
    }
    if mock.defaults.insert((mode, kind.text.clone()), values).is_some() {
        let name = &block.kind.text;
        decoder.report(problems::invalid(
            format!("Duplicated `{name}` block"),
            format!("`{name}.{}` is already defined in `mock_provider` block.", kind.text),
            mock.declared,
        ));
    }
}

fn add_override(decoder: &mut Decoder, mock: &mut MockProvider, block: &Block) {
    let Some(it) = overriding(decoder, block) else { return };
    if mock.overrides.iter().any(|other| other.target.to_string() == it.target.to_string()) {
        let (name, target) = (it.target.block(), &it.target);
        decoder.report(problems::invalid(
            format!("Duplicated `{name}` block"),
            format!("`{name}` with target `{target}` is already defined in `mock_provider` block."),
            mock.declared,
        ));
        return;
    }
    mock.overrides.push(it);
}

/// Reads an override, or nothing where something in it is wrong.
pub(super) fn overriding(decoder: &mut Decoder, block: &Block) -> Option<Override> {
    let before = decoder.problems.0.len();
    let is_module = &*block.kind.text == "override_module";
    let content = decoder.content(block, if is_module { &MODULE } else { &OBJECT });
    let written = content.get("target").and_then(|it| match &it.value.expr {
        Expr::String(_) if !decoder.file.is_json => {
            decoder.report(problems::not_a_reference(it.value.span));
            None
        }
        _ => decoder.traversal(&it.value),
    });
    let target = written.as_ref().and_then(|it| {
        decoder.problems.take(match &*block.kind.text {
            "override_module" => addresses::module(it).map(OverrideTarget::Module),
            "override_data" => {
                addresses::resource(it).map(|it| OverrideTarget::Object(Mode::Data, it))
            }
            _ => addresses::resource(it).map(|it| OverrideTarget::Object(Mode::Managed, it)),
        })
    });
    let values = object(decoder, &content, if is_module { "outputs" } else { "values" });
    let found = &decoder.problems.0[before..];
    if found.iter().any(Diagnostic::is_error) {
        return None;
    }
    Some(Override { target: target?, target_span: written?.span, values, declared: block.header })
}

/// Reads a constant object.
fn object(decoder: &mut Decoder, content: &Content, name: &str) -> BTreeMap<Str, Value> {
    let Some(attribute) = content.get(name) else { return BTreeMap::new() };
    let Some(value) = decoder.constant(&attribute.value) else { return BTreeMap::new() };
    if !matches!(value.ty().kind(), Kind::Object(_)) || value.is_null() {
        decoder.report(problems::invalid(
            "Object expected",
            format!("The attribute `{name}` must be an object."),
            attribute.span(),
        ));
        return BTreeMap::new();
    }
    let entries = value.entries().into_iter();
    entries.map(|(name, value)| (name, value.clone())).collect()
}

/// Two `mock_provider` blocks have one address.
pub(super) fn twice_mocked(mock: &MockProvider) -> Diagnostic {
    let detail = format!(
        "It is not allowed to have multiple `mock_provider` blocks with the same address: `{}`.",
        mock.local_name()
    );
    problems::invalid("Duplicated `mock_provider` block", detail, mock.declared)
}

/// A provider configuration has `for_each` but no alias.
pub(super) fn alias_required(at: crate::diagnostic::Span) -> Diagnostic {
    problems::invalid(
        "Alias required when using \"for_each\"",
        "The for_each argument is allowed only for provider configurations with an alias.",
        at,
    )
}

fn invalid_alias(at: crate::diagnostic::Span) -> Diagnostic {
    let detail = "An alias must be a valid name. A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";
    problems::invalid("Invalid mock provider configuration alias", detail, at)
}
