//! Operators and conditionals.

use std::cmp::Ordering;

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{BinaryOp, Expr, Expression, UnaryOp};
use crate::value::convert::{ConversionError, convert};
use crate::value::unify::unify;
use crate::value::{Kind, Marks, Number, Refinement, Type, Value, unknown};

use super::evaluate::{Evaluator, Names, between, failed};
use super::problems;
use super::size::{OUT_OF_RANGE, is_lost};
use crate::error::Error;

/// An operand with the problems found in it.
struct Operand {
    value: Value,
    problems: Vec<Diagnostic>,
}

/// An operation as it is written.
struct Operation<'e> {
    op: BinaryOp,
    left: &'e Expression,
    right: &'e Expression,
    whole: &'e Expression,
}

impl Evaluator<'_> {
    /// Evaluates `-x` and `!x`.
    pub(super) fn unary(
        &self,
        whole: &Expression,
        op: UnaryOp,
        operand: &Expression,
        names: &Names<'_>,
    ) -> Value {
        let ty = if op == UnaryOp::Not { Type::BOOL } else { Type::NUMBER };
        let (value, problems) = self.captured(|| self.value(operand, names));
        let mut wrong = failed(&problems);
        self.keep(problems);
        let value = convert(&value, ty).unwrap_or_else(|error| {
            self.report(
                problems::bad_operand("unary", &error.message, operand.span, whole.span),
                operand,
                names,
            );
            wrong = true;
            Value::unknown(ty)
        });
        let marks = value.marks();
        if wrong {
            return Value::unknown(ty).mark(&marks);
        }
        match (op, value.bare()) {
            (_, Value::Null(_)) => {
                self.report(
                    problems::failed_operation("argument must not be null", whole.span),
                    whole,
                    names,
                );
                Value::unknown(ty)
            }
            (UnaryOp::Not, Value::Bool(it)) => Value::Bool(!it),
            (UnaryOp::Negate, Value::Number(it)) => Value::Number(it.neg()),
            _ => Value::unknown_not_null(ty),
        }
        .mark(&marks)
    }

    /// Evaluates `a + b` and the like; a long chain `a + b + c …` in a loop.
    pub(super) fn binary(&self, whole: &Expression, names: &Names<'_>) -> Value {
        let mut chain = Vec::new();
        let mut first = whole;
        while let Expr::Binary(op, left, right) = &first.expr {
            chain.push(Operation { op: *op, left, right, whole: first });
            first = left;
        }
        let mut left = self.operand(first, names);
        for operation in chain.into_iter().rev() {
            let (value, problems) = self.captured(|| self.apply(&operation, left, names));
            left = Operand { value, problems };
        }
        self.keep(left.problems);
        left.value
    }

    fn operand(&self, expression: &Expression, names: &Names<'_>) -> Operand {
        let (value, problems) = self.captured(|| self.value(expression, names));
        Operand { value, problems }
    }

    fn apply(&self, operation: &Operation<'_>, left: Operand, names: &Names<'_>) -> Value {
        let Operation { op, whole, .. } = *operation;
        let (takes, gives) = signature(op);
        let decided_by_left = is_logical(op)
            && !failed(&left.problems)
            && left.value.as_bool() == Some(op == BinaryOp::Or);
        let right = match decided_by_left {
            true => Operand {
                value: self.set_aside(|| self.value(operation.right, names)),
                problems: Vec::new(),
            },
            false => self.operand(operation.right, names),
        };
        let Some((a, b)) = self.converted_sides(operation, &left, &right, names) else {
            self.keep(left.problems);
            self.keep(right.problems);
            return Value::unknown(gives);
        };
        let (a_marks, b_marks) = match takes == Type::DYNAMIC {
            true => (a.deep_marks(), b.deep_marks()),
            false => (a.marks(), b.marks()),
        };
        // An operand that did not matter says nothing of where the result comes from.
        let b_marks =
            if decided_by_left { Marks { reads: Default::default(), ..b_marks } } else { b_marks };
        let marks = a_marks.union(&b_marks);
        if is_logical(op)
            && let Some((result, blamed)) = short_circuit(op, a.bare(), b.bare(), &left.problems)
        {
            match blamed {
                Side::Left => self.keep(left.problems),
                Side::Right => self.keep(right.problems),
            }
            return result.mark(&marks);
        }
        let stop = failed(&left.problems) || failed(&right.problems);
        self.keep(left.problems);
        self.keep(right.problems);
        if stop {
            return Value::unknown(gives).mark(&marks);
        }
        let result = match op {
            BinaryOp::Equal => Ok(unknown::equals(&a.to_plain(), &b.to_plain())),
            BinaryOp::NotEqual => Ok(not(unknown::equals(&a.to_plain(), &b.to_plain()))),
            _ => combine(op, a.bare(), b.bare(), gives),
        };
        match result {
            Ok(value) => value.mark(&marks),
            Err(why) => {
                self.report(problems::failed_operation(why.words(), whole.span), whole, names);
                Value::unknown(gives)
            }
        }
    }

    /// Converts both operands to what the operation takes; `None`, and a problem for each, where one is something else.
    fn converted_sides(
        &self,
        operation: &Operation<'_>,
        left: &Operand,
        right: &Operand,
        names: &Names<'_>,
    ) -> Option<(Value, Value)> {
        let (takes, _) = signature(operation.op);
        let convert = |operand: &Operand| convert(&operand.value, takes);
        let (a, b) = (convert(left), convert(right));
        let report = |error: &ConversionError, at: &Expression, which: &str| {
            let whole = operation.whole.span;
            self.report(problems::bad_operand(which, &error.message, at.span, whole), at, names);
        };
        a.as_ref().err().inspect(|it| report(it, operation.left, "left"));
        b.as_ref().err().inspect(|it| report(it, operation.right, "right"));
        a.ok().zip(b.ok())
    }

    /// Evaluates `condition ? yes : no`.
    pub(super) fn conditional(
        &self,
        whole: &Expression,
        condition: &Expression,
        yes: &Expression,
        no: &Expression,
        names: &Names<'_>,
    ) -> Value {
        self.choose(
            whole.span,
            condition,
            (&|| self.value(yes, names), yes),
            (&|| self.value(no, names), no),
            names,
        )
    }

    /// Chooses between two values, each with the expression to blame for it.
    pub(super) fn choose(
        &self,
        whole: Span,
        condition: &Expression,
        yes: (&dyn Fn() -> Value, &Expression),
        no: (&dyn Fn() -> Value, &Expression),
        names: &Names<'_>,
    ) -> Value {
        let test = self.operand(condition, names);
        let decided = if failed(&test.problems) {
            None
        } else {
            convert(&test.value, Type::BOOL).ok().and_then(|it| it.as_bool())
        };
        let ((yes_value, no_value), found) = self.captured(|| match decided {
            Some(true) => (yes.0(), self.set_aside(no.0)),
            Some(false) => (self.set_aside(yes.0), no.0()),
            None => (self.attempted(yes.0).0, self.attempted(no.0).0),
        });
        let Some(ty) = result_type(&yes_value, &no_value) else {
            let at = between(yes.1.span, no.1.span);
            let problem = problems::inconsistent_results(yes_value.ty(), no_value.ty(), at, whole);
            // The types tell which attributes a value has.
            let is_secret = [&yes_value, &no_value].iter().any(|it| it.deep_marks().is_secret());
            let problem = if is_secret { problems::withheld(problem) } else { problem };
            self.report(problem, yes.1, names);
            return Value::unknown(Type::DYNAMIC);
        };
        let condition_failed = failed(&test.problems);
        self.keep(test.problems);
        self.keep(found);
        if test.value.is_null() {
            self.report(problems::null_condition(condition.span, whole), condition, names);
            return Value::unknown(ty);
        }
        let without_reads = |marks: Marks| Marks { reads: Default::default(), ..marks };
        let test_marks = test.value.marks();
        let (taken, other, which, at) = match decided {
            Some(true) => (yes_value, no_value, "true", yes.1),
            Some(false) => (no_value, yes_value, "false", no.1),
            None => {
                let marks = test_marks.union(&yes_value.marks()).union(&no_value.marks());
                if test.value.is_known() && !condition_failed {
                    self.report(
                        problems::condition_not_bool(condition.span, whole),
                        condition,
                        names,
                    );
                    return Value::unknown(ty);
                }
                return either(&yes_value, &no_value, ty).mark(&marks);
            }
        };
        let marks = test_marks.union(&without_reads(other.marks()));
        let converted = match uneven(&taken, other.ty(), ty) {
            Some(why) => Err(why.to_owned()),
            None => convert(&taken, ty).map_err(|it| it.message),
        };
        match converted {
            Ok(value) => value.mark(&marks),
            Err(why) => {
                self.report(problems::wrong_result(which, &why, at.span, whole), at, names);
                Value::unknown(ty).mark(&marks)
            }
        }
    }
}

