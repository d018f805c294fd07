//! `fleet list`: what was found, and what could not be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail::diagnostic::Diagnostics;
use entail::world::World;
use serde_json::{Value as Json, json};

use crate::reading::{self, Lineages, in_a_line};
use crate::settings::Settings;
use crate::stacks::{Named, find};

/// A stack that is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What it is called.
    pub stack: String,
    /// What `fleet.hcl` says of it.
    pub labels: BTreeMap<String, String>,
    /// How many objects its state holds; nothing where it cannot be read.
    pub objects: Option<usize>,
    /// Why it cannot be read.
    pub error: Option<Diagnostics>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The stacks, by name.
    pub stacks: Vec<Listed>,
    /// What else is wrong.
    pub problems: Diagnostics,
}

/// Lists the stacks of a fleet.
///
/// # Errors
///
/// If nothing can be read at all.
pub fn list(world: &Arc<World>, settings: &Settings) -> Result<List, Diagnostics> {
    let found = find(world, settings);
    let read = |named: &Named| -> Result<(String, usize), Diagnostics> {
        let stack = named.stack.clone()?;
        let state = reading::state(&reading::world_of(world, &stack), &stack)?;
        Ok((state.lineage.clone(), reading::objects(&state)))
    };
    let states = reading::each(&found.stacks, reading::threads(), read)?;
    let mut lineages = Lineages::default();
    let stacks = found.stacks.iter().zip(states).map(|(named, state)| {
        let state =
            state.and_then(|(lineage, count)| lineages.take(&lineage, &named.name).map(|()| count));
        Listed {
            stack: named.name.clone(),
            labels: named.labels.clone(),
            objects: state.as_ref().ok().copied(),
            error: state.err(),
        }
    });
    Ok(List { stacks: stacks.collect(), problems: found.problems })
}

impl List {
    /// Returns whether something could not be read.
    pub fn has_failures(&self) -> bool {
        self.problems.has_errors() || self.stacks.iter().any(|it| it.error.is_some())
    }

    /// Returns it as text: each stack on a line.
    pub fn text(&self) -> String {
        let width = self.stacks.iter().map(|it| it.stack.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for it in &self.stacks {
            let gap = " ".repeat(width - it.stack.chars().count());
            let labels: Vec<String> =
                it.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let what = match (&it.error, it.objects) {
                (Some(error), _) => in_a_line(error),
                (None, Some(1)) => "1 object".to_owned(),
                (None, count) => format!("{} objects", count.unwrap_or_default()),
            };
            let line = format!("{}{gap}  {what}  {}", it.stack, labels.join(" "));
            out.push_str(line.trim_end());
            out.push('\n');
        }
        let failed = self.stacks.iter().filter(|it| it.error.is_some()).count();
        let objects: usize = self.stacks.iter().filter_map(|it| it.objects).sum();
        out.push_str(&format!(
            "{} stacks, {objects} objects; {failed} could not be read.\n",
            self.stacks.len()
        ));
        out
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let stacks = self.stacks.iter().map(|it| {
            json!({
                "stack": it.stack,
                "labels": it.labels,
                "objects": it.objects,
                "error": it.error.as_ref().map(in_a_line),
            })
        });
        json!({ "stacks": stacks.collect::<Vec<_>>() })
    }
}
