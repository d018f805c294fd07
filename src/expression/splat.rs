//! Splat expressions: the same steps from every element of a collection.

use std::sync::Arc;

use super::evaluate::{Evaluator, Names, between, failed};
use super::problems;
use crate::diagnostic::Span;
use crate::syntax::{Expression, Splat, Step};
use crate::value::convert::convert;
use crate::value::{Kind, Marks, Refinement, Type, Unknown, Value};

/// What is done with each element, and where it is written.
pub(super) struct SplatSteps<'e> {
    /// The steps taken from each element.
    pub each: &'e [Step],
    /// The place of the `[*]` or `.*`.
    pub marker: Span,
    /// The expression that they are part of.
    pub whole: &'e Expression,
}

impl Evaluator<'_> {
    /// Evaluates `x[*].a` and `x.*.a`.
    pub(super) fn splat(&self, whole: &Expression, splat: &Splat, names: &Names<'_>) -> Value {
        let Splat { source, each, marker, .. } = splat;
        let (value, problems) = self.captured(|| self.gone_through(source, names));
        let wrong = failed(&problems);
        self.keep(problems);
        match wrong {
            true => Value::unknown(Type::DYNAMIC),
            false => {
                let steps = SplatSteps { each, marker: *marker, whole };
                let value = match self.scope.stand_in(&value) {
                    Some((element, keys)) => {
                        let (taken, _) = self.captured(|| self.follow(element, each, whole, names));
                        Value::unknown(Type::DYNAMIC)
                            .mark(&keys.union(&Marks::provenance_of([&taken])))
                    }
                    None => self.splat_value(value, &steps, source, names),
                };
                self.element_reached(&value, whole.span);
                value
            }
        }
    }

    /// Takes steps from every element of a value; `source` is to blame for it.
    pub(super) fn splat_value(
        &self,
        value: Value,
        steps: &SplatSteps<'_>,
        source: &Expression,
        names: &Names<'_>,
    ) -> Value {
        let SplatSteps { each, marker, whole } = *steps;
        let value = value.into_marked();
        let marks = value.marks().clone();
        value
            .map(|value| {
                let ty = value.ty();
                if value.is_null() {
                    if ty.is_sequence() {
                        self.report(
                            problems::splat_of_null(source.span, between(source.span, marker)),
                            source,
                            names,
                        );
                        return Value::unknown(Type::DYNAMIC);
                    }
                    return Value::tuple(Vec::new());
                }
                if ty == Type::DYNAMIC {
                    let keys: Marks =
                        each.iter().map(|step| self.leave_out_key(step, names)).collect();
                    return Value::unknown(Type::DYNAMIC).mark(&keys);
                }
                if !ty.is_sequence() {
                    let may_be_null =
                        matches!(&value, Value::Unknown(it) if !it.refinement.not_null);
                    let item = self.follow(value.mark(&marks), each, whole, names);
                    // It may become no element or one.
                    return if may_be_null {
                        Value::unknown(Type::DYNAMIC).mark(&Marks::provenance_of([&item]))
                    } else {
                        Value::tuple(vec![item])
                    };
                }
                match &value {
                    Value::Unknown(it) => self.splat_of_unknown(it, each, whole, names),
                    Value::Tuple(it) => Value::tuple(
                        it.items
                            .iter()
                            .map(|item| self.follow(item.clone(), each, whole, names))
                            .collect(),
                    ),
                    Value::List(it) | Value::Set(it) => {
                        self.splat_of_list(&it.items, it.element, each, whole, names)
                    }
                    _ => Value::unknown(Type::DYNAMIC),
                }
            })
            .into()
    }

    fn leave_out_key(&self, step: &Step, names: &Names<'_>) -> Marks {
        match step {
            Step::Index(it) => self.unevaluated(&it.key, names, &[]),
            _ => Marks::default(),
        }
    }

    fn splat_of_list(
        &self,
        items: &[Value],
        element: Type,
        each: &[Step],
        whole: &Expression,
        names: &Names<'_>,
    ) -> Value {
        if items.is_empty() {
            let ty = self.follow(Value::unknown(element), each, whole, names).ty();
            return Value::list(ty, Vec::new());
        }
        let (values, problems) = self.captured(|| {
            items.iter().map(|it| self.follow(it.clone(), each, whole, names)).collect::<Vec<_>>()
        });
        let wrong = failed(&problems);
        self.keep(problems);
        if wrong {
            return Value::unknown(Type::DYNAMIC);
        }
        let types: Vec<Type> =
            values.iter().map(Value::ty).filter(|it| *it != Type::DYNAMIC).collect();
        match types.split_first() {
            None => Value::list(Type::DYNAMIC, values),
            Some((first, rest)) if rest.iter().all(|it| it == first) => {
                let values =
                    values.into_iter().map(|it| convert(&it, *first).unwrap_or(it)).collect();
                Value::list(*first, values)
            }
            Some(_) => {
                self.report(problems::uneven_splat(whole.span, whole.span), whole, names);
                Value::unknown(Type::DYNAMIC)
            }
        }
    }

    fn splat_of_unknown(
        &self,
        source: &Unknown,
        each: &[Step],
        whole: &Expression,
        names: &Names<'_>,
    ) -> Value {
        let item_type = |ty: Type| self.follow(Value::unknown(ty), each, whole, names).ty();
        let (ty, lengths) = match source.ty.kind() {
            Kind::Tuple(types) => {
                (Type::tuple(types.iter().map(|it| item_type(*it)).collect()), None)
            }
            Kind::List(it) | Kind::Set(it) => {
                (Type::list(item_type(*it)), Some(&source.refinement))
            }
            _ => return Value::unknown(Type::DYNAMIC),
        };
        let refinement = Refinement {
            not_null: true,
            min_length: lengths.and_then(|it| it.min_length),
            max_length: lengths.and_then(|it| it.max_length),
            ..Refinement::default()
        };
        Value::Unknown(Arc::new(Unknown { ty, refinement }))
    }
}
