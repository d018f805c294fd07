//! Rules over values: references, expressions, what is only possible, secrets, bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use expect_test::{Expect, expect};

use super::check::{Program, Source};
use super::evaluate::evaluate_over;
use super::parse::Dialect;
use super::{Database, Domain, Limits, Stopped, Tense, Values, values};
use crate::diagnostic::{FileId, Sources};
use crate::expression::evaluate_constant;
use crate::syntax::parse_expression;
use crate::value::{Marks, Str, Type, Value};
use crate::world::World;

/// Nodes by number, with their values; `unknown` and `secret` stand for what is not known yet and what is hidden. One that has
/// an attribute `written` is as somebody wrote it.
struct Toy {
    nodes: BTreeMap<u64, Value>,
    values: std::sync::Arc<Values>,
    world: World,
}

impl Domain for Toy {
    fn value_of(&self, node: u64) -> Option<Value> {
        let (tense, node) = Tense::split(node);
        (tense == Tense::Planned).then(|| self.nodes.get(&node).cloned())?
    }

    fn is_as_written(&self, node: u64) -> bool {
        self.value_of(node).is_some_and(|it| it.get("written").is_some())
    }

    fn show(&self, _: &str, word: u64) -> Str {
        Str::from(format!("n{}", Tense::split(word).1))
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn world(&self) -> &World {
        &self.world
    }
}

/// Replaces the texts `unknown` and `secret`.
fn prepared(value: &Value) -> Value {
    match value {
        Value::String(it) if it == "unknown" => Value::unknown(Type::STRING),
        Value::String(it) if it == "secret" => value.clone().mark(&Marks::sensitive()),
        Value::Tuple(it) => Value::tuple(it.items.iter().map(prepared).collect()),
        Value::Object(_) => {
            Value::object(value.entries().into_iter().map(|(name, it)| (name, prepared(it))))
        }
        other => other.clone(),
    }
}

/// Nodes from lines of expressions: the first is node 1.
fn toy(nodes: &str, program: &Program) -> Toy {
    let lines = nodes.lines().map(str::trim).filter(|it| !it.is_empty());
    let values = lines.enumerate().map(|(at, line)| {
        let parsed = parse_expression(FileId::default(), line, 0).expect("an expression");
        (at as u64 + 1, prepared(&evaluate_constant(&parsed).expect("a constant")))
    });
    Toy { nodes: values.collect(), values: program.values.clone(), world: World::of_this_process() }
}

/// Evaluates rules over nodes, all of which are `node`s, and prints what is concluded; what is only possible with a `?`.
fn conclude(nodes: &str, rules: &str, limits: &Limits) -> String {
    let sources = Sources::default();
    let text = format!("relation node(Node);\n{rules}");
    let file = sources.add("test.rules", text.as_str().into());
    let source = Source { name: "test", file, text: &text, dialect: Dialect::Policies, group: "" };
    let (program, problems) = Program::read(&[source]);
    let mut out = String::new();
    for problem in problems.iter() {
        let place = sources.place(problem.subject.unwrap_or_default());
        out.push_str(&format!("{place}: {problem}\n"));
    }
    if problems.has_errors() {
        return out;
    }
    let toy = toy(nodes, &program);
    let mut database = Database::new(&program);
    let node = program.relation("node").expect("it is declared");
    for number in toy.nodes.keys() {
        database.give(node, &[*number]);
    }
    match evaluate_over(&program, &mut database, Some(&toy), limits) {
        Err(Stopped::Failed(problem)) => return problem.to_string(),
        Err(Stopped::Exceeded(exceeded)) => {
            let rule = &program.rules[exceeded.rule].name;
            return format!("{} exceeded in {rule}\n", exceeded.limit);
        }
        Ok(failures) => {
            for failure in failures {
                let why: Vec<&str> =
                    failure.problems.iter().map(|it| it.summary.as_str()).collect();
                out.push_str(&format!("failed: {}\n", why.join(", ")));
            }
        }
    }
    for (number, relation) in program.relations.iter().enumerate().filter(|it| it.0 != node) {
        let table = database.table(number);
        let mut rows: Vec<String> = Vec::new();
        for position in table.positions() {
            let cells: Vec<String> = table
                .row(position)
                .iter()
                .map(|it| match values::is_value(*it) {
                    true => toy.values.show(*it),
                    false => toy.show("Node", *it).to_string(),
                })
                .collect();
            let mark = if table.is_certain(position) { "" } else { "?" };
            rows.push(format!("{}({}){mark}\n", relation.name, cells.join(", ")));
        }
        rows.sort();
        out.extend(rows);
    }
    out
}

#[track_caller]
pub(super) fn check(nodes: &str, rules: &str, expected: Expect) {
    expected.assert_eq(&conclude(nodes, rules, &Limits::default()));
}

#[test]
fn references_lead_through_names_keys_and_elements() {
    check(
        r#"
        { name = "a", rules = [{ port = 22, from = ["x", "y"] }, { port = 80, from = [] }], tags = { env = "prod" } }
        { name = "b", empty = [], no = false, none = null }
        "#,
        r#"
        port(n, p) <-- node(n), n.rules.port == p;
        place(n, i, p) <-- node(n), n.rules[i].port == p;
        from(n, f) <-- node(n), n.rules[_].from[_] == f;
        tag(n, k, v) <-- node(n), n.tags[k] == v;
        prod(n) <-- node(n), n.tags["env"] == "prod";
        no_tags(n) <-- node(n), !n.tags;
        not_prod(n) <-- node(n), !n.tags.env == "prod";
        there(n) <-- node(n), n.no;
        has_empty(n) <-- node(n), n.empty;
        has_none(n) <-- node(n), n.none;
        open(n, f) <-- r in n.rules, node(n), if r.port < 30, r.from[_] == f;
        "#,
        expect![[r#"
            port(n1, 22)
            port(n1, 80)
            place(n1, 0, 22)
            place(n1, 1, 80)
            from(n1, x)
            from(n1, y)
            tag(n1, env, prod)
            prod(n1)
            no_tags(n2)
            not_prod(n2)
            there(n2)
            open(n1, x)
            open(n1, y)
        "#]],
    );
}

#[test]
fn what_is_not_known_is_possible_and_negation_crosses_over() {
    check(
        r#"
        { acl = "unknown", name = "a" }
        { acl = "private", name = "unknown" }
        { name = "c" }
        "#,
        r#"
        public(n) <-- node(n), n.acl == "public";
        closed(n) <-- node(n), !public(n);
        has_acl(n) <-- node(n), n.acl;
        lacks(n) <-- node(n), !n.acl;
        short(n) <-- node(n), if length(n.name) < 3;
        same(n, m) <-- node(n), n.name == v, node(m), m.name == v, if n != m;
        both(n) <-- closed(n), !lacks(n);
        "#,
        expect![[r#"
            public(n1)?
            closed(n1)?
            closed(n2)
            closed(n3)
            has_acl(n1)?
            has_acl(n2)
            lacks(n1)?
            lacks(n3)
            short(n1)
            short(n2)?
            short(n3)
            same(n1, n2)?
            same(n2, n1)?
            same(n2, n3)?
            same(n3, n2)?
            both(n1)?
            both(n2)
        "#]],
    );
}

#[test]
fn what_was_possible_becomes_certain_where_something_else_says_so() {
    check(
        r#"
        { a = "unknown", b = "x", next = 2 }
        { a = "y", b = "y" }
        "#,
        r#"
        hit(n) <-- node(n), n.a == "x";
        hit(n) <-- node(n), n.b == "x";
        after(n) <-- hit(n);
        loop(n) <-- after(n);
        loop(n) <-- loop(n), hit(n);
        "#,
        expect![[r#"
            hit(n1)
            after(n1)
            loop(n1)
        "#]],
    );
}

#[test]
fn aggregates_are_within_bounds_where_rows_are_only_possible() {
    check(
        r#"
        { size = 3, on = true }
        { size = 5, on = "unknown" }
        "#,
        r#"
        on(n, s) <-- node(n), if n.on, n.size == s;
        many() <-- agg t = count() in on(_, _), if t >= 2;
        some() <-- agg t = count() in on(_, _), if t >= 1;
        none() <-- agg t = count() in on(_, _), if t > 2;
        big() <-- agg t = sum(s) in on(_, s), if t > 2;
        bigger() <-- agg t = sum(s) in on(_, s), if t > 7;
        most(m) <-- agg m = max(s) in on(_, s);
        least(m) <-- agg m = min(s) in on(_, s);
        sizes(n, t) <-- node(n), agg t = count() in n.list[_];
        "#,
        expect![[r#"
            on(n1, 3)
            on(n2, 5)?
            many()?
            some()
            big()
            bigger()?
            most((known after apply))
            least(3)
            sizes(n1, 0)
            sizes(n2, 0)
        "#]],
    );
}

#[test]
fn secrets_are_compared_and_never_shown() {
    check(
        r#"
        { password = "secret", copy = "secret" }
        { password = "other", copy = "secret" }
        "#,
        r#"
        weak(n, p) <-- node(n), n.password == p, if p == "secret";
        long(n, l) <-- node(n), let l = length(n.password);
        said(n, "{n} has {n.password}") <-- node(n);
        same(n, m) <-- node(n), n.password == v, node(m), m.copy == v;
        "#,
        expect![[r#"
            weak(n1, (sensitive))
            long(n1, (sensitive))
            long(n2, 5)
            said(n1, n1 has (sensitive))
            said(n2, n2 has other)
            same(n1, n1)
            same(n1, n2)
        "#]],
    );
}

#[test]
fn an_expression_that_fails_is_only_possible() {
    check(
        r#"
        { port = null }
        { port = 22 }
        "#,
        r#"
        // @rule low: `n` is low
        low(n) <-- node(n), if n.port < 100;
        "#,
        expect![[r#"
            failed: Operation failed
            low(n1)?
            low(n2)
        "#]],
    );
}

#[test]
fn values_are_walked_and_recursion_goes_down_them() {
    check(
        r#"
        { policy = "{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"*\"}, {\"Effect\": \"Deny\"}]}" }
        { tree = { kids = [{ name = "a", kids = [{ name = "b" }] }] } }
        "#,
        r#"
        allows(n, s.Action) <-- node(n), n.policy == p, let d = jsondecode(p), s in d.Statement, s.Effect == "Allow";
        "#,
        expect![[r#"
            test.rules:3,20: Invalid rule: Expected `)`, found `.`.
        "#]],
    );
    check(
        r#"
        { policy = "{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"*\"}, {\"Effect\": \"Deny\"}]}" }
        { tree = { kids = [{ name = "a", kids = [{ name = "b" }] }] } }
        "#,
        r#"
        allows(n, a) <-- node(n), n.policy == p, let d = jsondecode(p), s in d.Statement, s.Effect == "Allow", s.Action == a;
        below(n, k) <-- node(n), k in n.tree.kids;
        below(n, j) <-- below(n, k), j in k.kids;
        named(n, x) <-- below(n, k), k.name == x;
        "#,
        expect![[r#"
            allows(n1, *)
            below(n2, {kids = [{name = "b"}], name = "a"})
            below(n2, {name = "b"})
            named(n2, a)
            named(n2, b)
        "#]],
    );
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    check(
        "{}",
        r#"
        a(n) <-- node(n), !b(n);
        b(n) <-- node(n), !a(n);
        c(n) <-- nod(n);
        d(n) <-- node(n, n);
        e(m) <-- node(n), if n.x == 1;
        f(n, t) <-- node(n), let t = timestamp();
        g(n, x) <-- g(n, y), let x = y + 1;
        h(n) <-- node(n), n == n.x;
        i(n, "{m}") <-- node(n);
        j(n, "{") <-- node(n);
        k(n) <-- node(n), if ;
        l(n) <-- node(n), if n.x ==;
        m(n) <-- node(n), if nosuch(n.x);
        o(n) <-- node(n), p in [22, 3389], n.x == p;
        p(n) <-- node(n), k in keys(n.x), n.y == k;
        "#,
        expect![[r#"
            test.rules:3,28: Negation in a circle: Whether `a` holds would depend on its not holding: a <-- b <-- a. Negate only relations that are concluded before.
            test.rules:5,18: Unknown relation: There is no relation `nod`. Did you mean `node`?
            test.rules:6,18: Wrong number of columns: `node` has 1 column (Node), and here are 2; `_` stands for any.
            test.rules:7,11: Unbound variable: Nothing gives `m` a value before it is used in the conclusion. Use it in a premise that is not negated, which gives it one.
            test.rules:8,38: Function not available in rules: `timestamp` reads files or the clock, or gives something else each time. What a rule concludes rests on its premises alone.
            test.rules:9,34: Computation in a circle: The rule computes a value for `g`, which rests on itself: g <-- g. That need not end. Conclude the circle without the computed value, and compute in a rule that reads it.
            test.rules:10,29: Invalid rule: Expected `(`, found `==`.
            test.rules:11,16: Unbound variable: Nothing gives `m` a value before it is used in a message. Use it in a premise that is not negated, which gives it one.
            test.rules:12,14: Invalid rule: Expected a name in braces; a brace itself is written `{{`, found `"{"`.
            test.rules:13,30: Invalid rule: Expected an expression, found `;`.
            test.rules:14,36: Missing expression: Expected the start of an expression, but found the end of the expression.
            test.rules:15,30: Call to unknown function: There is no function named "nosuch".
            test.rules:16,32: Invalid rule: Expected a variable, found `[`. What is computed gets a name first: `let all = [22, 3389], p in all`.
            test.rules:17,32: Invalid rule: Expected a variable, found `keys`. What is computed gets a name first: `let all = [22, 3389], p in all`.
        "#]],
    );
}

#[test]
fn what_takes_too_much_ends() {
    let nodes: String = (0..60).map(|it| format!("{{ a = {it} }}\n")).collect();
    let rules = "// @rule all: everything\nall(a, b, c) <-- node(a), node(b), node(c);";
    let few = Limits { rows: 1000, ..Limits::default() };
    assert_eq!(conclude(&nodes, rules, &few), "rows exceeded in all\n");
    let few = Limits { steps: 1000, ..Limits::default() };
    assert_eq!(conclude(&nodes, rules, &few), "steps exceeded in all\n");
    let short = Limits { time: Duration::ZERO, ..Limits::default() };
    assert_eq!(conclude(&nodes, rules, &short), "time exceeded in all\n");
}

#[test]
fn order_of_rules_and_of_what_a_rule_says_changes_nothing() {
    let nodes = r#"
        { a = "unknown", b = [1, 2] }
        { a = "x", b = [2] }
    "#;
    let one = "
        p(n, v) <-- node(n), n.a == \"x\", n.b[_] == v, if v > 1;
        q(n) <-- node(n), !p(n, 2);
    ";
    let other = "
        q(n) <-- !p(n, 2), node(n);
        p(n, v) <-- if v > 1, n.b[_] == v, n.a == \"x\", node(n);
    ";
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let limits = Limits::default();
    assert_eq!(sorted(conclude(nodes, one, &limits)), sorted(conclude(nodes, other, &limits)));
}
