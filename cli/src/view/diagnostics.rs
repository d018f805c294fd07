//! Problems as people see them: the familiar frame in colour, plain paragraphs without, and a short list of warnings.

use entail::world::PRODUCT;
use std::fmt;
use std::ops::Range;

use entail::config::masked;
use entail::diagnostic::{Diagnostic, Diagnostics, Severity, Sources};
use miette::{
    LabeledSpan, MietteError, MietteSpanContents, ReportHandler, SourceCode, SourceSpan,
    SpanContents,
};

use super::plan::difference;
use super::snippet::{Snippet, is_shown, snippet};
use super::style::{Paint, Style, harmless, wrap};

mod grouping;
mod shortening;
#[cfg(test)]
mod tests;

use self::grouping::{Group, consolidate, deprecated_once};
pub use self::grouping::{Grouping, Modules};
use self::shortening::{leave_out, shorten_code, shorten_text};

/// What is to be printed, and where to.
#[derive(Debug, Default, PartialEq)]
pub struct Printed {
    /// For the standard output: warnings.
    pub out: String,
    /// For the standard error: errors.
    pub err: String,
}

/// Renders problems in order: sorted, equal ones once, similar ones together.
pub fn render(
    problems: Vec<Diagnostic>,
    sources: &Sources,
    style: Style,
    grouping: Grouping,
) -> Printed {
    let told = leave_out(sort(Diagnostics(problems).once().0, sources));
    let groups = consolidate(deprecated_once(told, grouping.deprecated), grouping);
    if grouping.compact_warnings
        && !groups.is_empty()
        && groups.iter().all(|it| !it.first.is_error())
    {
        return Printed { out: compact(&groups, sources, style), err: String::new() };
    }
    let mut printed = Printed::default();
    for group in &groups {
        let mut text = one(&group.shown(), sources, style);
        if style.spaced {
            text.push('\n');
        }
        match group.first.severity {
            Severity::Error => printed.err.push_str(&text),
            Severity::Warning => printed.out.push_str(&text),
        }
    }
    printed
}

/// Renders one problem.
pub fn one(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let report = Report::new(diagnostic, sources);
    let handler = Frame { style };
    format!("{}", Handled(&report, &handler))
}

/// Sorts warnings before errors, those without a place first, then by file and offset.
pub fn sort(mut problems: Vec<Diagnostic>, sources: &Sources) -> Vec<Diagnostic> {
    problems.sort_by_cached_key(|it| {
        (it.severity == Severity::Error, it.subject.map(|it| sources.rank(it)))
    });
    problems
}

/// Two lines per warning.
fn compact(groups: &[Group], sources: &Sources, style: Style) -> String {
    let mut out = format!("\n{}\n\n", style.paint(&[Paint::Bold, Paint::Yellow], "Warnings:"));
    for group in groups {
        out.push_str(&format!("- {}\n", group.first.summary));
        let Some(subject) = group.first.subject else { continue };
        let Some(source) = sources.get(subject.file()) else { continue };
        let line = sources.position(subject.file(), subject.start()).line;
        let more = match group.others.len() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        out.push_str(&format!("  on {} line {line}{more}\n", source.name));
    }
    out.push_str(&format!(
        "\nTo see the full warning notes, run {PRODUCT} without -compact-warnings.\n"
    ));
    out
}

/// A diagnostic as `miette` sees it.
///
/// Message, help and source code are what their names say. The code is the address of the object; the primary label is the
/// subject, and its text names the block around it; every other label is a line of the section below the source.
#[derive(Debug)]
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    snippet: Option<Snippet>,
    difference: Option<Difference>,
}

/// The two sides of a failed comparison, as a diagnostic of its own that is only a text.
#[derive(Debug)]
struct Difference(String);

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &Sources) -> Report<'a> {
        let difference = diagnostic
            .difference
            .as_deref()
            .map(|(left, right)| Difference(difference(left, right, Style::default())));
        Report { diagnostic, snippet: snippet(diagnostic, sources), difference }
    }

    /// The lines below the source: the call, then the values by name.
    fn notes(&self) -> Vec<String> {
        let call = self.diagnostic.function.iter().filter_map(|(name, signature)| {
            let signature = signature.as_deref()?;
            Some(format!("while calling {name}{signature}"))
        });
        let mut values = self.diagnostic.values.clone();
        values.sort();
        call.chain(values.into_iter().map(|(name, statement)| format!("{name} {statement}")))
            .collect()
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.summary)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic.address.as_ref().map(|it| Box::new(it) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let detail = masked(&self.diagnostic.detail);
        (!detail.is_empty()).then(|| Box::new(detail) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.snippet.as_ref().map(|it| it as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.snippet.as_ref()?;
        let (start, length) =
            (snippet.highlight_start, snippet.highlight_end - snippet.highlight_start);
        let subject = LabeledSpan::new_primary_with_span(snippet.block.clone(), (start, length));
        let notes = self
            .notes()
            .into_iter()
            .map(move |it| LabeledSpan::new_with_span(Some(it), (start, length)));
        Some(Box::new(std::iter::once(subject).chain(notes)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        let difference = self.difference.as_ref()?;
        Some(Box::new(std::iter::once(difference as &dyn miette::Diagnostic)))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Difference {}

impl miette::Diagnostic for Difference {}

impl SourceCode for Snippet {
    /// Gives the whole snippet, whatever part of it is asked for: it is cut already.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = MietteSpanContents::new_named(
            self.file.clone(),
            self.code.as_bytes(),
            *span,
            self.first_line - 1,
            self.start.column - 1,
            self.code.lines().count(),
        );
        Ok(Box::new(contents))
    }
}

/// A report with the handler that prints it.
struct Handled<'a>(&'a Report<'a>, &'a Frame);

impl fmt::Display for Handled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.debug(self.0, f)
    }
}

