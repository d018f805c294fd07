//! The language on its own, and the shipped strata against their compiled selves.

use std::collections::BTreeSet;

use entail_rules::text::{self, Names};
use entail_rules::{
    Alias, Block, Conclusions, Config, Facts, Family, Flag, Key, Ledger, Mode, Module, Node, Row,
    Statement, TEXTS,
};
use expect_test::{Expect, expect};

use super::check::{Program, Renames, Source};
use super::database::Database;
use super::evaluate::evaluate;
use crate::diagnostic::Sources;
use crate::reason::{ENGINES, shipped};

/// Reads rules, evaluates them on the facts among them, and prints problems, or every derived row.
#[track_caller]
fn check(rules: &str, expected: Expect) {
    let sources = Sources::default();
    let file = sources.add("test.rules", rules.into());
    let (program, problems) =
        Program::read(&[Source { name: "test", file, text: rules, ..Source::default() }]);
    let mut out = String::new();
    for problem in problems.iter() {
        let place = sources.place(problem.subject.unwrap_or_default());
        out.push_str(&format!("{:?} {place}: {problem}\n", problem.severity));
    }
    if !problems.has_errors() {
        let mut database = Database::new(&program);
        evaluate(&program, &mut database);
        for (number, relation) in program.relations.iter().enumerate() {
            let cell = |(word, kind): (&u64, &String)| match kind.as_str() {
                "Text" => (0, format!("{:?}", program.values.show(*word))),
                _ => (word.cast_signed(), String::new()),
            };
            let row = |row: &[u64]| row.iter().zip(&relation.columns).map(cell).collect();
            let rows: BTreeSet<Vec<(i64, String)>> =
                database.table(number).rows().map(row).collect();
            for row in rows {
                let shown = |it: &(i64, String)| match it.1.is_empty() {
                    true => it.0.to_string(),
                    false => it.1.clone(),
                };
                let cells: Vec<String> = row.iter().map(shown).collect();
                out.push_str(&format!("{}({})\n", relation.name, cells.join(", ")));
            }
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn rules_conclude_what_follows_from_facts_and_from_conclusions() {
    check(
        "
        relation edge(u32, u32);
        /// `reach(a, b)`: there is a way.
        relation reach(u32, u32);
        edge(1, 2); edge(2, 3); edge(3, 1);
        // @rule direct: there is an edge
        reach(a, b) <-- edge(a, b);
        reach(a, c) <-- edge(a, b), reach(b, c);
        ",
        expect![[r#"
            edge(1, 2)
            edge(2, 3)
            edge(3, 1)
            reach(1, 1)
            reach(1, 2)
            reach(1, 3)
            reach(2, 1)
            reach(2, 2)
            reach(2, 3)
            reach(3, 1)
            reach(3, 2)
            reach(3, 3)
        "#]],
    );
}

#[test]
fn conditions_arithmetic_and_text_are_computed() {
    check(
        r#"
        relation n(i64);
        relation m(i64, i64);
        relation named(Text);
        relation same(Text);
        n(1), n(2), n(-3 + 6);
        m(a, b * 2 - 1) <-- n(a), n(b), if a < b && b != 2, let c = a + 1, if c >= 2;
        named("x"); named("y");
        same(t) <-- named(t), named("y"), if t == "y";
        "#,
        expect![[r#"
            n(1)
            n(2)
            n(3)
            m(1, 5)
            m(2, 5)
            named("x")
            named("y")
            same("y")
        "#]],
    );
}

#[test]
fn what_cannot_be_computed_concludes_nothing() {
    check(
        "relation n(i64); relation m(i64); n(0); n(9223372036854775807); m(1 / a) <-- n(a), if a == 0; m(a + 1) <-- n(a);",
        expect![[r#"
            n(0)
            n(9223372036854775807)
            m(1)
        "#]],
    );
}

#[test]
fn negation_waits_for_what_it_negates() {
    check(
        "
        relation n(u32); relation odd(u32); relation even(u32); relation lonely(u32);
        n(1); n(2); n(3); odd(1);
        even(b) <-- n(b), !odd(b), n(a), if a + 1 == b;
        lonely(a) <-- n(a), !even(_), !odd(a);
        ",
        expect![[r#"
            n(1)
            n(2)
            n(3)
            odd(1)
            even(2)
            even(3)
        "#]],
    );
}

#[test]
fn aggregates_are_computed_per_group() {
    check(
        "
        relation sale(u32, i64); relation shop(u32);
        relation total(u32, i64); relation number(u32, i64); relation best(u32, i64); relation worst(u32, i64);
        shop(1); shop(2); shop(3); sale(1, 10); sale(1, -4); sale(2, 7);
        total(s, t) <-- shop(s), agg t = sum(x) in sale(s, x);
        number(s, t) <-- shop(s), agg t = ascent::aggregators::count() in sale(s, _);
        best(s, t) <-- shop(s), agg t = max(x) in sale(s, x);
        worst(s, t) <-- shop(s), agg t = min(x) in sale(s, x);
        ",
        expect![[r#"
            sale(1, -4)
            sale(1, 10)
            sale(2, 7)
            shop(1)
            shop(2)
            shop(3)
            total(1, 6)
            total(2, 7)
            total(3, 0)
            number(1, 2)
            number(2, 1)
            number(3, 0)
            best(1, 10)
            best(2, 7)
            worst(1, -4)
            worst(2, 7)
        "#]],
    );
}

#[test]
fn the_same_variable_twice_matches_equal_words_only() {
    check(
        "relation e(u32, u32); relation own(u32); relation bare(u32); e(1, 1); e(1, 2); e(3, 2); own(a) <-- e(a, a); bare(a) <-- e(a, _), !e(a, a);",
        expect![[r#"
            e(1, 1)
            e(1, 2)
            e(3, 2)
            own(1)
            bare(3)
        "#]],
    );
}

#[test]
fn problems_are_found_where_they_are() {
    check(
        "
        relation edge(u32, u32);
        relation edge(u32);
        relation node(Node);
        relation reach(u32, u32);
        reach(a, b) <-- egde(a, b);
        reach(a) <-- edge(a, b);
        reach(a, c) <-- edge(a, b);
        reach(a, a) <-- edge(a, _), !edge(_, c);
        reach(a, a) <-- edge(a, _), if a == Action::Burn;
        reach(a, a) <-- edge(a, b), node(a);
        reach(a, a) <-- edge(a, a + 1);
        node(Action::Create) <-- edge(1, 1);
        ",
        expect![[r#"
            Error test.rules:3,18: Relation declared twice: `edge` is already declared as edge(u32, u32), here as edge(u32).
            Error test.rules:6,25: Unknown relation: There is no relation `egde`. Did you mean `edge`?
            Error test.rules:7,9: Wrong number of columns: `reach` has 2 columns (u32, u32), and here is 1; `_` stands for any.
            Error test.rules:8,18: Unbound variable: Nothing gives `c` a value before it is used in the conclusion. Use it in a premise that is not negated, which gives it one.
            Error test.rules:9,46: Unbound variable: Nothing gives `c` a value before it is used in a negation. Use it in a premise that is not negated, which gives it one.
            Error test.rules:10,45: Unknown constant: There is no constant `Action::Burn`. There are `Action::NoOp`, `Action::Create`, `Action::Read`, `Action::Update`, `Action::DeleteThenCreate`, `Action::CreateThenDelete`, `Action::Delete`, `Action::Forget`, `Action::ForgetThenCreate`, `Action::Drop`.
            Error test.rules:10,45: Kinds do not match: `a` is of kind u32, and this of kind Action; they never are equal.
            Error test.rules:11,42: Kinds do not match: `a` is of kind u32, and this column of kind Node; they never are equal. A node is a variable that a relation gives its value, such as `n` in `resource(n, _)`.
            Error test.rules:12,33: Computation in a column: A column in a body holds a variable, a constant or `_`. Compute with `let` before, or compare with `if` after.
            Error test.rules:13,14: Kinds do not match: `Action::Create` is of kind Action, and this column of kind Node; they never are equal. A node is a variable that a relation gives its value, such as `n` in `resource(n, _)`.
        "#]],
    );
}

#[test]
fn text_that_is_no_rule_is_reported_and_the_rest_is_read() {
    check(
        "relation a(u32; relation b(u32); b(1) <- ; b(2); b(\"x) ; ) ; b(3)",
        expect![[r#"
            Error test.rules:1,15: Invalid rule: Expected `)`, found `;`.
            Error test.rules:1,39: Invalid rule: Expected `<--` or `;`, found `<`. Between head and body stands `<--`.
            Error test.rules:1,66: Invalid rule: Expected `)`, found the end of the rules.
        "#]],
    );
    check(
        "relation a(u32); a((((1)))); a(99999999999999999999);",
        expect![[r#"
        Error test.rules:1,32: Invalid rule: Expected a whole number of 64 bits, found `99999999999999999999`.
    "#]],
    );
    check(
        &format!("relation a(u32); a({}1{});", "(".repeat(1000), ")".repeat(1000)),
        expect![[r#"
        Error test.rules:1,85: Invalid rule: Expected fewer nested parentheses, found `(`.
    "#]],
    );
    check(
        "ascent! {\n struct P;\n relation a(u32);\n a(1);\n}\nfn other() {}",
        expect![[r#"
        a(1)
    "#]],
    );
}

#[test]
fn a_relation_may_not_rest_on_its_own_absence() {
    check(
        "relation n(u32); relation a(u32); relation b(u32); relation c(u32);
         a(x) <-- n(x), !b(x); b(x) <-- c(x); c(x) <-- a(x);",
        expect![[r#"
            Error test.rules:2,10: Negation in a circle: Whether `a` holds would depend on its not holding: a <-- b <-- c <-- a. Negate only relations that are concluded before.
        "#]],
    );
}

#[test]
fn two_rules_of_one_name_are_refused() {
    check(
        "relation n(u32);
        // @rule one: it is
        n(1);
        // @rule one: it is too
        n(2);",
        expect![[r#"
            Error test.rules:5,9: Duplicate rule name: Another rule is already called `one`. A proof names its rules: give this one a name of its own.
        "#]],
    );
}

/// Reads rules over the catalogue, and prints what is wrong with them.
#[track_caller]
fn check_over_catalogue(rules: &str, expected: Expect) {
    let sources = Sources::default();
    let file = sources.add("test.rules", rules.into());
    let source = Source { name: "test", file, text: rules, ..Source::default() };
    let (_, problems) =
        Program::read_over(entail_rules::catalogue::relations(), Renames::default(), &[source]);
    let mut out = String::new();
    for problem in problems.iter() {
        let place = sources.place(problem.subject.unwrap_or_default());
        out.push_str(&format!("{:?} {place}: {problem}\n", problem.severity));
    }
    expected.assert_eq(&out);
}

#[test]
fn rules_over_the_catalogue_use_its_relations_as_they_are() {
    check_over_catalogue(
        "relation deep(Node);
        // @rule deep: it reads what reads something
        deep(n) <-- reads(n, m), reads(m, _), action(n, Action::Create, _);",
        expect![[""]],
    );
    check_over_catalogue(
        "relation reads(Node, Block); relation own(Node, Colour);
        own(n, c) <-- read(n, c);
        own(n, n) <-- reads(n);
        own(n, b) <-- of(n, b), action(n, b, _);
        selected(n) <-- object(n);",
        expect![[r#"
            Error test.rules:1,10: Relation declared twice: `reads` is already declared as reads(Node, Node), here as reads(Node, Block).
            Error test.rules:1,39: Unknown kind of column: `own` has a column of kind `Colour`, and there is no such kind. A column holds `Text`, `Number`, or one of the kinds of the catalogue, such as `Node`.
            Error test.rules:2,23: Unknown relation: There is no relation `read`. Did you mean `reads`?
            Error test.rules:3,23: Wrong number of columns: `reads` has 2 columns (Node, Node), and here is 1; `_` stands for any. `reads(n, m)`: `n` reads `m`; what one says is computed from what the other says.
            Error test.rules:4,43: Kinds do not match: `b` is of kind Block, and this column of kind Action; they never are equal. Write one of `Action::NoOp`, `Action::Create`, `Action::Read`, `Action::Update`, `Action::DeleteThenCreate`, `Action::CreateThenDelete`, `Action::Delete`, `Action::Forget`, `Action::ForgetThenCreate`, `Action::Drop`.
            Error test.rules:5,9: Relation of the program: What `selected` holds is told by the program, so that no other rule can conclude it. Conclude a relation of your own, with another name.
        "#]],
    );
}

#[test]
fn texts_are_joined_and_compared() {
    check(
        "relation kind(u32, Text); relation name(u32, Text); relation bucket(u32); relation same(u32, u32);
        relation other(u32); relation says(Text);
        kind(1, \"aws_s3_bucket\"); kind(2, \"null_resource\"); kind(3, \"aws_s3_bucket\");
        name(4, \"null_resource\"); name(5, \"\");
        bucket(n) <-- kind(n, \"aws_s3_bucket\");
        same(n, m) <-- kind(n, t), name(m, t);
        other(n) <-- kind(n, t), if t != \"aws_s3_bucket\";
        says(t) <-- kind(_, t), !name(_, t);",
        expect![[r#"
            kind(1, "aws_s3_bucket")
            kind(2, "null_resource")
            kind(3, "aws_s3_bucket")
            name(4, "null_resource")
            name(5, "")
            bucket(1)
            bucket(3)
            same(2, 4)
            other(2)
            says("aws_s3_bucket")
        "#]],
    );
}

#[test]
fn texts_have_no_order_and_are_no_numbers() {
    check(
        "relation kind(u32, Text); relation a(u32); relation b(Text);
        a(n) <-- kind(n, t), if t < \"b\";
        a(n) <-- kind(n, t), let m = t + 1, if m == 2;
        a(n) <-- kind(n, t), if t == n;
        a(n) <-- kind(n, t), if t == 1;
        a(t) <-- kind(_, t);
        b(t) <-- agg t = max(u) in kind(_, u);
        kind(1, 2);
        b(Action::Create);",
        expect![[r#"
            Error test.rules:2,33: Not a number: `t` is of kind Text, which has no order and cannot be computed with. Compare it with `==` or `!=`.
            Error test.rules:2,37: Not a number: `"b"` is of kind Text, which has no order and cannot be computed with. Compare it with `==` or `!=`.
            Error test.rules:3,38: Not a number: `t` is of kind Text, which has no order and cannot be computed with. Compare it with `==` or `!=`.
            Error test.rules:4,38: Kinds do not match: `t` is of kind Text, and this of kind u32; they never are equal.
            Error test.rules:5,38: Kinds do not match: `t` is of kind Text, and this of kind Number; they never are equal.
            Error test.rules:6,11: Kinds do not match: `t` is of kind Text, and this column of kind u32; they never are equal.
            Error test.rules:7,30: Not a number: `u` is of kind Text, which has no order and cannot be computed with. Compare it with `==` or `!=`.
            Error test.rules:8,17: Kinds do not match: `2` is of kind Number, and this column of kind Text; they never are equal.
            Error test.rules:9,11: Kinds do not match: `Action::Create` is of kind Action, and this column of kind Text; they never are equal.
        "#]],
    );
}

#[test]
fn texts_of_rows_are_those_of_rules() {
    let text = "relation kind(u32, Text); relation bucket(u32); bucket(n) <-- kind(n, \"bucket\");";
    let (program, problems) = Program::read(&[Source { name: "test", text, ..Source::default() }]);
    assert_eq!(problems.0, []);
    let mut database = Database::new(&program);
    let (bucket, other) = (program.values.text("bucket"), program.values.text("other"));
    let kind = program.relation("kind").expect("it is declared");
    database.give(kind, &[1, bucket]);
    database.give(kind, &[2, other]);
    evaluate(&program, &mut database);
    let found = program.relation("bucket").expect("it is declared");
    assert_eq!(database.table(found).rows().map(<[u64]>::to_vec).collect::<Vec<_>>(), [[1]]);
    let texts = [bucket, other].map(|it| program.values.as_text(it).unwrap_or_default());
    assert_eq!(texts, ["bucket", "other"]);
}

#[test]
fn a_rule_is_met_whether_or_not_its_conclusion_is_new() {
    let text = "relation a(u32); relation b(u32); relation c(u32);
        a(1); b(1); c(n) <-- a(n); c(n) <-- b(n); c(n) <-- a(n), if n == 2;";
    let (program, _) = Program::read(&[Source { name: "test", text, ..Source::default() }]);
    let mut database = Database::new(&program);
    evaluate(&program, &mut database);
    let met: Vec<u64> = (0..program.rules.len()).map(|it| database.times_met(it)).collect();
    assert_eq!(met, [1, 1, 1, 1, 0]);
}

#[test]
fn the_shipped_rules_have_no_problem_and_each_has_a_name_and_a_sentence() {
    for text in TEXTS {
        let (program, problems) =
            Program::read(&[Source { name: text.name, text: text.source, ..Source::default() }]);
        assert_eq!(problems.0, [], "{}", text.name);
        for rule in &program.rules {
            assert!(rule.name.starts_with(&format!("{}.", text.name)), "{}", rule.name);
            assert!(!rule.sentence.is_empty(), "{}", rule.name);
        }
        for relation in program.relations.iter().filter(|it| it.is_derived) {
            assert!(!relation.doc.is_empty(), "{} has no doc", relation.name);
        }
    }
}

#[test]
fn the_rule_texts_declare_base_relations_as_the_facts_do() {
    let program = shipped::program();
    let mut known = Facts::RELATIONS.to_vec();
    let conclusions = Conclusions::default();
    known.extend(conclusions.tables().iter().flat_map(|it| it.relations()));
    for relation in known {
        let Some(number) = program.relation(relation.name) else { continue };
        assert_eq!(program.relations[number].columns, relation.columns, "{}", relation.name);
    }
    for relation in program.relations.iter().filter(|it| !it.is_derived) {
        assert!(
            Facts::RELATIONS.iter().any(|it| it.name == relation.name),
            "nobody writes {}",
            relation.name
        );
    }
}

#[test]
fn every_kind_of_id_survives_the_way_through_a_row() {
    let row = (Node(1), Block(2), Module(3), Family(4), Alias(5), Config(6));
    let mut words = Vec::new();
    row.write(&mut words);
    assert_eq!(Row::read(&words), Some(row));
    let rest = (Key(7), Flag(8), Statement(9));
    words.clear();
    rest.write(&mut words);
    assert_eq!(Row::read(&words), Some(rest));
    assert_eq!(<(Mode,)>::read(&[99]), None);
    assert_eq!(<(Node, Node)>::read(&[1]), None);
}

/// The texts of facts in the tests of a stratum: the first argument of each `check…(`.
fn fact_bases(tests: &str) -> Vec<String> {
    let quoted = |text: &str| Some(text[text.find('"')? + 1..].split('"').next()?.to_owned());
    let prefix = tests.split("const ").nth(1).and_then(quoted).unwrap_or_default();
    let mut found = Vec::new();
    for call in [" check(", " check_existing(", " check_mixed("] {
        for rest in tests.split(call).skip(1).filter(|it| it.trim_start().starts_with('"')) {
            let facts = quoted(rest).expect("the text is quoted");
            found.push(if call == " check(" { facts } else { format!("{prefix}{facts}") });
        }
    }
    found
}

/// Interprets one stratum on facts and earlier conclusions given as text, and returns what it yields.
fn yields(program: &Program, wanted: &[usize], facts: &str) -> Vec<BTreeSet<Vec<u64>>> {
    let mut names = Names::default();
    let (base, mut earlier) = text::read_ledger(facts, &mut names);
    earlier.configurations = ENGINES[0].conclude(&Ledger::of(&base));
    let mut database = Database::new(program);
    for tables in earlier.ledger(&base).tables() {
        database.give_tables(program, tables, |it| !program.relations[it].is_derived);
    }
    evaluate(program, &mut database);
    wanted.iter().map(|&it| database.table(it).rows().map(<[u64]>::to_vec).collect()).collect()
}

#[test]
fn without_any_one_rule_some_test_of_its_stratum_would_fail() {
    let tests = [
        ("moves", include_str!("../../rules/moves/tests.rs")),
        ("configurations", include_str!("../../rules/configurations/tests.rs")),
        ("providers", include_str!("../../rules/providers/tests.rs")),
        ("instances", include_str!("../../rules/instances/tests.rs")),
        ("selection", include_str!("../../rules/selection/tests.rs")),
        ("recall", include_str!("../../rules/recall/tests.rs")),
        ("spread", include_str!("../../rules/spread/tests.rs")),
        ("calls", include_str!("../../rules/calls/tests.rs")),
        ("outputs", include_str!("../../rules/outputs/tests.rs")),
        ("decide", include_str!("../../rules/decide/tests.rs")),
        ("changes", include_str!("../../rules/changes/tests.rs")),
        ("ephemerals", include_str!("../../rules/ephemerals/tests.rs")),
        ("order", include_str!("../../rules/order/tests.rs")),
        ("violations", include_str!("../../rules/violations/tests.rs")),
        ("ephemeral_uses", include_str!("../../rules/ephemeral_uses/tests.rs")),
        ("records", include_str!("../../rules/records/tests.rs")),
        ("closing", include_str!("../../rules/closing/tests.rs")),
        ("lint", include_str!("../../rules/lint/tests.rs")),
    ];
    let conclusions = Conclusions::default();
    let mut idle = Vec::new();
    for (text, tables) in TEXTS.iter().zip(conclusions.tables()) {
        let source = Source { name: text.name, text: text.source, ..Source::default() };
        let (program, _) = Program::read(&[source]);
        let wanted: Vec<usize> =
            tables.relations().iter().filter_map(|it| program.relation(it.name)).collect();
        let bases = fact_bases(
            tests.iter().find(|it| it.0 == text.name).expect("every stratum has tests").1,
        );
        assert!(bases.len() > 2, "{} has facts", text.name);
        let whole: Vec<_> = bases.iter().map(|it| yields(&program, &wanted, it)).collect();
        for rule in &program.rules {
            let fewer = program.without(&rule.name);
            let differs = bases
                .iter()
                .zip(&whole)
                .any(|(facts, whole)| yields(&fewer, &wanted, facts) != *whole);
            if !differs {
                idle.push(rule.name.clone());
            }
        }
    }
    assert_eq!(idle, [""; 0], "no test would miss these rules");
}
