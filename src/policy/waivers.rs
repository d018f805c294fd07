//! Waivers: `# entail:allow RULE until 2027-01-31: reason`, in a block of the configuration or right above it; in JSON, in
//! the property `"//"` of a block.

use entail_rules::Node;
use rustc_hash::FxHashSet;

use super::model::Model;
use super::rules::{Enforce, Policies, Waiver};
use super::verdict::{Report, WaivedBy};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Source, Sources, Span};
use crate::syntax::{Block, parse};

mod json;

/// What begins a waiver in a comment.
const WORD: &str = "entail:allow";

/// A waiver as it is written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The rule.
    pub rule: String,
    /// The last day on which it counts.
    pub until: Option<chrono::NaiveDate>,
    /// Why.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
    /// The header of the block that it covers; nothing where it stands outside of any.
    pub block: Option<Span>,
}

/// Returns the waivers in the files of a configuration.
///
/// # Errors
///
/// If one of them cannot be read.
pub fn written(sources: &Sources) -> Result<Vec<Written>, Diagnostics> {
    let (found, problems) = find(sources);
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Finds the waivers in the files of a configuration.
pub fn find(sources: &Sources) -> (Vec<Written>, Diagnostics) {
    let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
    let mut number = 1;
    while let Some(source) = sources.get(FileId(number)) {
        let file = FileId(number);
        number += 1;
        let is_config = [".tf", ".tofu", ".tf.json", ".tofu.json"];
        let is_config = is_config.iter().any(|it| source.name.ends_with(it));
        if !is_config || !source.text().contains(WORD) {
            continue;
        }
        let all = match source.name.ends_with(".json") {
            true => json::waivers(file, source.text()),
            false => comments(file, &source),
        };
        for (text, span, block) in all {
            match read(&text, span) {
                Ok(waiver) => found.push(Written { block, ..waiver }),
                Err(problem) => problems.push(problem),
            }
        }
    }
    (found, problems)
}

/// The text of a waiver, from the word on, where it stands, and the header of the block that it covers.
type Found = (String, Span, Option<Span>);

/// The waivers in the comments of a file in native syntax.
fn comments(file: FileId, source: &Source) -> Vec<Found> {
    let body = parse(file, source.text()).0;
    let all = lines(source).into_iter().map(|(start, text)| {
        let span = Span::new(file, start, start + text.len());
        (text.to_owned(), span, block_at(&body.blocks, source.text(), span))
    });
    all.collect()
}

/// The comments that hold a waiver, from the word on, with where they begin.
fn lines(source: &Source) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in source.text().match_indices(WORD) {
        let line_start = source.text()[..at].rfind('\n').map_or(0, |it| it + 1);
        let before = &source.text()[line_start..at];
        // A block comment goes over lines.
        let above = &source.text()[..line_start];
        let is_within = above.rfind("/*") > above.rfind("*/") && before.trim().is_empty();
        let is_comment = ["#", "//", "/*", "*"].iter().any(|it| before.contains(it));
        if !is_comment && !is_within {
            continue;
        }
        let rest = &source.text()[at..];
        let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let rest = rest.split("*/").next().unwrap_or(rest);
        found.push((at, rest.trim_end()));
    }
    found
}

fn read(text: &str, span: Span) -> Result<Written, Diagnostic> {
    let rest = text[WORD.len()..].trim();
    let (rule, rest) = match rest.split_once(char::is_whitespace) {
        Some((rule, rest)) if !rule.is_empty() => (rule, rest.trim()),
        _ => return Err(no_reason(rest.trim_end_matches(':'), span)),
    };
    let (rule, rest) = match rule.strip_suffix(':') {
        Some(rule) => (rule, format!(": {rest}")),
        None => (rule, rest.to_owned()),
    };
    let (until, reason) = match rest.strip_prefix("until ") {
        Some(rest) => {
            let (day, reason) = rest.split_once(':').ok_or_else(|| no_reason(rule, span))?;
            let day = day.trim();
            let date = chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d");
            (Some(date.map_err(|_| no_day(day, span))?), reason.to_owned())
        }
        None => match rest.split_once(':') {
            Some((before, reason)) if before.trim().is_empty() => (None, reason.to_owned()),
            _ => return Err(no_reason(rule, span)),
        },
    };
    let reason = reason.trim().to_owned();
    if reason.is_empty() {
        return Err(no_reason(rule, span));
    }
    Ok(Written { rule: rule.to_owned(), until, reason, span, block: None })
}

/// The block that a place is in, or that begins right below the comments around it.
fn block_at(blocks: &[Block], text: &str, at: Span) -> Option<Span> {
    let within = blocks.iter().find(|it| it.header.to(it.body.span).contains(at));
    if let Some(block) = within {
        return Some(block.header);
    }
    let below = blocks
        .iter()
        .filter(|it| it.header.start() >= at.end())
        .min_by_key(|it| it.header.start())?;
    let between = &text[at.end() as usize..below.header.start() as usize];
    // What is left of the comment itself.
    let between = match (between.find("*/"), between.find("/*")) {
        (Some(end), next) if next.is_none_or(|next| end < next) => &between[end + 2..],
        _ => between,
    };
    let mut lines = between.lines().skip(1).map(str::trim);
    let is_above = lines
        .all(|it| ["#", "//", "*", "/*"].iter().any(|mark| it.starts_with(mark)) || it.is_empty());
    // An empty line ends what stands right above.
    let has_gap = between.trim_end_matches(' ').contains("\n\n");
    (is_above && !has_gap).then_some(below.header)
}

