//! What `init` tells of backends and asks about them.

use crate::state::State;

/// What `init` tells of the backend while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A backend of this kind was set up.
    Set(String),
    /// The block of this kind is gone.
    Unconfiguring(String),
    /// And nothing is left of it.
    Unset(String),
    /// The block says something else than before.
    Changed,
    /// The block is of another kind than before.
    TypeChanged(String, String),
}

/// Whoever can be told of events, and asked.
pub trait Asking {
    /// Tells of an event.
    fn tell(&self, event: Event);
    /// Asks a question that `yes` agrees to; nothing where nobody can be asked.
    fn ask(&self, question: &str, explanation: &str) -> Option<bool>;
    /// Asks for a line of text; nothing where nobody can be asked.
    fn answer(&self, question: &str, explanation: &str) -> Option<String>;
}

/// Returns whether a state holds anything at all.
pub(super) fn is_filled(state: Option<&State>) -> bool {
    state.is_some_and(|it| !it.is_empty())
}
