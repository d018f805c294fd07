//! What every block decoder needs: a block's content against a schema, and constants, keywords and references in it.

use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::expression::evaluate_constant;
use crate::syntax::{
    self, Attribute, AttributeSchema, Block, BlockSchema, Body, Expr, Expression, Name, ObjectKey,
    Splat, Step, exact,
};
use crate::value::{Kind, Str, Type, Value, convert};

use super::problems;

/// Reads the blocks of one file and collects what is wrong with them.
pub(super) struct Decoder<'a> {
    /// Where spans point into.
    pub sources: &'a Sources,
    /// What is known about the file.
    pub file: FileKind,
    /// What was found.
    pub problems: Diagnostics,
}

/// How a file is written and what its role is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileKind {
    /// Whether it overrides others.
    pub is_override: bool,
    /// Whether it is JSON, where references stand in strings.
    pub is_json: bool,
    /// Whether it is meant for OpenTofu alone.
    pub is_tofu: bool,
}

/// The attributes and blocks that a body may have.
pub(super) struct Schema {
    /// Names of attributes.
    pub attributes: &'static [&'static str],
    /// Names of those attributes that must be there, except in override files.
    pub required: &'static [&'static str],
    /// Types of blocks and what their labels are called.
    pub blocks: &'static [(&'static str, &'static [&'static str])],
}

/// What a body has of its schema.
#[derive(Default)]
pub(super) struct Content {
    /// The attributes, in source order.
    pub attributes: Vec<Attribute>,
    /// The blocks, in source order.
    pub blocks: Vec<Block>,
    /// The attributes once more, with the strings of JSON as they are: a constant there is no template. Empty otherwise.
    literals: Vec<Attribute>,
}

impl Content {
    /// Returns the attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| &*it.name.text == name)
    }

    /// Returns the attribute of this name, to be read as a constant.
    pub fn literal(&self, name: &str) -> Option<&Attribute> {
        self.literals.iter().find(|it| &*it.name.text == name).or_else(|| self.get(name))
    }

    /// Returns the expression of the attribute of this name.
    pub fn value(&self, name: &str) -> Option<Expression> {
        self.get(name).map(|it| it.value.clone())
    }
}