/// Returns the waivers in force, with the nodes that they cover.
pub fn in_force(written: &[Written], model: &Model<'_>) -> Vec<Waiver> {
    let in_force = written.iter().filter(|it| !it.has_expired(model));
    in_force.map(|it| Waiver { rule: it.rule.clone(), nodes: model.covered(it.block) }).collect()
}

/// Waives the verdicts that waivers cover, and tells of waivers that have expired, cover nothing, or may not.
pub fn apply(report: &mut Report, written: &[Written], policies: &Policies, model: &Model<'_>) {
    for waiver in written {
        let meant = |it: &&super::rules::RuleInfo| [&it.name, &it.shown].contains(&&waiver.rule);
        let rules: Vec<_> = policies.rules.iter().filter(meant).collect();
        if waiver.has_expired(model) {
            report.problems.push(expired(waiver));
            continue;
        }
        if rules.iter().any(|it| it.enforce == Enforce::Always || it.is_required) {
            report.problems.push(not_waivable(waiver));
            continue;
        }
        if rules.is_empty() {
            // What is not known here may be meant for elsewhere.
            continue;
        }
        let covered = model.covered(waiver.block).into_iter();
        let addresses: FxHashSet<String> = covered.map(|it| model.address(it)).collect();
        let waived = waiver.to_waived(model);
        let mut is_used = false;
        for verdict in &mut report.verdicts {
            let is_meant = verdict.name == waiver.rule || verdict.rule.name == waiver.rule;
            if is_meant && addresses.contains(&verdict.address) {
                is_used = true;
                verdict.waived = Some(waived.clone());
            }
        }
        // What cannot be judged here may be elsewhere.
        let is_judged = rules.iter().any(|it| !report.not_judged.contains(&it.shown));
        if !is_used && is_judged {
            report.problems.push(unused(waiver));
        }
    }
}

impl Written {
    fn has_expired(&self, model: &Model<'_>) -> bool {
        let today = model.world.now().date_naive();
        self.until.is_some_and(|day| day < today)
    }

    fn to_waived(&self, model: &Model<'_>) -> WaivedBy {
        let source = model.sources.get(self.span.file());
        WaivedBy {
            reason: self.reason.clone(),
            until: self.until.map(|it| it.to_string()),
            file: source.map_or(String::new(), |it| it.name.clone()),
            line: model.sources.position(self.span.file(), self.span.start()).line,
        }
    }
}

impl Model<'_> {
    /// Returns the nodes that a block stands for; of a module call, everything in its instances too.
    fn covered(&self, block: Option<Span>) -> Vec<Node> {
        let Some(block) = block else { return Vec::new() };
        let is_block = |node: Node| {
            // In JSON, several blocks begin at one name.
            self.declared(node).is_some_and(|it| it == block)
        };
        let modules: Vec<bool> = (0..self.structure.modules.len() as u32)
            .map(|at| {
                let mut module = Some(crate::lower::structure::ModuleId(at));
                while let Some(id) = module {
                    if is_block(self.module_node(id)) {
                        return true;
                    }
                    module = self.structure.module(id).parent.map(|it| it.0);
                }
                false
            })
            .collect();
        let nodes = (0..self.structure.nodes.len() as u32).map(Node);
        let inside = |node: &Node| self.module_id(*node).is_some_and(|it| modules[it.index()]);
        let own = nodes.filter(|it| is_block(*it) || inside(it));
        let calls = (0..modules.len()).filter(|it| modules[*it]);
        let calls = calls.map(|at| self.module_node(crate::lower::structure::ModuleId(at as u32)));
        own.chain(calls.collect::<Vec<_>>()).collect()
    }
}

fn no_reason(rule: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Waiver without a reason")
        .detail(format!(
            "A waiver says why: `# {WORD} {rule}: reason`, or until when, too: `# {WORD} {rule} until 2030-01-31: reason`."
        ))
        .at(at)
}

fn no_day(day: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid day in a waiver")
        .detail(format!("`{day}` is no day. Write year, month and day: 2030-01-31."))
        .at(at)
}

fn expired(waiver: &Written) -> Diagnostic {
    let day = waiver.until.map_or(String::new(), |it| it.to_string());
    Diagnostic::warning("Expired waiver")
        .detail(format!("The waiver of `{}` counted until {day}, and counts no more.", waiver.rule))
        .at(waiver.span)
}

fn not_waivable(waiver: &Written) -> Diagnostic {
    Diagnostic::warning("Waiver that does not count")
        .detail(format!("`{}` is required or enforced always, and cannot be waived.", waiver.rule))
        .at(waiver.span)
}

fn unused(waiver: &Written) -> Diagnostic {
    Diagnostic::warning("Waiver of nothing")
        .detail(format!(
            "`{}` says nothing of what the waiver covers. Take it away, so that it hides nothing later.",
            waiver.rule
        ))
        .at(waiver.span)
}
