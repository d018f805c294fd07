//! Everything that can be wrong between the parts of a configuration, one function each.

use crate::address::{ConfigResource, ProviderConfig};
use crate::diagnostic::{Diagnostic, Span};

fn error(summary: impl Into<String>, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or(String::new(), |it| format!(" Did you mean {it:?}?"))
}

/// `var.x`, which no block declares.
pub(super) fn undeclared_variable(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let hint = match suggestion {
        Some(_) => did_you_mean(suggestion),
        None => format!(" This variable can be declared with a variable {name:?} {{}} block."),
    };
    error(
        "Reference to undeclared input variable",
        format!("An input variable with the name {name:?} has not been declared.{hint}"),
        at,
    )
}

/// `local.x`, which no `locals` block defines.
pub(super) fn undeclared_local(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let detail = format!(
        "A local value with the name {name:?} has not been declared.{}",
        did_you_mean(suggestion)
    );
    error("Reference to undeclared local value", detail, at)
}

/// `module.x`, which is not called.
pub(super) fn undeclared_module(
    name: &str,
    module: &str,
    suggestion: Option<&str>,
    at: Span,
) -> Diagnostic {
    let detail = format!(
        "No module call named {name:?} is declared in {module}.{}",
        did_you_mean(suggestion)
    );
    error("Reference to undeclared module", detail, at)
}

/// A resource that no block declares. `hint` is empty or a sentence.
pub(super) fn undeclared_resource(
    mode: &str,
    (kind, name): (&str, &str),
    module: &str,
    hint: &str,
    at: Span,
) -> Diagnostic {
    let detail =
        format!("There is no {mode} resource {kind:?} {name:?} definition in {module}.{hint}");
    error("Reference to undeclared resource", detail, at)
}

/// `replace_triggered_by` names a resource that no block declares.
pub(super) fn undeclared_trigger(owner: &str, resource: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "Resource {owner} refers to {resource} in replace_triggered_by, but it is not declared in this module."
    );
    error("Undeclared resource in replace_triggered_by", detail, at)
}

/// A data source of a `check` block is used elsewhere.
pub(super) fn scoped_resource((kind, name): (&str, &str), at: Span) -> Diagnostic {
    let detail = format!(
        "The referenced data resource {kind:?} {name:?} is not available from this context."
    );
    error("Reference to scoped resource", detail, at)
}

/// A call passes a provider configuration that its module does not have.
pub(super) fn nothing_to_pass(
    wanted: &ProviderConfig,
    (name, module): (&str, &str),
    at: Span,
) -> Diagnostic {
    let detail = format!(
        "This call passes {name}, which {module} does not have: a configuration can be passed where it is written in a provider block, passed in by the caller, or, in the root module, required. Add a provider block or an entry of required_providers to {module}, or take the entry out of this call, so that the called module inherits the configuration."
    );
    error(format!("missing provider {wanted}"), detail, at)
}

/// `[…]` after a resource that does not repeat.
pub(super) fn unexpected_key(address: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "Because {address} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource."
    );
    error("Unexpected resource instance key", detail, at)
}

/// `.count` of a resource.
pub(super) fn count_attribute(address: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The special \"count\" attribute is no longer supported after OpenTofu v0.12. Instead, use length({address}) to count resource instances."
    );
    error("Invalid resource count attribute", detail, at)
}

/// An output that the module does not have.
pub(super) fn unsupported_output(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let detail = format!(
        "This object does not have an attribute named {name:?}.{}",
        did_you_mean(suggestion)
    );
    error("Unsupported attribute", detail, at)
}

/// `each` where nothing repeats by key.
pub(super) fn each_without_for_each(at: Span) -> Diagnostic {
    let detail = "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \"for_each\" argument is set.";
    error("Reference to \"each\" in context without for_each", detail, at)
}

/// `each.value` where nothing repeats by key.
pub(super) fn each_value_without_for_each(at: Span) -> Diagnostic {
    let detail = "There is no \"for_each\" here that \"each.value\" could come from. If there was one, remove this reference with it.";
    error("each.value cannot be used in this context", detail, at)
}

/// `count` where nothing is counted.
pub(super) fn count_without_count(at: Span) -> Diagnostic {
    let detail = "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \"count\" argument is set.";
    error("Reference to \"count\" in non-counted context", detail, at)
}

/// `self` where there is none.
pub(super) fn no_self(at: Span) -> Diagnostic {
    let detail = "The \"self\" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.";
    error("Invalid \"self\" reference", detail, at)
}

/// What `self` evaluates to where there is none.
pub(super) fn unknown_self(at: Span) -> Diagnostic {
    error("Unknown variable", "There is no variable named \"self\".", at)
}

