//! Which things an expression refers to, found without evaluating it.

use crate::address::{Mode, ResourceNameRef};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::syntax::{self, Expr, Expression, Name, Root, Step};
use crate::value::{Str, Value};
use crate::world::PRODUCT;

use super::{Reference, Subject};

/// Reads the first names of a traversal as a subject.
///
/// Fails where they name nothing that could exist: a bare name, `data` without type and name, `count.foo`.
pub fn parse_reference<'a>(root: &'a Root, steps: &'a [Step]) -> Result<Reference<'a>, Diagnostic> {
    let up_to = |steps: &[Step]| steps.last().map_or(root.span, |it| root.span.to(it.span()));
    let whole = up_to(steps);
    let make = |subject, used: usize| {
        let (own, rest) = steps.split_at(used);
        Reference { root, subject, rest, subject_span: up_to(own), span: whole }
    };
    let single = |subject: fn(&'a Str) -> Subject<'a>| {
        let name = single_attribute(root, steps)?;
        Ok(make(subject(&name.text), 1))
    };
    match &*root.text {
        "var" => single(Subject::Variable),
        "local" => single(Subject::Local),
        "path" => single(Subject::Path),
        "terraform" | "tofu" => single(Subject::Terraform),
        "module" => {
            let reference = single(Subject::Module)?;
            check_key(reference.rest, "module")?;
            match reference.rest {
                [Step::Index(..) | Step::LegacyIndex(..), other @ Step::Index(..), ..]
                | [Step::Index(..) | Step::LegacyIndex(..), other @ Step::LegacyIndex(..), ..] => {
                    Err(invalid(
                        "Module instance objects do not support this operation.",
                        other.span(),
                    ))
                }
                _ => Ok(reference),
            }
        }
        "count" => match &*single_attribute(root, steps)?.text {
            "index" => Ok(make(Subject::CountIndex, 1)),
            other => Err(bad_count_attribute(other, whole)),
        },
        "each" => match &*single_attribute(root, steps)?.text {
            "key" => Ok(make(Subject::EachKey, 1)),
            "value" => Ok(make(Subject::EachValue, 1)),
            other => Err(bad_each_attribute(other, whole)),
        },
        "self" => Ok(make(Subject::SelfObject, 0)),
        "template" | "lazy" | "arg" => Err(reserved_name(root)),
        "data" => prefixed(root, steps, Mode::Data, whole).map(|subject| make(subject, 2)),
        "ephemeral" => {
            prefixed(root, steps, Mode::Ephemeral, whole).map(|subject| make(subject, 2))
        }
        "resource" => prefixed(root, steps, Mode::Managed, whole).map(|subject| make(subject, 2)),
        _ => {
            let name = match steps.first() {
                Some(Step::Attribute(name)) => name,
                Some(step) => return Err(unnamed_resource("a resource type", step.span())),
                None => return Err(unnamed_resource("a resource type", root.span)),
            };
            check_key(&steps[1..], "resource")?;
            Ok(make(resource(Mode::Managed, &root.text, name), 1))
        }
    }
}

/// Reads `data.TYPE.NAME` and the like.
fn prefixed<'a>(
    root: &'a Root,
    steps: &'a [Step],
    mode: Mode,
    whole: Span,
) -> Result<Subject<'a>, Diagnostic> {
    let (object, what, missing) = match mode {
        Mode::Data => ("data", "a data source", "the data source type and the resource name"),
        Mode::Ephemeral => {
            ("ephemeral", "an ephemeral resource", "the ephemeral resource type and its name")
        }
        _ => ("resource", "a resource type", "the resource type and the resource name"),
    };
    if steps.len() < 2 {
        return Err(invalid(
            format!("The {object:?} object must be followed by two attribute names: {missing}."),
            whole,
        ));
    }
    let Step::Attribute(kind) = &steps[0] else {
        return Err(invalid(
            format!("The {:?} object does not support this operation.", root.text),
            steps[0].span(),
        ));
    };
    let Step::Attribute(name) = &steps[1] else {
        return Err(unnamed_resource(what, steps[1].span()));
    };
    check_key(&steps[2..], "resource")?;
    Ok(resource(mode, &kind.text, name))
}

fn resource<'a>(mode: Mode, kind: &'a Str, name: &'a Name) -> Subject<'a> {
    Subject::Resource(ResourceNameRef { mode, kind, name: &name.text })
}

/// Refuses a literal instance key that is neither text nor a whole number.
fn check_key(rest: &[Step], what: &str) -> Result<(), Diagnostic> {
    let Some(Step::Index(step)) = rest.first() else { return Ok(()) };
    let wrong = match &step.key.expr {
        Expr::Bool(_) | Expr::Null => "must be either an integer or a string",
        Expr::Number(it) if it.as_i64().is_none() => "must be an integer",
        _ => return Ok(()),
    };
    Err(Diagnostic::error("Invalid index key")
        .detail(format!("Invalid index for {what} instance: {wrong}."))
        .at(step.span))
}

