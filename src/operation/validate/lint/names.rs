//! Which block a reference names.

use crate::expression::{Reference, Subject};
use crate::lower::BlockGraph;
use crate::lower::blocks::{BlockKey, VariantId};

/// What a reference names, by the number of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A variable or a local value.
    Value(usize),
    /// A resource, a data source or an ephemeral resource.
    Resource(usize),
    /// A module call as a whole, or an instance of it.
    Call(usize),
    /// An output of what a module call leads to.
    Output {
        /// The output.
        output: usize,
        /// The call.
        call: usize,
    },
}

impl Named {
    /// Returns the number of the block.
    pub fn block(self) -> usize {
        match self {
            Named::Value(it) | Named::Resource(it) | Named::Call(it) => it,
            Named::Output { output, .. } => output,
        }
    }
}

/// Returns what a reference in a module names; `None` if that is no block, or no single one.
pub(super) fn named(
    graph: &BlockGraph,
    module: VariantId,
    reference: &Reference<'_>,
) -> Option<Named> {
    let code = &graph.modules[module];
    let value = |key: BlockKey| graph.find(module, &key).map(Named::Value);
    match reference.subject {
        Subject::Variable(name) => value(BlockKey::Variable(name.clone())),
        Subject::Local(name) => value(BlockKey::Local(name.clone())),
        Subject::Resource(name) => {
            let place = code.config.resources.position(name)?;
            Some(Named::Resource(code.first_resource() + place))
        }
        Subject::Module(name) => {
            let call = code.call(name)?;
            let Some(output) = reference.output() else { return Some(Named::Call(call)) };
            let called = only_called(graph, module, call)?;
            let output = graph.find(called, &BlockKey::Output(output.clone()))?;
            Some(Named::Output { output, call })
        }
        _ => None,
    }
}

/// Returns the module that a call leads to; `None` if there are several, because its instances have sources of their own.
pub(super) fn only_called(graph: &BlockGraph, module: VariantId, call: usize) -> Option<VariantId> {
    let mut called = graph.modules.called(module, call);
    called.next().filter(|_| called.next().is_none())
}
