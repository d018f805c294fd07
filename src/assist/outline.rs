//! The shape of a text: its symbols, what can be folded, what grows around a cursor, links, and what each word is.

use std::ops::Range;
use std::path::PathBuf;

use super::document::{Document, Language, range, whole};
use super::index::Entity;
use super::workspace::Workspace;
use super::{Place, rules};
use crate::config::source::{ModuleSource, RegistryAddress};
use crate::syntax::{self, Block, Body, Expr, Expression, ObjectKey, Step};

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A block of the language.
    Block,
    /// A managed resource, a data source or an ephemeral resource.
    Resource,
    /// A variable.
    Variable,
    /// A local value, or an argument.
    Value,
    /// An output.
    Output,
    /// A call of a module.
    Module,
    /// A provider's configuration.
    Provider,
    /// A rule of a policy, a check or a run of a test.
    Rule,
}

/// Something that has a name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub sort: Sort,
    /// All of it.
    pub whole: Range<usize>,
    /// Its name.
    pub at: Range<usize>,
    /// What is in it.
    pub inside: Vec<Symbol>,
}

/// Returns the symbols of a text.
pub fn symbols(document: &Document) -> Vec<Symbol> {
    if document.language == Language::Rules {
        let rules = document.rules.rules.iter();
        let symbol = |it: &crate::datalog::syntax::Rule| {
            let head = it.heads.first().map_or(it.span, |it| it.span);
            let name = if it.name.is_empty() { document.text_of(head) } else { &it.name };
            let (name, whole) = (name.to_owned(), range(it.span));
            Symbol { name, sort: Sort::Rule, at: range(head), whole, inside: Vec::new() }
        };
        return rules.map(symbol).collect();
    }
    inside(&document.body)
}

fn inside(body: &Body) -> Vec<Symbol> {
    let arguments = body.attributes.iter().map(|it| Symbol {
        name: it.name.text.to_string(),
        sort: Sort::Value,
        whole: range(it.span()),
        at: range(it.name.span),
        inside: Vec::new(),
    });
    let blocks = body.blocks.iter().map(|it| {
        let labels = it.labels.iter().map(|it| format!(" {:?}", &*it.text));
        Symbol {
            name: format!("{}{}", it.kind.text, labels.collect::<String>()),
            sort: sort(it),
            whole: whole(it),
            at: range(it.header),
            inside: inside(&it.body),
        }
    });
    let mut all: Vec<Symbol> = arguments.chain(blocks).collect();
    all.sort_by_key(|it| it.whole.start);
    all
}

fn sort(block: &Block) -> Sort {
    match &*block.kind.text {
        "resource" | "data" | "ephemeral" => Sort::Resource,
        "variable" => Sort::Variable,
        "output" => Sort::Output,
        "module" => Sort::Module,
        "provider" => Sort::Provider,
        "check" | "run" => Sort::Rule,
        _ => Sort::Block,
    }
}

/// Returns the names in all open folders that a query is part of, with their addresses; at most as many as are asked for.
pub fn search(workspace: &Workspace, query: &str, most: usize) -> Vec<(String, Sort, Place)> {
    let query = query.to_lowercase();
    let mut found = Vec::new();
    for folder in workspace.folders().iter() {
        for document in &workspace.module(folder).documents {
            for it in &document.index.declarations {
                let address = it.entity.address();
                if address.to_lowercase().contains(&query) {
                    let place = Place { path: document.path.clone(), range: it.name.clone() };
                    found.push((address, sort_of(&it.entity), place));
                }
                if found.len() >= most {
                    return found;
                }
            }
        }
    }
    found
}

fn sort_of(entity: &Entity) -> Sort {
    match entity {
        Entity::Variable(_) => Sort::Variable,
        Entity::Local(_) => Sort::Value,
        Entity::Output(_) => Sort::Output,
        Entity::Resource(_) => Sort::Resource,
        Entity::Call(_) => Sort::Module,
        Entity::Provider(..) => Sort::Provider,
        Entity::Check(_) | Entity::Run(_) => Sort::Rule,
    }
}

