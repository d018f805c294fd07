//! Native syntax read by `hcl-edit` and lowered to the same tree: a second opinion on our own reader.
//!
//! Only for text on which the two must agree: `hcl-edit` 0.10 limits nesting, refuses equal keys in an object, accepts
//! some legacy forms that HCL does not, and indents heredocs differently. [`parse_with_hcl_edit`] refuses such text. Our own
//! reader is the default everywhere: it is several times faster, reports what is wrong, and reads everything.

use hcl_edit::expr::{self as he, TraversalOperator};
use hcl_edit::structure::{self as hs, BlockLabel, Structure};
use hcl_edit::template::Element;
use hcl_edit::{Decorated, Ident};

use super::scan::{Start, scan};
use super::token::{Kind, Token};
use super::{
    Attribute, BinaryOp, Block, Body, Call, Conditional, Expr, Expression, For, IndexStep, Item,
    Name, NestedSplat, ObjectKey, Part, Relative, Splat, Step, UnaryOp, is_identifier,
};
use crate::diagnostic::{Diagnostics, FileId, Span};
use crate::value::{Number, nfc};

/// How deep brackets may nest: `hcl-edit` refuses more than 64 levels, and a bracket can take several.
const DEPTH: usize = 12;
/// How many operators one argument may have.
const OPERATORS: usize = 24;

/// Reads text in native syntax with `hcl-edit`. `None` where the two may disagree, or where the text has an error.
pub fn parse_with_hcl_edit(file: FileId, text: &str) -> Option<Body> {
    if !is_plain(text) {
        return None;
    }
    let body = hcl_edit::parser::parse_body(text).ok()?;
    let lower = Lower { file, text };
    lower.body(&body, Span::new(file, 0, text.len()))
}

/// Returns whether both readers must give the same tree, if there are no errors.
fn is_plain(text: &str) -> bool {
    let mut diags = Diagnostics::new();
    let tokens = scan(text, Start::Plain, &|_, _| Span::default(), &mut diags);
    if text.starts_with('\u{feff}') || text.contains('\r') || !diags.is_empty() {
        return false;
    }
    let (mut depth, mut operators) = (0_usize, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::OpenHeredoc | Kind::Directive | Kind::Invalid | Kind::Restart => return false,
            Kind::Dot if matches!(tokens[index + 1].kind, Kind::Number | Kind::Star) => {
                return false;
            }
            Kind::Number if !is_plain_number(&text[token.start as usize..token.end as usize]) => {
                return false;
            }
            Kind::Interpolation | Kind::SequenceEnd if has_strip(text, token) => return false,
            Kind::OpenBrace | Kind::OpenBracket | Kind::OpenParen | Kind::Interpolation => {
                depth += 1
            }
            Kind::CloseBrace | Kind::CloseBracket | Kind::CloseParen | Kind::SequenceEnd => {
                depth = depth.saturating_sub(1);
            }
            Kind::Equal => operators = 0,
            kind => operators += usize::from(is_operator(kind)),
        }
        if depth > DEPTH || operators > OPERATORS {
            return false;
        }
    }
    true
}

fn is_plain_number(text: &str) -> bool {
    text.len() < 16
        && text.bytes().filter(|it| *it == b'.').count() < 2
        && !text.contains(['e', 'E'])
}

fn has_strip(text: &str, token: &Token) -> bool {
    text[token.start as usize..token.end as usize].contains('~')
}

fn is_operator(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Or
            | Kind::And
            | Kind::EqualEqual
            | Kind::NotEqual
            | Kind::Greater
            | Kind::GreaterEqual
            | Kind::Less
            | Kind::LessEqual
            | Kind::Plus
            | Kind::Minus
            | Kind::Star
            | Kind::Slash
            | Kind::Percent
            | Kind::Question
            | Kind::Bang
    )
}

/// Turns trees of `hcl-edit` into ours. `None` from any method means that a span is missing, which parsed text never lacks.
struct Lower<'a> {
    file: FileId,
    text: &'a str,
}

