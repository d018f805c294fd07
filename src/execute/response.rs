//! What a provider's answer means for the state: a judgement without effects.

use crate::schema::{BlockSchema, conforms};
use crate::state::Status;
use crate::value::{Type, Value};

/// What a provider was asked to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Create,
    Update,
    Delete,
}

/// What kind of object a provider answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// No value at all.
    Nothing,
    /// A value that does not follow the schema.
    Misshapen,
    /// Something that cannot be read.
    Unreadable,
    /// No answer came.
    Lost,
    /// Null: no object exists.
    Null,
    /// An object.
    Object,
}

impl Received {
    /// Returns what kind of answer this is.
    pub(super) fn of(value: Option<&Value>, schema: &BlockSchema) -> Received {
        match value {
            None => Received::Nothing,
            Some(value) if value.is_null() => Received::Null,
            Some(value) if !value.is_known() && value.ty() == Type::DYNAMIC => Received::Unreadable,
            Some(value) if !conforms(value, schema.ty()).is_empty() => Received::Misshapen,
            Some(_) => Received::Object,
        }
    }
}

/// What the state holds afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// What it held before: the same object, or none.
    Previous,
    /// Nothing.
    Nothing,
    /// What the provider answered with, whole or half made.
    Response(Status),
    /// What was planned, as far as it is known, and tainted: it may have been made, and nobody says as what.
    Planned,
    /// No object, and a note that one may exist.
    Unconfirmed,
}

/// How a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// It did not.
    No,
    /// What it gave is not what was planned.
    Wrong,
    /// Errors came with the answer.
    Told,
}

/// What is wrong with an answer that reports no problem itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has no value.
    NoValue,
    /// Its value does not follow the schema.
    Misshapen,
    /// It says that nothing exists, though something was to be made.
    NotMade,
    /// It says that the object is still there.
    NotGone,
}

