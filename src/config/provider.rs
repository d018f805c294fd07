//! `provider` blocks, references to provider configurations, and provider names.

use crate::address::Provider;
use crate::address::source::{check_part, normal_part};
use crate::diagnostic::Span;
use crate::syntax::{self, Block, Expr, Expression, Name, Step};
use crate::value::{Str, Type, Value, convert};
use crate::world::PRODUCT;

use super::decode::{self, Decoder, Schema};
use super::repetition::Repetitions;
use super::version::Constraints;
use super::{ProviderBlock, ProviderRef, Repetition, escape, problems, settle};

const PROVIDER: Schema = Schema {
    attributes: &["alias", "version", "for_each", "count", "depends_on", "source"],
    required: &[],
    blocks: &[("_", &[]), ("lifecycle", &[]), ("locals", &[])],
};

impl ProviderRef {
    /// Returns name and alias as they are written: `aws`, `aws.west`.
    pub fn local_name(&self) -> String {
        local_name(&self.name.text, self.alias.as_ref().map(|it| &*it.text))
    }
}

impl ProviderBlock {
    /// Returns name and alias as they are referred to: `aws`, `aws.west`.
    pub fn local_name(&self) -> String {
        local_name(&self.name.text, self.alias.as_ref().map(|it| &*it.text))
    }
}

/// Joins a provider's local name and an alias. A configuration that repeats without an alias is told from the default one.
pub fn local_name(name: &str, alias: Option<&str>) -> String {
    match alias {
        None => name.to_owned(),
        Some("") => format!("{name}[]"),
        Some(alias) => format!("{name}.{alias}"),
    }
}

/// Reads a `provider` block. Which provider the name means is decided with the whole module.
pub(super) fn provider(decoder: &mut Decoder, block: &Block) -> Option<ProviderBlock> {
    let (content, rest) = decoder.partial(block.body.clone(), &PROVIDER);
    let name = block.labels.first()?.clone();
    check_local_name(decoder, &name.text, block.header)?;
    let alias_from = content.literal("alias").map(|it| it.value.clone()).filter(settle::is_open);
    let alias = content.literal("alias").and_then(|it| {
        let span = it.value.span;
        if alias_from.is_some() {
            // No reference can name it before it has a value.
            return Some(Name::new(format!("?{}", span.start()).into(), span));
        }
        let text = decoder.text(it)?;
        if !syntax::is_identifier(&text) {
            decoder.report(problems::invalid_alias(span));
        }
        Some(Name::new(text, span))
    });
    let version = content.literal("version").and_then(|it| {
        let detail = "Move the provider version constraint into the required_providers block.";
        let summary = "Version constraints inside provider configuration blocks are deprecated";
        decoder.report(problems::questionable(summary, detail, it.value.span));
        version_constraint(decoder, &it.value)
    });
    let (repetition, refused) = match &alias {
        None => (Repetitions::of(&content).finish(decoder, "provider instances"), None),
        Some(_) => {
            let for_each = content.value("for_each").map(|it| Repetition::ForEach(it.into()));
            (for_each.unwrap_or(Repetition::Single), content.get("count"))
        }
    };
    let alias = match repetition.expression() {
        // Each key is an alias then.
        Some(it) if content.get("alias").is_none() => Some(Name::new("".into(), it.span)),
        _ => alias,
    };
    let reserved = ["depends_on", "source"].into_iter().filter_map(|it| content.get(it));
    for reserved in refused.into_iter().chain(reserved) {
        let detail = format!(
            "The provider argument name {:?} is reserved for use by {PRODUCT} in a future version.",
            reserved.name.text
        );
        decoder.report(problems::invalid(
            "Reserved argument name in provider block",
            detail,
            reserved.name.span,
        ));
    }
    let mut rest = escape::Rest::new(rest, "provider");
    for inner in &content.blocks {
        match &*inner.kind.text {
            "_" => rest.add(decoder, inner),
            kind => decoder.report(problems::reserved_block(kind, "provider", inner.kind.span)),
        }
    }
    let source = Provider::implied(&name.text);
    Some(ProviderBlock {
        name,
        source,
        alias,
        alias_from,
        repetition,
        body: rest.body,
        version,
        declared: block.header,
    })
}

