//! One text, read: its tree, what it declares, and what it refers to.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Place;
use super::index::{self, Index};
use crate::config::files::is_ignored;
use crate::datalog::parse::{Dialect, parse_as};
use crate::datalog::syntax::Text as Rules;
use crate::diagnostic::{Diagnostics, FileId, Span};
use crate::syntax::{self, Block, Body};

/// The number of a document's text in all spans of its tree: places name the document besides.
pub(super) const FILE: FileId = FileId(1);

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// `.tf`, `.tofu`
    Config,
    /// `.tf.json`, `.tofu.json`
    Json,
    /// `.tfvars`
    Values,
    /// `.tfvars.json`
    JsonValues,
    /// `.tftest.hcl`, `.tofutest.hcl`
    Test,
    /// `.rules`
    Rules,
}

const ENDINGS: [(&str, Language); 10] = [
    (".tf", Language::Config),
    (".tofu", Language::Config),
    (".tf.json", Language::Json),
    (".tofu.json", Language::Json),
    (".tfvars", Language::Values),
    (".tfvars.json", Language::JsonValues),
    (".tftest.hcl", Language::Test),
    (".tofutest.hcl", Language::Test),
    (".tfmock.hcl", Language::Test),
    (".rules", Language::Rules),
];

impl Language {
    /// Returns what a file is; nothing for one that is none of these.
    pub fn of(path: &Path) -> Option<Language> {
        let name = path.file_name()?.to_str()?;
        let known = || ENDINGS.iter().find(|it| name.ends_with(it.0)).map(|it| it.1);
        if is_ignored(name) { None } else { known() }
    }

    /// Returns what a document is that has no file yet, by the name that an editor has for its language.
    pub fn named(name: &str) -> Language {
        match name {
            "terraform-vars" | "opentofu-vars" | "tfvars" => Language::Values,
            "terraform-test" | "opentofu-test" => Language::Test,
            "entail-rules" | "rules" => Language::Rules,
            _ => Language::Config,
        }
    }

    /// Returns whether it is a part of a module.
    pub fn is_config(self) -> bool {
        matches!(self, Language::Config | Language::Json)
    }

    /// Returns whether it is written in native syntax.
    pub fn is_native(self) -> bool {
        matches!(self, Language::Config | Language::Values | Language::Test)
    }
}

/// One text, read.
#[derive(Debug)]
pub struct Document {
    /// Its file.
    pub path: PathBuf,
    /// What it is.
    pub language: Language,
    /// As it is written.
    pub text: Arc<str>,
    /// What can be read of it.
    pub body: Body,
    /// The text of `body`, where that is not the whole.
    pub mended: Option<String>,
    /// The rules in it.
    pub rules: Rules,
    /// What keeps it from being read as it is.
    pub problems: Diagnostics,
    /// What it declares and refers to.
    pub index: Index,
}

impl Document {
    /// Reads a text.
    pub fn read(path: &Path, language: Language, text: Arc<str>) -> Document {
        let (mut mended, mut rules) = (None, Rules::default());
        let (body, problems) = match language {
            Language::Rules => {
                let (found, problems) = parse_as(Dialect::Policies, FILE, &text);
                rules = found;
                (Body::default(), problems)
            }
            Language::Json | Language::JsonValues => syntax::parse_json(FILE, &text),
            _ => {
                let (body, problems) = syntax::parse(FILE, &text);
                match problems
                    .has_errors()
                    .then(|| syntax::mended(FILE, &text, &problems))
                    .flatten()
                {
                    Some((text, body)) => {
                        mended = Some(text);
                        (body, problems)
                    }
                    None => (body, problems),
                }
            }
        };
        let body = if language == Language::Json { index::unpacked(body) } else { body };
        let index = Index::of(language, &body, &text);
        Document { path: path.to_owned(), language, text, body, mended, rules, problems, index }
    }

    /// Returns a place of the document.
    pub fn place(&self, span: Span) -> Place {
        Place { path: self.path.clone(), range: range(span) }
    }

    /// Returns the text of a span.
    pub fn text_of(&self, span: Span) -> &str {
        self.text.get(range(span)).unwrap_or_default()
    }

    /// Returns the blocks around a byte, outermost first.
    pub fn blocks_at(&self, at: usize) -> Vec<&Block> {
        let mut found = Vec::new();
        let mut body = &self.body;
        while let Some(block) = body.blocks.iter().find(|it| whole(it).contains(&at)) {
            found.push(block);
            body = &block.body;
        }
        found
    }
}

/// Returns the bytes of a span.
pub(super) fn range(span: Span) -> Range<usize> {
    span.start() as usize..span.end() as usize
}

/// Returns the bytes of a block, from its type to its last brace; a cursor behind that brace is still at it.
pub(super) fn whole(block: &Block) -> Range<usize> {
    block.header.start() as usize..block.body.span.end().max(block.header.end()) as usize
}