/// `path.x`
pub(super) fn invalid_path(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let detail = format!(
        "The \"path\" object does not have an attribute named {name:?}.{}",
        did_you_mean(suggestion)
    );
    error("Invalid \"path\" attribute", detail, at)
}

/// `terraform.x`
pub(super) fn invalid_terraform(object: &str, name: &str, at: Span) -> Diagnostic {
    let detail = match name {
        "env" => format!(
            "The {object}.env attribute was removed. The \"state environment\" concept was renamed to \"workspace\", so the workspace name can now be accessed using the {object}.workspace attribute."
        ),
        _ => format!(
            "The {object:?} object does not have an attribute named {name:?}. The only supported attribute is {object}.workspace, the name of the currently-selected workspace."
        ),
    };
    error(format!("Invalid {object:?} attribute"), detail, at)
}

/// `depends_on` names a part of something.
pub(super) fn partial_dependency(at: Span) -> Diagnostic {
    let detail = "References in depends_on must be to a whole object (resource, etc), not to an attribute of an object.";
    error("Invalid depends_on reference", detail, at)
}

/// A resource whose block reads the resource itself.
pub(super) fn self_reference(address: &str, at: Span) -> Diagnostic {
    error(
        "Self-referential block",
        format!("Configuration for {address} may not refer to itself."),
        at,
    )
}

/// A resource whose provisioner names the resource, which is there only once its provisioners are done.
pub(super) fn self_in_provisioner(address: &ConfigResource, at: Span) -> Diagnostic {
    let detail = format!(
        "A provisioner of {address} names {address}, which others can read only once its provisioners are done. Inside of it, the object is called self: self.id, for one."
    );
    error(format!("Cycle: {address}, {address} (expand)"), detail, at)
}

/// A local value that reads itself.
pub(super) fn self_reading_local(name: &str, at: Span) -> Diagnostic {
    let detail =
        format!("Local value local.{name} cannot use its own result as part of its expression.");
    error("Self-referencing local value", detail, at)
}

/// A function of a provider that the module does not require.
pub fn unknown_function_provider(name: &str, at: Span) -> Diagnostic {
    let detail =
        format!("Provider {name:?} does not exist within the required_providers of this module");
    error("Unknown function provider", detail, at)
}

/// An input that the module must have.
pub(super) fn missing_input(name: &str, at: Span) -> Diagnostic {
    error(
        "Missing required argument",
        format!("The argument {name:?} is required, but no definition was found."),
        at,
    )
}

/// An input that the module does not have.
pub(super) fn unknown_input(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let detail =
        format!("An argument named {name:?} is not expected here.{}", did_you_mean(suggestion));
    error("Unsupported argument", detail, at)
}

/// A block inside of a module call.
pub(super) fn unexpected_block(kind: &str, at: Span) -> Diagnostic {
    let hint = match kind {
        "providers" => " It is an argument: write providers = { … }.",
        _ => "",
    };
    let detail = format!("Blocks of type {kind:?} are not expected here.{hint}");
    error("Unsupported block type", detail, at)
}

/// An output of the root module is ephemeral.
pub(super) fn ephemeral_root_output(at: Span) -> Diagnostic {
    error(
        "Invalid output configuration",
        "Root modules are not allowed to have outputs defined as ephemeral",
        at,
    )
}

/// `moved` from and to one place.
pub(super) fn redundant_move(address: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "This statement declares a move from {address} to the same address, which is the same as not declaring this move at all."
    );
    error("Redundant move statement", detail, at)
}

/// `moved` from something that is still there.
pub(super) fn moved_still_exists(
    (from, to): (&str, &str),
    (noun, short): (&str, &str),
    declared: &str,
    at: Span,
) -> Diagnostic {
    let detail = format!(
        "This statement declares a move from {from}, but that {noun} is still declared at {declared}.\n\nChange your configuration so that this {short} will be declared as {to} instead."
    );
    error("Moved object still exists", detail, at)
}

/// Two `moved` blocks disagree. `why` says how.
pub(super) fn ambiguous_moves(why: String, at: Span) -> Diagnostic {
    error("Ambiguous move statements", why, at)
}

/// `removed` names something that is still there.
pub(super) fn removed_still_exists(what: &str, address: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "This statement declares a removal of the {what} {address}, but this {what} block still exists in the configuration. Please remove the {what} block."
    );
    error(format!("Removed {what} block still exists"), detail, at)
}

/// Something about how providers are named and passed. The summary says what.
pub(super) fn provider_problem(summary: &str, detail: String, at: Span) -> Diagnostic {
    error(summary, detail, at)
}

/// Something about how providers are named and passed that still works.
pub(super) fn provider_warning(summary: &str, detail: String, at: Span) -> Diagnostic {
    Diagnostic::warning(summary).detail(detail).at(at)
}
