//! Test files, as written: which there are, and the blocks that they hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::address::{ConfigResource, Instance, Mode, Module as ModuleAddr, Provider};
use crate::diagnostic::{Diagnostics, FileId, Sources, Span};
use crate::rarely::Rarely;
use crate::syntax::{self, Attribute, Block, BlockSchema, Body, Expression, Name};
use crate::value::{Str, Value};
use crate::world::Files;

use super::decode::{Decoder, FileKind};
use super::{Condition, ProviderBlock, ProviderRef, Repetition, problems, provider};

mod addresses;
mod applied;
mod mended;
mod mock;
mod names;
mod run;

use mended::Mended;
pub use names::{TestFileName, test_files};

/// One test file.
#[derive(Clone, Debug, Default)]
pub struct TestFile {
    /// Its path, relative to the root module's folder.
    pub path: String,
    /// `run`, in source order.
    pub runs: Vec<TestRun>,
    /// `variables`
    pub variables: BTreeMap<Str, Attribute>,
    /// `provider`
    pub providers: Vec<ProviderBlock>,
    /// `mock_provider`
    pub mocks: Vec<MockProvider>,
    /// `override_resource`, `override_data`, `override_module`
    pub overrides: Vec<Override>,
}

/// What a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// `command = plan`
    Plan,
    /// `command = apply`, and without a word.
    #[default]
    Apply,
}

/// `run "name" {}`
#[derive(Clone, Debug)]
pub struct TestRun {
    /// Its name, and the place of the label.
    pub name: Name,
    /// The place of the header.
    pub declared: Span,
    /// `command`
    pub command: Command,
    /// `providers`: the module's name (with alias) and that of the test file's block.
    pub providers: Vec<(ProviderRef, ProviderRef)>,
    /// `expect_failures`
    pub expect_failures: Vec<Expression>,
    /// `expect_denied`
    pub expect_denied: Vec<(Str, Span)>,
    /// `assert`
    pub asserts: Vec<Condition>,
    /// `snapshot`
    pub snapshots: Vec<Snapshot>,
    /// `variables`
    pub variables: BTreeMap<Str, Attribute>,
    /// `plan_options`
    pub options: TestOptions,
    /// `module`
    pub module: Option<TestModule>,
    /// `override_resource`, `override_data`, `override_module`
    pub overrides: Vec<Override>,
}

/// `snapshot "name" {}`: a part of the plan's document that is kept in a file beside the test.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its name, and the place of the label.
    pub name: Name,
    /// `value`: what is kept.
    pub value: Expression,
    /// The place of the header.
    pub declared: Span,
}

/// `plan_options {}`
#[derive(Clone, Debug, Default)]
pub struct TestOptions {
    /// `mode = refresh-only`
    pub refresh_only: bool,
    /// `refresh = false`
    pub skip_refresh: bool,
    /// `replace`
    pub replace: Vec<Expression>,
    /// `target`
    pub target: Vec<Expression>,
}

/// `module {}`
#[derive(Clone, Debug)]
pub struct TestModule {
    /// `source`, as an expression that is a constant text.
    pub source: Expression,
    /// `version`
    pub version: Option<Expression>,
    /// The place of the header.
    pub declared: Span,
}

/// `mock_provider "name" {}`
#[derive(Clone, Debug)]
pub struct MockProvider {
    /// The local name.
    pub name: Name,
    /// `alias`
    pub alias: Option<Name>,
    /// `for_each`
    pub repetition: Repetition,
    /// `mock_resource`, `mock_data`
    pub defaults: BTreeMap<(Mode, Str), BTreeMap<Str, Value>>,
    /// `override_resource`, `override_data`
    pub overrides: Vec<Override>,
    /// The place of the header.
    pub declared: Span,
}

impl MockProvider {
    /// Returns it as a `provider` block that says nothing.
    pub fn block(&self) -> ProviderBlock {
        ProviderBlock {
            name: self.name.clone(),
            source: Provider::implied(&self.name.text),
            alias: self.alias.clone(),
            alias_from: None,
            repetition: self.repetition.clone(),
            body: Body { span: self.declared, ..Body::default() },
            version: None,
            declared: self.declared,
        }
    }

    /// Returns name and alias as they are referred to: `aws`, `aws.west`.
    pub fn local_name(&self) -> String {
        provider::local_name(&self.name.text, self.alias.as_ref().map(|it| &*it.text))
    }
}

/// `override_resource {}`, `override_data {}`, `override_module {}`
#[derive(Clone, Debug)]
pub struct Override {
    /// What is overridden.
    pub target: OverrideTarget,
    /// `target`
    pub target_span: Span,
    /// `values` or `outputs`
    pub values: BTreeMap<Str, Value>,
    /// The place of the header.
    pub declared: Span,
}

/// What an override is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverrideTarget {
    /// A resource, by a block of this mode.
    Object(Mode, ConfigResource),
    /// A module.
    Module(ModuleAddr),
}

impl std::fmt::Display for OverrideTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OverrideTarget::Object(_, it) => it.fmt(f),
            OverrideTarget::Module(it) => it.fmt(f),
        }
    }
}

impl OverrideTarget {
    /// Returns the type of the block that says it.
    pub fn block(&self) -> &'static str {
        match self {
            OverrideTarget::Object(Mode::Data, _) => "override_data",
            OverrideTarget::Object(..) => "override_resource",
            OverrideTarget::Module(_) => "override_module",
        }
    }
}

