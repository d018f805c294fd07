//! Everything that can be wrong with a single module's blocks, one function each. What references say is checked in `check`.

use crate::diagnostic::{Diagnostic, Sort, Span};
use crate::world::PRODUCT;

fn error(summary: impl Into<String>, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

fn warning(summary: impl Into<String>, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::warning(summary).detail(detail).at(at)
}

// Files and folders.

/// The folder of a module is not there or cannot be read.
pub(super) fn unreadable_directory(directory: &str) -> Diagnostic {
    Diagnostic::error("Failed to read module directory")
        .detail(format!("Module directory {directory} does not exist or cannot be read."))
}

/// A configuration file cannot be read.
pub(super) fn unreadable_file(name: &str, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read file")
        .detail(format!("The file {name:?} could not be read: {why}."))
}

/// A configuration file is not UTF-8.
pub(super) fn not_utf8(name: &str) -> Diagnostic {
    Diagnostic::error("Invalid character encoding")
        .detail(format!("The file {name:?} is not UTF-8 text. Save it in UTF-8 encoding."))
}

// Expressions whose form counts.

/// A constant has the wrong type.
pub(super) fn unsuitable_type(why: &str, at: Span) -> Diagnostic {
    error("Unsuitable value type", format!("Unsuitable value: {why}"), at)
}

/// A reference stands in quotes.
pub(super) fn quoted_reference(at: Span) -> Diagnostic {
    let detail = "References are expected literally here, not in quotes. Remove the quotes around this reference to silence this warning.";
    warning("Quoted references are deprecated", detail, at)
}

/// A keyword stands in quotes.
pub(super) fn quoted_keyword(at: Span) -> Diagnostic {
    let detail = "Keywords are expected literally here, not in quotes. Remove the quotes around this keyword to silence this warning.";
    warning("Quoted keywords are deprecated", detail, at)
}

/// Something else stands where only a reference may.
pub(super) fn not_a_reference(at: Span) -> Diagnostic {
    let detail = "A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.";
    error("Invalid expression", detail, at)
}

/// `"${text}"` stands in JSON where nothing is evaluated.
pub(super) fn wrapped(summary: &str, text: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "What stands here is not evaluated, so that it cannot be a template. In JSON, a string is itself the expression: write \"{text}\", without \"${{\" and \"}}\" around it."
    );
    error(summary, detail, at)
}

/// Something else stands where only a list constructor may.
pub(super) fn not_a_list(at: Span) -> Diagnostic {
    error("Invalid expression", "A static list expression is required.", at)
}

/// Something else stands where only an object constructor may.
pub(super) fn not_a_map(at: Span) -> Diagnostic {
    error("Invalid expression", "A static map expression is required.", at)
}

/// A name is no identifier.
pub(super) fn invalid_name(summary: &str, at: Span) -> Diagnostic {
    let detail = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";
    error(summary, detail, at)
}

// Things said twice.

/// Something of which a module has one is declared twice.
pub(super) fn duplicate(
    summary: impl Into<String>,
    what: &str,
    rule: &str,
    first: &str,
    at: Span,
) -> Diagnostic {
    error(summary, format!("{what} at {first}. {rule}"), at)
}

/// A block that may stand once stands twice.
pub(super) fn duplicate_block(kind: &str, owner: &str, first: &str, at: Span) -> Diagnostic {
    error(
        format!("Duplicate {kind} block"),
        format!("{owner} already has a {kind} block at {first}."),
        at,
    )
}

/// A second `_` block.
pub(super) fn duplicate_escape(owner: &str, first: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The block type \"_\" marks arguments that are not meta-arguments. Each {owner} block can have only one; the first was at {first}."
    );
    error("Duplicate escaping block", detail, at)
}

/// A block type that is kept for the future.
pub(super) fn reserved_block(kind: &str, owner: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The block type name {kind:?} is reserved for use by {PRODUCT} in a future version."
    );
    error(format!("Reserved block type name in {owner} block"), detail, at)
}

/// More than one of `count`, `enabled` and `for_each`.
pub(super) fn repetition_conflict(arguments: &str, what: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The {arguments} meta-arguments are mutually-exclusive. Only one may be used to be explicit about the number of {what} to be created."
    );
    error(format!("Invalid combination of {arguments}"), detail, at)
}

// Overriding.

/// An override file names what no ordinary file declares.
pub(super) fn nothing_to_override(
    summary: &str,
    what: &str,
    declared: &str,
    at: Span,
) -> Diagnostic {
    let detail = format!(
        "There is no {what}. An override file can only override {declared} in a primary configuration file."
    );
    error(summary, detail, at)
}

/// A kind of block that may not be overridden.
pub(super) fn cannot_override(kind: &str, what: &str, at: Span) -> Diagnostic {
    error(
        format!("Cannot override '{kind}' blocks"),
        format!("{what} can appear only in normal files, not in override files."),
        at,
    )
}

/// A condition or check in an override file.
pub(super) fn cannot_override_check(kind: &str, at: Span) -> Diagnostic {
    error(
        format!("Can't override {kind} blocks"),
        format!("Override files cannot override {kind:?} blocks."),
        at,
    )
}

/// `depends_on` in an override file.
pub(super) fn depends_on_override(at: Span) -> Diagnostic {
    error("Unsupported override", "The depends_on argument may not be overridden.", at)
}

// Variables and outputs.

