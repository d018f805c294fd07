//! A plan as people see it: what changed outside, what is to be done to each object, outputs, what is left out.

use entail::world::{PRODUCT, PROGRAM};
use std::collections::BTreeMap;
use std::io::{self, Write};

use entail::address::{Mode, Provider};
use entail::event::{Summary, is_listed};
use entail::plan::{Action, Change, OutputChange, Plan};
use entail::request::PlanMode;
use entail::schema::{AttributeSchema, BlockSchema, mark_sensitive};
use entail::value::{Path, Type, Value};

use self::change::{Reach, Sides};
use self::comment::Cause;
use self::diff::Diff;
use self::reading::{Folded, Reading};
use self::render::{Options, Renderer, attribute_name};
use super::progress::summary;
use super::style::{Paint, Style};

pub mod change;
pub mod comment;
pub mod diff;
pub mod reading;
pub mod render;
pub mod sequence;
pub mod suites;

#[cfg(test)]
mod tests;

/// Objects of a provider that is missing in [`Schemas`] are shown by their values alone.
pub use entail::workflow::Schemas;

mod left_out;
mod legend;
mod nothing;

/// How a plan is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Colours and width.
    pub style: Style,
    /// `-show-sensitive`
    pub show_sensitive: bool,
    /// Whether a program runs the command (`TF_IN_AUTOMATION`): then nobody is told which command to run next.
    pub in_automation: bool,
}

/// Writes a plan.
pub fn write(
    out: &mut dyn Write,
    (plan, schemas): (&Plan, &Schemas),
    look: Look,
    reading: &Reading,
) -> io::Result<()> {
    let renderer = Renderer { style: look.style };
    let screen = Screen { plan, schemas, look, reading, renderer };
    let has_drift = screen.drift(out)?;
    let shown: Vec<&Change> = plan.changes.iter().filter(|it| is_listed(it)).collect();
    let outputs: Vec<&OutputChange> =
        plan.outputs.values().filter(|it| it.action != Action::NoOp).collect();

    if shown.is_empty() && outputs.is_empty() {
        screen.nothing(out, has_drift)?;
    } else {
        if has_drift {
            writeln!(out, "{}", look.style.rule())?;
        }
        screen.changes(out, &shown)?;
        screen.outputs(out, &outputs, shown.iter().all(|it| it.action == Action::NoOp))?;
        screen.left_out(out)?;
    }
    screen.ask_why(out)
}

struct Screen<'a> {
    plan: &'a Plan,
    schemas: &'a Schemas,
    look: Look,
    reading: &'a Reading,
    renderer: Renderer,
}

impl<'a> Screen<'a> {
    fn style(&self) -> Style {
        self.look.style
    }

    /// Writes what changed outside, as far as it matters to the plan. Returns whether anything did.
    fn drift(&self, out: &mut dyn Write) -> io::Result<bool> {
        let refresh_only = self.plan.mode == PlanMode::RefreshOnly;
        let noticed = self.noticed();
        if noticed.is_empty() || (!refresh_only && self.is_without_changes()) {
            return Ok(false);
        }
        let style = self.style();
        let note = style.paint(&[Paint::Bold, Paint::Cyan], "Note:").into_owned();
        let heading = format!(" Objects have changed outside of {PRODUCT}");
        writeln!(out, "\n{note}{}\n", style.bold(&heading))?;
        let introduction = format!(
            "{PRODUCT} detected the following changes made outside of {PRODUCT} since the last \"{PROGRAM} apply\" which may have \
             affected this plan:\n"
        );
        write!(out, "{}", style.wrap(&introduction))?;
        for (change, diff) in noticed {
            self.change(out, change, &diff, Cause::Noticed)?;
        }
        let closing = match refresh_only {
            true => format!(
                "\n\nThis is a refresh-only plan, so {PRODUCT} will not take any actions to undo these. If you were expecting these \
                 changes then you can apply this plan to record the updated values in the {PRODUCT} state without changing any \
                 remote objects."
            ),
            false => "\n\nUnless you have made equivalent changes to your configuration, or ignored the relevant attributes using \
                      ignore_changes, the following plan may include actions to undo or respond to these changes."
                .to_owned(),
        };
        writeln!(out, "{}", style.wrap(&closing))?;
        Ok(true)
    }

    /// Returns the changes outside that are worth showing: all of them in refresh-only mode, else what planned changes rest on.
    fn noticed(&self) -> Vec<(&'a Change, Diff)> {
        if self.plan.drift.is_empty() {
            return Vec::new();
        }
        let refresh_only = self.plan.mode == PlanMode::RefreshOnly;
        let mut relevant: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for (resource, path) in &self.plan.relevant_attributes {
            relevant.entry(resource).or_default().push(path);
        }
        let reach = |change: &Change| {
            if refresh_only {
                return Some(Reach::All);
            }
            let paths = relevant.get(change.address.to_string().as_str())?;
            Some(Reach::Paths(paths.iter().map(|it| it.as_slice()).collect(), true))
        };
        let noticed =
            self.plan.drift.iter().filter_map(|it| Some((it, self.compare(it, reach(it)?))));
        noticed.filter(|(_, diff)| refresh_only || diff.action != Action::NoOp).collect()
    }

