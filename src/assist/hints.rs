//! Hints: a few words in a line that nobody wrote.

use std::ops::Range;

use super::bodies::inputs_of;
use super::document::{Document, whole};
use super::index::value;
use super::workspace::Workspace;
use crate::syntax::{Block, Expr};

/// A few words that an editor shows in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where: behind this byte.
    pub at: usize,
    /// The words.
    pub text: String,
}

/// Returns hints for a part of a text: types of inputs of modules, and how instances are told apart.
pub fn hints(workspace: &Workspace, document: &Document, part: &Range<usize>) -> Vec<Hint> {
    let mut found = Vec::new();
    let module = workspace.module_of(&document.path);
    let blocks = document.body.blocks.iter();
    for block in blocks.filter(|it| whole(it).start < part.end && part.start < whole(it).end) {
        let keys = [("count", "[0], [1], …"), ("for_each", "[each.key]")];
        for (name, keys) in keys {
            if let (true, Some(_)) =
                (block.labels.len() == 2 || block.kind.text == "module", block.body.attribute(name))
            {
                let text = index_hint(block, name).unwrap_or_else(|| keys.to_owned());
                found.push(Hint { at: block.header.end() as usize, text });
            }
        }
        if block.kind.text != "module" {
            continue;
        }
        let Some(called) = block.labels.first().and_then(|it| workspace.called(&module, &it.text))
        else {
            continue;
        };
        let inputs = inputs_of(&called);
        for it in &block.body.attributes {
            let input = inputs.iter().find(|input| *input.name == *it.name.text);
            if let Some(input) = input.filter(|it| it.ty != "any" && !it.ty.contains('\n')) {
                found.push(Hint {
                    at: it.name.span.end() as usize,
                    text: format!(": {}", input.ty),
                });
            }
        }
    }
    found
}

/// The keys of instances, where they are written out.
fn index_hint(block: &Block, name: &str) -> Option<String> {
    let value = value(&block.body, name)?;
    match &value.expr {
        Expr::Number(it) => {
            let count = it.as_i64()?;
            Some(match count {
                0 => "no instance".to_owned(),
                1 => "[0]".to_owned(),
                many => format!("[0] … [{}]", many - 1),
            })
        }
        Expr::Object(items) => {
            let keys: Option<Vec<String>> = items
                .iter()
                .map(|it| it.key.as_static_string().map(|it| format!("[{:?}]", &**it)))
                .collect();
            let keys = keys?;
            let more = if keys.len() > 4 { ", …" } else { "" };
            Some(format!("{}{more}", keys.iter().take(4).cloned().collect::<Vec<_>>().join(", ")))
        }
        _ => None,
    }
}
