//! `lifecycle` of resources.

use crate::address::{Mode, ResourceName};
use crate::diagnostic::{Diagnostic, Span};
use crate::expression::{Subject, references_of};
use crate::syntax::{Attribute, Block, Expr, Expression, exact};

use super::decode::{Decoder, Schema};
use super::repetition::Repetitions;
use super::{IgnoreChanges, Lifecycle, condition, problems};

const LIFECYCLE: Schema = Schema {
    attributes: &[
        "create_before_destroy",
        "prevent_destroy",
        "destroy",
        "ignore_changes",
        "replace_triggered_by",
        "enabled",
    ],
    required: &[],
    blocks: &[("precondition", &[]), ("postcondition", &[])],
};

/// A `lifecycle` block and whose it is.
pub(super) struct LifecycleOf<'a> {
    pub resource: &'a ResourceName,
    pub block: &'a Block,
}

/// Reads a `lifecycle` block; `enabled` goes to the repetitions.
pub(super) fn lifecycle(
    decoder: &mut Decoder,
    owner: &LifecycleOf,
    repetitions: &mut Repetitions,
) -> Lifecycle {
    let content = decoder.content(owner.block, &LIFECYCLE);
    let mut lifecycle = Lifecycle::default();
    for attribute in &content.attributes {
        match (&*attribute.name.text, owner.resource.mode) {
            ("enabled", _) => repetitions.add(Some(attribute)),
            (_, Mode::Managed) => argument(decoder, &mut lifecycle, attribute),
            (name, Mode::Data) => {
                let detail = format!(
                    "The lifecycle argument {name:?} is defined only for managed resources (\"resource\" blocks), and is not valid for data resources."
                );
                decoder.report(problems::invalid(
                    "Invalid data resource lifecycle argument",
                    detail,
                    attribute.name.span,
                ));
            }
            (name, Mode::Ephemeral) => {
                let detail = format!(
                    "The lifecycle argument {name:?} cannot be used in ephemeral resources. This is meant to be used strictly in \"resource\" blocks."
                );
                decoder.report(problems::invalid(
                    "Invalid lifecycle configuration for ephemeral resource",
                    detail,
                    owner.block.header,
                ));
            }
        }
    }
    for inner in &content.blocks {
        let Some(condition) = condition::condition(decoder, inner) else { continue };
        condition::check_self(decoder, &inner.kind.text, owner.resource, &condition);
        match &*inner.kind.text {
            "precondition" => lifecycle.preconditions.push(condition),
            _ => lifecycle.postconditions.push(condition),
        }
    }
    lifecycle
}

fn argument(decoder: &mut Decoder, lifecycle: &mut Lifecycle, attribute: &Attribute) {
    match &*attribute.name.text {
        "create_before_destroy" => {
            lifecycle.create_before_destroy = decoder.flag(attribute);
            lifecycle.create_before_destroy_span = Some(attribute.span());
        }
        "prevent_destroy" => lifecycle.prevent_destroy = Some(attribute.value.clone()),
        "destroy" => lifecycle.destroy = destroy(decoder, attribute),
        "ignore_changes" => lifecycle.ignore_changes = ignore_changes(decoder, attribute),
        _ => lifecycle.replace_triggered_by = replace_triggered_by(decoder, &attribute.value),
    }
}

/// Reads `destroy`, which must be written out.
fn destroy(decoder: &mut Decoder, attribute: &Attribute) -> Option<(bool, Span)> {
    match &attribute.value.expr {
        Expr::Bool(it) => Some((*it, attribute.span())),
        _ => {
            let detail = "The lifecycle destroy expression must be a boolean constant.";
            decoder.report(problems::invalid(
                "Invalid lifecycle destroy expression",
                detail,
                attribute.value.span,
            ));
            None
        }
    }
}

fn ignore_changes(decoder: &mut Decoder, attribute: &Attribute) -> IgnoreChanges {
    let is_all = match &attribute.value.expr {
        Expr::String(text) => decoder.file.is_json && &**text == "all",
        _ => attribute.value.as_keyword() == Some("all"),
    };
    if is_all {
        return IgnoreChanges::All;
    }
    let mut paths = Vec::new();
    let mut has_wildcard = false;
    for item in decoder.list(&attribute.value) {
        if matches!(&item.expr, Expr::String(text) if &**text == "*") {
            let detail = "The [\"*\"] form of ignore_changes is no longer valid. Use \"ignore_changes = all\" to ignore changes to all attributes.";
            decoder.report(problems::invalid(
                "Invalid ignore_changes wildcard",
                detail,
                attribute.value.span,
            ));
            has_wildcard = true;
            continue;
        }
        paths.extend(decoder.traversal(&item));
    }
    if has_wildcard && !paths.is_empty() {
        let detail =
            "The wildcard \"*\" stands for all attributes, so that no others can stand beside it.";
        decoder.report(problems::invalid(
            "Invalid ignore_changes ruleset",
            detail,
            attribute.value.span,
        ));
    }
    IgnoreChanges::Paths(exact(paths))
}

/// Reads the list and checks that each item names one resource, with no other keys than `count.index` and `each.key`.
fn replace_triggered_by(decoder: &mut Decoder, expression: &Expression) -> Vec<Expression> {
    let items = decoder.list(expression);
    let mut triggers = Vec::new();
    for item in &items {
        let Some(trigger) = decoder.written(item) else { continue };
        check_trigger(decoder, &trigger);
        triggers.push(trigger);
    }
    triggers
}

/// Returns of which name a problem says that it has no such attribute, and which one may stand in `replace_triggered_by`.
fn attribute_of(problem: &Diagnostic) -> Option<(&'static str, &'static str)> {
    match &*problem.summary {
        "Invalid \"each\" attribute" => Some(("each", "key")),
        "Invalid \"count\" attribute" => Some(("count", "index")),
        _ => None,
    }
}

fn not_this_attribute(name: &str, allowed: &str, at: Span) -> Diagnostic {
    let summary = format!("Invalid {name} reference in replace_triggered_by expression");
    let detail = format!("Only {name}.{allowed} may be used in replace_triggered_by.");
    problems::invalid(summary, detail, at)
}

fn check_trigger(decoder: &mut Decoder, trigger: &Expression) {
    let (references, problems) = references_of(trigger);
    let (of_names, others): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|it| attribute_of(it).is_some());
    if !others.is_empty() {
        decoder.problems.extend(others);
        return;
    }
    for problem in of_names {
        let Some((name, allowed)) = attribute_of(&problem) else { continue };
        decoder.report(not_this_attribute(name, allowed, trigger.span));
    }
    let mut resources = 0;
    for reference in &references {
        match reference.subject {
            Subject::Resource(..) => resources += 1,
            Subject::EachKey | Subject::CountIndex => {}
            Subject::EachValue => {
                decoder.report(not_this_attribute("each", "key", trigger.span));
            }
            _ => {
                let summary = "Invalid reference in replace_triggered_by expression";
                decoder.report(problems::invalid(summary, "Only resources, count.index, and each.key may be used in replace_triggered_by.", trigger.span));
            }
        }
    }
    let detail = match resources {
        0 => "Missing resource reference in replace_triggered_by expression.",
        1 => return,
        _ => "Multiple resource references in replace_triggered_by expression.",
    };
    decoder.report(problems::invalid(
        "Invalid replace_triggered_by expression",
        detail,
        trigger.span,
    ));
}
