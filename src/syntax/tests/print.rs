//! Trees as text, one form per kind of expression, with every parenthesis that the tree implies.

use crate::syntax::{Body, Expr, Expression, Name, ObjectKey, Part, Step, UnaryOp};
use crate::value::Number;

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

pub fn number(number: &Number) -> String {
    number.as_i64().map_or_else(|| "<big>".to_owned(), |it| it.to_string())
}

fn names(key: &Option<Name>, value: &Name) -> String {
    key.as_ref()
        .map_or_else(|| value.text.to_string(), |key| format!("{}, {}", key.text, value.text))
}

pub fn steps(steps: &[Step]) -> String {
    let one = |step: &Step| match step {
        Step::Attribute(name) => format!(".{}", name.text),
        Step::Index(it) => format!("[{}]", expression(&it.key)),
        Step::LegacyIndex(it) => format!(".{}", it.index),
        Step::Splat(it) => {
            format!("{}<{}>", if it.full { "[*]" } else { ".*" }, self::steps(&it.each))
        }
    };
    steps.iter().map(one).collect()
}

pub fn expression(it: &Expression) -> String {
    match &it.expr {
        Expr::Null => "null".into(),
        Expr::Bool(it) => it.to_string(),
        Expr::Number(it) => number(it),
        Expr::String(it) => format!("{it:?}"),
        Expr::Template(it) => format!("T({})", parts(it)),
        Expr::Wrapped(it) => format!("W({})", expression(it)),
        Expr::Tuple(items) => format!("[{}]", list(items, expression)),
        Expr::Object(items) => {
            let show = |key: &ObjectKey| match key {
                ObjectKey::Name(name) => name.text.to_string(),
                ObjectKey::Expression(key) => format!("<{}>", expression(key)),
            };
            format!(
                "{{{}}}",
                list(items, |it| format!("{} = {}", show(&it.key), expression(&it.value)))
            )
        }
        Expr::Traversal(it) => format!("{}{}", it.root().text, steps(it.steps())),
        Expr::Relative(it) => format!("<{}>{}", expression(&it.source), steps(&it.steps)),
        Expr::Splat(it) => {
            let marker = if it.full { "[*]" } else { ".*" };
            format!("{}{marker}<{}>", expression(&it.source), steps(&it.each))
        }
        Expr::Call(it) => {
            let expand = if it.expand { "..." } else { "" };
            format!("{}({}{expand})", it.name.text, list(&it.arguments, expression))
        }
        Expr::Conditional(it) => {
            let [condition, yes, no] = [&it.condition, &it.yes, &it.no].map(expression);
            format!("({condition} ? {yes} : {no})")
        }
        Expr::Unary(UnaryOp::Not, it) => format!("!{}", expression(it)),
        Expr::Unary(UnaryOp::Negate, it) => format!("-{}", expression(it)),
        Expr::Binary(operator, left, right) => {
            format!("({} {} {})", expression(left), operator.symbol(), expression(right))
        }
        Expr::For(it) => {
            let key =
                it.key.as_ref().map(|it| format!("{} => ", expression(it))).unwrap_or_default();
            let condition = it
                .condition
                .as_ref()
                .map(|it| format!(" if {}", expression(it)))
                .unwrap_or_default();
            let group = if it.group { "..." } else { "" };
            let names = names(&it.key_name, &it.value_name);
            format!(
                "[for {names} in {} : {key}{}{group}{condition}]",
                expression(&it.collection),
                expression(&it.value)
            )
        }
        Expr::Parentheses(it) => format!("P({})", expression(it)),
        Expr::Broken(it) => format!("<{}>", it.0[0].summary),
    }
}

fn parts(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Literal(text) => format!("{text:?}"),
        Part::Interpolation(value) => format!("${{{}}}", expression(value)),
        Part::If(it) => {
            let [yes, no] = [&it.yes, &it.no].map(|it| self::parts(it));
            format!("%if {} ({yes}) ({no})", expression(&it.condition))
        }
        Part::For(it) => {
            let names = names(&it.key_name, &it.value_name);
            format!("%for {names} in {} ({})", expression(&it.collection), self::parts(&it.body))
        }
    };
    list(parts, one)
}

pub fn body(body: &Body, indent: usize) -> String {
    let pad = "  ".repeat(indent);
    let mut out = String::new();
    for attribute in &body.attributes {
        out += &format!("{pad}{} = {}\n", attribute.name.text, expression(&attribute.value));
    }
    for block in &body.blocks {
        let labels: String = block.labels.iter().map(|it| format!(" {:?}", it.text)).collect();
        out +=
            &format!("{pad}{}{labels}\n{}", block.kind.text, self::body(&block.body, indent + 1));
    }
    out
}
