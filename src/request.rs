//! What was asked: mode, targets, excludes, replaces, variables.

use std::path::PathBuf;

use crate::address::Instance;
use crate::address::target::Target;

mod lint;

pub use crate::world::VariableSource;
pub use lint::LintSelection;

/// What kind of plan is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PlanMode {
    /// Make the world as the configuration says.
    #[default]
    Normal,
    /// Destroy everything.
    Destroy,
    /// Only record what changed outside.
    RefreshOnly,
}

/// An address named by a flag or a line of a file.
#[derive(Clone, Debug)]
pub struct Selector {
    /// What it names.
    pub target: Target,
    /// As written.
    pub text: String,
    /// Where it came from: `-exclude=…`, or `file:line` of an `-exclude-file`.
    pub origin: String,
    /// Whether a policy asks for it, and no flag.
    pub is_of_policy: bool,
}

/// An instance that is to be replaced.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The instance.
    pub instance: Instance,
    /// Where it came from: `-replace=…`, or a policy.
    pub origin: String,
}

/// What policies ask for that no flag can. What flags can as well stands among the targets, exclusions and replacements.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Whose successors are made before they are destroyed.
    pub first: Vec<Selector>,
    /// What is done before what.
    pub ordered: Vec<(Selector, Target)>,
    /// Groups of which one step runs at a time.
    pub groups: Vec<Group>,
}

/// What runs one at a time.
#[derive(Clone, Debug)]
pub struct Group {
    /// What the policy calls it.
    pub name: String,
    /// What asks for it.
    pub origin: String,
    /// Whose steps they are.
    pub members: Vec<Target>,
}

/// What a plan is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Normal, destroy or refresh-only.
    pub mode: PlanMode,
    /// `-refresh=false` turns it off.
    pub skip_refresh: bool,
    /// `-target`, `-target-file`
    pub targets: Vec<Selector>,
    /// `-exclude`, `-exclude-file`
    pub excludes: Vec<Selector>,
    /// `-replace`
    pub replaces: Vec<Replacement>,
    /// What policies ask for besides.
    pub shape: Shape,
    /// `-var` and `-var-file`, in order.
    pub variables: Vec<VariableSource>,
    /// `-compat=opentofu`
    pub compat_opentofu: bool,
    /// `-parallelism`, at least 1.
    pub parallelism: usize,
    /// `-generate-config-out`
    pub generate_config_out: Option<PathBuf>,
    /// `-lint`
    pub lint: LintSelection,
    /// Whether the plan is carried out at once: providers are kept then for what is left to do with them.
    pub carried_out: bool,
    /// Whether the plan is only shown: what stands in plan files alone, or is for policies, is not asked for.
    pub only_shown: bool,
    /// Whether this run only records what is there before everything is destroyed: what is gone by then, declared or not, stops
    /// nothing.
    pub precedes_destroy: bool,
    /// Whether such a run went before, so that everything is known as it is now.
    pub follows_refresh: bool,
    /// The instance that is to adopt an existing object at once, and its import id: what `import` asks.
    pub adopts: Option<(Instance, String)>,
}

impl Request {
    /// Returns whether providers are asked what became of what exists.
    pub fn is_refreshed(&self) -> bool {
        !self.skip_refresh && !self.follows_refresh
    }

    /// Returns whether a condition that fails is only warned of.
    pub fn softens_conditions(&self) -> bool {
        self.mode != PlanMode::Normal || self.precedes_destroy
    }

    /// Returns whether what `import` blocks name is adopted.
    pub fn imports(&self) -> bool {
        self.mode == PlanMode::Normal && !self.precedes_destroy
    }

    /// Returns whether the plan can get into a file.
    pub fn is_kept(&self) -> bool {
        !self.carried_out && !self.only_shown
    }

    /// Returns whether nothing is left out: no targets, no exclusions.
    pub fn is_unfiltered(&self) -> bool {
        self.targets.is_empty() && self.excludes.is_empty()
    }

    /// Returns whether no flag asks to leave something out; policies may.
    pub fn has_no_filters(&self) -> bool {
        self.targets.iter().chain(&self.excludes).all(|it| it.is_of_policy)
    }
}
