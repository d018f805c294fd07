//! The `_ {}` block, whose arguments are never meta-arguments.

use crate::diagnostic::Span;
use crate::syntax::{Block, Body};

use super::decode::Decoder;
use super::problems;

/// What is left of a body once its meta-arguments are taken, with what `_` blocks add to it.
pub(super) struct Rest {
    /// The body.
    pub body: Body,
    owner: &'static str,
    first: Option<Span>,
}

impl Rest {
    /// Starts with the rest of the block itself; `owner` names the kind of block.
    pub fn new(body: Body, owner: &'static str) -> Rest {
        Rest { body, owner, first: None }
    }

    /// Adds the content of a `_` block.
    pub fn add(&mut self, decoder: &mut Decoder, block: &Block) {
        if let Some(first) = self.first {
            let first = decoder.place(first);
            decoder.report(problems::duplicate_escape(self.owner, &first, block.header));
            return;
        }
        self.first = Some(block.header);
        self.body.attributes.extend(block.body.attributes.iter().cloned());
        self.body.blocks.extend(block.body.blocks.iter().cloned());
        match (&mut self.body.json, &block.body.json) {
            (Some(own), Some(more)) => own.members.extend(more.members.iter().cloned()),
            (own @ None, Some(more)) => *own = Some(more.clone()),
            (_, None) => {}
        }
    }
}
