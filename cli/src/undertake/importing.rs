//! `import`.

use std::path::Path;
use std::sync::Arc;

use entail::address::Instance;
use entail::backend::Backend;
use entail::config::files::config_files;
use entail::diagnostic::{Diagnostic, Diagnostics, Span};
use entail::event::{Event, Sink};
use entail::operation::import::{Refusal, check_target, import, wrong_mode};
use entail::operation::session::Session;
use entail::request::Request;
use entail::value::text::shown;
use entail::world::World;

use super::{begin, lock, read_state, root_variables, unless_interrupted, with_interrupts};
use crate::arguments::request::{StateOptions, parallelism};
use crate::commands::import::ImportArgs;
use crate::ui::Ui;
use crate::view::PRODUCT;
use crate::view::style::Paint;

/// Finds an object and records it in the state.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ImportArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let ui = &*ui;
    let [address, id] = args.address_and_id()?;
    let address = match address.parse::<Instance>() {
        Ok(it) => it,
        Err(problem) => {
            let file = ui.sources.add("<import-address>", address.as_str().into());
            let problem = problem.at(Span::new(file, 0, address.len()));
            let code = ui.diagnostics(problem.into());
            ui.say("For information on valid syntax, see:\nhttps://opentofu.org/docs/cli/state/resource-addressing/\n");
            return Ok(code);
        }
    };
    if let Some(problem) = wrong_mode(&address) {
        return Err(problem.into());
    }
    let request = Request {
        variables: args.variables.sources()?,
        parallelism: parallelism(args.parallelism)?,
        adopts: Some((address.clone(), id.clone())),
        ..Request::default()
    };
    let state = StateOptions::from(&args.state);
    with_interrupts(ui, |runtime| {
        let session = open(ui, world, args, &state)?;
        match check_target(&session.config, &address) {
            Ok(()) => {}
            Err(Refusal::Problem(problem)) => return Err(problem.into()),
            Err(Refusal::NoBlock(module)) => return Ok(no_block(ui, &address, &module)),
        }
        let guard = lock(ui, &session, &state, "import")?;
        let snapshot = read_state(ui, &session)?;
        let variables = root_variables(ui, &session, &request)?;
        let known = snapshot.state.unwrap_or_default();
        let work = import(&session, &request, known, variables, ui);
        let imported = runtime.block_on(unless_interrupted(ui, work))?;
        session.backend.write(&imported.state)?;
        guard.release()?;
        if ui.is_json() {
            ui.event(Event::Message(format!(
                "Import successful! The resources that were imported are shown above. These resources are now in your {PRODUCT} state and will henceforth be managed by {PRODUCT}"
            )));
        }
        let text = format!(
            "Import successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour {PRODUCT} state and will henceforth be managed by {PRODUCT}.\n"
        );
        ui.say(&format!("\n{}\n", ui.style().paint(&[Paint::Green], &text)));
        let mut warnings = imported.warnings;
        warnings.extend(session.warnings.iter().cloned());
        Ok(ui.diagnostics(warnings))
    })?
}

/// Opens the folder of the configuration, which `-config` may name; the state is that of the working directory.
fn open(
    ui: &Ui,
    world: &Arc<World>,
    args: &ImportArgs,
    state: &StateOptions,
) -> Result<Session, Diagnostics> {
    let named = args.config.as_deref();
    let folder = world.root.join(named.unwrap_or(Path::new("")));
    let files = config_files(&folder);
    if files.is_none_or(|it| it.primary.is_empty() && it.overriding.is_empty()) {
        let shown = named.unwrap_or(Path::new("."));
        return Err(no_files(shown).into());
    }
    let Some(_) = named else {
        return Session::open(world.clone(), ui.sources.clone(), &state.files);
    };
    let mut elsewhere = World::clone(world);
    elsewhere.root = folder;
    let mut session = Session::open(Arc::new(elsewhere), ui.sources.clone(), &state.files)?;
    session.keep_state_in(world, &state.files);
    Ok(session)
}

fn no_files(folder: &Path) -> Diagnostic {
    Diagnostic::error("No OpenTofu configuration files").detail(format!(
        "The directory {} does not contain any OpenTofu configuration files (.tf or .tf.json). To specify a different configuration directory, use the -config=\"...\" command line option.",
        folder.display()
    ))
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
