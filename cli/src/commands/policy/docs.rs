//! `policy docs`: the vocabulary, and what a rule says of itself.

use entail::world::PROGRAM;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::policy::Policies;
use entail::workflow::policy::lints::{Named, nearest, rules};
use entail::world::World;

use super::ChoiceArgs;
use crate::commands::silence;
use crate::ui::Ui;
use crate::view::policy::rules as view;

/// Explain the vocabulary of policies, or one rule
///
/// Without a name, prints every relation that policies may rely on, as a table in Markdown. With the name of a rule or of a
/// relation, says what that is about.
#[derive(clap::Args, Debug)]
pub struct DocsArgs {
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,

    /// Write the vocabulary as JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// A rule or a relation
    #[arg(value_name = "[RULE]", hide = true)]
    pub words: Vec<String>,
}

/// Prints what is known of the vocabulary, or of each name.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &DocsArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    if args.words.is_empty() {
        let (vocabulary, _) = Policies::read(Vec::new(), &ui.sources);
        match args.json {
            true => ui.json(&format!("{:#}\n", view::vocabulary_document(&vocabulary))),
            false => ui.out(&view::vocabulary(&vocabulary)),
        }
        return Ok(0);
    }
    if args.json {
        return Err(only_vocabulary().into());
    }
    let named = Named { words: Vec::new(), choice: (&args.choice).into() };
    let (policies, problems) = rules(&ui.host(world), &named)?;
    for name in &args.words {
        match view::about(&policies, name, &ui.sources) {
            Some(text) => ui.out(&text),
            None => return Err(unknown(&policies, name).into()),
        }
    }
    ui.remarks(problems);
    Ok(0)
}

fn only_vocabulary() -> Diagnostic {
    Diagnostic::error("No document of one rule").detail(
        format!("The policy docs command writes the vocabulary as JSON, without a name behind it. `{PROGRAM} policy list -json` has what each rule says of itself."),
    )
}

fn unknown(policies: &Policies, name: &str) -> Diagnostic {
    let near = nearest(view::names(policies), name);
    let hint = near.map_or(String::new(), |it| format!(" Did you mean `{it}`?"));
    Diagnostic::error("Unknown rule").detail(format!(
        "Neither a rule in force nor a relation of the vocabulary is called `{name}`.{hint} `{PROGRAM} policy list` names the rules; rules of the library are in force with -policy=library:NAME."
    ))
}
