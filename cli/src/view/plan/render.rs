//! A tree of changes as text: symbols, aligned names, folded unchanged parts.

use entail::plan::Action;
use entail::value::Str;
use entail::value::text::shown;

use super::diff::{Diff, Kind, Style as From};
use crate::view::style::{Paint, Style};

mod text;

mod blocks;

/// Attributes that are shown even where they do not change: people know objects by them.
const IMPORTANT: [&str; 3] = ["id", "name", "tags"];

/// How much is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Leave `-> null` out: the whole goes, not this part of it.
    pub hide_null: bool,
    /// Say `# forces replacement`, whatever the part says.
    pub force_replacement: bool,
    /// Show what does not change.
    pub show_unchanged: bool,
    /// Write no symbols, and no room for them.
    pub hide_symbols: bool,
    /// Show sensitive values.
    pub show_sensitive: bool,
}

impl Options {
    /// Returns what holds for a part: whether the whole forces a replacement is no matter of its parts.
    fn beneath(self) -> Options {
        Options { force_replacement: false, ..self }
    }
}

/// Writes trees of changes.
#[derive(Clone, Copy, Debug)]
pub struct Renderer {
    /// Colours.
    pub style: Style,
}

/// Returns a name as it stands before `=`.
pub fn attribute_name(name: &str) -> std::borrow::Cow<'_, str> {
    let mut characters = name.chars();
    let is_start = |c: char| c == '_' || c.is_alphabetic();
    let is_identifier = characters.next().is_some_and(is_start)
        && characters.all(|c| is_start(c) || c == '-' || c.is_numeric());
    if is_identifier { name.into() } else { shown(name).into() }
}

impl Renderer {
    /// Appends the symbol of an action, three columns wide.
    pub fn symbol(&self, out: &mut String, action: Action) {
        const PLUS: (&str, Option<Paint>) = ("+", Some(Paint::Green));
        const MINUS: (&str, Option<Paint>) = ("-", Some(Paint::Red));
        const DOT: (&str, Option<Paint>) = (".", Some(Paint::Red));
        let pieces: &[(&str, Option<Paint>)] = match action {
            Action::NoOp | Action::Drop => &[("   ", None)],
            Action::Create => &[("  ", None), PLUS],
            Action::Read => &[(" ", None), ("<=", Some(Paint::Cyan))],
            Action::Update => &[("  ", None), ("~", Some(Paint::Yellow))],
            Action::DeleteThenCreate => &[MINUS, ("/", None), PLUS],
            Action::CreateThenDelete => &[PLUS, ("/", None), MINUS],
            Action::Delete => &[("  ", None), MINUS],
            Action::Forget => &[("  ", None), DOT],
            Action::ForgetThenCreate => &[("  ", None), DOT, ("/", None), PLUS],
        };
        for (text, paint) in pieces {
            match paint {
                Some(paint) => out.push_str(&self.style.paint(&[*paint], text)),
                None => out.push_str(text),
            }
        }
    }

    /// Appends a tree. All lines but the first are indented by `indent` steps of four.
    pub fn diff(&self, out: &mut String, diff: &Diff, indent: usize, options: Options) {
        match &diff.kind {
            Kind::Primitive(before, after) => {
                self.primitive(out, diff, [before.as_ref(), after.as_ref()], indent, options)
            }
            Kind::Unknown(before) => {
                if let Some(before) = before {
                    self.diff(out, before, indent, Options { hide_null: true, ..options });
                    out.push_str(" -> ");
                }
                out.push_str("(known after apply)");
                self.forces(out, diff.replace, options);
            }
            Kind::Sensitive { inner, .. } if options.show_sensitive => {
                self.diff(out, inner, indent, options)
            }
            Kind::Sensitive { .. } => {
                out.push_str("(sensitive value)");
                self.null(out, diff.action, options);
                self.forces(out, diff.replace, options);
            }
            Kind::SensitiveBlock { .. } => self.sensitive_block(out, diff, indent, options),
            Kind::TypeChange(before, after) => {
                let options = Options { hide_null: true, ..options };
                self.diff(out, before, indent, options);
                self.arrow(out);
                self.diff(out, after, indent, options);
            }
            Kind::Object(attributes, from) => {
                self.object(out, diff, (attributes, *from), indent, options)
            }
            Kind::Map(elements, from) => self.map(out, diff, (elements, *from), indent, options),
            Kind::List(elements, from) => self.list(out, diff, (elements, *from), indent, options),
            Kind::Set(elements, from) => self.set(out, diff, (elements, *from), indent, options),
            Kind::Block(attributes, blocks) => {
                self.block(out, diff, (attributes, blocks), indent, options)
            }
            Kind::WriteOnly => {
                out.push_str("(write-only attribute)");
                self.forces(out, diff.replace, options);
                self.null(out, diff.action, options);
            }
            Kind::TooDeep => out.push_str("(nested too deeply to be shown)"),
        }
    }

