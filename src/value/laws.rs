//! Laws that conversion and unification keep, whatever the values and types.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::convert::is_convertible;
use super::unify::{unify, unify_safe};
use super::*;
use crate::value::unknown::can_become;

fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::BOOL), Just(Type::NUMBER), Just(Type::STRING)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let names = prop::sample::subsequence(vec!["a", "b", "c"], 0..=3);
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            (names, prop::collection::vec(inner, 3)).prop_map(|(names, types)| {
                Type::object(names.into_iter().map(Str::from).zip(types).collect())
            }),
        ]
    })
}

fn value_of(ty: Type) -> BoxedStrategy<Value> {
    let known = match ty.kind() {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Number => prop_oneof![
            (-5_i64..5).prop_map(Value::int),
            Just(Value::Number(Number::parse("0.5").expect("a number")))
        ]
        .boxed(),
        Kind::String => prop::sample::select(vec!["", "a", "1", "true", "2.50", "é"])
            .prop_map(Value::string)
            .boxed(),
        Kind::List(it) => {
            let it = *it;
            prop::collection::vec(value_of(it), 0..3)
                .prop_map(move |items| Value::list(it, items))
                .boxed()
        }
        Kind::Set(it) => {
            let it = *it;
            prop::collection::vec(value_of(it), 0..3)
                .prop_map(move |items| Value::set(it, items))
                .boxed()
        }
        Kind::Map(it) => {
            let it = *it;
            let keys = prop::sample::subsequence(vec!["a", "b", "z"], 0..=3);
            (keys, prop::collection::vec(value_of(it), 3))
                .prop_map(move |(keys, items)| {
                    Value::map(it, keys.into_iter().map(Str::from).zip(items))
                })
                .boxed()
        }
        Kind::Tuple(items) => {
            items.iter().map(|it| value_of(*it)).collect::<Vec<_>>().prop_map(Value::tuple).boxed()
        }
        Kind::Object(_) => {
            let names: Vec<Str> = ty.attributes().iter().map(|it| it.0.clone()).collect();
            let values: Vec<_> = ty.attributes().iter().map(|it| value_of(it.1)).collect();
            values.prop_map(move |values| Value::object(names.iter().cloned().zip(values))).boxed()
        }
        Kind::Dynamic => Just(Value::NULL).boxed(),
    };
    prop_oneof![12 => known, 1 => Just(Value::Null(ty)), 1 => Just(Value::unknown(ty))].boxed()
}

fn typed_value() -> impl Strategy<Value = (Type, Value)> {
    types().prop_flat_map(|ty| (Just(ty), value_of(ty)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_is_of_its_type_and_converting_to_it_changes_nothing((ty, value) in typed_value()) {
        prop_assert_eq!(value.ty(), ty);
        prop_assert_eq!(convert(&value, ty), Ok(value));
    }

    #[test]
    fn what_was_converted_is_of_the_wanted_type_and_converts_to_itself((_, value) in typed_value(), want in types()) {
        let Ok(converted) = convert(&value, want) else { return Ok(()) };
        prop_assert_eq!(converted.ty(), want);
        prop_assert_eq!(convert(&converted, want), Ok(converted.clone()));
        prop_assert_eq!(converted.is_null(), value.is_null());
        prop_assert!(is_convertible(value.ty(), want));
    }

    #[test]
    fn converting_keeps_marks((_, value) in typed_value(), want in types()) {
        let plain = convert(&value, want);
        let marked = convert(&value.mark(&Marks::sensitive()), want);
        prop_assert_eq!(marked.is_ok(), plain.is_ok());
        if let (Ok(marked), Ok(plain)) = (marked, plain) {
            prop_assert!(marked.marks().sensitive);
            prop_assert_eq!(marked.unmark().0, plain);
        }
    }

    #[test]
    fn an_unknown_converts_to_what_its_value_may_then_become((ty, value) in typed_value(), want in types()) {
        let Ok(later) = convert(&value, want) else { return Ok(()) };
        let early = convert(&Value::unknown(ty), want);
        prop_assert!(early.is_ok(), "{ty:?} to {want:?}");
        let early = early.expect("just looked");
        if let (Value::Unknown(it), true) = (&early, later.is_wholly_known()) {
            prop_assert!(can_become(it, &later), "{early:?} {later:?}");
        }
    }

    #[test]
    fn types_unify_to_one_that_all_convert_to(a in types(), b in types(), c in types()) {
        let Some(common) = unify(&[a, b, c]) else { return Ok(()) };
        for ty in [a, b, c] {
            prop_assert!(common.has_dynamic() || is_convertible(ty, common), "{ty:?} to {common:?}");
        }
    }

    #[test]
    fn a_type_unifies_with_itself_and_in_any_order(a in types(), b in types()) {
        prop_assert_eq!(unify(&[a]), Some(a));
        prop_assert_eq!(unify(&[a, a]), Some(a));
        prop_assert_eq!(unify(&[a, b]), unify(&[b, a]));
    }

    #[test]
    fn what_unifies_safely_converts_without_fail((a, value) in typed_value(), b in types()) {
        let Some(common) = unify_safe(&[a, b]) else { return Ok(()) };
        prop_assert!(common.has_dynamic() || convert(&value, common).is_ok(), "{value:?} to {common:?}");
    }
}
