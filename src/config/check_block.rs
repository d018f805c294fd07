//! `check` blocks.

use crate::diagnostic::Diagnostic;
use crate::syntax::Block;

use super::condition::condition;
use super::decode::{Decoder, Schema};
use super::resource::{self, Place};
use super::{Check, Resource, problems};

const CHECK: Schema = Schema {
    attributes: &[],
    required: &[],
    blocks: &[("data", &["type", "name"]), ("assert", &[])],
};

/// Reads a `check` block and the data source inside it.
pub(super) fn check(decoder: &mut Decoder, block: &Block) -> Option<(Check, Option<Resource>)> {
    if decoder.file.is_override {
        decoder.report(problems::cannot_override_check("check", block.header));
        return None;
    }
    let content = decoder.content(block, &CHECK);
    let name = block.labels.first()?.clone();
    decoder.check_name(&name, "Invalid check block name");
    let mut data: Option<Resource> = None;
    let (mut asserts, mut has_asserts) = (Vec::new(), false);
    for inner in &content.blocks {
        match (&*inner.kind.text, &data) {
            ("assert", _) => {
                let before = decoder.problems.0.len();
                asserts.extend(condition(decoder, inner));
                // One with an error does not count.
                has_asserts |= !decoder.problems.0[before..].iter().any(Diagnostic::is_error);
            }
            (_, Some(first)) => {
                let detail = format!(
                    "This check block already has a data resource defined at {}.",
                    decoder.place(first.declared)
                );
                decoder.report(problems::invalid(
                    "Multiple data resource blocks",
                    detail,
                    inner.header,
                ));
            }
            (_, None) => data = resource::data(decoder, inner.clone(), Place::Check(&name.text)),
        }
    }
    if !has_asserts {
        decoder.report(problems::invalid(
            "Zero assert blocks",
            "Check blocks must have at least one assert block.",
            block.header,
        ));
    }
    let check = Check {
        name,
        declared: block.header,
        data: data.as_ref().map(|it| it.name.clone()),
        asserts,
    };
    Some((check, data))
}