/// Prints a diagnostic within a left rule where there is colour or the style says so, as a paragraph otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Colour and width.
    pub style: Style,
}

impl ReportHandler for Frame {
    fn debug(&self, error: &dyn miette::Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.style.colour || self.style.framed {
            self.framed(error, f)
        } else {
            self.plain(error, f)
        }
    }
}

impl Frame {
    fn plain(&self, error: &dyn miette::Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}: {}\n\n", title(error), harmless(&shorten_text(&error.to_string())))?;
        f.write_str(&self.source(error))?;
        match error.help() {
            Some(detail) => writeln!(
                f,
                "{}",
                wrap(
                    &harmless(&shorten_text(&detail.to_string())),
                    self.style.width.saturating_sub(1)
                )
            ),
            None => Ok(()),
        }
    }

    fn framed(&self, error: &dyn miette::Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colour = if title(error) == "Error" { Paint::Red } else { Paint::Yellow };
        let style = self.style;
        let mut text =
            style.paint(&[Paint::Bold, colour], &format!("{}: ", title(error))).into_owned();
        text.push_str(&style.bold(&harmless(&shorten_text(&error.to_string()))));
        text.push_str("\n\n");
        text.push_str(&self.source(error));
        if let Some(detail) = error.help() {
            let detail = detail.to_string();
            let detail = harmless(&shorten_text(&detail)).into_owned();
            text.push_str(&wrap(&detail, style.width.saturating_sub(3)));
        }
        let rule = style.paint(&[colour], "│");
        writeln!(f, "{}", style.paint(&[colour], "╷"))?;
        for line in text.trim_end_matches('\n').split('\n') {
            writeln!(f, "{rule} {line}")?;
        }
        if error.help().is_none() {
            writeln!(f, "{rule} \n{rule} ")?;
        }
        writeln!(f, "{}", style.paint(&[colour], "╵"))
    }

    /// Address, place, source lines, values; ends in an empty line unless it is empty.
    fn source(&self, error: &dyn miette::Diagnostic) -> String {
        let mut out = String::new();
        if let Some(address) = error.code() {
            out.push_str(&format!("  with {address},\n"));
        }
        if let Some(labels) = error.labels() {
            self.snippet(error, &labels.collect::<Vec<_>>(), &mut out);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    fn snippet(&self, error: &dyn miette::Diagnostic, labels: &[LabeledSpan], out: &mut String) {
        let Some(subject) = labels.iter().find(|it| it.primary()) else { return };
        let Some(Ok(contents)) = error.source_code().map(|it| it.read_span(subject.inner(), 0, 0))
        else {
            return;
        };
        let code = String::from_utf8_lossy(contents.data());
        let first_line = contents.line() + 1;
        let subject_line = first_line + code[..subject.offset()].matches('\n').count();
        let block =
            subject.label().map_or(String::new(), |it| format!(", in {}", shorten_text(it)));
        let name = contents.name().unwrap_or_default();
        out.push_str(&format!("  on {} line {subject_line}{block}:\n", harmless(name)));
        if !is_shown(name) {
            out.push_str("  (source code not available)\n");
            return;
        }

        let range = subject.offset()..subject.offset() + subject.len();
        let (code, range) = shorten_code(&code, range);
        for (index, line) in self.underlined(&code, range).split('\n').enumerate() {
            out.push_str(&format!("{:4}: {line}\n", first_line + index));
        }
        self.notes(error, labels, out);
    }

    /// Underlines the subject, line by line, so that no line runs into the frame.
    fn underlined(&self, code: &str, subject: Range<usize>) -> String {
        let (before, rest) = code.split_at(subject.start);
        let (subject, after) = rest.split_at(subject.len());
        let subject: Vec<_> = subject
            .split('\n')
            .map(|it| {
                if it.is_empty() {
                    String::new()
                } else {
                    self.style.paint(&[Paint::Underline], &harmless(it)).into_owned()
                }
            })
            .collect();
        format!("{}{}{}", harmless(before), subject.join("\n"), harmless(after))
    }

    fn notes(&self, error: &dyn miette::Diagnostic, labels: &[LabeledSpan], out: &mut String) {
        let grey = |text| self.style.paint(&[Paint::DarkGrey], text);
        let notes: Vec<_> =
            labels.iter().filter(|it| !it.primary()).filter_map(LabeledSpan::label).collect();
        if !notes.is_empty() {
            out.push_str(&format!("    {}\n", grey("├────────────────")));
        }
        for note in notes {
            out.push_str(&format!("    {} {}\n", grey("│"), harmless(&shorten_text(note))));
        }
        for difference in error.related().into_iter().flatten() {
            out.push_str(&format!(
                "    {}\n    {} {} \n",
                grey("├────────────────"),
                grey("│"),
                self.style.bold("Diff:")
            ));
            for (index, line) in difference.to_string().split('\n').enumerate() {
                let indent = if index == 0 { "    " } else { "" };
                out.push_str(&format!("    {} {indent}{line}\n", grey("│")));
            }
        }
    }
}

fn title(error: &dyn miette::Diagnostic) -> &'static str {
    match error.severity() {
        Some(miette::Severity::Warning) => "Warning",
        _ => "Error",
    }
}