/// What can be folded: its bytes, and whether it is a comment.
pub fn folds(document: &Document) -> Vec<(Range<usize>, bool)> {
    let mut found = comments(&document.text);
    if document.language == Language::Rules {
        found.extend(document.rules.rules.iter().map(|it| (range(it.span), false)));
    }
    let mut open = vec![&document.body];
    while let Some(body) = open.pop() {
        for block in &body.blocks {
            found.push((whole(block), false));
            open.push(&block.body);
        }
        for it in &body.attributes {
            syntax::parts(&it.value, &mut |part| {
                let folds = matches!(
                    part.expr,
                    Expr::Object(_)
                        | Expr::Tuple(_)
                        | Expr::Template(_)
                        | Expr::String(_)
                        | Expr::Call(_)
                        | Expr::For(_)
                );
                if folds && document.text_of(part.span).contains('\n') {
                    found.push((range(part.span), false));
                }
            });
        }
    }
    found.sort_by_key(|it| (it.0.start, it.0.end));
    found.dedup();
    found
}

/// Comments of several lines.
fn comments(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let is_comment = words.starts_with('#') || words.starts_with("//");
        let end = at + line.trim_end().len();
        open = match (is_comment, open) {
            (true, Some(range)) => Some(range.start..end),
            (true, None) => Some(at..end),
            (false, Some(range)) => {
                found.push((range, true));
                None
            }
            (false, None) => None,
        };
        at += line.len();
    }
    found.extend(open.map(|it| (it, true)));
    found.retain(|it| text[it.0.clone()].contains('\n'));
    found
}

/// Returns what grows around a byte: from the whole text to the smallest part.
pub fn around(document: &Document, at: usize) -> Vec<Range<usize>> {
    let whole_text = 0..document.text.len();
    let mut found: Vec<Range<usize>> = std::iter::once(whole_text).collect();
    let mut body = &document.body;
    loop {
        if let Some(block) = body.blocks.iter().find(|it| whole(it).contains(&at)) {
            found.push(whole(block));
            let inner = range(block.body.span);
            if inner.contains(&at) && inner.len() > 2 {
                found.push(inner.start + 1..inner.end - 1);
            }
            body = &block.body;
            continue;
        }
        let holds = |it: &Range<usize>| it.start <= at && at <= it.end;
        if let Some(it) = body.attributes.iter().find(|it| holds(&range(it.span()))) {
            found.push(range(it.span()));
            let mut parts = vec![range(it.name.span)];
            syntax::parts(&it.value, &mut |it| parts.push(range(it.span)));
            parts.retain(holds);
            parts.sort_by_key(|it| std::cmp::Reverse(it.len()));
            found.extend(parts);
        }
        found.dedup();
        return found;
    }
}

/// A link: where it stands, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// To a file.
    File(Range<usize>, PathBuf),
    /// To a page.
    Page(Range<usize>, String),
}

/// Returns the links of a text: sources of modules, files that functions read, sources of providers.
pub fn links(workspace: &Workspace, document: &Document) -> Vec<Link> {
    let mut found = Vec::new();
    let module = workspace.module_of(&document.path);
    for block in &document.body.blocks {
        if block.kind.text == "module" {
            found.extend(source(workspace, &module, block));
        }
        for terraform in block.body.blocks_of("required_providers") {
            for it in &terraform.body.attributes {
                found.extend(provider(&it.value));
            }
        }
    }
    let mut open = vec![&document.body];
    while let Some(body) = open.pop() {
        open.extend(body.blocks.iter().map(|it| &it.body));
        for it in &body.attributes {
            syntax::calls(&it.value, &mut |name, arguments, _| {
                let is_reading = ["file", "filebase64", "templatefile", "filemd5", "filesha256"]
                    .contains(&&*name.text);
                if let (true, Some(first)) = (is_reading, arguments.first()) {
                    found.extend(file(workspace, document, &module.folder, first));
                }
            });
        }
    }
    found
}

