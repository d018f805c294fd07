//! What commands show when their operation is done: plans, results, outputs.

use entail::world::{PROGRAM, World};
use std::path::Path;

use entail::backend::files::{self, Fresh};
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::event::{Event, OutputNote, Sink, Stage, tell_plan};
use entail::plan::Plan;
use entail::state::State;
use entail::value::text::shown;

use crate::ui::Ui;
use crate::view::output::all_text;
use crate::view::plan::{Schemas, write, write_next_step};
use crate::view::progress::closing;
use crate::view::style::{Paint, harmless};

/// Shows a plan and the problems of making it: messages for machines, a screen for people.
pub fn plan(ui: &Ui, plan: &Plan, schemas: &Schemas, problems: Diagnostics) {
    tell_plan(plan, ui);
    if ui.reading().pages {
        ui.hold();
    }
    ui.show(|out| write(out, (plan, schemas), ui.look(), ui.reading()));
    ui.diagnostics(problems);
}

/// Writes a page for a browser: into a file, or to the standard output where none is named.
pub fn page(ui: &Ui, world: &World, file: &str, text: &str) -> Result<u8, Diagnostics> {
    written(ui, world, ("html", "page"), file, text)
}

/// Writes a document: into a file, or to the standard output where none is named.
///
/// - `(flag, what)`: the flag that names the file, and what the document is called.
pub fn written(
    ui: &Ui,
    world: &World,
    (flag, what): (&str, &str),
    file: &str,
    text: &str,
) -> Result<u8, Diagnostics> {
    if file.is_empty() {
        // Pages and drawings have no unseen characters: they write them out themselves.
        ui.exact(text);
        return Ok(0);
    }
    files::write_private(&world.root.join(file), text.as_bytes()).map_err(|why| {
        Diagnostic::error(format!("Failed to write the {what}"))
            .detail(format!("The file that -{flag} names, {file}, could not be written: {why}."))
    })?;
    ui.out(&format!("The {what} is in {}.\n", harmless(file)));
    Ok(0)
}

/// Writes the document of a command that has one into the file of `-json-into`, for its owner alone.
pub fn document(world: &World, file: &Path, text: &str) -> Result<(), Diagnostic> {
    files::replace(&world.root.join(file), text.as_bytes(), Fresh::Private).map_err(|why| {
        let file = shown(&file.display().to_string());
        Diagnostic::error("Invalid argument").detail(format!(
            "Unable to open the file {file} specified by -json-into for writing: {why}"
        ))
    })
}

/// Says what can be done with a plan, where there is something to do.
pub fn next_step(ui: &Ui, plan: &Plan, saved: Option<&Path>, generated: Option<&Path>) {
    if !plan.is_applyable() {
        return;
    }
    let name = |it: Option<&Path>| it.map(|it| it.display().to_string());
    let (saved, generated) = (name(saved), name(generated));
    ui.show(|out| write_next_step(out, saved.as_deref(), generated.as_deref(), ui.look()));
}

/// Returns the exit code of `plan`.
pub fn exit_code(plan: &Plan, detailed: bool, failed: bool) -> u8 {
    match (failed, detailed && plan.is_applyable()) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }
}

/// Shows what a run has done, where nothing failed.
///
/// - `state_out`: the file of `-state-out`, which people should know of.
pub fn done(ui: &Ui, stage: Stage, state: Option<&State>, state_out: Option<&Path>) {
    let done = ui.done(stage);
    ui.event(Event::ChangeSummary(done));
    ui.say(&closing(&done, ui.style()));
    if let Some(file) = state_out.filter(|_| stage == Stage::Apply && done.add + done.change > 0) {
        let text = format!(
            "The state of your infrastructure has been saved to the path below. This state is required to modify and \
                    destroy your infrastructure, so keep it safe. To inspect the complete state use the `{PROGRAM} show` command."
        );
        ui.say(&format!("\n{}\n\nState path: {}\n", ui.style().wrap(&text), file.display()));
    }
    if let Some(state) = state.filter(|_| stage == Stage::Apply) {
        outputs(ui, state);
    }
}

/// Shows all root outputs.
pub fn outputs(ui: &Ui, state: &State) {
    let notes = state.outputs.iter().map(|(name, it)| (name.clone(), OutputNote::from(it)));
    ui.event(Event::Outputs(notes.collect()));
    if !state.outputs.is_empty() {
        let heading = ui.style().paint(&[Paint::Bold, Paint::Green], "Outputs:").into_owned();
        ui.say(&format!("\n{heading}\n\n{}", all_text(&state.outputs, ui.look().show_sensitive)));
    }
}