/// The type that both results of a conditional become.
fn result_type(yes: &Value, no: &Value) -> Option<Type> {
    let untyped_null = |it: &Value| matches!(it, Value::Null(ty) if *ty == Type::DYNAMIC);
    match (yes.ty(), no.ty()) {
        (_, other) if untyped_null(yes) => Some(other),
        (other, _) if untyped_null(no) => Some(other),
        (a, b) if a == Type::DYNAMIC || b == Type::DYNAMIC => Some(Type::DYNAMIC),
        (a, b) if a == b => Some(a),
        (a, b) => unify(&[a, b]),
    }
}

/// What keeps a tuple or object from becoming a list or map beside one whose elements have no common type: where its own have one, they
/// are taken as they are all the same. Beside another tuple or object they are brought to one.
fn uneven(result: &Value, other: Type, ty: Type) -> Option<&'static str> {
    let why = match (result.bare(), other.kind(), ty.kind()) {
        (Value::Tuple(_), Kind::List(_), Kind::List(element)) if *element == Type::DYNAMIC => {
            "element types must all match for conversion to list"
        }
        (Value::Object(_), Kind::Map(_), Kind::Map(element)) if *element == Type::DYNAMIC => {
            "element types must all match for conversion to map"
        }
        _ => return None,
    };
    let types: Vec<Type> = result.bare().children().map(Value::ty).collect();
    let is_even = types.iter().all(|it| *it == types[0]);
    (!is_even && unify(&types) != Some(Type::DYNAMIC)).then_some(why)
}