impl Decoder<'_> {
    /// Notes a problem.
    pub fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Reads a block that may hold nothing but what the schema names.
    pub fn content(&mut self, block: &Block, schema: &Schema) -> Content {
        let (attributes, blocks) = self.schema_of(schema);
        let (known, problems) = block.body.content(&attributes, &blocks);
        self.problems.extend(problems);
        content_of(Some(&block.body), known)
    }

    /// Reads what the schema names from a body, and returns the rest of it.
    pub fn partial(&mut self, body: Body, schema: &Schema) -> (Content, Body) {
        let (attributes, blocks) = self.schema_of(schema);
        // The strings of JSON are read in two ways.
        let written = body.json.is_some().then(|| body.clone());
        let (known, rest, problems) = body.into_partial_content(&attributes, &blocks);
        self.problems.extend(problems);
        (content_of(written.as_ref(), known), rest)
    }

    /// Reads a body that may hold any attribute and no block.
    pub fn attributes(&mut self, body: &Body) -> Vec<Attribute> {
        let (attributes, problems) = body.just_attributes();
        self.problems.extend(problems);
        attributes
    }

    /// Reads a body that may hold any constant attribute and no block.
    pub fn constants(&mut self, body: &Body) -> Vec<Attribute> {
        let (attributes, problems) = body.literal_attributes();
        self.problems.extend(problems);
        attributes
    }

    /// Evaluates a constant.
    pub fn constant(&mut self, expression: &Expression) -> Option<Value> {
        self.problems.take(evaluate_constant(expression))
    }

    /// Reads an attribute that must be a constant of a type, not null.
    fn constant_of(&mut self, attribute: &Attribute, ty: Type) -> Option<Value> {
        let value = self.constant(&attribute.value)?;
        let wrong = match convert(&value, ty) {
            Ok(value) if value.is_null() => "must not be null".to_owned(),
            Ok(value) => return Some(value),
            Err(error) => error.to_string(),
        };
        self.report(problems::unsuitable_type(&wrong, self.start_of(&attribute.value)));
        None
    }

    /// Reads an attribute that is a constant string.
    pub fn text(&mut self, attribute: &Attribute) -> Option<Str> {
        self.constant_of(attribute, Type::STRING)?.as_str().map(Str::from)
    }

    /// Reads an attribute that is a constant `true` or `false`.
    pub fn flag(&mut self, attribute: &Attribute) -> Option<bool> {
        self.constant_of(attribute, Type::BOOL)?.as_bool()
    }

    /// Reads an expression whose form counts, not its value: in JSON the text of the string is the expression.
    pub fn written(&mut self, expression: &Expression) -> Option<Expression> {
        match &expression.expr {
            Expr::String(text) if self.file.is_json => self.parse_within(text, expression.span),
            _ if self.complains_of_wrapping("Invalid expression", expression) => None,
            _ => Some(expression.clone()),
        }
    }

    /// Complains of `"${…}"` where JSON has what is not evaluated: such a string is itself the expression.
    pub(super) fn complains_of_wrapping(&mut self, summary: &str, expression: &Expression) -> bool {
        let Expr::Wrapped(inner) = &expression.expr else { return false };
        if self.file.is_json {
            let source = self.sources.get(inner.span.file());
            let range = inner.span.start() as usize..inner.span.end() as usize;
            let text = source.as_ref().and_then(|it| it.text().get(range)).unwrap_or("…");
            self.report(problems::wrapped(summary, text, expression.span));
        }
        self.file.is_json
    }

    /// Parses text that stands inside a quoted string at `span`.
    fn parse_within(&mut self, text: &str, span: Span) -> Option<Expression> {
        self.problems.take(read_within(text, span))
    }

    /// Reads a reference made of names and constant keys. A quoted one is accepted, in native syntax with a warning.
    pub fn traversal(&mut self, expression: &Expression) -> Option<Expression> {
        let expression = match &expression.expr {
            // Whatever is wrong with the text, it is no reference.
            Expr::String(text) if self.file.is_json => {
                read_within(text, expression.span).unwrap_or_else(|_| expression.clone())
            }
            Expr::String(text) => {
                self.report(problems::quoted_reference(expression.span));
                self.parse_within(text, expression.span)?
            }
            _ if self.complains_of_wrapping("Invalid expression", expression) => return None,
            _ => expression.clone(),
        };
        let expression = with_null_as_name(expression);
        if is_static_traversal(&expression) {
            return Some(expression);
        }
        self.report(problems::not_a_reference(expression.span));
        None
    }

    /// Reads a list of references.
    pub fn traversals(&mut self, attribute: &Attribute) -> Vec<Expression> {
        let items = self.list(&attribute.value);
        exact(items.iter().filter_map(|it| self.traversal(it)).collect())
    }

    /// Reads a list constructor.
    pub fn list(&mut self, expression: &Expression) -> Vec<Expression> {
        if let Expr::Tuple(items) = &expression.expr {
            return items.to_vec();
        }
        self.report(problems::not_a_list(self.start_of(expression)));
        Vec::new()
    }

    /// Reads an object constructor: keys and values as written. A bare key is a traversal of that name.
    pub fn pairs(&mut self, expression: &Expression) -> Option<Vec<(Expression, Expression)>> {
        let Expr::Object(items) = &expression.expr else { return None };
        let key = |it: &ObjectKey| match it {
            ObjectKey::Name(name) => name_expression(name),
            ObjectKey::Expression(it) => (**it).clone(),
        };
        Some(items.iter().map(|it| (key(&it.key), it.value.clone())).collect())
    }

    /// Reads a bare word. A quoted one is accepted, in native syntax with a warning.
    pub fn keyword(&mut self, expression: &Expression) -> Option<Str> {
        if let Expr::String(text) = &expression.expr {
            if !self.file.is_json {
                self.report(problems::quoted_keyword(expression.span));
            }
            return Some(text.clone());
        }
        expression.as_keyword().map(Str::from)
    }

    /// Complains of a name that is no identifier.
    pub fn check_name(&mut self, name: &Name, summary: &str) {
        if !syntax::is_identifier(&name.text) {
            self.report(problems::invalid_name(summary, name.span));
        }
    }

    /// Where an expression begins; in JSON a string is all one.
    fn start_of(&self, expression: &Expression) -> Span {
        if self.file.is_json { expression.span } else { crate::expression::start_of(expression) }
    }

    /// Prints a place as `main.tf:3,1-12`.
    pub fn place(&self, span: Span) -> String {
        self.sources.range(span)
    }

    fn schema_of(
        &self,
        schema: &Schema,
    ) -> (Vec<AttributeSchema<'static>>, Vec<BlockSchema<'static>>) {
        let is_required = |it: &str| !self.file.is_override && schema.required.contains(&it);
        let attributes = schema
            .attributes
            .iter()
            .map(|it| AttributeSchema { name: it, required: is_required(it) });
        let blocks = schema.blocks.iter().map(|(kind, labels)| BlockSchema { kind, labels });
        (attributes.collect(), blocks.collect())
    }
}