    fn is_without_changes(&self) -> bool {
        let changes = self
            .plan
            .changes
            .iter()
            .any(|it| it.details.previous_address.is_some() || it.action != Action::NoOp);
        !changes && self.plan.outputs.values().all(|it| it.action == Action::NoOp)
    }

    fn compare<'c>(&self, change: &'c Change, relevant: Reach<'c>) -> Diff {
        let replace = Reach::ends(&change.details.replace_paths);
        match self.schema(change) {
            Some(schema) => {
                let [before, after] =
                    [&change.before, &change.after].map(|it| mark_sensitive(it, schema));
                diff::block(&Sides::of(&before, &after, replace, relevant), schema, 0)
            }
            None => {
                let schema = schema_of_values(&[&change.before, &change.after]);
                let sides = Sides::of(&change.before, &change.after, replace, relevant);
                diff::block(&sides, &schema, 0)
            }
        }
    }

    fn schema(&self, change: &Change) -> Option<&BlockSchema> {
        let name = &change.address.resource;
        schema_of(self.schemas, &change.served_by.config.provider, name.mode, &name.kind)
    }

    fn change(
        &self,
        out: &mut dyn Write,
        change: &Change,
        diff: &Diff,
        cause: Cause,
    ) -> io::Result<()> {
        // A move without anything else is not worth a body, and a no-op is worth nothing.
        if cause == Cause::Noticed
            && change.action == Action::NoOp
            && change.details.previous_address.is_none()
        {
            return Ok(());
        }
        let mut text = comment::room();
        comment::push(&mut text, change, cause, self.style());
        self.renderer.symbol(&mut text, change.action);
        let name = &change.address.resource;
        let kind = if name.mode == Mode::Managed { "resource" } else { "data" };
        for part in [" ", kind, " \"", &name.kind, "\" \"", &name.name, "\" "] {
            text.push_str(part);
        }
        let is_forgotten = change.action == Action::Forget;
        let options = Options {
            hide_null: is_forgotten,
            hide_symbols: is_forgotten,
            show_unchanged: change.details.importing.is_some(),
            show_sensitive: self.look.show_sensitive,
            force_replacement: false,
        };
        self.renderer.diff(&mut text, diff, 0, options);
        text.push('\n');
        out.write_all(text.as_bytes())
    }

    fn changes(&self, out: &mut dyn Write, shown: &[&Change]) -> io::Result<()> {
        if shown.is_empty() {
            return Ok(());
        }
        if shown.iter().any(|it| it.action != Action::NoOp) {
            let introduction = format!(
                "\n{PRODUCT} used the selected providers to generate the following execution plan. Resource actions are indicated \
                 with the following symbols:"
            );
            writeln!(out, "{}", self.style().wrap(&introduction))?;
            legend::write(out, &self.renderer, shown)?;
        }
        match self.plan.errored {
            true => writeln!(
                out,
                "\n{PRODUCT} planned the following actions, but then encountered a problem:"
            )?,
            false => writeln!(out, "\n{PRODUCT} will perform the following actions:")?,
        }
        if self.reading.for_people {
            write!(out, "{}", self.reading.head(&Summary::of_plan(self.plan), shown))?;
        }
        let listed = self.reading.ordered(shown);
        let hidden = self.reading.hidden(shown.len(), listed.len());
        let mut folded = Folded::default();
        for change in listed {
            let diff = self.compare(change, Reach::All);
            if !self.reading.folds() {
                self.change(out, change, &diff, Cause::Planned)?;
                continue;
            }
            let mut text = Vec::new();
            self.change(&mut text, change, &diff, Cause::Planned)?;
            folded.add(change, String::from_utf8_lossy(&text).into_owned());
        }
        for text in folded.texts() {
            out.write_all(text.as_bytes())?;
        }
        if let Some(hidden) = hidden {
            write!(out, "\n{hidden}")?;
        }
        let summary = summary(&Summary::of_plan(self.plan));
        let (plan, rest) = summary.split_at("Plan:".len());
        writeln!(out, "\n{}{rest}", self.style().bold(plan))
    }

    fn output(&self, change: &OutputChange, width: usize) -> String {
        let name = attribute_name(&change.name);
        let mut text = String::new();
        let (diff, is_same) = output_diff(change);
        // One that becomes null is as good as gone.
        self.renderer.symbol(&mut text, if is_same { change.action } else { diff.action });
        text.push_str(&format!(" {name:width$} = "));
        let options = Options {
            show_sensitive: self.look.show_sensitive,
            show_unchanged: is_same,
            ..Options::default()
        };
        self.renderer.diff(&mut text, &diff, 0, options);
        text.push('\n');
        text
    }

    fn outputs(
        &self,
        out: &mut dyn Write,
        outputs: &[&OutputChange],
        are_alone: bool,
    ) -> io::Result<()> {
        if outputs.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nChanges to Outputs:")?;
        let width = self.plan.outputs.keys().map(|it| attribute_name(it).len()).max().unwrap_or(0);
        for change in outputs {
            out.write_all(self.output(change, width).as_bytes())?;
        }
        if are_alone {
            let text = format!(
                "\nYou can apply this plan to save these new output values to the {PRODUCT} state, without changing any real \
                 infrastructure."
            );
            writeln!(out, "{}", self.style().wrap(&text))?;
        }
        Ok(())
    }
}