fn single_attribute<'a>(root: &Root, steps: &'a [Step]) -> Result<&'a Name, Diagnostic> {
    match steps.first() {
        Some(Step::Attribute(name)) => Ok(name),
        Some(step) => Err(invalid(
            format!("The {:?} object does not support this operation.", root.text),
            step.span(),
        )),
        None => Err(invalid(
            format!(
                "The {:?} object cannot be accessed directly. Instead, access one of its attributes.",
                root.text
            ),
            root.span,
        )),
    }
}

fn invalid(detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid reference").detail(detail).at(at)
}

fn unnamed_resource(what: &str, at: Span) -> Diagnostic {
    invalid(
        format!(
            "A reference to {what} must be followed by at least one attribute access, specifying the resource name."
        ),
        at,
    )
}

fn bad_count_attribute(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid \"count\" attribute")
        .detail(format!(
            "The \"count\" object does not have an attribute named {name:?}. The only supported attribute is count.index, \
             which is the index of each instance of a resource block that has the \"count\" argument set."
        ))
        .at(at)
}

fn bad_each_attribute(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid \"each\" attribute")
        .detail(format!(
            "The \"each\" object does not have an attribute named {name:?}. The supported attributes are each.key and \
             each.value, the current key and value pair of the \"for_each\" attribute set."
        ))
        .at(at)
}

fn reserved_name(root: &Root) -> Diagnostic {
    Diagnostic::error("Reserved symbol name")
        .detail(format!(
            "The symbol name {:?} is reserved for use in a future {PRODUCT} version. If you are using a provider that \
             already uses this as a resource type name, add the prefix \"resource.\" to force interpretation as a resource \
             type name.",
            root.text
        ))
        .at(root.span)
}

/// An attribute of a repeated resource (`address`) is read without naming an instance. `repetition` is `count` or `for_each`.
pub fn missing_resource_key(address: &str, repetition: &str, at: Span) -> Diagnostic {
    let key = if repetition == "count" { "count.index" } else { "each.key" };
    Diagnostic::error("Missing resource instance key")
        .detail(format!(
            "Because {address} has {repetition:?} set, its attributes must be accessed on specific instances.\n\n\
             For example, to correlate with indices of a referring resource, use:\n    {address}[{key}]"
        ))
        .at(at)
}

/// Finds every reference of an expression, in source order, names bound within it left out.
pub fn references_of(expression: &Expression) -> (Vec<Reference<'_>>, Diagnostics) {
    references_within(expression, &[])
}

/// Like [`references_of`], for an expression around which `bound` names are bound: these are left out, too.
pub fn references_within<'a>(
    expression: &'a Expression,
    bound: &[Str],
) -> (Vec<Reference<'a>>, Diagnostics) {
    let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
    syntax::references(expression, &mut |root, steps, _| {
        let reference = free_reference(root, steps, bound);
        found.extend(reference.and_then(|it| problems.take(it)));
    });
    (found, problems)
}

/// Reads the first names of a traversal as a subject, as [`parse_reference`] does; nothing where they are bound around it,
/// or name a type.
pub fn free_reference<'a>(
    root: &'a Root,
    steps: &'a [Step],
    bound: &[Str],
) -> Option<Result<Reference<'a>, Diagnostic>> {
    let is_free = !bound.contains(&root.text) && !is_type_keyword(root, steps);
    is_free.then(|| parse_reference(root, steps))
}

/// Returns whether this is the name of a type, which refers to nothing wherever it stands: only `convert` takes it.
pub(super) fn is_type_keyword(root: &Root, steps: &[Step]) -> bool {
    steps.is_empty() && matches!(&*root.text, "string" | "number" | "bool" | "any")
}

/// Returns whether a function is one of a provider.
pub fn is_of_provider(function: &Name) -> bool {
    function.text.starts_with("provider::")
}

/// Finds every call of a provider's function: the names with their namespaces.
pub fn provider_functions_of(expression: &Expression) -> Vec<&Name> {
    let mut found = Vec::new();
    syntax::calls(expression, &mut |name, _, _| {
        if is_of_provider(name) {
            found.push(name);
        }
    });
    found
}

/// Returns the key that a step written as a literal has: for comparing without evaluating.
pub(super) fn literal_key(step: &Step) -> Option<Value> {
    match step {
        Step::LegacyIndex(it) => Some(Value::int(i64::try_from(it.index).unwrap_or(i64::MAX))),
        Step::Index(it) => match &it.key.expr {
            Expr::String(text) => Some(Value::String(text.clone())),
            Expr::Number(number) => Some(Value::Number(number.clone())),
            _ => None,
        },
        Step::Attribute(_) | Step::Splat(_) => None,
    }
}