/// One of two values, it is not known which.
fn either(yes: &Value, no: &Value, ty: Type) -> Value {
    if yes.is_null() && no.is_null() {
        return Value::Null(ty);
    }
    let (a, b) = (known_of(yes.bare()), known_of(no.bare()));
    let mut refinement = Refinement { not_null: a.not_null && b.not_null, ..Refinement::default() };
    if yes.ty() == Type::NUMBER && no.ty() == Type::NUMBER {
        refinement.lower = a.lower.zip(b.lower).map(|(a, b)| wider(a, b, Ordering::Less));
        refinement.upper = a.upper.zip(b.upper).map(|(a, b)| wider(a, b, Ordering::Greater));
    }
    if yes.ty() == no.ty() && ty.element().is_some() {
        refinement.min_length =
            a.min_length.zip(b.min_length).map(|(a, b)| a.min(b)).filter(|it| *it > 0);
        refinement.max_length = a.max_length.zip(b.max_length).map(|(a, b)| a.max(b));
    }
    if ty == Type::DYNAMIC {
        refinement = Refinement::default();
    }
    unknown::refined(ty, refinement)
}

fn wider(a: (Number, bool), b: (Number, bool), outer: Ordering) -> (Number, bool) {
    match a.0.compare(&b.0) {
        Ordering::Equal => (a.0, a.1 || b.1),
        order if order == outer => a,
        _ => b,
    }
}

/// What is known about a value, decided or not.
fn known_of(value: &Value) -> Refinement {
    let length = value.ty().element().map(|_| value.children().count() as u64);
    match value {
        Value::Null(_) => Refinement::default(),
        Value::Unknown(it) => it.refinement.clone(),
        Value::Number(it) => {
            let bound = Some((it.clone(), true));
            Refinement {
                not_null: true,
                lower: bound.clone(),
                upper: bound,
                ..Refinement::default()
            }
        }
        _ => Refinement {
            not_null: true,
            min_length: length,
            max_length: length,
            ..Refinement::default()
        },
    }
}

/// What an operator takes on both sides, and what it gives.
fn signature(op: BinaryOp) -> (Type, Type) {
    match op {
        BinaryOp::Or | BinaryOp::And => (Type::BOOL, Type::BOOL),
        BinaryOp::Equal | BinaryOp::NotEqual => (Type::DYNAMIC, Type::BOOL),
        BinaryOp::Greater | BinaryOp::GreaterOrEqual | BinaryOp::Less | BinaryOp::LessOrEqual => {
            (Type::NUMBER, Type::BOOL)
        }
        _ => (Type::NUMBER, Type::NUMBER),
    }
}

fn is_logical(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}

enum Side {
    Left,
    Right,
}

