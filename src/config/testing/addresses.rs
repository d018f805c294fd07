//! Addresses that stand in test files as references.

use crate::address::target::Target;
use crate::address::{ConfigResource, Instance, Mode, Module as ModuleAddr};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Subject, parse_reference};
use crate::syntax::{Expr, Expression, Step};

/// Writes a reference as an address.
fn text(expression: &Expression) -> Option<String> {
    let (root, steps) = expression.as_traversal()?;
    let mut out = root.text.to_string();
    for step in steps {
        match step {
            Step::Attribute(name) => out.push_str(&format!(".{}", name.text)),
            Step::LegacyIndex(it) => out.push_str(&format!("[{}]", it.index)),
            Step::Index(it) => match &it.key.expr {
                Expr::Number(number) => out.push_str(&format!("[{number}]")),
                Expr::String(key) => out.push_str(&format!("[{}]", quoted(key))),
                _ => return None,
            },
            Step::Splat(_) => return None,
        }
    }
    Some(out)
}

fn quoted(key: &str) -> String {
    crate::expression::print::format_value(&crate::value::Value::string(key))
}

fn read<T: std::str::FromStr<Err = Diagnostic>>(expression: &Expression) -> Result<T, Diagnostic> {
    let whole = |it: Diagnostic| it.at(expression.span);
    let Some(text) = text(expression) else {
        return Err(whole(Diagnostic::error("Invalid address").detail(
            "An address is made of names, dots and constant keys, such as module.net.aws_vpc.main[0].",
        )));
    };
    text.parse().map_err(whole)
}

/// Reads the address of a resource, whichever instance.
pub(super) fn resource(expression: &Expression) -> Result<ConfigResource, Diagnostic> {
    if expression.as_traversal().is_some_and(|it| &*it.0.text == "module" && it.1.len() < 3) {
        return Err(Diagnostic::error("Module address is not allowed")
            .detail("Expected reference to either resource or data block. Provided reference appears to be a module.")
            .at(expression.span));
    }
    let attribute = names_attribute(expression).then_some(expression.span);
    if let Some(at) = key_of(expression).or(attribute) {
        return Err(Diagnostic::error("Resource instance address with keys is not allowed")
            .detail("Resource address must be a resource (e.g. \"test_instance.foo\"), not a resource instance (e.g. \"test_instance.foo[1]\").")
            .at(at));
    }
    read(expression)
}

/// Reads the address of a module call, whichever instance.
pub(super) fn module(expression: &Expression) -> Result<ModuleAddr, Diagnostic> {
    if let Some(at) = key_of(expression) {
        return Err(Diagnostic::error("Module instance address with keys is not allowed")
            .detail("Module address must be a module (e.g. \"module.foo\"), not a module instance (e.g. \"module.foo[1]\").")
            .at(at));
    }
    let is_module = expression.as_traversal().is_some_and(|it| &*it.0.text == "module");
    if !is_module {
        return Err(Diagnostic::error("Module address expected")
            .detail("It's not allowed to reference anything other than module here.")
            .at(expression.span));
    }
    read(expression)
}

/// Returns whether more steps follow the name of a resource of the root module.
fn names_attribute(expression: &Expression) -> bool {
    let Some((root, steps)) = expression.as_traversal() else { return false };
    match &*root.text {
        "module" => false,
        "data" | "resource" => steps.len() > 2,
        _ => steps.len() > 1,
    }
}

/// Returns the place to blame where an address has a key.
fn key_of(expression: &Expression) -> Option<crate::diagnostic::Span> {
    let (_, steps) = expression.as_traversal()?;
    steps.iter().any(|it| !matches!(it, Step::Attribute(_))).then_some(expression.span)
}

/// Reads what `target` names.
pub fn targeted(expression: &Expression) -> Result<Target, Diagnostic> {
    read(expression)
}

/// Reads what `replace` names.
pub(super) fn replaced(written: &[Expression]) -> Result<Vec<Instance>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut found = Vec::new();
    for expression in written {
        let Some(instance) = problems.take(read::<Instance>(expression)) else { continue };
        if instance.resource.mode != Mode::Managed {
            let summary = "Can only target managed resources for forced replacements.";
            problems
                .push(Diagnostic::error(summary).detail(instance.to_string()).at(expression.span));
            continue;
        }
        found.push(instance);
    }
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Returns the address of what `expect_failures` names: `var.x`, `output.x`, `check.x`, a resource or an instance.
///
/// # Errors
///
/// If nothing of that kind can fail a condition.
pub fn expected(expression: &Expression) -> Result<String, Diagnostic> {
    let refuse = |what: &str| {
        Err(Diagnostic::error("Invalid `expect_failures` reference")
            .detail(format!("You cannot expect failures from {what}. You can only expect failures from checkable objects such as input variables, output values, check blocks, managed resources and data sources."))
            .at(expression.span))
    };
    let Some((root, steps)) = expression.as_traversal() else { return refuse("expressions") };
    if let ("output" | "check", [Step::Attribute(name), ..]) = (&*root.text, steps) {
        return Ok(format!("{}.{}", root.text, name.text));
    }
    let reference = parse_reference(root, steps).map_err(|it| it.at(expression.span))?;
    match reference.subject {
        Subject::Variable(name) => Ok(format!("var.{name}")),
        Subject::Resource(name) if name.mode != Mode::Ephemeral => {
            let used = steps.len() - reference.rest.len();
            let with_key = match reference.rest.first() {
                Some(Step::Index(..) | Step::LegacyIndex(..)) => used + 1,
                _ => used,
            };
            let short = Expression {
                expr: Expr::traversal(root.name(), steps[..with_key].to_vec()),
                span: expression.span,
            };
            match text(&short) {
                Some(text) => Ok(text.strip_prefix("resource.").unwrap_or(&text).to_owned()),
                None => refuse("this reference"),
            }
        }
        _ => refuse(&text(expression).unwrap_or_else(|| "this reference".to_owned())),
    }
}
