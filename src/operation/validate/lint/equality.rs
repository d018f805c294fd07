//! Comparisons with `==` and `!=`, and the types of their operands: evaluated as `validate` evaluates, with nothing decided.

use entail_rules::{TypeKind, ValueType};

use super::expressions::{self, Written};
use super::{Comparison, Lowered, Session};
use crate::expression::{Scope, evaluate_with};
use crate::lower::structure::ModuleId;
use crate::observe::pool::Pool;
use crate::observe::values::{ValueScope, Values};
use crate::operation::validate::{rounds, undecided};
use crate::syntax::{BinaryOp, Expr, Expression, Name, Part, parts};
use crate::value::unknown::is_definitely_not_null;
use crate::value::{Kind, Str, Type, Value};

/// Writes `compares_types`, `type_kind` and `wholly_typed`. A module that is called several times is looked at once.
pub(super) fn lower(session: &Session, pool: &Pool, lowered: &mut Lowered) {
    let variables = undecided::variables(session.config.root());
    for round in rounds::rounds(&session.graph.modules) {
        // What is wrong with these values is told by `validate` itself.
        let values = undecided::values(session, &round, pool, &variables);
        for module in round.standing().filter(|it| round.fresh.contains(it)) {
            let Some(id) = round.module(module) else { continue };
            for it in expressions::of_module(&session.graph.modules[module].config) {
                lower_comparisons(&it, &scope(&values, id, &it), lowered);
            }
        }
    }
}

/// Returns the scope of an expression. `self` is an object of its resource, with any key.
fn scope<'v, 'a>(
    values: &'v Values<'a>,
    module: ModuleId,
    written: &Written<'_>,
) -> ValueScope<'v, 'a> {
    let scope = values.scope(module);
    let resource =
        written.owner.and_then(|it| values.structure.resource_in(module, it.name.as_ref()));
    match resource {
        Some(id) => scope.with_self(Value::unknown(values.types[id.index()])),
        None => scope,
    }
}

fn lower_comparisons(written: &Written<'_>, scope: &dyn Scope, lowered: &mut Lowered) {
    let expression = &*written.expression.expression;
    // Values of bound names are not known, nor their types. Most expressions compare nothing.
    let mut bound: Option<Vec<(Str, Value)>> = None;
    parts(expression, &mut |part| {
        let Expr::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) = &part.expr
        else {
            return;
        };
        let names = || bound_names(&written.expression.bound, expression);
        let bound = &*bound.get_or_insert_with(names);
        let operand = |it: &Expression| {
            let (value, problems) = evaluate_with(it, scope, bound);
            (!problems.has_errors()).then_some(value)
        };
        let (Some(left), Some(right)) = (operand(left), operand(right)) else { return };
        let comparison = Comparison {
            left: left.ty(),
            right: right.ty(),
            is_negated: *op == BinaryOp::NotEqual,
            may_both_be_null: !is_definitely_not_null(&left) && !is_definitely_not_null(&right),
        };
        let types = (numbered(comparison.left, lowered), numbered(comparison.right, lowered));
        let site = lowered.sites.number(part.span);
        lowered.facts.compares_types.push((site, types.0, types.1));
        lowered.comparisons.insert(site, comparison);
    });
}

/// Returns the number of a type, and writes what is known of it where that is new.
fn numbered(ty: Type, lowered: &mut Lowered) -> ValueType {
    if let Some(known) = lowered.types.get(&ty) {
        return *known;
    }
    let number = ValueType(lowered.types.len() as u32);
    lowered.types.insert(ty, number);
    lowered.facts.type_kind.extend(kind(ty).map(|it| (number, it)));
    if !ty.has_dynamic() {
        lowered.facts.wholly_typed.push((number,));
    }
    number
}

fn kind(ty: Type) -> Option<TypeKind> {
    Some(match ty.kind() {
        Kind::Dynamic => return None,
        Kind::Bool => TypeKind::Bool,
        Kind::Number => TypeKind::Number,
        Kind::String => TypeKind::String,
        Kind::List(_) => TypeKind::List,
        Kind::Set(_) => TypeKind::Set,
        Kind::Map(_) => TypeKind::Map,
        Kind::Tuple(_) => TypeKind::Tuple,
        Kind::Object(_) => TypeKind::Object,
    })
}

/// Returns the names that are bound around an expression or in it, wherever that is, with values of which nothing is known.
fn bound_names(around: &[Str], expression: &Expression) -> Vec<(Str, Value)> {
    let mut names = around.to_vec();
    parts(expression, &mut |part| match &part.expr {
        Expr::For(it) => add(it.key_name.as_ref(), &it.value_name, &mut names),
        Expr::Template(parts) => add_of_template(parts, &mut names),
        _ => {}
    });
    names.into_iter().map(|it| (it, Value::unknown(Type::DYNAMIC))).collect()
}

fn add(key: Option<&Name>, value: &Name, names: &mut Vec<Str>) {
    names.extend(key.into_iter().chain([value]).map(|it| it.text.clone()));
}

fn add_of_template(parts: &[Part], names: &mut Vec<Str>) {
    for part in parts {
        match part {
            Part::Literal(_) | Part::Interpolation(_) => {}
            Part::If(it) => {
                add_of_template(&it.yes, names);
                add_of_template(&it.no, names);
            }
            Part::For(it) => {
                add(it.key_name.as_ref(), &it.value_name, names);
                add_of_template(&it.body, names);
            }
        }
    }
}
