//! `run` blocks.

use super::super::condition::condition;
use super::super::decode::{Content, Decoder, Schema};
use super::super::load::source::invalid_source;
use super::super::source::ModuleSource;
use super::super::{call, problems, provider};
use super::{Command, Snapshot, TestModule, TestOptions, TestRun, mock, variables_of};
use crate::diagnostic::Span;
use crate::syntax::{Attribute, Block};
use crate::value::{Str, Type, Value, convert};

const RUN: Schema = Schema {
    attributes: &["command", "providers", "expect_failures", "expect_denied"],
    required: &[],
    blocks: &[
        ("plan_options", &[]),
        ("assert", &[]),
        ("snapshot", &["name"]),
        ("variables", &[]),
        ("module", &[]),
        ("override_resource", &[]),
        ("override_data", &[]),
        ("override_module", &[]),
    ],
};
const OPTIONS: Schema =
    Schema { attributes: &["mode", "refresh", "replace", "target"], required: &[], blocks: &[] };
const MODULE: Schema = Schema { attributes: &["source", "version"], required: &[], blocks: &[] };
const SNAPSHOT: Schema = Schema { attributes: &["value"], required: &["value"], blocks: &[] };

/// Reads a `run` block, or nothing where something in it is wrong.
pub(super) fn run(decoder: &mut Decoder, block: &Block) -> Option<TestRun> {
    let before = decoder.problems.0.len();
    let content = decoder.content(block, &RUN);
    let name = block.labels.first()?.clone();
    decoder.check_name(&name, "Invalid run block name");
    let mut run = TestRun {
        name,
        declared: block.header,
        command: Command::default(),
        providers: Vec::new(),
        expect_failures: Vec::new(),
        expect_denied: Vec::new(),
        asserts: Vec::new(),
        snapshots: Vec::new(),
        variables: Default::default(),
        options: TestOptions::default(),
        module: None,
        overrides: Vec::new(),
    };
    let mut seen = Seen::default();
    for inner in &content.blocks {
        add(decoder, &mut run, inner, &mut seen);
    }
    arguments(decoder, &mut run, &content);
    let found = &decoder.problems.0[before..];
    (!found.iter().any(crate::Diagnostic::is_error)).then_some(run)
}

/// The places of blocks that a run has once.
#[derive(Default)]
struct Seen {
    options: Option<Span>,
    variables: Option<Span>,
    module: Option<Span>,
}

fn add(decoder: &mut Decoder, run: &mut TestRun, block: &Block, seen: &mut Seen) {
    match &*block.kind.text {
        "assert" => run.asserts.extend(condition(decoder, block)),
        "snapshot" => run.snapshots.extend(snapshot(decoder, block)),
        "plan_options" => {
            if is_first(decoder, "plan_options", block, &mut seen.options) {
                run.options = options(decoder, block);
            }
        }
        "variables" => {
            let place = ("run block", &mut seen.variables);
            run.variables.extend(variables_of(decoder, block, place));
        }
        "module" => {
            if is_first(decoder, "module", block, &mut seen.module) {
                run.module = module(decoder, block);
            }
        }
        _ => run.overrides.extend(mock::overriding(decoder, block)),
    }
}

fn is_first(decoder: &mut Decoder, kind: &str, block: &Block, seen: &mut Option<Span>) -> bool {
    let Some(first) = *seen else {
        *seen = Some(block.header);
        return true;
    };
    let place = decoder.place(first);
    let detail = format!("This run block already has a {kind} block defined at {place}.");
    decoder.report(problems::invalid(format!("Multiple {kind:?} blocks"), detail, block.header));
    false
}

fn arguments(decoder: &mut Decoder, run: &mut TestRun, content: &Content) {
    if let Some(command) = content.get("command") {
        let words = ["apply", "plan"];
        run.command = match keyword(decoder, command, words, ".") {
            Some("plan") => Command::Plan,
            _ => Command::Apply,
        };
    }
    if let Some(providers) = content.get("providers") {
        run.providers = call::passed_providers(decoder, providers);
    }
    if let Some(expected) = content.get("expect_failures") {
        run.expect_failures = decoder.traversals(expected);
    }
    if let Some(denied) = content.get("expect_denied") {
        run.expect_denied = rules(decoder, denied);
    }
}

