//! A module that is not finished: what is found in the files of its folder so far.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::Instance;
use crate::diagnostic::Span;
use crate::value::Str;

use super::named::{OutputBlock, VariableBlock};
use super::{Backend, Module};

/// A module while its files are put together.
#[derive(Default)]
pub(super) struct Draft {
    pub module: Module,
    pub variables: BTreeMap<Str, VariableBlock>,
    pub outputs: BTreeMap<Str, OutputBlock>,
    /// Where providers are required; a module says it once.
    pub required: Option<Span>,
    pub cloud: Option<Backend>,
    /// The types of its resources, each once.
    pub kinds: FxHashSet<Str>,
    /// What imports name without a doubt, and where the first of each stands.
    pub imported: FxHashMap<Instance, Span>,
}
