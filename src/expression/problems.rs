//! Everything that can be wrong with an expression, one function each.

use super::size::{LONGEST_TEXT, MOST_ELEMENTS};
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Span};
use crate::syntax::Name;
use crate::value::{Deprecation, Path, ShowPath, Type};

/// A diagnostic in three parts.
pub(super) fn problem(summary: &str, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

/// A reference where only constants may stand.
pub(super) fn no_variables(at: Span) -> Diagnostic {
    problem("Variables not allowed", "Variables may not be used here.", at)
}

/// A name that nothing has here.
pub(super) fn not_there(name: &str, at: Span) -> Diagnostic {
    let what = format!("{name} is not the name of anything that can be referred to here.");
    problem("Invalid reference", &what, at)
}

/// A call where only constants may stand.
pub(super) fn no_functions(at: Span) -> Diagnostic {
    problem("Function calls not allowed", "Functions may not be called here.", at)
}

/// A type constraint that is none.
pub(super) fn invalid_type(detail: impl Into<String>, at: Span) -> Diagnostic {
    problem("Invalid type specification", detail, at)
}

/// A default of an optional attribute that does not fit its type.
pub(super) fn invalid_optional_default(why: &str, at: Span) -> Diagnostic {
    problem(
        "Invalid default value for optional attribute",
        format!(
            "This default value is not compatible with the attribute's type constraint: {why}."
        ),
        at,
    )
}

/// An expression is nested deeper than the evaluator goes.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    problem(
        "Expression too deeply nested",
        "This expression is nested deeper than can be evaluated. Move inner parts to local values.",
        at,
    )
}

/// The name of a type where a value must stand.
pub(super) fn unknown_variable(name: &Name) -> Diagnostic {
    let detail = format!("There is no variable named {:?}.", name.text);
    problem("Unknown variable", detail, name.span)
}

/// A value comes from something whose author advises against using it.
pub(super) fn deprecated(path: &Path, origin: &Deprecation, at: Span) -> Diagnostic {
    let part = match path.is_empty() {
        true => "value".to_owned(),
        false => {
            let name = ShowPath(path).to_string();
            format!("value's attribute {}", name.trim_start_matches('.'))
        }
    };
    let advice = match &*origin.advice {
        "" => ".".to_owned(),
        advice => format!(" with the following message:\n\n{advice}"),
    };
    let source = &origin.source;
    let detail = format!("This {part} is derived from {source}, which is deprecated{advice}");
    Diagnostic::warning("Value derived from a deprecated source")
        .detail(detail)
        .at(at)
        .sort(Sort::Deprecated(Box::new(origin.clone())))
}

/// `f(x...)` where `x` is null, or no list.
pub(super) fn bad_expansion(is_null: bool, at: Span, whole: Span) -> Diagnostic {
    let detail = match is_null {
        true => "The expanding argument (indicated by ...) must not be null.",
        false => "The expanding argument (indicated by ...) must be of a tuple, list, or set type.",
    };
    problem("Invalid expanding argument value", detail, at).within(whole)
}

/// Fewer arguments than parameters.
pub(super) fn too_few_arguments(
    function: &str,
    expected: usize,
    or_more: bool,
    missing: &str,
    whole: Span,
) -> Diagnostic {
    let least = if or_more { " at least" } else { "" };
    problem(
        "Not enough function arguments",
        format!("Function {function:?} expects{least} {expected} argument(s). Missing value for {missing:?}."),
        whole.last(),
    )
    .within(whole)
}

/// More arguments than parameters.
pub(super) fn too_many_arguments(
    function: &str,
    expected: usize,
    at: Span,
    whole: Span,
) -> Diagnostic {
    problem(
        "Too many function arguments",
        format!("Function {function:?} expects only {expected} argument(s)."),
        at,
    )
    .within(whole)
}

/// One argument does not fit its parameter.
pub(super) fn bad_argument(parameter: &str, why: &str, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid function argument",
        format!("Invalid value for {parameter:?} parameter: {why}."),
        at,
    )
    .within(whole)
}

/// The value of an output cannot be converted to the output's type.
pub(super) fn unsuitable_output(why: &str, at: Span) -> Diagnostic {
    problem(
        "Invalid output value",
        format!("The value does not have the type of the output: {why}."),
        at,
    )
}

/// The function itself failed.
pub(super) fn failed_call(function: &str, why: &str, at: Span) -> Diagnostic {
    problem("Error in function call", format!("Call to function {function:?} failed: {why}."), at)
}

/// An operand cannot be converted to what the operator takes.
pub(super) fn bad_operand(side: &str, why: &str, at: Span, whole: Span) -> Diagnostic {
    problem("Invalid operand", format!("Unsuitable value for {side} operand: {why}."), at)
        .within(whole)
}

/// The operator itself failed.
pub(super) fn failed_operation(why: &str, at: Span) -> Diagnostic {
    problem("Operation failed", format!("Error during operation: {why}."), at)
}

/// `null ? a : b`
pub(super) fn null_condition(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Null condition",
        "The condition value is null. Conditions must either be true or false.",
        at,
    )
    .within(whole)
}

/// A condition that is no bool.
pub(super) fn condition_not_bool(at: Span, whole: Span) -> Diagnostic {
    problem("Incorrect condition type", "The condition expression must be of type bool.", at)
        .within(whole)
}