/// Reads the names of rules.
fn rules(decoder: &mut Decoder, attribute: &Attribute) -> Vec<(Str, Span)> {
    let items = decoder.list(&attribute.value);
    let mut names = Vec::new();
    for item in &items {
        let Some(value) = decoder.constant(item) else { continue };
        match convert(&value, Type::STRING).ok().as_ref().and_then(Value::as_str) {
            Some(name) => names.push((name.into(), item.span)),
            None => decoder.report(problems::invalid(
                "Invalid `expect_denied` name",
                "Each element is the name of a rule, as a text: expect_denied = [\"no_public_buckets\"].",
                item.span,
            )),
        }
    }
    names
}

/// Reads one of two bare words.
fn keyword(
    decoder: &mut Decoder,
    attribute: &Attribute,
    words: [&'static str; 2],
    stop: &str,
) -> Option<&'static str> {
    let name = &attribute.name.text;
    let quoted =
        !decoder.file.is_json && matches!(attribute.value.expr, crate::syntax::Expr::String(_));
    let word = if quoted { None } else { keyword_text(decoder, attribute) };
    let known = words.into_iter().find(|it| word.as_deref() == Some(*it));
    if known.is_none() {
        let detail = format!(
            "The {name:?} argument requires one of the following keywords without quotes: {} or {}{stop}",
            words[0], words[1]
        );
        decoder.report(problems::invalid(
            format!("Invalid {name:?} keyword"),
            detail,
            attribute.value.span,
        ));
    }
    known
}

/// Returns a bare word; `refresh-only` is one, with its hyphen.
fn keyword_text(decoder: &mut Decoder, attribute: &Attribute) -> Option<Str> {
    let written = decoder.written(&attribute.value)?;
    written.as_keyword().map(Str::from)
}

fn options(decoder: &mut Decoder, block: &Block) -> TestOptions {
    let content = decoder.content(block, &OPTIONS);
    let mode =
        content.get("mode").and_then(|it| keyword(decoder, it, ["normal", "refresh-only"], ""));
    let refresh = content.literal("refresh").and_then(|it| decoder.flag(it));
    let options = TestOptions {
        refresh_only: mode == Some("refresh-only"),
        skip_refresh: refresh == Some(false),
        replace: content.get("replace").map(|it| decoder.traversals(it)).unwrap_or_default(),
        target: content.get("target").map(|it| decoder.traversals(it)).unwrap_or_default(),
    };
    if options.refresh_only
        && options.skip_refresh
        && let Some(refresh) = content.get("refresh")
    {
        let detail = "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.";
        decoder.report(problems::invalid("Incompatible plan options", detail, refresh.span()));
    }
    options
}

fn module(decoder: &mut Decoder, block: &Block) -> Option<TestModule> {
    let content = decoder.content(block, &MODULE);
    let Some(source) = content.literal("source") else {
        decoder.report(problems::invalid(
            "Missing \"source\" attribute for module block",
            "You must specify a source attribute when executing alternate modules during test executions.",
            block.header,
        ));
        return None;
    };
    // What names a module is the same in every run.
    let text = decoder.text(source)?;
    if let Err(why) = ModuleSource::parse(&text, content.get("version").is_some()) {
        decoder.report(invalid_source(&text, &why, source.span()));
        return None;
    }
    let version = content.literal("version").map(|it| it.value.clone());
    if let Some(version) = &version {
        provider::version_constraint(decoder, version)?;
    }
    Some(TestModule { source: source.value.clone(), version, declared: block.header })
}

fn snapshot(decoder: &mut Decoder, block: &Block) -> Option<Snapshot> {
    let content = decoder.content(block, &SNAPSHOT);
    let name = block.labels.first()?.clone();
    decoder.check_name(&name, "Invalid snapshot name");
    Some(Snapshot { name, value: content.value("value")?, declared: block.header })
}
