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
        Step::Index(key, _) => format!("[{}]", expression(key)),
        Step::LegacyIndex(index, _) => format!(".{index}"),
        Step::Splat { full, each, .. } => {
            format!("{}<{}>", if *full { "[*]" } else { ".*" }, self::steps(each))
        }
    };
    steps.iter().map(one).collect()
}

pub fn expression(it: &Expression) -> String {
    match &*it.expr {
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
        Expr::Traversal { root, steps } => format!("{}{}", root.text, self::steps(steps)),
        Expr::Relative { source, steps } => {
            format!("<{}>{}", expression(source), self::steps(steps))
        }
        Expr::Splat { source, full, each, .. } => {
            format!("{}{}<{}>", expression(source), if *full { "[*]" } else { ".*" }, steps(each))
        }
        Expr::Call { name, arguments, expand, .. } => {
            format!(
                "{}({}{})",
                name.text,
                list(arguments, expression),
                if *expand { "..." } else { "" }
            )
        }
        Expr::Conditional { condition, yes, no } => {
            format!("({} ? {} : {})", expression(condition), expression(yes), expression(no))
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
    }
}

fn parts(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Literal(text) => format!("{text:?}"),
        Part::Interpolation(value) => format!("${{{}}}", expression(value)),
        Part::If { condition, yes, no, .. } => {
            format!("%if {} ({}) ({})", expression(condition), self::parts(yes), self::parts(no))
        }
        Part::For { key_name, value_name, collection, body, .. } => {
            format!(
                "%for {} in {} ({})",
                names(key_name, value_name),
                expression(collection),
                self::parts(body)
            )
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
