//! Everything that can be wrong with what providers answer while a plan is carried out, one function each.

use crate::diagnostic::Diagnostic;
use crate::observe::object::ObjectContext;
use crate::plan::Change;
use crate::world::PROGRAM;

use super::response::{Fault, Holds};

const BUG: &str =
    "This is a bug in the provider, which should be reported in the provider's own issue tracker.";

fn about(summary: &str, subject: &ObjectContext<'_>) -> Diagnostic {
    Diagnostic::error(summary).about(&subject.address).at(subject.block.declared)
}

/// The plan made with what is known now is another than the one that was approved.
pub(super) fn inconsistent_plan(subject: &ObjectContext<'_>, what: &str) -> Diagnostic {
    about("Provider produced inconsistent final plan", subject).detail(format!(
        "When expanding the plan for {} to include new values learned so far during apply, the provider produced an invalid new value{what}.\n\n{BUG}",
        subject.address
    ))
}

/// What was planned as a change in place has become a replacement.
pub(super) fn action_changed(subject: &ObjectContext<'_>) -> Diagnostic {
    about("Provider produced inconsistent final plan", subject).detail(format!(
        "When expanding the plan for {} to include new values learned so far during apply, the provider changed the planned action from Update to DeleteThenCreate.\n\n{BUG}",
        subject.address
    ))
}

/// The arguments are not wholly known though their turn has come.
pub(super) fn unknown_arguments(subject: &ObjectContext<'_>) -> Diagnostic {
    about("Configuration contains unknown value", subject).detail(format!(
        "The configuration of {} still contains unknown values during apply. This is a fault of the program: please report it with the configuration.",
        subject.address
    ))
}

/// The object as made has unknown parts.
pub(super) fn not_known(subject: &ObjectContext<'_>) -> Diagnostic {
    about("Provider returned invalid result object after apply", subject).detail(format!(
        "After the apply operation, the provider still indicated an unknown value for {}. All values must be known after apply, so this is always a bug in the provider; unknown values are saved as null.",
        subject.address
    ))
}

/// The object as made is another than the one that was planned.
pub(super) fn inconsistent_result(subject: &ObjectContext<'_>, what: &str) -> Diagnostic {
    about("Provider produced inconsistent result after apply", subject).detail(format!(
        "When applying changes to {}, the provider produced an unexpected new value: {what}.\n\n{BUG}",
        subject.address
    ))
}

/// The answer to a creation cannot be used.
pub(super) fn may_exist(change: &Change) -> Diagnostic {
    let address = &change.address;
    let detail = format!(
        "The answer of the provider {} does not tell whether {address} was made. It is kept in the state as tainted, with what was planned; what only the provider knows, such as its id, is missing. Look for it where it would be: the next apply would replace it, and \"{PROGRAM} state rm\" forgets it.",
        change.served_by.config
    );
    Diagnostic::warning("Object may exist").about(address).detail(detail)
}

/// The answer to applying a change is none that can be.
pub(super) fn fault(change: &Change, fault: Fault, holds: Holds) -> Diagnostic {
    let address = &change.address;
    let kept = match holds {
        Holds::Planned => "It is kept in the state as tainted, with what was planned.",
        _ => "What the state holds of it is unchanged.",
    };
    let (summary, what) = match fault {
        Fault::NoValue => (
            "Provider produced invalid object",
            format!(
                "The provider {} returned no value after apply for {address}, and no error either. {kept}",
                change.served_by.config
            ),
        ),
        Fault::Misshapen => (
            "Provider produced invalid object",
            format!(
                "The provider {} returned a value after apply for {address} that does not follow its own schema. It cannot be saved. {kept}",
                change.served_by.config
            ),
        ),
        Fault::NotMade => (
            "Provider returned invalid result object after apply",
            format!(
                "After applying a change, the provider returned a null object for {address}. Only destroying should produce a null value. {kept}"
            ),
        ),
        Fault::NotGone => (
            "Provider returned invalid result object after apply",
            format!(
                "After applying a destroy, the provider still returned an object for {address}. Destroying should always produce a null value; the object is kept in the state."
            ),
        ),
    };
    Diagnostic::error(summary).about(address).detail(format!("{what}\n\n{BUG}"))
}