fn source(workspace: &Workspace, module: &super::Module, block: &Block) -> Option<Link> {
    let value = &block.body.attribute("source")?.value;
    let (at, text) = (range(value.span), value.as_static_string()?);
    match ModuleSource::parse(text, block.body.attribute("version").is_some()).ok()? {
        ModuleSource::Registry(it) => {
            let path = RegistryAddress::parse(&it).path().to_owned();
            Some(Link::Page(at, format!("https://search.opentofu.org/module/{path}")))
        }
        _ => {
            let called = workspace.called(module, &block.labels.first()?.text)?;
            let first = called.configs().find(|it| it.path.ends_with("main.tf"));
            let first = first.or_else(|| called.configs().next())?;
            Some(Link::File(at, first.path.clone()))
        }
    }
}

fn provider(entry: &Expression) -> Option<Link> {
    let items = entry.as_object()?;
    let source =
        items.iter().find(|it| it.key.as_static_string().is_some_and(|it| it == "source"))?;
    let address: crate::address::Provider = source.value.as_static_string()?.parse().ok()?;
    let page =
        format!("https://search.opentofu.org/provider/{}/{}", address.namespace, address.kind);
    Some(Link::Page(range(source.value.span), page))
}

/// The file that a function reads, where its name is written out or begins with `path.module`.
fn file(
    workspace: &Workspace,
    document: &Document,
    folder: &std::path::Path,
    it: &Expression,
) -> Option<Link> {
    let text = document.text_of(it.span).trim_matches('"');
    let text = text
        .strip_prefix("${path.module}/")
        .or_else(|| text.strip_prefix("${path.root}/"))
        .unwrap_or(text);
    if text.contains("${") || text.is_empty() {
        return None;
    }
    let path = crate::world::files::by_name(&folder.join(text));
    workspace.files().is_file(&path).then(|| Link::File(range(it.span), path))
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// The type of a block.
    Block,
    /// A label of a block.
    Label,
    /// The name of an argument or of a key.
    Property,
    /// The first name of a reference.
    Root,
    /// A later name of one.
    Step,
    /// A function, or a relation.
    Function,
    /// A number, `true`, `false`, `null`.
    Literal,
    /// The name of a rule.
    Rule,
}

/// Returns what the words of a text are, in its order; no two overlap.
pub fn words(document: &Document) -> Vec<(Range<usize>, Word)> {
    let mut found = Vec::new();
    if document.language == Language::Rules {
        found.extend(rules::named(document).into_iter().map(|it| {
            let word = if it.is_head { Word::Rule } else { Word::Function };
            (it.place, word)
        }));
    } else if document.language.is_native() {
        let mut open = vec![&document.body];
        while let Some(body) = open.pop() {
            for block in &body.blocks {
                found.push((range(block.kind.span), Word::Block));
                found.extend(block.labels.iter().map(|it| (range(it.span), Word::Label)));
                open.push(&block.body);
            }
            for it in &body.attributes {
                found.push((range(it.name.span), Word::Property));
                expression(&it.value, &mut found);
            }
        }
    }
    found.sort_by_key(|it| (it.0.start, it.0.end));
    let mut end = 0;
    found.retain(|it| {
        let is_apart = it.0.start >= end && !it.0.is_empty();
        if is_apart {
            end = it.0.end;
        }
        is_apart
    });
    found
}

fn expression(value: &Expression, found: &mut Vec<(Range<usize>, Word)>) {
    let steps = |steps: &[Step], found: &mut Vec<(Range<usize>, Word)>| {
        for step in steps {
            if let Step::Attribute(name) = step {
                found.push((range(name.span), Word::Step));
            }
        }
    };
    syntax::parts(value, &mut |part| match &part.expr {
        Expr::Traversal(it) => {
            found.push((range(it.root().span), Word::Root));
            steps(it.steps(), found);
        }
        Expr::Relative(it) => steps(&it.steps, found),
        Expr::Splat(it) => steps(&it.each, found),
        Expr::Call(it) => found.push((range(it.name.span), Word::Function)),
        Expr::Object(items) => {
            for item in items {
                if let ObjectKey::Name(name) = &item.key {
                    found.push((range(name.span), Word::Property));
                }
            }
        }
        Expr::Number(_) | Expr::Bool(_) | Expr::Null => {
            found.push((range(part.span), Word::Literal))
        }
        _ => {}
    });
}
