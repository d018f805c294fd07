//! What can be wrong with files of cases.

use super::ENDING;
use crate::diagnostic::Diagnostic;
use crate::policy::cases::Case;

pub(super) fn not_there(name: &str) -> Diagnostic {
    Diagnostic::error("No tests there").detail(format!(
        "{name} is neither a folder nor a file. Tests are files whose names end in {ENDING}."
    ))
}

pub(super) fn no_policies(name: &str) -> Diagnostic {
    Diagnostic::error("No policies to test").detail(format!(
        "No file that ends in .rules lies beside {name}, and none is named. Put the test beside its policies, or name these with -policy."
    ))
}

pub(super) fn no_folder(case: &Case, name: &str) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!("There is no folder {name} beside the file of the case."))
        .at(case.span)
}

pub(super) fn undeclared(case: &Case, name: &str) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!(
            "The case gives a value for `{name}`, and its configuration declares no such variable."
        ))
        .at(case.span)
}

pub(super) fn unreadable(name: &str, why: &str) -> Diagnostic {
    Diagnostic::error("Test cannot be read").detail(format!("{name} cannot be read: {why}."))
}

pub(super) fn not_proven(case: &Case, why: &str) -> Diagnostic {
    Diagnostic::error("Proof that does not hold")
        .detail(format!("The proof of a verdict does not follow from the rules: {why}."))
        .at(case.span)
}

/// The library is named where files of cases are.
pub(super) fn of_library(name: &str) -> Diagnostic {
    Diagnostic::error("The library has no tests here").detail(format!(
        "The cases of the library are run where the program is made, and do not come with it. To test a configuration or policies of your own with it, write cases beside them, and bring it into force with -policy={name}."
    ))
}