impl Lower<'_> {
    fn span(&self, node: &impl hcl_edit::Span) -> Option<Span> {
        let range = node.span()?;
        Some(Span::new(self.file, range.start, range.end))
    }

    fn text_at(&self, span: Span) -> &str {
        &self.text[span.start() as usize..span.end() as usize]
    }

    fn name(&self, ident: &Decorated<Ident>) -> Option<Name> {
        Some(Name::new(ident.as_str().into(), self.span(ident)?))
    }

    /// Returns the place from a brace to its partner, given a place that ends with the latter and begins before the former.
    fn braces(&self, whole: Span, from: u32) -> Option<Span> {
        let open = self.text[from as usize..whole.end() as usize].find('{')?;
        Some(whole.starting_at(from + open as u32))
    }

    fn body(&self, body: &hs::Body, span: Span) -> Option<Body> {
        let mut out = Body { span, ..Body::default() };
        for structure in body {
            match structure {
                Structure::Attribute(it) => out.attributes.push(Attribute {
                    name: self.name(&it.key)?,
                    value: self.expression(&it.value)?,
                }),
                Structure::Block(it) => out.blocks.push(self.block(it)?),
            }
        }
        Some(out)
    }

    fn block(&self, block: &hs::Block) -> Option<Block> {
        let kind = self.name(&block.ident)?;
        let label = |it: &BlockLabel| match it {
            BlockLabel::Ident(it) => self.name(it),
            BlockLabel::String(it) => Some(Name::new(it.as_str().into(), self.span(it)?)),
        };
        let labels = block.labels.iter().map(label).collect::<Option<Vec<Name>>>()?;
        let header = labels.last().map_or(kind.span, |it| kind.span.to(it.span));
        let body = self.body(&block.body, self.braces(self.span(block)?, header.end())?)?;
        Some(Block { kind, labels, body, header })
    }

    fn all<'b>(
        &self,
        items: impl IntoIterator<Item = &'b he::Expression>,
    ) -> Option<Vec<Expression>> {
        items.into_iter().map(|it| self.expression(it)).collect()
    }

    fn expression(&self, expression: &he::Expression) -> Option<Expression> {
        let span = self.span(expression)?;
        let expr = match expression {
            he::Expression::Null(_) => Expr::Null,
            he::Expression::Bool(it) => Expr::Bool(*it.value()),
            he::Expression::Number(_) => return self.number(span),
            he::Expression::String(it) => Expr::String(nfc(it.as_str())),
            he::Expression::Array(items) => Expr::Tuple(self.all(items.iter())?.into()),
            he::Expression::Object(items) => Expr::Object(
                items
                    .iter()
                    .map(|(key, value)| {
                        Some(Item {
                            key: self.object_key(key)?,
                            value: self.expression(value.expr())?,
                        })
                    })
                    .collect::<Option<_>>()?,
            ),
            he::Expression::StringTemplate(it) => self.template(it)?,
            he::Expression::HeredocTemplate(_) => return None,
            he::Expression::Parenthesis(it) => {
                Expr::Parentheses(Box::new(self.expression(it.inner())?))
            }
            he::Expression::Variable(it) => Expr::traversal(self.name(it)?, Vec::new()),
            he::Expression::Conditional(it) => Expr::Conditional(Box::new(Conditional {
                condition: self.expression(&it.cond_expr)?,
                yes: self.expression(&it.true_expr)?,
                no: self.expression(&it.false_expr)?,
            })),
            he::Expression::FuncCall(it) => self.call(it)?,
            he::Expression::Traversal(it) => return self.traversal(it, span),
            he::Expression::UnaryOp(it) => {
                Expr::Unary(unary(*it.operator.value()), Box::new(self.expression(&it.expr)?))
            }
            he::Expression::BinaryOp(it) => Expr::Binary(
                binary(*it.operator.value()),
                Box::new(self.expression(&it.lhs_expr)?),
                Box::new(self.expression(&it.rhs_expr)?),
            ),
            he::Expression::ForExpr(it) => Expr::For(Box::new(self.for_expression(it)?)),
        };
        Some(Expression { expr, span })
    }

    /// Reads a number from its text; the sign, which `hcl-edit` takes as part of it, is an operator here.
    fn number(&self, span: Span) -> Option<Expression> {
        let text = self.text_at(span);
        let Some(digits) = text.strip_prefix('-') else {
            return Some(Expression { expr: Expr::Number(Number::parse(text)?), span });
        };
        let start = span.end() - digits.trim_start().len() as u32;
        let number = self.number(span.starting_at(start))?;
        Some(Expression { expr: Expr::Unary(UnaryOp::Negate, Box::new(number)), span })
    }

    fn object_key(&self, key: &he::ObjectKey) -> Option<ObjectKey> {
        Some(match key {
            he::ObjectKey::Ident(it) => {
                ObjectKey::Name(Name::new(nfc(it.as_str()), self.span(it)?))
            }
            he::ObjectKey::Expression(it) => {
                let key = self.expression(it)?;
                let text = self.text_at(key.span);
                match &key.expr {
                    Expr::Bool(_) | Expr::Null if is_identifier(text) => {
                        ObjectKey::Name(Name::new(text.into(), key.span))
                    }
                    _ => ObjectKey::Expression(Box::new(key)),
                }
            }
        })
    }

    fn template(&self, template: &hcl_edit::template::StringTemplate) -> Option<Expr> {
        let mut parts = Vec::new();
        for element in template {
            parts.push(match element {
                Element::Literal(it) => Part::Literal(nfc(it.as_str())),
                Element::Interpolation(it) => Part::Interpolation(self.expression(&it.expr)?),
                Element::Directive(_) => return None,
            });
        }
        if let [Part::Interpolation(_)] = &parts[..]
            && let Some(Part::Interpolation(inner)) = parts.pop()
        {
            return Some(Expr::Wrapped(Box::new(inner)));
        }
        Some(Expr::Template(parts.into()))
    }

    fn call(&self, call: &he::FuncCall) -> Option<Expr> {
        let last = self.name(&call.name.name)?;
        let names =
            call.name.namespace.iter().map(|it| self.name(it)).collect::<Option<Vec<Name>>>()?;
        let start = names.first().map_or(last.span, |it| it.span);
        let text: String =
            names.iter().map(|it| format!("{}::", it.text)).collect::<String>() + &last.text;
        Some(Expr::Call(Box::new(Call {
            name: Name::new(text.into(), start.to(last.span)),
            arguments: self.all(call.args.iter())?.into_iter().collect(),
            expand: call.args.expand_final(),
        })))
    }

    fn traversal(&self, traversal: &he::Traversal, span: Span) -> Option<Expression> {
        let mut into = self.expression(&traversal.expr)?;
        let mut operators = &traversal.operators[..];
        while let [operator, rest @ ..] = operators {
            let start = into.span;
            if let TraversalOperator::FullSplat(_) = operator.value() {
                let marker = self.brackets(self.span(operator)?);
                let each = self.each(rest)?;
                let splat = Splat { source: into, full: true, each, marker };
                into = Expression { expr: Expr::Splat(Box::new(splat)), span: start.to(span) };
                break;
            }
            let step = self.step(operator)?;
            let end = start.to(step.span());
            into.expr = match into.expr {
                Expr::Traversal(mut it) => {
                    it.extend(vec![step]);
                    Expr::Traversal(it)
                }
                Expr::Relative(mut it) => {
                    it.steps.push(step);
                    Expr::Relative(it)
                }
                expr => {
                    let source = Expression { expr, span: start };
                    Expr::Relative(Box::new(Relative { source, steps: vec![step] }))
                }
            };
            into.span = end;
            operators = rest;
        }
        Some(into)
    }

    fn each(&self, operators: &[Decorated<TraversalOperator>]) -> Option<Vec<Step>> {
        let mut each = Vec::new();
        for (index, operator) in operators.iter().enumerate() {
            if let TraversalOperator::FullSplat(_) = operator.value() {
                let marker = self.brackets(self.span(operator)?);
                let each_of = self.each(&operators[index + 1..])?;
                each.push(Step::Splat(Box::new(NestedSplat { full: true, each: each_of, marker })));
                break;
            }
            each.push(self.step(operator)?);
        }
        Some(each)
    }

    fn step(&self, operator: &Decorated<TraversalOperator>) -> Option<Step> {
        match operator.value() {
            TraversalOperator::GetAttr(name) => Some(Step::Attribute(self.name(name)?)),
            TraversalOperator::Index(key) => {
                let key = self.expression(key)?;
                let span = self.brackets(self.span(operator)?);
                Some(Step::Index(Box::new(IndexStep { key, span })))
            }
            _ => None,
        }
    }

    /// Returns an operator's place without blanks around it.
    fn brackets(&self, span: Span) -> Span {
        let text = self.text_at(span);
        let start = span.start() + (text.len() - text.trim_start().len()) as u32;
        span.starting_at(start).ending_at(start + text.trim().len() as u32)
    }

    fn for_expression(&self, it: &he::ForExpr) -> Option<For> {
        Some(For {
            key_name: match &it.intro.key_var {
                Some(name) => Some(self.name(name)?),
                None => None,
            },
            value_name: self.name(&it.intro.value_var)?,
            collection: self.expression(&it.intro.collection_expr)?,
            key: match &it.key_expr {
                Some(key) => Some(self.expression(key)?),
                None => None,
            },
            value: self.expression(&it.value_expr)?,
            condition: match &it.cond {
                Some(condition) => Some(self.expression(&condition.expr)?),
                None => None,
            },
            group: it.grouping,
            intro: self.brackets(self.span(&it.intro)?),
        })
    }
}

fn unary(operator: he::UnaryOperator) -> UnaryOp {
    match operator {
        he::UnaryOperator::Neg => UnaryOp::Negate,
        he::UnaryOperator::Not => UnaryOp::Not,
    }
}

fn binary(operator: he::BinaryOperator) -> BinaryOp {
    match operator {
        he::BinaryOperator::Eq => BinaryOp::Equal,
        he::BinaryOperator::NotEq => BinaryOp::NotEqual,
        he::BinaryOperator::LessEq => BinaryOp::LessOrEqual,
        he::BinaryOperator::GreaterEq => BinaryOp::GreaterOrEqual,
        he::BinaryOperator::Less => BinaryOp::Less,
        he::BinaryOperator::Greater => BinaryOp::Greater,
        he::BinaryOperator::Plus => BinaryOp::Add,
        he::BinaryOperator::Minus => BinaryOp::Subtract,
        he::BinaryOperator::Mul => BinaryOp::Multiply,
        he::BinaryOperator::Div => BinaryOp::Divide,
        he::BinaryOperator::Mod => BinaryOp::Modulo,
        he::BinaryOperator::And => BinaryOp::And,
        he::BinaryOperator::Or => BinaryOp::Or,
    }
}
