//! Text to a compact tree with spans. The only room that knows how the language is written.
//!
//! Native syntax and JSON syntax give the same tree; an expression of JSON is a template string or a JSON value, lowered
//! to the same [`Expr`]. Nothing is evaluated or folded: `-1` is [`Expr::Unary`] of `1`.
//!
//! Trees are bounded: at most 4000 expressions lie on a path from an expression down to a leaf, and only operator chains
//! come near (they lean to the left, chains of conditionals to the right).

use crate::diagnostic::{Diagnostics, FileId, Span};
use crate::rarely::Rarely;
use crate::value::{Number, Str};

mod content;
mod cursor;
#[cfg(test)]
mod edit;
mod expression;
mod few;
mod format;
pub mod identifiers;
mod json;
mod mend;
mod near;
mod parser;
mod pieces;
mod place;
mod problems;
mod reading;
mod scan;
mod template;
#[cfg(test)]
mod tests;
mod token;
mod traversal;
mod walk;

pub use content::{AttributeSchema, BlockSchema};
pub use cursor::{Around, At, Cursor, Written, cursor};
pub use few::Few;
pub use format::format;
pub use json::{JsonKind, JsonString, JsonValue, parse_json};
pub use mend::mended;
pub use near::Near;
pub(crate) use parser::exact;
pub use pieces::parse_each;
pub use traversal::{Root, Traversal, parse_traversal};
pub use walk::{Found, calls, found, parts, references};

use parser::read_with;
use place::Place;
use scan::Start;
use token::Kind;

mod collection;

/// Reads a file in native syntax.
///
/// A top-level attribute or block with an error is left out of the body and reported; reading goes on behind it.
pub fn parse(file: FileId, text: &str) -> (Body, Diagnostics) {
    let (pieces, diags) = parse_each(file, text, |body| body);
    (pieces::join(pieces), diags)
}

/// Reads an expression that stands alone; line ends mean nothing. `start` is the byte of the file at which `text` begins.
pub fn parse_expression(file: FileId, text: &str, start: usize) -> Result<Expression, Diagnostics> {
    expression_at(text, Place::plain(file, start))
}

fn expression_at(text: &str, place: Place<'_>) -> Result<Expression, Diagnostics> {
    let (result, diags) = read_with(text, place, Start::Plain, |parser| {
        parser.with_newlines(false, |parser| {
            let expression = parser.expression()?;
            let end = parser.peek();
            if end.kind != Kind::End {
                return Err(parser.fail_at(end, problems::extra_after_expression));
            }
            Ok(expression)
        })
    });
    match result {
        Ok(expression) if !diags.has_errors() => Ok(expression),
        _ => Err(diags),
    }
}

/// Returns how many braces, brackets and parentheses a piece of an expression leaves open; fewer than none where it closes
/// more than it opens.
pub fn open_brackets(text: &str) -> [i64; 3] {
    let mut open = [0; 3];
    let mut ignored = Diagnostics::new();
    for token in scan::scan(text, Start::Plain, &|_, _| Span::default(), &mut ignored) {
        match token.kind {
            Kind::OpenBrace => open[0] += 1,
            Kind::CloseBrace => open[0] -= 1,
            Kind::OpenBracket => open[1] += 1,
            Kind::CloseBracket => open[1] -= 1,
            Kind::OpenParen => open[2] += 1,
            Kind::CloseParen => open[2] -= 1,
            _ => {}
        }
    }
    open
}

/// Reads a template without quotes, such as the file that `templatefile` names: [`Expr::String`], [`Expr::Template`], or
/// [`Expr::Wrapped`] where it is one interpolation and nothing else.
pub fn parse_template(file: FileId, text: &str) -> Result<Expression, Diagnostics> {
    template_at(text, Place::plain(file, 0))
}