/// The text of each part of a plan by itself, for whoever puts them together in another way.
pub struct Texts<'a> {
    screen: Screen<'a>,
}

impl<'a> Texts<'a> {
    /// Returns the texts of a plan.
    pub fn of(plan: &'a Plan, schemas: &'a Schemas, look: Look, reading: &'a Reading) -> Texts<'a> {
        let renderer = Renderer { style: look.style };
        Texts { screen: Screen { plan, schemas, look, reading, renderer } }
    }

    /// Returns what is to be done with an object, and why, as lines of comment; then what becomes of its attributes.
    pub fn change(&self, change: &Change) -> String {
        let diff = self.screen.compare(change, Reach::All);
        self.text(change, &diff, Cause::Planned)
    }

    /// Returns what changed outside, as far as it matters to the plan.
    pub fn noticed(&self) -> Vec<(&'a Change, String)> {
        let told = |it: &(&'a Change, Diff)| {
            it.0.action != Action::NoOp || it.0.details.previous_address.is_some()
        };
        let all = self.screen.noticed().into_iter().filter(told);
        all.map(|(change, diff)| (change, self.text(change, &diff, Cause::Noticed))).collect()
    }

    /// Returns what becomes of an output.
    pub fn output(&self, change: &OutputChange) -> String {
        self.screen.output(change, 0)
    }

    fn text(&self, change: &Change, diff: &Diff, cause: Cause) -> String {
        let mut text = Vec::new();
        // Memory takes everything.
        let _ = self.screen.change(&mut text, change, diff, cause);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Compares an output; the flag says that its value looks the same on both sides.
fn output_diff(change: &OutputChange) -> (Diff, bool) {
    let sides =
        Sides::of(&change.before, &change.after, Reach::Paths(Vec::new(), false), Reach::All);
    let sides = Sides {
        before_sensitive: sides.before_sensitive || change.sensitive,
        after_sensitive: sides.after_sensitive || change.sensitive,
        ..sides
    };
    let diff = diff::value(&sides, Type::DYNAMIC, 0);
    let is_same = diff.action == Action::NoOp;
    (diff, is_same)
}

/// Returns the schema of a resource type.
pub fn schema_of<'a>(
    schemas: &'a Schemas,
    provider: &Provider,
    mode: Mode,
    kind: &str,
) -> Option<&'a BlockSchema> {
    schemas.get(provider)?.of(mode, kind).map(|it| &it.block)
}

/// Returns a schema that fits objects: every attribute of theirs, nested blocks as plain values.
pub fn schema_of_values(objects: &[&Value]) -> BlockSchema {
    let attributes = objects.iter().flat_map(|it| it.bare().entries());
    let attributes = attributes.map(|(name, value)| (name, AttributeSchema::of(value.ty())));
    let mut schema = BlockSchema::default();
    for (name, attribute) in attributes {
        let known = schema.attributes.entry(name).or_insert_with(|| attribute.clone());
        if known.ty != attribute.ty {
            known.ty = Type::DYNAMIC;
        }
    }
    schema
}

/// Compares two values for a failed `==`: the lines of their difference.
pub fn difference(left: &Value, right: &Value, style: Style) -> String {
    let sides = Sides::of(left, right, Reach::Paths(Vec::new(), false), Reach::All);
    let mut text = String::new();
    Renderer { style }.diff(
        &mut text,
        &diff::value(&sides, Type::DYNAMIC, 0),
        0,
        Options::default(),
    );
    text
}

/// Writes what can be done next.
///
/// - `saved`: the file that the plan is saved in.
/// - `generated`: the file into which configuration was written.
pub fn write_next_step(
    out: &mut dyn Write,
    saved: Option<&str>,
    generated: Option<&str>,
    look: Look,
) -> io::Result<()> {
    if look.in_automation {
        return Ok(());
    }
    let style = look.style;
    writeln!(out, "{}", style.rule())?;
    if let Some(file) = generated {
        let text = format!(
            "\n{PRODUCT} has generated configuration and written it to {file}. Please review the configuration and edit it as \
             necessary before adding it to version control."
        );
        writeln!(out, "{}", style.wrap(&text))?;
    }
    let text = match saved {
        Some(file) => format!(
            "\nSaved the plan to: {file}\n\nTo perform exactly these actions, run the following command to apply:\n    {PROGRAM} apply {}",
            entail::value::text::shown(file)
        ),
        None => format!(
            "\nNote: You didn't use the -out option to save this plan, so {PRODUCT} can't guarantee to take exactly these actions if \
             you run \"{PROGRAM} apply\" now."
        ),
    };
    writeln!(out, "{}", style.wrap(&text))
}