impl TestOptions {
    /// Returns the instances that are to be replaced.
    ///
    /// # Errors
    ///
    /// If one is no address of an instance.
    pub fn replaced(&self) -> Result<Vec<Instance>, Diagnostics> {
        addresses::replaced(&self.replace)
    }
}

pub use addresses::{expected, targeted};
pub use applied::literal;

const BLOCKS: [(&str, &[&str]); 7] = [
    ("run", &["name"]),
    ("provider", &["name"]),
    ("variables", &[]),
    ("override_resource", &[]),
    ("override_data", &[]),
    ("override_module", &[]),
    ("mock_provider", &["name"]),
];

/// Reads every test file of a module. What is wrong comes beside the files, which hold what could be understood.
pub fn read_tests(
    files: &Files,
    root: &Path,
    names: &[TestFileName],
    sources: &Sources,
) -> (Vec<TestFile>, Diagnostics) {
    let mut problems = Diagnostics::new();
    let mut read = Vec::new();
    for name in names {
        let found = text_of(files, &root.join(&name.path), &name.path);
        let Some(text) = problems.take(found) else { continue };
        let text: Arc<str> = text.into();
        let id = sources.add(name.path.clone(), text.clone());
        let (file, found) = read_file(sources, id, &text, name.is_json());
        problems.extend(found);
        read.push(TestFile { path: name.path.clone(), ..file });
    }
    (read, problems)
}

fn text_of(files: &Files, path: &Path, shown: &str) -> Result<String, crate::Diagnostic> {
    let bytes = files.read_regular(path).map_err(|why| problems::unreadable_file(shown, &why))?;
    String::from_utf8(bytes).map_err(|_| problems::not_utf8(shown))
}

fn read_file(sources: &Sources, id: FileId, text: &str, is_json: bool) -> (TestFile, Diagnostics) {
    let kind = FileKind { is_json, ..FileKind::default() };
    let Mended { body, problems, gone } = match is_json {
        true => {
            let (body, problems) = syntax::parse_json(id, text);
            Mended { body, problems, gone: Vec::new() }
        }
        false => mended::read(id, text),
    };
    let mut decoder = Decoder { sources, file: kind, problems: Diagnostics::new() };
    let file = decode(&mut decoder, body);
    let is_told = |it: &crate::Diagnostic| {
        it.subject.is_some_and(|at| gone.iter().any(|gone| gone.contains(at)))
    };
    let mut all = problems;
    all.extend(decoder.problems.into_iter().filter(|it| !is_told(it)));
    (file, all)
}

fn decode(decoder: &mut Decoder, body: Body) -> TestFile {
    let blocks: Vec<BlockSchema> =
        BLOCKS.iter().map(|(kind, labels)| BlockSchema { kind, labels }).collect();
    let (content, problems) = body.into_content(&[], &blocks);
    decoder.problems.extend(problems);
    let mut file = TestFile::default();
    let mut variables = None;
    for block in content.blocks {
        match &*block.kind.text {
            "run" => file.runs.extend(run::run(decoder, &block)),
            "provider" => file.providers.extend(real_provider(decoder, &block)),
            "variables" => {
                let place = ("test file", &mut variables);
                file.variables.extend(variables_of(decoder, &block, place));
            }
            "mock_provider" => {
                let Some(mock) = mock::mock_provider(decoder, &block) else { continue };
                match file.mocks.iter().any(|it| it.local_name() == mock.local_name()) {
                    true => decoder.report(mock::twice_mocked(&mock)),
                    false => file.mocks.push(mock),
                }
            }
            _ => file.overrides.extend(mock::overriding(decoder, &block)),
        }
    }
    file
}

/// Reads a `provider` block; in a test file it repeats only under an alias.
fn real_provider(decoder: &mut Decoder, block: &Block) -> Option<ProviderBlock> {
    let provider = provider::provider(decoder, block)?;
    if provider.alias.as_ref().is_some_and(|it| it.text.is_empty())
        && let Some(keys) = provider.repetition.expression()
    {
        decoder.report(mock::alias_required(keys.span));
        return None;
    }
    Some(provider)
}

/// Reads a `variables` block; `owner` has one only.
fn variables_of(
    decoder: &mut Decoder,
    block: &Block,
    (owner, seen): (&str, &mut Option<Span>),
) -> BTreeMap<Str, Attribute> {
    if let Some(first) = *seen {
        let place = decoder.place(first);
        let detail = format!("This {owner} already has a variables block defined at {place}.");
        decoder.report(problems::invalid("Multiple \"variables\" blocks", detail, block.header));
        return BTreeMap::new();
    }
    *seen = Some(block.header);
    let given = decoder.attributes(&block.body);
    given.into_iter().map(|it| (it.name.text.clone(), it)).collect()
}

impl TestModule {
    /// Returns the module as a call of this name.
    pub fn call(&self, name: &Name) -> super::ModuleCall {
        let besides =
            super::CallBesides { version: self.version.clone(), ..super::CallBesides::default() };
        super::ModuleCall {
            name: name.clone(),
            declared: self.declared,
            source: Some(self.source.clone()),
            repetition: Repetition::Single,
            inputs: super::Inputs::default(),
            body_span: self.declared,
            besides: Rarely::of(besides),
        }
    }
}