fn template_at(text: &str, place: Place<'_>) -> Result<Expression, Diagnostics> {
    let (result, diags) = read_with(text, place, Start::Template, |parser| parser.bare_template());
    match result {
        Ok(expression) if !diags.has_errors() => Ok(expression),
        _ => Err(diags),
    }
}

/// Returns whether text is an identifier, as every name in a configuration must be.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && token::ident_length(text) == text.len()
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The text.
    pub text: Str,
    /// Its place (with the quotes, for a quoted label).
    pub span: Span,
}

impl Name {
    /// Returns a name at a place.
    pub fn new(text: Str, span: Span) -> Name {
        Name { text, span }
    }
}

/// The inside of a file or block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// `name = expression`, in source order. Names are unique (a duplicate is a syntax error).
    pub attributes: Vec<Attribute>,
    /// Blocks, in source order.
    pub blocks: Rarely<Vec<Block>>,
    /// The place of the whole body (from brace to brace, or the file).
    pub span: Span,
    /// Set for JSON syntax, where a name can be read as an attribute or as blocks: members that [`Body::content`] and its
    /// relatives sort. A body that overrides were merged into may have native parts besides.
    pub json: Option<Box<JsonBody>>,
}

/// A JSON object whose members a schema must sort into attributes and blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonBody {
    /// Every member in source order, comments (`//`) and duplicates included.
    pub members: Vec<(Name, JsonValue)>,
}

/// `name = expression`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name.
    pub name: Name,
    /// The expression.
    pub value: Expression,
}

impl Attribute {
    /// Returns the place of the whole attribute.
    pub fn span(&self) -> Span {
        self.name.span.to(self.value.span)
    }
}

/// `kind "label" … { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The block's type, such as `resource`.
    pub kind: Name,
    /// Its labels.
    pub labels: Vec<Name>,
    /// Its inside.
    pub body: Body,
    /// The place of the header: from the type to the last label.
    pub header: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub expr: Expr,
    /// Its place.
    pub span: Span,
}

/// The forms of expression. Everything large is boxed: a big configuration has millions of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number literal.
    Number(Number),
    /// A quoted string or heredoc without sequences: its text, escapes resolved, heredoc indentation and NFC done.
    String(Str),
    /// A quoted string or heredoc with sequences. Trimming (`~`) and heredoc indentation are done. Always a string, even
    /// where a single interpolation is left.
    Template(Box<[Part]>),
    /// `"${x}"`: exactly one interpolation and nothing else; gives the value as it is.
    Wrapped(Box<Expression>),
    /// `[a, b]`
    Tuple(Box<[Expression]>),
    /// `{ a = 1, (b) = 2 }`
    Object(Box<[Item]>),
    /// `root.a["b"].c`: a variable and steps into it (possibly none).
    Traversal(Traversal),
    /// `f(x).a[0]`: steps into any other expression; at least one.
    Relative(Box<Relative>),
    /// `x[*].a` (full) or `x.*.a` (attributes only).
    Splat(Box<Splat>),
    /// `f(a, b...)`, `provider::name::f(a)`, `core::f(a)`.
    Call(Box<Call>),
    /// `condition ? yes : no`
    Conditional(Box<Conditional>),
    /// `!x`, `-x`
    Unary(UnaryOp, Box<Expression>),
    /// `a + b` and the like.
    Binary(BinaryOp, Box<Expression>, Box<Expression>),
    /// `[for k, v in c : e if cond]`, `{for k, v in c : k => e... if cond}`
    For(Box<For>),
    /// `(x)`
    Parentheses(Box<Expression>),
    /// A string of JSON that is no template: JSON itself is valid around it, so it is an error only for whoever evaluates it.
    Broken(Box<Diagnostics>),
}

/// Steps into an expression that is no variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// The expression stepped into.
    pub source: Expression,
    /// What follows.
    pub steps: Vec<Step>,
}