/// The result of `&&` or `||` where one side decides it, and the side whose problems still count.
fn short_circuit(
    op: BinaryOp,
    a: &Value,
    b: &Value,
    left_problems: &[Diagnostic],
) -> Option<(Value, Side)> {
    let deciding = op == BinaryOp::Or;
    let unknown = || Value::unknown_not_null(Type::BOOL);
    // `&&` takes a null for "not true".
    let decides = |it: &Value| it.as_bool() == Some(deciding) || (!deciding && it.is_null());
    let passes = |it: &Value| it.as_bool() == Some(!deciding) || (deciding && it.is_null());
    match (a.is_known(), b.is_known()) {
        (false, false) => (!failed(left_problems)).then(|| (unknown(), Side::Left)),
        (true, _) if decides(a) => Some((Value::Bool(deciding), Side::Left)),
        (_, true) if decides(b) => Some((Value::Bool(deciding), Side::Right)),
        (false, true) if passes(b) => Some((unknown(), Side::Left)),
        (true, false) if passes(a) => Some((unknown(), Side::Right)),
        _ => None,
    }
}

fn not(value: Value) -> Value {
    match value {
        Value::Bool(it) => Value::Bool(!it),
        other => other,
    }
}

/// Applies an operator other than `==` and `!=` to bare operands of the right type.
fn combine(op: BinaryOp, a: &Value, b: &Value, gives: Type) -> Result<Value, Error> {
    if a.is_null() || b.is_null() {
        return Err("argument must not be null".into());
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => {
            Ok(Value::Bool(if op == BinaryOp::And { *a && *b } else { *a || *b }))
        }
        (Value::Number(a), Value::Number(b)) => arithmetic(op, a, b),
        _ if gives == Type::BOOL => Ok(compare_ranges(op, &known_of(a), &known_of(b))),
        _ => Ok(Value::unknown_not_null(gives)),
    }
}

fn arithmetic(op: BinaryOp, a: &Number, b: &Number) -> Result<Value, Error> {
    let number = |it: Option<Number>, why: &str| match it {
        Some(it) if it.is_beyond(&[a, b]) && b.sign() != 0 => Err(OUT_OF_RANGE.into()),
        Some(it) if is_lost(op, &it, a, b) => Err(OUT_OF_RANGE.into()),
        Some(it) => Ok(Value::Number(it)),
        None => Err(why.into()),
    };
    Ok(match op {
        BinaryOp::Add => return number(a.add(b), "can't compute sum of opposing infinities"),
        BinaryOp::Subtract => return number(a.sub(b), "can't subtract infinity from itself"),
        BinaryOp::Multiply => return number(a.mul(b), "can't multiply zero by infinity"),
        BinaryOp::Divide => {
            return number(a.div(b), "can't divide zero by zero or infinity by infinity");
        }
        BinaryOp::Modulo => return number(a.rem(b), "can't use modulo with zero and infinity"),
        BinaryOp::Greater => Value::Bool(a.compare(b).is_gt()),
        BinaryOp::GreaterOrEqual => Value::Bool(a.compare(b).is_ge()),
        BinaryOp::Less => Value::Bool(a.compare(b).is_lt()),
        _ => Value::Bool(a.compare(b).is_le()),
    })
}

/// Compares two numbers of which only ranges are known.
fn compare_ranges(op: BinaryOp, a: &Refinement, b: &Refinement) -> Value {
    // `x < y` surely, and `x <= y` surely.
    let below = |x: &Refinement, y: &Refinement, or_equal: bool| match (&x.upper, &y.lower) {
        (Some((high, high_possible)), Some((low, low_possible))) => match high.compare(low) {
            Ordering::Less => true,
            Ordering::Equal => or_equal || !(*high_possible && *low_possible),
            Ordering::Greater => false,
        },
        _ => false,
    };
    let (yes, no) = match op {
        BinaryOp::Less => (below(a, b, false), below(b, a, true)),
        // As OpenTofu has it: surely less, or surely equal; two ranges that only touch decide nothing.
        BinaryOp::LessOrEqual => (below(a, b, false), below(b, a, false)),
        BinaryOp::Greater => (below(b, a, false), below(a, b, true)),
        BinaryOp::GreaterOrEqual => (below(b, a, false), below(a, b, false)),
        _ => (false, false),
    };
    match (yes, no) {
        (true, _) => Value::Bool(true),
        (_, true) => Value::Bool(false),
        _ => Value::unknown_not_null(Type::BOOL),
    }
}
