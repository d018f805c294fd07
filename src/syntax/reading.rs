//! Small questions that others ask an expression or body: is it a keyword, a literal, a plain list?

use super::{
    Attribute, BinaryOp, Block, Body, Expr, Expression, Item, Name, ObjectKey, Part, Root, Step,
    Traversal,
};
use crate::value::{PathStep, Str, Value};

impl Expression {
    /// Returns the text of a string without sequences.
    pub fn as_static_string(&self) -> Option<&Str> {
        match &self.expr {
            Expr::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the single name that this is, such as `string` or `all`. `true`, `false` and `null` are no names here.
    pub fn as_keyword(&self) -> Option<&str> {
        match self.as_traversal()? {
            (root, []) => Some(&root.text),
            _ => None,
        }
    }

    /// Returns name and steps, if this is a variable with steps (or without).
    pub fn as_traversal(&self) -> Option<(&Root, &[Step])> {
        match &self.expr {
            Expr::Traversal(it) => Some((it.root(), it.steps())),
            _ => None,
        }
    }

    /// Returns whether everything directly in it is evaluated, and all of each read, whatever the values are. Of a call the
    /// function decides.
    pub fn takes_all_parts(&self) -> bool {
        let is_name = |it: &Step| matches!(it, Step::Attribute(_));
        match &self.expr {
            Expr::Template(parts) => {
                parts.iter().all(|it| matches!(it, Part::Literal(_) | Part::Interpolation(_)))
            }
            Expr::Object(items) => items.iter().all(|it| matches!(it.key, ObjectKey::Name(_))),
            Expr::Traversal(it) => it.steps().iter().all(is_name),
            Expr::Relative(it) => it.steps.iter().all(is_name),
            Expr::Binary(op, ..) => !matches!(op, BinaryOp::And | BinaryOp::Or),
            Expr::Splat(_) | Expr::Conditional(_) | Expr::For(_) | Expr::Broken(_) => false,
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Call(_) => true,
            Expr::Wrapped(_) | Expr::Parentheses(_) | Expr::Unary(..) | Expr::Tuple(_) => true,
        }
    }

    /// Returns the elements of a tuple constructor.
    pub fn as_tuple(&self) -> Option<&[Expression]> {
        match &self.expr {
            Expr::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the items of an object constructor.
    pub fn as_object(&self) -> Option<&[Item]> {
        match &self.expr {
            Expr::Object(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the value, if this is `null`, a bool, a number or a string without sequences.
    pub fn as_literal(&self) -> Option<Value> {
        match &self.expr {
            Expr::Null => Some(Value::NULL),
            Expr::Bool(it) => Some(Value::Bool(*it)),
            Expr::Number(it) => Some(Value::Number(it.clone())),
            Expr::String(it) => Some(Value::String(it.clone())),
            _ => None,
        }
    }

    /// Returns whether this is `null`, a bool, a number or a string without sequences.
    pub fn is_literal(&self) -> bool {
        matches!(&self.expr, Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_))
    }
}

impl Expr {
    /// Returns a variable with steps into it.
    pub fn traversal(root: Name, steps: Vec<Step>) -> Expr {
        Expr::Traversal(Traversal::new(root, steps))
    }
}

impl Step {
    /// Returns the step of a value's path that this writes out: a name or a literal key.
    pub fn as_written(&self) -> Option<PathStep> {
        match self {
            Step::Attribute(name) => Some(PathStep::Attribute(name.text.clone())),
            Step::LegacyIndex(it) => Some(PathStep::index(it.index as usize)),
            Step::Index(it) => match &it.key.expr {
                Expr::String(text) => Some(PathStep::Index(Value::String(text.clone()))),
                Expr::Number(number) => Some(PathStep::Index(Value::Number(number.clone()))),
                _ => None,
            },
            Step::Splat(_) => None,
        }
    }
}

impl ObjectKey {
    /// Returns the key's text where it is written out: a bare name or a string without sequences.
    pub fn as_static_string(&self) -> Option<&Str> {
        match self {
            ObjectKey::Name(name) => Some(&name.text),
            ObjectKey::Expression(key) => key.as_static_string(),
        }
    }

    /// Returns where the key stands.
    pub fn span(&self) -> crate::diagnostic::Span {
        match self {
            ObjectKey::Name(name) => name.span,
            ObjectKey::Expression(key) => key.span,
        }
    }
}

impl Body {
    /// Returns the attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| &*it.name.text == name)
    }

    /// Iterates over the blocks of this type.
    pub fn blocks_of(&self, kind: &str) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(move |it| &*it.kind.text == kind)
    }
}

impl BinaryOp {
    /// Returns the operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
        }
    }
}
