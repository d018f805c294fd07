//! One configuration file: every block it holds, decoded on its own.

use std::sync::Arc;

use crate::diagnostic::{Diagnostics, FileId, Sources, Span};
use crate::syntax::{self, Block, Body};

use super::decode::{Decoder, FileKind};
use super::named::{OutputBlock, VariableBlock};
use super::resource::Place;
use super::terraform::TerraformBlock;
use super::{
    Check, Import, Local, ModuleCall, Moved, ProviderBlock, Removed, Resource, call, check_block,
    moves, named, problems, provider, resource, terraform,
};

/// What one file declares.
#[derive(Default)]
pub(super) struct File {
    pub kind: FileKind,
    pub terraform: TerraformBlock,
    pub providers: Vec<ProviderBlock>,
    pub variables: Vec<VariableBlock>,
    pub locals: Vec<Local>,
    pub outputs: Vec<OutputBlock>,
    pub calls: Vec<ModuleCall>,
    pub resources: Vec<Arc<Resource>>,
    pub moved: Vec<Moved>,
    pub removed: Vec<Removed>,
    pub imports: Vec<Import>,
    pub checks: Vec<(Check, Option<Resource>)>,
    /// Places of blocks that an override file may not hold.
    pub misplaced: Vec<(&'static str, Span)>,
}

const BLOCKS: [(&str, &[&str]); 15] = [
    ("language", &[]),
    ("required_providers", &[]),
    ("provider", &["name"]),
    ("variable", &["name"]),
    ("locals", &[]),
    ("output", &["name"]),
    ("module", &["name"]),
    ("resource", &["type", "name"]),
    ("data", &["type", "name"]),
    ("ephemeral", &["type", "name"]),
    ("moved", &[]),
    ("import", &[]),
    ("check", &["name"]),
    ("removed", &[]),
    ("terraform", &[]),
];

/// Reads the text of one file.
pub(super) fn read(
    sources: &Sources,
    id: FileId,
    text: &str,
    kind: FileKind,
) -> (File, Diagnostics) {
    let lower = |body| decode(Decoder { sources, file: kind, problems: Diagnostics::new() }, body);
    let (pieces, mut problems) = match kind.is_json {
        true => {
            let (body, problems) = syntax::parse_json(id, text);
            (vec![lower(body)], problems)
        }
        false => syntax::parse_each(id, text, lower),
    };
    let mut file = File { kind, ..File::default() };
    for (piece, more) in pieces {
        file.append(piece);
        problems.extend(more);
    }
    (file, problems)
}

fn decode(mut decoder: Decoder<'_>, body: Body) -> (File, Diagnostics) {
    let blocks: Vec<syntax::BlockSchema> =
        BLOCKS.iter().map(|(kind, labels)| syntax::BlockSchema { kind, labels }).collect();
    let (content, problems) = body.into_content(&[], &blocks);
    decoder.problems.extend(problems);
    let mut file = File { kind: decoder.file, ..File::default() };
    for block in content.blocks {
        add(&mut decoder, &mut file, block);
    }
    (file, decoder.problems)
}

impl TerraformBlock {
    fn append(&mut self, more: TerraformBlock) {
        self.backends.extend(more.backends);
        self.clouds.extend(more.clouds);
        self.encryptions.extend(more.encryptions);
        self.required_providers.extend(more.required_providers);
        self.provider_metas.extend(more.provider_metas);
        self.required_versions.extend(more.required_versions);
    }
}

impl File {
    /// Adds what stands further down in the same file.
    fn append(&mut self, more: File) {
        self.terraform.append(more.terraform);
        self.providers.extend(more.providers);
        self.variables.extend(more.variables);
        self.locals.extend(more.locals);
        self.outputs.extend(more.outputs);
        self.calls.extend(more.calls);
        self.resources.extend(more.resources);
        self.moved.extend(more.moved);
        self.removed.extend(more.removed);
        self.imports.extend(more.imports);
        self.checks.extend(more.checks);
        self.misplaced.extend(more.misplaced);
    }
}

fn add(decoder: &mut Decoder, file: &mut File, block: Block) {
    if decoder.file.is_override
        && let Some(kind) =
            ["moved", "import", "removed"].into_iter().find(|it| *it == &*block.kind.text)
    {
        file.misplaced.push((kind, block.header));
    }
    match &*block.kind.text {
        "terraform" => {
            let said = terraform::terraform(decoder, &block);
            file.terraform.append(said);
        }
        "language" => file.terraform.required_versions.extend(terraform::language(decoder, &block)),
        "required_providers" => {
            let detail =
                "A \"required_providers\" block must be nested inside a \"terraform\" block.";
            decoder.report(problems::invalid(
                "Invalid required_providers block",
                detail,
                block.kind.span,
            ));
        }
        "provider" => file.providers.extend(provider::provider(decoder, &block)),
        "variable" => file.variables.extend(named::variable(decoder, &block)),
        "locals" => file.locals.extend(named::locals(decoder, &block)),
        "output" => file.outputs.extend(named::output(decoder, &block)),
        "module" => file.calls.extend(call::call(decoder, block)),
        "resource" => file.resources.extend(resource::managed(decoder, block).map(Arc::new)),
        "data" => {
            file.resources.extend(resource::data(decoder, block, Place::Module).map(Arc::new))
        }
        "ephemeral" => file.resources.extend(resource::ephemeral(decoder, block).map(Arc::new)),
        "moved" => file.moved.extend(moves::moved(decoder, &block)),
        "import" => file.imports.extend(moves::import(decoder, &block)),
        "removed" => file.removed.extend(moves::removed(decoder, &block)),
        "check" => file.checks.extend(check_block::check(decoder, &block)),
        _ => {}
    }
}