/// The parts of a splat expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    /// The expression whose elements are visited.
    pub source: Expression,
    /// Whether it is the full form.
    pub full: bool,
    /// The steps taken from each element.
    pub each: Vec<Step>,
    /// The place of the `[*]` or `.*`.
    pub marker: Span,
}

/// The parts of a function call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The whole name, with its namespaces: `provider::aws::f`.
    pub name: Name,
    /// The arguments.
    pub arguments: Few<Expression>,
    /// Whether the last argument ends in `...`.
    pub expand: bool,
}

/// The parts of a conditional.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The condition.
    pub condition: Expression,
    /// The value if true.
    pub yes: Expression,
    /// The value if false.
    pub no: Expression,
}

/// The parts of a `for` expression.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The name of the key or index, if given.
    pub key_name: Option<Name>,
    /// The name of the value.
    pub value_name: Name,
    /// What is iterated over.
    pub collection: Expression,
    /// The key of each element; makes it an object.
    pub key: Option<Expression>,
    /// The value of each element.
    pub value: Expression,
    /// `if …`
    pub condition: Option<Expression>,
    /// `...` after the value of an object `for`.
    pub group: bool,
    /// The place of `for … :`.
    pub intro: Span,
}

/// One `key = value` of an object constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The key.
    pub key: ObjectKey,
    /// The value.
    pub value: Expression,
}

/// The key of an object item.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectKey {
    /// A bare name: the text itself, not a reference.
    Name(Name),
    /// Any other expression; a parenthesised name is [`Expr::Parentheses`]. A bare `a.b` comes as [`Expr::Traversal`] and is
    /// for the evaluator to refuse ("Ambiguous attribute key").
    Expression(Box<Expression>),
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.name`
    Attribute(Name),
    /// `[key]`
    Index(Box<IndexStep>),
    /// `.0`
    LegacyIndex(Box<LegacyIndexStep>),
    /// A splat within a splat, as the second one of `a[*].b[*].c`: `each` is taken from every element of the value so far.
    /// Occurs only in [`Expr::Splat`]'s `each` and in its own.
    Splat(Box<NestedSplat>),
}

/// A key as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStep {
    /// The key.
    pub key: Expression,
    /// The place from bracket to bracket.
    pub span: Span,
}

/// A number as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct LegacyIndexStep {
    /// The number.
    pub index: u64,
    /// Its place.
    pub span: Span,
}

/// A splat as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedSplat {
    /// Whether it is the full form; then it is the last step.
    pub full: bool,
    /// The steps taken from each element.
    pub each: Vec<Step>,
    /// The place of the `[*]` or `.*`.
    pub marker: Span,
}

impl Step {
    /// Returns where it stands.
    pub fn span(&self) -> Span {
        match self {
            Step::Attribute(name) => name.span,
            Step::Index(it) => it.span,
            Step::LegacyIndex(it) => it.span,
            Step::Splat(it) => it.each.last().map_or(it.marker, |last| it.marker.to(last.span())),
        }
    }
}

/// One part of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text as it is.
    Literal(Str),
    /// `${…}`
    Interpolation(Expression),
    /// `%{ if c }…%{ else }…%{ endif }`
    If(Box<IfPart>),
    /// `%{ for k, v in c }…%{ endfor }`
    For(Box<ForPart>),
}

/// A choice within a template.
#[derive(Clone, Debug, PartialEq)]
pub struct IfPart {
    /// The condition.
    pub condition: Expression,
    /// The parts if true.
    pub yes: Vec<Part>,
    /// The parts if false.
    pub no: Vec<Part>,
    /// The place of the directive.
    pub span: Span,
}

/// A repetition within a template.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPart {
    /// The name of the key or index, if given.
    pub key_name: Option<Name>,
    /// The name of the value.
    pub value_name: Name,
    /// What is iterated over.
    pub collection: Expression,
    /// The parts for each element.
    pub body: Vec<Part>,
    /// The place of the directive.
    pub span: Span,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Negate,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}