/// The two results of a conditional have no common type.
pub(super) fn inconsistent_results(yes: Type, no: Type, at: Span, whole: Span) -> Diagnostic {
    let why = super::mismatch::type_mismatch(yes, no);
    problem(
        "Inconsistent conditional result types",
        format!("The true and false result expressions must have consistent types. {why}."),
        at,
    )
    .within(whole)
}

/// The chosen result of a conditional cannot be converted to the common type.
pub(super) fn wrong_result(which: &str, why: &str, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Inconsistent conditional result types",
        format!("The {which} result value has the wrong type: {why}."),
        at,
    )
    .within(whole)
}

/// `{ (null) = 1 }`
pub(super) fn null_key(at: Span) -> Diagnostic {
    problem("Null value as key", "Can't use a null value as a key.", at)
}

/// `{ ([]) = 1 }`
pub(super) fn bad_key(why: &str, at: Span) -> Diagnostic {
    problem("Incorrect key type", format!("Can't use this value as a key: {why}."), at)
}

/// `{ a.b = 1 }`
pub(super) fn ambiguous_key(at: Span) -> Diagnostic {
    problem(
        "Ambiguous attribute key",
        "If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal \
         name containing periods, wrap it in quotes to create a string literal.",
        at,
    )
}

/// `for` over null.
pub(super) fn iteration_over_null(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Iteration over null value",
        "A null value cannot be used as the collection in a 'for' expression.",
        at,
    )
    .within(whole)
}

/// `for` over a string and the like.
pub(super) fn iteration_over_single(ty: Type, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Iteration over non-iterable value",
        format!(
            "A value of type {} cannot be used as the collection in a 'for' expression.",
            ty.friendly_name()
        ),
        at,
    )
    .within(whole)
}

/// The `if` of a `for` is null whatever the element.
pub(super) fn condition_always_null(at: Span, whole: Span) -> Diagnostic {
    problem("Condition is null", "The value of the 'if' clause must not be null.", at).within(whole)
}

/// The `if` of a `for` is null for an element.
pub(super) fn null_filter(at: Span, whole: Span) -> Diagnostic {
    problem("Invalid 'for' condition", "The value of the 'if' clause must not be null.", at)
        .within(whole)
}

/// The `if` of a `for` is no bool.
pub(super) fn bad_filter(why: &str, at: Span, whole: Span) -> Diagnostic {
    problem("Invalid 'for' condition", format!("The 'if' clause value is invalid: {why}."), at)
        .within(whole)
}

/// The key of an object `for` is null.
pub(super) fn null_for_key(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid object key",
        "Key expression in 'for' expression must not produce a null value.",
        at,
    )
    .within(whole)
}

/// The key of an object `for` is no string.
pub(super) fn bad_for_key(why: &str, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid object key",
        format!("The key expression produced an invalid result: {why}."),
        at,
    )
    .within(whole)
}

/// The same problem, where its detail and the values around it may be secret.
pub(super) fn withheld(problem: Diagnostic) -> Diagnostic {
    let detail =
        "What is wrong is not told, because it may show parts of a sensitive or ephemeral value.";
    Diagnostic { values: Vec::new(), ..problem.detail(detail) }
}

/// The same for all of them.
pub(super) fn all_withheld(problems: Diagnostics) -> Diagnostics {
    Diagnostics(problems.0.into_iter().map(withheld).collect())
}

/// Two elements of an object `for` have one key; `key` is as it may be shown.
pub(super) fn duplicate_for_key(key: &str, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Duplicate object key",
        format!(
            "Two different items produced the key {} in this 'for' expression. If duplicates are expected, use the \
             ellipsis (...) after the value expression to enable grouping by key.",
            key
        ),
        at,
    )
    .within(whole)
}

/// `[*]` on a null list.
pub(super) fn splat_of_null(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Splat of null value",
        "Splat expressions (with the * symbol) cannot be applied to null sequences.",
        at,
    )
    .within(whole)
}

/// The elements of a list give values of different types in a nested splat.
pub(super) fn uneven_splat(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid nested splat expressions",
        "The second level of splat expression produced elements of different types, so it isn't possible to construct a \
         valid list to represent the top-level result.\n\nConsider using a for expression instead, to produce a \
         tuple-typed result which can therefore have non-homogenous element types.",
        at,
    )
    .within(whole)
}

/// `[local.a, local.a]`, again and again
pub(super) fn excessive(at: Span) -> Diagnostic {
    problem(
        "Value too large",
        format!(
            "The value of this expression would have more than {MOST_ELEMENTS} elements, or a text of more than {LONGEST_TEXT} bytes. Lists \
             and texts that contain each other several times grow with each step: compute only what is needed."
        ),
        at,
    )
}

/// `"a${null}"`
pub(super) fn null_interpolation(at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid template interpolation value",
        "The expression result is null. Cannot include a null value in a string template.",
        at,
    )
    .within(whole)
}

/// `"a${[]}"`
pub(super) fn bad_interpolation(why: &str, at: Span, whole: Span) -> Diagnostic {
    problem(
        "Invalid template interpolation value",
        format!("Cannot include the given value in a string template: {why}."),
        at,
    )
    .within(whole)
}
