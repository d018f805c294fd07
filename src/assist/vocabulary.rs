//! The vocabulary of policies, read once: every relation that they may rely on.

use std::sync::LazyLock;

use crate::diagnostic::Sources;
use crate::policy::Policies;
use crate::policy::reference::{RelationWords, relations};

struct Vocabulary {
    policies: Policies,
    relations: Vec<RelationWords>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let (policies, _) = Policies::read(Vec::new(), &Sources::default());
    let relations = relations(&policies);
    Vocabulary { policies, relations }
});

/// Returns the relations that policies may rely on.
pub fn vocabulary() -> &'static [RelationWords] {
    &VOCABULARY.relations
}

/// Returns what concludes them.
pub(super) fn policies() -> &'static Policies {
    &VOCABULARY.policies
}