/// A variable is called as a meta-argument of module calls.
pub(super) fn reserved_variable(name: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The variable name {name:?} is reserved due to its special meaning inside module blocks."
    );
    error("Invalid variable name", detail, at)
}

/// `deprecated` is an empty text.
pub(super) fn empty_deprecation(summary: &str, what: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The \"deprecated\" argument must not be empty, and should provide instructions on how to migrate away from usage of this deprecated {what}."
    );
    error(summary, detail, at)
}

/// A default that does not fit.
pub(super) fn invalid_default(detail: String, at: Span) -> Diagnostic {
    error("Invalid default value for variable", detail, at)
}

/// An attribute of a default that the type does not know.
pub(super) fn ignored_attribute(owner: &str, name: &str, suggestion: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "{owner} does not include an attribute named {name:?}, so this definition is unused.{suggestion}"
    );
    warning("Object attribute is ignored", detail, at)
}

/// A validation that does not look at its variable.
pub(super) fn aimless_validation(name: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The condition for variable {name:?} must refer to var.{name} in order to test incoming values."
    );
    error("Invalid variable validation condition", detail, at)
}

/// A condition that refers to nothing.
pub(super) fn constant_condition(kind: &str, at: Span) -> Diagnostic {
    let detail = "The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.";
    error(format!("Invalid {kind} expression"), detail, at)
}

/// A precondition or postcondition that names its own resource.
pub(super) fn condition_on_itself(kind: &str, address: &str, at: Span) -> Diagnostic {
    error(
        format!("Invalid reference in {kind}"),
        format!("Configuration for {address} may not refer to itself."),
        at,
    )
}

/// An output with a postcondition.
pub(super) fn postcondition_on_output(at: Span) -> Diagnostic {
    error(
        "Postconditions are not allowed",
        "Output values can only have preconditions, not postconditions.",
        at,
    )
}

/// A type in quotes, as very old configurations have it.
pub(super) fn quoted_type(name: &str, at: Span) -> Diagnostic {
    match name {
        "string" | "list" | "map" => {
            let better =
                if name == "string" { "string".to_owned() } else { format!("{name}(string)") };
            error(
                "Invalid quoted type constraints",
                format!(
                    "Type constraints are no longer given in quotes. Write {better} without quotes."
                ),
                at,
            )
        }
        _ => error(
            "Invalid legacy variable type hint",
            "To provide a full type expression, remove the surrounding quotes and give the type expression directly.",
            at,
        ),
    }
}

// Versions and providers.

/// A text is no version constraint.
pub(super) fn invalid_constraint(at: Span) -> Diagnostic {
    error(
        "Invalid version constraint",
        "This string does not use correct version constraint syntax.",
        at,
    )
}

/// A version constraint is no text.
pub(super) fn constraint_not_text(at: Span) -> Diagnostic {
    error("Invalid version constraint", "Version must be specified as a string.", at)
}

/// The module does not want this version of the program.
pub(super) fn incompatible_module(version: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "This module is not compatible with OpenTofu v{version}, whose language this program follows. Choose a version that fulfils this constraint, or update the constraint."
    );
    error("Incompatible module", detail, at).sort(Sort::IncompatibleModule)
}

/// A constraint on the program's version names a prerelease.
pub(super) fn prerelease_constraint(constraint: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "Prerelease version constraints are not supported: {constraint}. Remove the prerelease information from the constraint."
    );
    error("Invalid required_version constraint", detail, at)
}

/// A local provider name that is not written in its normal form, or is no name.
pub(super) fn invalid_provider_name(detail: String, at: Span) -> Diagnostic {
    error("Invalid provider local name", detail, at)
}

/// A reference to a provider configuration that is none.
pub(super) fn invalid_provider_reference(detail: impl Into<String>, at: Span) -> Diagnostic {
    error("Invalid provider configuration reference", detail, at)
}

/// Something else that is wrong with one block. The rarer summaries are passed through here.
pub(super) fn invalid(
    summary: impl Into<String>,
    detail: impl Into<String>,
    at: Span,
) -> Diagnostic {
    error(summary, detail, at)
}

/// An `import` block names a provider, and the resource that it is for is in a module below the root.
pub(super) fn provider_of_import(at: Span) -> Diagnostic {
    let detail = "The provider argument can only be specified in import blocks that will generate configuration. Use the providers argument within the module block to configure providers for all resources within a module, including imported resources.";
    invalid("Invalid import provider argument", detail, at)
}

/// Something that is allowed and probably a mistake.
pub(super) fn questionable(
    summary: impl Into<String>,
    detail: impl Into<String>,
    at: Span,
) -> Diagnostic {
    warning(summary, detail, at)
}

/// Returns the one of `known` that is nearest to `given`, where at most two letters differ, and the first of several.
pub fn suggest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names whose lengths differ by more cannot be near; most are ruled out so.
    let length = given.chars().count();
    known
        .into_iter()
        .filter(|it| it.chars().count().abs_diff(length) < 3)
        .map(|it| (strsim::levenshtein(given, it), it))
        .filter(|(distance, _)| *distance < 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// An alias that no reference could name.
pub(super) fn invalid_alias(at: Span) -> Diagnostic {
    let detail = "An alias must be a valid name: it starts with a letter or underscore and contains only letters, digits, underscores, and dashes.";
    invalid("Invalid provider configuration alias", detail, at)
}
