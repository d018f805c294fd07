//! The value of what stands at a place: from the configuration, and from the state where that is at hand. Never a secret.

use std::path::Path;
use std::sync::Arc;

use super::definition::target_at;
use super::document::Language;
use super::hover::word;
use super::index::Entity;
use super::workspace::Workspace;
use crate::diagnostic::Sources;
use crate::execute::Stop;
use crate::workflow::console::peek;
use crate::workflow::{Host, Nobody};
use crate::world::World;

/// How much of a value is shown.
const SHOWN: usize = 2000;

/// A question for a value. It may wait for others: it is answered beside what is quick.
pub struct Question {
    world: World,
    expression: String,
}

/// Returns the question for the value of what stands at a byte of a file; nothing where that has no value of its own.
pub fn value_at(workspace: &Workspace, path: &Path, at: usize) -> Option<Question> {
    let document = workspace.document(path).filter(|it| it.language == Language::Config)?;
    let target = target_at(workspace, path, at)?;
    let module = workspace.module_of(path);
    // What is in a called module has a value for each of its instances.
    if !path.is_absolute() || !workspace.entries().contains(&module.folder) {
        return None;
    }
    let is_declared_here = document.index.declarations.iter().any(|it| it.name == target.name);
    let expression = match (&target.entity, is_declared_here) {
        (Entity::Variable(_) | Entity::Local(_) | Entity::Resource(_), true) => {
            target.entity.address()
        }
        (
            Entity::Variable(_)
            | Entity::Local(_)
            | Entity::Resource(_)
            | Entity::Output(_)
            | Entity::Call(_),
            false,
        ) => {
            let end = word(&document.text, at).end.max(target.name.end);
            document.text.get(target.whole.start..end)?.to_owned()
        }
        _ => return None,
    };
    let is_bound = ["each.", "count.", "self."].iter().any(|it| expression.contains(it));
    (!is_bound).then(|| Question { world: workspace.world(&module.folder), expression })
}

impl Question {
    /// Returns the value as text; nothing where it is not known.
    pub fn answer(&self) -> Option<String> {
        let (world, sources) = (Arc::new(self.world.clone()), Sources::default());
        let host = Host {
            world: &world,
            sources: &sources,
            tell: &Nobody,
            ask: &Nobody,
            stop: &Stop::default(),
        };
        let text = peek(&host, &self.expression).ok()?;
        let is_unknown = text.starts_with("(known after apply)") || text.starts_with("(unknown");
        if is_unknown {
            return None;
        }
        Some(match text.char_indices().nth(SHOWN) {
            Some((at, _)) => format!("{}\n…", &text[..at]),
            None => text,
        })
    }
}
