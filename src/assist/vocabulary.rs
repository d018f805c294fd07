//! The vocabulary of policies: every relation that they may rely on.

use crate::policy::reference::RelationWords;

pub use crate::policy::reference::vocabulary;
pub(super) use crate::policy::reference::vocabulary_policies as policies;

/// Returns the relation that a name means: its own, or a former one.
pub(super) fn called(name: &str) -> Option<&'static RelationWords> {
    vocabulary().iter().find(|it| it.is_called(name))
}