/// Returns what the state holds after an answer, and what is wrong with the answer beyond the problems it reports.
///
/// - `previous`: the status of the object that was there.
pub(super) fn judge(
    asked: Asked,
    previous: Option<Status>,
    answer: Received,
    how: Failed,
) -> (Holds, Option<Fault>) {
    let failed = how != Failed::No;
    let unless_failed = |fault: Fault| (!failed).then_some(fault);
    match (asked, answer) {
        (Asked::Create, Received::Lost) => (Holds::Unconfirmed, None),
        // The object is still recorded: the next read tells what became of it.
        (_, Received::Lost) => (Holds::Previous, None),
        // Whatever the answer was to say, something was asked to be made, and no error says that it was not.
        (Asked::Create, Received::Unreadable) => (Holds::Planned, None),
        (Asked::Create, Received::Misshapen) => (Holds::Planned, Some(Fault::Misshapen)),
        (Asked::Create, Received::Nothing) if !failed => (Holds::Planned, Some(Fault::NoValue)),
        (Asked::Create, Received::Null) if how != Failed::Told => {
            (Holds::Planned, unless_failed(Fault::NotMade))
        }
        (_, Received::Unreadable) => (Holds::Previous, None),
        // What cannot be stored is not; the object itself may have changed, as the next read will tell.
        (_, Received::Misshapen) => (Holds::Previous, Some(Fault::Misshapen)),
        (_, Received::Nothing) => (Holds::Previous, unless_failed(Fault::NoValue)),
        (Asked::Delete, Received::Null) if !failed => (Holds::Nothing, None),
        // A provider that failed and lost sight of the object does not say that it is gone.
        (Asked::Delete, Received::Null) => (Holds::Previous, None),
        (_, Received::Null) => (Holds::Previous, unless_failed(Fault::NotMade)),
        (Asked::Delete, Received::Object) => {
            (Holds::Response(previous.unwrap_or_default()), unless_failed(Fault::NotGone))
        }
        (_, Received::Object) if !failed => (Holds::Response(Status::Ready), None),
        // Half made: the next plan replaces it.
        (Asked::Create, Received::Object) => (Holds::Response(Status::Tainted), None),
        // A failed update may have changed nothing, so what was whole stays whole.
        (Asked::Update, Received::Object) => (Holds::Response(previous.unwrap_or_default()), None),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::expect;

    use super::*;

    /// Every case, one line each: what was asked and answered, what is held, what is wrong.
    fn table() -> String {
        let mut text = String::new();
        for asked in [Asked::Create, Asked::Update, Asked::Delete] {
            let statuses: &[Option<Status>] = match asked {
                Asked::Create => &[None],
                _ => &[Some(Status::Ready), Some(Status::Tainted)],
            };
            for &previous in statuses {
                let answers = [
                    Received::Object,
                    Received::Null,
                    Received::Nothing,
                    Received::Misshapen,
                    Received::Unreadable,
                    Received::Lost,
                ];
                for answer in answers {
                    for failed in [Failed::No, Failed::Wrong, Failed::Told] {
                        let (holds, fault) = judge(asked, previous, answer, failed);
                        let was = previous
                            .map_or("none".to_owned(), |it| format!("{it:?}").to_lowercase());
                        let how = match failed {
                            Failed::No => "ok",
                            Failed::Wrong => "wrong",
                            Failed::Told => "error",
                        };
                        let fault = fault.map_or(String::new(), |it| format!(", {it:?}"));
                        writeln!(text, "{asked:?} of {was}: {how} {answer:?} -> {holds:?}{fault}")
                            .expect("a string is written");
                    }
                }
            }
        }
        text
    }

    #[test]
    fn a_failed_creation_taints_a_failed_update_or_destruction_keeps_what_was() {
        expect![[r#"
            Create of none: ok Object -> Response(Ready)
            Create of none: wrong Object -> Response(Tainted)
            Create of none: error Object -> Response(Tainted)
            Create of none: ok Null -> Planned, NotMade
            Create of none: wrong Null -> Planned
            Create of none: error Null -> Previous
            Create of none: ok Nothing -> Planned, NoValue
            Create of none: wrong Nothing -> Previous
            Create of none: error Nothing -> Previous
            Create of none: ok Misshapen -> Planned, Misshapen
            Create of none: wrong Misshapen -> Planned, Misshapen
            Create of none: error Misshapen -> Planned, Misshapen
            Create of none: ok Unreadable -> Planned
            Create of none: wrong Unreadable -> Planned
            Create of none: error Unreadable -> Planned
            Create of none: ok Lost -> Unconfirmed
            Create of none: wrong Lost -> Unconfirmed
            Create of none: error Lost -> Unconfirmed
            Update of ready: ok Object -> Response(Ready)
            Update of ready: wrong Object -> Response(Ready)
            Update of ready: error Object -> Response(Ready)
            Update of ready: ok Null -> Previous, NotMade
            Update of ready: wrong Null -> Previous
            Update of ready: error Null -> Previous
            Update of ready: ok Nothing -> Previous, NoValue
            Update of ready: wrong Nothing -> Previous
            Update of ready: error Nothing -> Previous
            Update of ready: ok Misshapen -> Previous, Misshapen
            Update of ready: wrong Misshapen -> Previous, Misshapen
            Update of ready: error Misshapen -> Previous, Misshapen
            Update of ready: ok Unreadable -> Previous
            Update of ready: wrong Unreadable -> Previous
            Update of ready: error Unreadable -> Previous
            Update of ready: ok Lost -> Previous
            Update of ready: wrong Lost -> Previous
            Update of ready: error Lost -> Previous
            Update of tainted: ok Object -> Response(Ready)
            Update of tainted: wrong Object -> Response(Tainted)
            Update of tainted: error Object -> Response(Tainted)
            Update of tainted: ok Null -> Previous, NotMade
            Update of tainted: wrong Null -> Previous
            Update of tainted: error Null -> Previous
            Update of tainted: ok Nothing -> Previous, NoValue
            Update of tainted: wrong Nothing -> Previous
            Update of tainted: error Nothing -> Previous
            Update of tainted: ok Misshapen -> Previous, Misshapen
            Update of tainted: wrong Misshapen -> Previous, Misshapen
            Update of tainted: error Misshapen -> Previous, Misshapen
            Update of tainted: ok Unreadable -> Previous
            Update of tainted: wrong Unreadable -> Previous
            Update of tainted: error Unreadable -> Previous
            Update of tainted: ok Lost -> Previous
            Update of tainted: wrong Lost -> Previous
            Update of tainted: error Lost -> Previous
            Delete of ready: ok Object -> Response(Ready), NotGone
            Delete of ready: wrong Object -> Response(Ready)
            Delete of ready: error Object -> Response(Ready)
            Delete of ready: ok Null -> Nothing
            Delete of ready: wrong Null -> Previous
            Delete of ready: error Null -> Previous
            Delete of ready: ok Nothing -> Previous, NoValue
            Delete of ready: wrong Nothing -> Previous
            Delete of ready: error Nothing -> Previous
            Delete of ready: ok Misshapen -> Previous, Misshapen
            Delete of ready: wrong Misshapen -> Previous, Misshapen
            Delete of ready: error Misshapen -> Previous, Misshapen
            Delete of ready: ok Unreadable -> Previous
            Delete of ready: wrong Unreadable -> Previous
            Delete of ready: error Unreadable -> Previous
            Delete of ready: ok Lost -> Previous
            Delete of ready: wrong Lost -> Previous
            Delete of ready: error Lost -> Previous
            Delete of tainted: ok Object -> Response(Tainted), NotGone
            Delete of tainted: wrong Object -> Response(Tainted)
            Delete of tainted: error Object -> Response(Tainted)
            Delete of tainted: ok Null -> Nothing
            Delete of tainted: wrong Null -> Previous
            Delete of tainted: error Null -> Previous
            Delete of tainted: ok Nothing -> Previous, NoValue
            Delete of tainted: wrong Nothing -> Previous
            Delete of tainted: error Nothing -> Previous
            Delete of tainted: ok Misshapen -> Previous, Misshapen
            Delete of tainted: wrong Misshapen -> Previous, Misshapen
            Delete of tainted: error Misshapen -> Previous, Misshapen
            Delete of tainted: ok Unreadable -> Previous
            Delete of tainted: wrong Unreadable -> Previous
            Delete of tainted: error Unreadable -> Previous
            Delete of tainted: ok Lost -> Previous
            Delete of tainted: wrong Lost -> Previous
            Delete of tainted: error Lost -> Previous
        "#]]
        .assert_eq(&table());
    }
}
