//! `facts`: prints the relations that a plan rests on.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::policy::catalogue;
use entail::workflow::explain::{PlanSource, facts};
use entail::world::World;
use serde_json::json;

use super::subject::SubjectArgs;
use super::{at_most_one, silence};
use crate::arguments::groups::ReadStateArgs;
use crate::ui::Ui;

/// Print the relations of a plan
///
/// Prints the rows of all relations of the planner, or of the relation that is named: a public one (`policy docs`), such as
/// `depends_on`, or one of the planner. `core::NAME` is always the planner's.
#[derive(clap::Args, Debug)]
pub struct FactsArgs {
    /// A plan.
    #[command(flatten)]
    pub subject: SubjectArgs,

    /// Instead of rows, list the relations: columns, who writes and who reads them, since which version; plans nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub catalogue: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,

    /// The name of a relation
    #[arg(value_name = "[RELATION]", hide = true)]
    pub words: Vec<String>,
}

impl FactsArgs {
    /// Returns the relation, where one is named.
    pub fn relation(&self) -> Result<Option<&str>, Diagnostic> {
        at_most_one(
            &self.words,
            "Too many command line arguments",
            "Expected at most one positional argument.",
        )
    }
}

/// Prints relations.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &FactsArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.subject.input)?;
    let relation = args.relation()?;
    if args.catalogue {
        let found = catalogue::listed(relation)?;
        match args.json {
            true => ui.json(&format!("{:#}\n", catalogue::document(&found))),
            false => ui.out(&catalogue::text(&found)),
        }
        return Ok(0);
    }
    let planning = args.subject.planning(ui, (&args.state).into())?;
    let subject = PlanSource { saved: args.subject.plan.clone(), planning };
    let ui = &*ui;
    let tables = facts(&ui.host(world), &subject, relation)?;
    if args.json {
        ui.json(&format!("{:#}\n", json!(tables.into_iter().collect::<BTreeMap<_, _>>())));
        return Ok(0);
    }
    ui.write(|out| {
        for (name, rows) in &tables {
            for row in rows {
                writeln!(out, "{name}({})", row.join(", "))?;
            }
        }
        Ok(())
    });
    Ok(0)
}
