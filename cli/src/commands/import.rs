//! `import`: takes an existing object into the state at once.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::address::Instance;
use entail::diagnostic::{Diagnostic, Diagnostics, Span};
use entail::event::{Event, Sink};
use entail::request::Request;
use entail::value::text::shown;
use entail::workflow::StateOptions;
use entail::workflow::import::{ImportOptions, Imported, import};
use entail::world::{PRODUCT, World};

use super::{begin, words};
use crate::arguments::groups::{OutputArgs, StateArgs, VariableArgs};
use crate::arguments::request::parallelism;
use crate::interrupt;
use crate::ui::Ui;
use crate::view::style::Paint;

/// Associate existing infrastructure with a resource
///
/// Reads the object with this id and records it under this address, which the configuration must declare.
#[derive(clap::Args, Debug)]
pub struct ImportArgs {
    /// The directory of the configuration
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,

    /// How many things to do at once
    #[arg(long, value_name = "10", default_value_t = 10, hide_default_value = true)]
    pub parallelism: i64,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// The address and the id
    #[arg(value_name = "ADDRESS ID", hide = true)]
    pub words: Vec<String>,
}

impl ImportArgs {
    /// Returns the address and the import id.
    pub fn address_and_id(&self) -> Result<&[String; 2], Diagnostic> {
        words(
            &self.words,
            "Invalid number of arguments",
            "The import command expects two arguments",
        )
    }
}

/// Finds an object and records it in the state.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ImportArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let ui = &*ui;
    let [address, id] = args.address_and_id()?;
    let address = match address.parse::<Instance>() {
        Ok(it) => it,
        Err(problem) => return Ok(no_address(ui, address, problem)),
    };
    let options = ImportOptions {
        address,
        id: id.clone(),
        request: Request {
            variables: args.variables.sources()?,
            parallelism: parallelism(args.parallelism)?,
            ..Request::default()
        },
        state: StateOptions::from(&args.state),
        config: args.config.clone(),
    };
    match interrupt::heeding(ui, || import(&ui.host(world), &options))?? {
        Imported::NoBlock(module) => Ok(no_block(ui, &options.address, &module)),
        Imported::Done(warnings) => {
            tell_success(ui);
            Ok(ui.diagnostics(warnings))
        }
    }
}

fn no_address(ui: &Ui, text: &str, problem: Diagnostic) -> u8 {
    let file = ui.sources.add("<import-address>", text.into());
    let code = ui.diagnostics(problem.at(Span::new(file, 0, text.len())).into());
    ui.say("For information on valid syntax, see:\nhttps://opentofu.org/docs/cli/state/resource-addressing/\n");
    code
}

fn tell_success(ui: &Ui) {
    if ui.is_json() {
        ui.event(Event::Message(format!(
            "Import successful! The resources that were imported are shown above. These resources are now in your {PRODUCT} state and will henceforth be managed by {PRODUCT}"
        )));
    }
    let text = format!(
        "Import successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour {PRODUCT} state and will henceforth be managed by {PRODUCT}.\n"
    );
    ui.say(&format!("\n{}\n", ui.style().paint(&[Paint::Green], &text)));
}

/// Says which block to write first.
fn no_block(ui: &Ui, address: &Instance, module: &str) -> u8 {
    let address_text = shown(&address.to_string());
    if ui.is_json() {
        return ui.diagnostics(
            Diagnostic::error(format!(
                "Resource address {address_text} does not exist in the configuration"
            ))
            .detail(format!(
                "Before importing this resource, please create its configuration in {module}"
            ))
            .into(),
        );
    }
    let style = ui.error_style();
    let label = style.paint(&[Paint::Bold, Paint::Red], "Error:").into_owned();
    let summary = format!(" resource address {address_text} does not exist in the configuration.");
    ui.err(&format!(
        "{label}{}\n\nBefore importing this resource, please create its configuration in {module}. For example:\n\nresource {} {} {{\n  # (resource arguments)\n}}\n\n",
        style.bold(&summary),
        shown(&address.resource.kind),
        shown(&address.resource.name),
    ));
    1
}