/// Reads a version constraint that must be a literal.
pub(super) fn version_constraint(
    decoder: &mut Decoder,
    expression: &Expression,
) -> Option<(String, Span)> {
    let value = decoder.constant(expression)?;
    let text = convert(&value, Type::STRING).ok();
    let Some(text) = text.as_ref().and_then(Value::as_str) else {
        decoder.report(problems::constraint_not_text(expression.span));
        return None;
    };
    if Constraints::parse(text).is_none() {
        decoder.report(problems::invalid_constraint(expression.span));
        return None;
    }
    Some((text.to_owned(), expression.span))
}

/// Reads a reference to a provider configuration; `argument` is the argument that holds it.
pub(super) fn reference(
    decoder: &mut Decoder,
    expression: &Expression,
    argument: &str,
) -> Option<ProviderRef> {
    let refuse = |decoder: &mut Decoder, detail: String, at: Span| {
        decoder.report(problems::invalid_provider_reference(detail, at));
        None
    };
    let inner = match &expression.expr {
        Expr::String(_) if !decoder.file.is_json => decoder.traversal(expression)?,
        _ => decoder.written(expression)?,
    };
    let inner = decode::with_null_as_name(inner);
    let form = || {
        format!(
            "The {argument} argument requires a provider type name, optionally followed by a period and then a configuration alias and optional instance key."
        )
    };
    if let Expr::Splat(splat) = &inner.expr {
        let name = match splat.source.as_traversal() {
            Some((root, steps)) => match steps.first() {
                Some(Step::Attribute(alias)) => local_name(&root.text, Some(&alias.text)),
                _ => root.text.to_string(),
            },
            None => "provider.alias".to_owned(),
        };
        let detail = format!(
            "Provider configurations are passed one by one, not all instances together. Choose one by its key, such as {name}[each.key] where the resource or the module call repeats."
        );
        return refuse(decoder, detail, expression.span);
    }
    let Some((root, steps)) = inner.as_traversal() else {
        return refuse(decoder, form(), expression.span);
    };
    let (alias, key) = match steps {
        [] => (None, None),
        [Step::Attribute(alias)] => (Some(alias.clone()), None),
        [Step::Attribute(alias), Step::Index(it)] => (Some(alias.clone()), Some(it.key.clone())),
        [Step::Index(it)] => (Some(Name::new("".into(), root.span)), Some(it.key.clone())),
        [Step::LegacyIndex(it)] => {
            let detail = format!(
                "Write the key of a provider instance in brackets: {}[{}].",
                root.text, it.index
            );
            return refuse(decoder, detail, it.span);
        }
        [_, _, _, ..] => return refuse(decoder, form(), expression.span),
        [first, ..] => {
            let detail = "Provider name must either stand alone or be followed by a period and then a configuration alias.";
            return refuse(decoder, detail.into(), first.span());
        }
    };
    check_local_name(decoder, &root.text, root.span)?;
    Some(ProviderRef { name: root.name(), alias, key, span: inner.span })
}

/// Complains of a local name that is not in its normal form.
pub(super) fn check_local_name(decoder: &mut Decoder, name: &str, at: Span) -> Option<()> {
    match normal_part(name) {
        Ok(normal) if *normal == *name => Some(()),
        Ok(normal) => {
            let detail = format!(
                "Provider names must be normalized. Replace {name:?} with {normal:?} to fix this error."
            );
            decoder.report(problems::invalid_provider_name(detail, at));
            None
        }
        Err(why) => {
            decoder.report(problems::invalid_provider_name(
                format!("{name} is an invalid provider local name: {why}"),
                at,
            ));
            None
        }
    }
}

/// Complains of a resource type that implies a provider which cannot be.
pub(super) fn check_implied_name(decoder: &mut Decoder, kind: &str, at: Span) {
    let name = kind.split_once('_').map_or(kind, |it| it.0);
    if let Err(why) = check_part(name) {
        let detail = format!("{name:?} is an invalid implied provider local name: {why}");
        decoder.report(problems::invalid_provider_name(detail, at));
    }
}

/// Returns the local name of the provider that a resource type implies: what stands before the first underscore, in its
/// normal form where it has one.
pub fn implied_provider(kind: &str) -> Str {
    let name = kind.split_once('_').map_or(kind, |it| it.0);
    normal_part(name).map_or_else(|_| name.into(), Str::from)
}