    fn forces(&self, out: &mut String, replace: bool, options: Options) {
        if replace || options.force_replacement {
            out.push(' ');
            out.push_str(&self.style.paint(&[Paint::Red], "# forces replacement"));
        }
    }

    fn null(&self, out: &mut String, action: Action, options: Options) {
        if action == Action::Delete && !options.hide_null {
            out.push(' ');
            out.push_str(&self.style.paint(&[Paint::DarkGrey], "-> null"));
        }
    }

    fn arrow(&self, out: &mut String) {
        out.push(' ');
        out.push_str(&self.style.paint(&[Paint::Yellow], "->"));
        out.push(' ');
    }

    /// Appends the beginning of a line: its indentation and symbol.
    fn start(&self, out: &mut String, indent: usize, action: Action, options: Options) {
        out.extend(std::iter::repeat_n(' ', indent * 4));
        if !options.hide_symbols {
            match action {
                Action::NoOp => out.push_str("    "),
                action => {
                    self.symbol(out, action);
                    out.push(' ');
                }
            }
        }
    }

    fn hidden(
        &self,
        out: &mut String,
        (count, what): (usize, &str),
        indent: usize,
        options: Options,
    ) {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            self.start(out, indent, Action::NoOp, options);
            let text = format!("# ({count} unchanged {what}{plural} hidden)");
            out.push_str(&self.style.paint(&[Paint::DarkGrey], &text));
            out.push('\n');
        }
    }

    /// Appends what is to be said before a value whose sensitivity changes.
    fn warnings(&self, out: &mut String, diff: &Diff, indent: usize) {
        let (what, before, after, inner) = match &diff.kind {
            Kind::Sensitive { inner, before, after } => {
                ("attribute value", *before, *after, inner.action)
            }
            Kind::SensitiveBlock { before, after, inner } => ("block", *before, *after, *inner),
            _ => return,
        };
        if before == after || matches!(inner, Action::Create | Action::Delete) {
            return;
        }
        let pad = " ".repeat(indent * 4);
        let warning = self.style.paint(&[Paint::Yellow], "Warning");
        let text = match before {
            true => format!(
                "this {what} will no longer be marked as sensitive\n{pad}  # after applying this change."
            ),
            false => format!(
                "this {what} will be marked as sensitive and will not\n{pad}  # display in UI output after applying this change."
            ),
        };
        let unchanged = if what == "attribute value" && inner == Action::NoOp {
            " The value is unchanged."
        } else {
            ""
        };
        out.push_str(&format!("{pad}  # {warning}: {text}{unchanged}\n"));
    }

    /// Appends `name = value`, the name padded to `width`.
    fn attribute(
        &self,
        out: &mut String,
        (name, width): (&str, usize),
        diff: &Diff,
        indent: usize,
        options: Options,
    ) {
        self.start(out, indent, diff.action, options);
        out.push_str(name);
        let length = name.chars().count();
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(length)));
        out.push_str(" = ");
        self.diff(out, diff, indent, options);
    }

    /// Appends attributes, important ones always and others where they change. Returns how many are left out.
    fn attributes(
        &self,
        out: &mut String,
        attributes: &[(Str, Diff)],
        indent: usize,
        options: Options,
    ) -> usize {
        let names: Vec<_> = attributes.iter().map(|it| attribute_name(&it.0)).collect();
        let width = names.iter().map(|it| it.len()).max().unwrap_or(0);
        let mut left_out = 0;
        for ((key, diff), name) in attributes.iter().zip(&names) {
            let is_important = IMPORTANT.contains(&&**key);
            if diff.action == Action::NoOp && !options.show_unchanged && !is_important {
                left_out += 1;
                continue;
            }
            self.warnings(out, diff, indent);
            let options =
                Options { show_unchanged: options.show_unchanged || is_important, ..options };
            self.attribute(out, (name, width), diff, indent, options);
            out.push('\n');
        }
        left_out
    }

    fn object(
        &self,
        out: &mut String,
        diff: &Diff,
        (attributes, from): (&[(Str, Diff)], From),
        indent: usize,
        options: Options,
    ) {
        if attributes.is_empty() {
            out.push_str("{}");
            self.null(out, diff.action, options);
            self.forces(out, diff.replace, options);
            return;
        }
        out.push('{');
        self.forces(out, diff.replace, options);
        out.push('\n');
        let beneath = Options { hide_null: from == From::Plain, ..options.beneath() };
        let left_out = self.attributes(out, attributes, indent + 1, beneath);
        self.hidden(out, (left_out, "attribute"), indent + 1, options);
        self.start(out, indent, Action::NoOp, options);
        out.push('}');
        self.null(out, diff.action, options);
    }

    fn map(
        &self,
        out: &mut String,
        diff: &Diff,
        (elements, from): (&[(Str, Diff)], From),
        indent: usize,
        options: Options,
    ) {
        let nested = from == From::Nested;
        if elements.is_empty() {
            out.push_str("{}");
            self.null(out, diff.action, options);
            self.forces(out, diff.replace && !nested, options);
            return;
        }
        out.push('{');
        self.forces(out, diff.replace && !nested, options);
        out.push('\n');
        let beneath = Options {
            hide_null: nested || diff.action == Action::Delete,
            force_replacement: diff.replace && nested,
            ..options
        };
        let names: Vec<_> = elements.iter().map(|it| shown(&it.0)).collect();
        let width = if nested { 0 } else { names.iter().map(String::len).max().unwrap_or(0) };
        let mut left_out = 0;
        for ((_, element), name) in elements.iter().zip(&names) {
            if element.action == Action::NoOp && !options.show_unchanged {
                left_out += 1;
                continue;
            }
            self.warnings(out, element, indent + 1);
            self.attribute(out, (name, width), element, indent + 1, beneath);
            out.push_str(if matches!(element.kind, Kind::Object(..)) { ",\n" } else { "\n" });
        }
        self.hidden(out, (left_out, "element"), indent + 1, options);
        self.start(out, indent, Action::NoOp, options);
        out.push('}');
        self.null(out, diff.action, options);
    }

    fn set(
        &self,
        out: &mut String,
        diff: &Diff,
        (elements, from): (&[Diff], From),
        indent: usize,
        options: Options,
    ) {
        let nested = from == From::Nested;
        out.push('[');
        if elements.is_empty() {
            out.push(']');
            self.null(out, diff.action, options);
            self.forces(out, diff.replace && !nested, options);
            return;
        }
        self.forces(out, diff.replace && !nested, options);
        out.push('\n');
        let beneath =
            Options { hide_null: true, force_replacement: diff.replace && nested, ..options };
        let mut left_out = 0;
        for element in elements {
            if element.action == Action::NoOp && !options.show_unchanged {
                left_out += 1;
                continue;
            }
            self.element(out, element, indent + 1, beneath);
        }
        self.hidden(out, (left_out, "element"), indent + 1, options);
        self.start(out, indent, Action::NoOp, options);
        out.push(']');
        self.null(out, diff.action, options);
    }

    fn element(&self, out: &mut String, element: &Diff, indent: usize, options: Options) {
        self.warnings(out, element, indent);
        self.start(out, indent, element.action, options);
        self.diff(out, element, indent, options);
        out.push_str(",\n");
    }

    /// Order matters in a list, so each run of changes is shown with the element before and the one after.
    fn list(
        &self,
        out: &mut String,
        diff: &Diff,
        (elements, from): (&[Diff], From),
        indent: usize,
        options: Options,
    ) {
        out.push('[');
        if elements.is_empty() {
            out.push(']');
            self.null(out, diff.action, options);
            self.forces(out, diff.replace, options);
            return;
        }
        self.forces(out, diff.replace, options);
        out.push('\n');
        let changed = Options { hide_null: true, ..options.beneath() };
        let unchanged = Options { show_unchanged: true, ..options.beneath() };
        let with_context = from == From::Plain;
        let mut waiting: Vec<&Diff> = Vec::new();
        let mut is_after_change = false;
        for element in elements {
            let is_unchanged = element.action == Action::NoOp;
            if is_unchanged && !is_after_change && !options.show_unchanged {
                waiting.push(element);
                continue;
            }
            is_after_change = with_context && !is_unchanged;
            if with_context && let Some(last) = waiting.pop() {
                self.hidden(out, (waiting.len(), "element"), indent + 1, options);
                waiting.clear();
                self.start(out, indent + 1, Action::NoOp, unchanged);
                self.diff(out, last, indent + 1, unchanged);
                out.push_str(",\n");
            }
            self.element(
                out,
                element,
                indent + 1,
                if with_context && is_unchanged { unchanged } else { changed },
            );
        }
        self.hidden(out, (waiting.len(), "element"), indent + 1, options);
        self.start(out, indent, Action::NoOp, options);
        out.push(']');
        self.null(out, diff.action, options);
    }
}