/// Parses text that stands inside a quoted string at `span`.
fn read_within(text: &str, span: Span) -> Result<Expression, Diagnostics> {
    syntax::parse_expression(span.file(), text, span.start() as usize + 1)
}

fn name_expression(name: &Name) -> Expression {
    Expression { expr: Expr::traversal(name.clone(), Vec::new()), span: name.span }
}

/// Makes content of what is known in a body; `written` is the whole body, where it may be JSON.
fn content_of(written: Option<&Body>, known: Body) -> Content {
    let literals = match written.filter(|it| it.json.is_some()) {
        Some(written) => {
            let literal = |it: &Attribute| {
                let value = written.literal(&it.name.text)?;
                Some(Attribute { name: it.name.clone(), value })
            };
            known.attributes.iter().filter_map(literal).collect()
        }
        None => Vec::new(),
    };
    Content { attributes: known.attributes, blocks: known.blocks.into_inner(), literals }
}

/// Returns whether an expression is a traversal whose keys are all constants.
pub(super) fn is_static_traversal(expression: &Expression) -> bool {
    let is_constant = |step: &Step| match step {
        Step::Index(it) => matches!(&it.key.expr, Expr::String(_) | Expr::Number(_)),
        Step::Attribute(_) | Step::LegacyIndex(..) => true,
        Step::Splat(_) => false,
    };
    expression.as_traversal().is_some_and(|(_, steps)| steps.iter().all(is_constant))
}

/// Returns whether a type is one whose raw text (from a flag or the environment) is taken literally.
pub fn is_taken_literally(ty: Type) -> bool {
    matches!(ty.kind(), Kind::Bool | Kind::Number | Kind::String)
}

/// A provider may be called `null`: in a reference the word is a name.
pub(super) fn with_null_as_name(expression: Expression) -> Expression {
    let name = |span: Span| Name::new("null".into(), span);
    let span = expression.span;
    let root_span = |it: &Expression| it.span.ending_at(it.span.end().min(it.span.start() + 4));
    let expr = match expression.expr {
        Expr::Null => Expr::traversal(name(root_span(&expression)), Vec::new()),
        Expr::Relative(it) if matches!(it.source.expr, Expr::Null) => {
            Expr::traversal(name(it.source.span), it.steps)
        }
        Expr::Splat(it) => {
            Expr::Splat(Box::new(Splat { source: with_null_as_name(it.source), ..*it }))
        }
        other => other,
    };
    Expression { expr, span }
}

/// Remembers the first block of a kind and complains of others.
pub(super) fn is_first<'a>(
    decoder: &mut Decoder,
    seen: &mut Option<&'a Block>,
    block: &'a Block,
    owner: &str,
) -> bool {
    let Some(first) = seen else {
        *seen = Some(block);
        return true;
    };
    let first = decoder.place(first.header);
    decoder.report(problems::duplicate_block(&block.kind.text, owner, &first, block.header));
    false
}
