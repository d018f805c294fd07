//! What `order` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::Facts;
use crate::decide::Decisions;
use crate::instances::Instances;
use crate::spread::Spread;
use crate::text::{self, Names};

/// Prints a sequence that keeps the order, steps only, the lowest node first where several may come.
fn sequence(order: &Order, names: &Names) -> String {
    let mut waiting: Vec<(Phase, Node)> =
        order.before.iter().flat_map(|it| [(it.1, it.0), (it.3, it.2)]).collect();
    waiting.extend(order.step.iter().map(|it| (it.1, it.0)));
    waiting.sort();
    waiting.dedup();
    let mut said = Vec::new();
    while !waiting.is_empty() {
        let next = waiting
            .iter()
            .position(|&(f, n)| {
                !order
                    .before
                    .iter()
                    .any(|it| (it.2, it.3) == (n, f) && waiting.contains(&(it.1, it.0)))
            })
            .expect("the order has no circle");
        let (phase, node) = waiting.remove(next);
        if order.step.contains(&(node, phase)) {
            said.push(format!("{}.{phase:?}", names.name("Node", node.word())));
        }
    }
    said.join(" ")
}

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = order(&earlier.ledger(&base));
    let sequence = sequence(&found, &names);
    conclusions.assert_eq(&format!("{}// {sequence}.\n", text::print(&found, &names)));
}

#[test]
fn a_thing_is_made_after_what_it_reads() {
    check(
        "reads(app, local). reads(local, db). action(app, Create, Plain). action(db, Update, Plain). action(other, Read, Plain).",
        expect![[r#"
            step(app, Up).
            step(db, Up).
            step(other, Up).
            before(local, Up, app, Up).
            before(db, Up, local, Up).
            // db.Up app.Up other.Up.
        "#]],
    );
}

#[test]
fn both_replaced_the_user_goes_first_and_comes_last() {
    check(
        "
        reads(b, a). needs(b, a).
        action(a, DeleteThenCreate, ReplaceByRequest). action(b, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(b, Down).
            step(b, Up).
            step(a, Down).
            step(a, Up).
            before(b, Down, b, Up).
            before(b, Down, a, Down).
            before(a, Down, a, Up).
            before(a, Up, b, Up).
            // b.Down a.Down a.Up b.Up.
        "#]],
    );
}

#[test]
fn a_user_is_changed_after_what_it_rested_on_was_replaced() {
    check(
        "reads(b, a). needs(b, a). action(a, DeleteThenCreate, ReplaceByRequest). action(b, Update, Plain).",
        expect![[r#"
            step(b, Up).
            step(a, Down).
            step(a, Up).
            before(a, Down, a, Up).
            before(a, Up, b, Up).
            // a.Down a.Up b.Up.
        "#]],
    );
    check(
        "needs(b, a). action(a, Delete, Plain). action(b, Update, Plain).",
        expect![[r#"
            step(b, Up).
            step(a, Down).
            before(a, Down, b, Up).
            // a.Down b.Up.
        "#]],
    );
}

#[test]
fn a_thing_is_changed_after_its_deleted_user_went() {
    check(
        "managed(a). needs(b, a). action(a, Update, Plain). action(b, Delete, Plain).",
        expect![[r#"
            step(a, Up).
            step(b, Down).
            before(b, Down, a, Up).
            // b.Down a.Up.
        "#]],
    );
    check(
        "managed(a). needs(b, a). action(a, Update, Plain). action(b, Forget, Plain).",
        expect![[r#"
            step(a, Up).
            step(b, Down).
            before(b, Down, a, Up).
            // b.Down a.Up.
        "#]],
    );
}

#[test]
fn what_goes_holds_up_nothing_that_is_made_on_what_both_rest_on() {
    check(
        "
        managed(base). needs(old, base). reads(new, base). needs(new, base). needs(base, ground).
        action(old, Delete, Plain). action(new, Create, Plain). action(base, NoOp, Plain).
        managed(ground). action(ground, Update, Plain).
        ",
        expect![[r#"
            step(old, Down).
            step(new, Up).
            step(ground, Up).
            before(base, Down, ground, Up).
            before(old, Down, base, Down).
            // old.Down new.Up ground.Up.
        "#]],
    );
}

#[test]
fn created_first_the_user_is_replaced_in_between() {
    check(
        "
        managed(a). reads(b, a). needs(b, a). cbd(a).
        action(a, CreateThenDelete, ReplaceByRequest). action(b, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(a, Up).
            step(a, Late).
            step(b, Down).
            step(b, Up).
            before(a, Up, a, Settled).
            before(a, Up, b, Up).
            before(a, Settled, a, Late).
            before(b, Down, a, Up).
            before(b, Down, b, Up).
            before(b, Up, b, Settled).
            before(b, Settled, a, Settled).
            // b.Down a.Up b.Up a.Late.
        "#]],
    );
}

#[test]
fn created_first_the_user_is_updated_in_between() {
    check(
        "reads(b, a). needs(b, a). cbd(a). action(a, CreateThenDelete, ReplaceByRequest). action(b, Update, Plain).",
        expect![[r#"
            step(b, Up).
            step(a, Up).
            step(a, Late).
            before(b, Up, b, Settled).
            before(b, Settled, a, Settled).
            before(a, Up, b, Up).
            before(a, Up, a, Settled).
            before(a, Settled, a, Late).
            // a.Up b.Up a.Late.
        "#]],
    );
}

#[test]
fn created_first_both_the_old_user_goes_before_what_it_rests_on() {
    check(
        "
        reads(b, a). needs(b, a). cbd(a). cbd(b).
        action(a, CreateThenDelete, ReplaceByRequest). action(b, CreateThenDelete, ReplaceByRequest).
        ",
        expect![[r#"
            step(b, Up).
            step(b, Late).
            step(a, Up).
            step(a, Late).
            before(b, Up, b, Settled).
            before(b, Settled, b, Late).
            before(b, Settled, a, Settled).
            before(b, Late, a, Late).
            before(a, Up, b, Up).
            before(a, Up, b, Late).
            before(a, Up, a, Settled).
            before(a, Settled, a, Late).
            // a.Up b.Up b.Late a.Late.
        "#]],
    );
}

#[test]
fn a_reversed_dependency_with_both_sides_replaced_has_an_order() {
    check(
        "
        needs(b, a). reads(a, b).
        action(a, DeleteThenCreate, ReplaceByRequest). action(b, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(b, Down).
            step(b, Up).
            step(a, Down).
            step(a, Up).
            before(b, Down, b, Up).
            before(b, Down, a, Down).
            before(b, Up, a, Up).
            before(a, Down, b, Up).
            before(a, Down, a, Up).
            // b.Down a.Down b.Up a.Up.
        "#]],
    );
}

#[test]
fn a_created_first_user_of_an_object_whose_block_is_gone_has_an_order() {
    check(
        "
        needs(user, gone). cbd(user). cbd(gone).
        action(user, CreateThenDelete, ReplaceByRequest). action(gone, Delete, DeleteBecauseNoResourceConfig).
        ",
        expect![[r#"
            step(user, Up).
            step(user, Late).
            step(gone, Late).
            before(user, Up, user, Settled).
            before(user, Settled, user, Late).
            before(user, Settled, gone, Settled).
            before(user, Late, gone, Late).
            before(gone, Settled, gone, Late).
            // user.Up user.Late gone.Late.
        "#]],
    );
}

#[test]
fn what_rests_on_a_thing_through_an_untouched_one_is_destroyed_first() {
    check(
        "needs(c, b). needs(b, a). action(c, Delete, Plain). action(a, Delete, Plain).",
        expect![[r#"
            step(c, Down).
            step(a, Down).
            before(c, Down, b, Down).
            before(b, Down, a, Down).
            // c.Down a.Down.
        "#]],
    );
    check(
        "needs(c, b). needs(b, a). cbd(c). cbd(b). cbd(a). action(c, Delete, Plain). action(a, Delete, Plain).",
        expect![[r#"
            step(c, Late).
            step(a, Late).
            before(c, Late, b, Late).
            before(b, Late, a, Late).
            // c.Late a.Late.
        "#]],
    );
}

#[test]
fn what_goes_afterwards_goes_after_what_it_rests_on_is_changed() {
    check(
        "needs(b, a). cbd(b). cbd(a). action(b, Delete, Plain). action(a, Update, Plain).",
        expect![[r#"
            step(b, Late).
            step(a, Up).
            before(a, Up, b, Late).
            // a.Up b.Late.
        "#]],
    );
}

#[test]
fn a_deposed_object_goes_when_its_successor_is_settled() {
    check(
        "deposed_of(o, i). cbd(o). reads(user, i). needs(user, i). action(o, Delete, Plain). action(i, Update, Plain). action(user, Update, Plain).",
        expect![[r#"
            step(o, Late).
            step(i, Up).
            step(user, Up).
            before(i, Up, i, Settled).
            before(i, Up, user, Up).
            before(i, Settled, o, Late).
            before(user, Up, user, Settled).
            before(user, Settled, i, Settled).
            // i.Up user.Up o.Late.
        "#]],
    );
}

#[test]
fn an_object_left_alone_and_made_anew_is_one_step() {
    check(
        "reads(b, a). action(a, ForgetThenCreate, ReplaceByRequest). action(b, Create, Plain).",
        expect![[r#"
            step(b, Up).
            step(a, Up).
            before(a, Up, b, Up).
            // a.Up b.Up.
        "#]],
    );
}

#[test]
fn a_provider_is_configured_before_what_it_serves_is_made_or_goes_late() {
    check(
        "
        reads(p, m). action(m, Create, Plain). serves(p, n). reads(n, p). serves(p, old). cbd(old).
        action(n, Create, Plain). action(old, Delete, Plain).
        ",
        expect![[r#"
            step(m, Up).
            step(n, Up).
            step(old, Late).
            before(p, Up, n, Up).
            before(p, Up, old, Late).
            before(m, Up, p, Up).
            // m.Up n.Up old.Late.
        "#]],
    );
}

#[test]
fn what_is_only_checked_again_has_a_step_behind_what_it_reads() {
    check(
        "reads(a, b). action(b, Update, Plain). action(a, NoOp, Plain). checked_again(a).",
        expect![[r#"
            step(a, Up).
            step(b, Up).
            before(b, Up, a, Up).
            // b.Up a.Up.
        "#]],
    );
}

#[test]
fn what_waits_comes_after_what_it_waits_for() {
    check(
        "waits_for(a, b). action(a, Create, Plain). action(b, Create, Plain).",
        expect![[r#"
            step(a, Up).
            step(b, Up).
            before(b, Up, a, Up).
            // b.Up a.Up.
        "#]],
    );
}

#[test]
fn what_only_waits_for_what_it_rested_on_needs_no_order_of_its_own() {
    check(
        "
        waits_for(a, b). needs(a, b). action(a, Update, Plain). action(b, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(a, Up).
            step(b, Down).
            step(b, Up).
            before(b, Down, b, Up).
            before(b, Up, a, Up).
            // b.Down b.Up a.Up.
        "#]],
    );
}

#[test]
fn an_ephemeral_resource_is_opened_before_anything_is_done_to_what_waits_for_it() {
    check(
        "
        waits_for(a, token). opened(token). carries(token). action(a, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(a, Down).
            step(a, Up).
            step(token, Down).
            before(a, Down, a, Up).
            before(token, Down, a, Down).
            before(token, Down, token, Up).
            before(token, Up, a, Up).
            // token.Down a.Down a.Up.
        "#]],
    );
}

#[test]
fn what_goes_first_goes_before_what_it_rests_on_goes_late() {
    check(
        "needs(b, a). cbd(a). action(b, Delete, Plain). action(a, Delete, Plain).",
        expect![[r#"
            step(b, Down).
            step(a, Late).
            before(b, Down, b, Up).
            before(b, Up, b, Settled).
            before(b, Settled, a, Settled).
            before(a, Settled, a, Late).
            // b.Down a.Late.
        "#]],
    );
}

#[test]
fn without_steps_there_is_nothing_to_order() {
    check(
        "reads(b, a). needs(b, a). action(a, NoOp, Plain).",
        expect![[r#"
            // .
        "#]],
    );
}

type Point = (Node, Phase);

/// Random objects: `needs` leads from higher to lower ids, `reads` by another order, so that some dependencies are reversed.
fn random(seed: u64) -> (Facts, Spread, Decisions) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut chance = move |out_of: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % out_of
    };
    let (mut facts, mut gone) = (Facts::default(), Instances::default());
    let count = 2 + chance(6) as u32;
    let rank: Vec<u64> = (0..count).map(|it| u64::from(it) + 4 * (chance(4) / 3)).collect();
    for n in 0..count {
        facts.managed.push((Node(n),));
        for m in 0..count {
            let (node, other) = (Node(n), Node(m));
            if n > m && chance(3) == 0 {
                facts.needs.push((node, other));
            }
            if (rank[n as usize], n) > (rank[m as usize], m) && chance(3) == 0 {
                facts.reads.push((node, other));
            }
        }
        if chance(5) == 0 {
            facts.state_cbd.push((Node(n),));
            gone.to_be_destroyed.push((Node(n),));
        }
        if n > 0 && chance(8) == 0 {
            facts.deposed_of.push((Node(n), Node(n - 1)));
        }
    }
    let found = crate::spread::spread(&Ledger::of(&facts).with(&gone));
    let mut decisions = Decisions::default();
    for n in (0..count).map(Node) {
        let action = match chance(6) {
            0 => Action::NoOp,
            1 => Action::Create,
            2 => Action::Update,
            3 => Action::Delete,
            4 if found.cbd.contains(&(n,)) => Action::CreateThenDelete,
            _ if !found.cbd.contains(&(n,)) => Action::DeleteThenCreate,
            _ => Action::NoOp,
        };
        decisions.action.push((n, action, Reason::Plain));
    }
    (facts, found, decisions)
}

/// Every edge between any two phases, steps or not.
fn all_edges(facts: &Facts, spread: &Spread, order: &Order) -> Vec<(Point, Point)> {
    use Phase::{Down, Late, Settled, Up};
    let cbd = |n: Node| spread.cbd.contains(&(n,));
    let mut edges = Vec::new();
    for &(n, m) in &facts.reads {
        edges.push(((m, Up), (n, Up)));
    }
    // From what goes to what is made, no way leads through what has no step there.
    let is_step = |point: Point| order.step.contains(&point);
    for &(n, m) in &facts.needs {
        edges.push(((n, Down), (m, Down)));
        if is_step((m, Up)) {
            edges.push(((n, Down), (m, Up)));
        }
        if is_step((m, Down)) {
            edges.push(((m, Down), (n, Up)));
        }
        edges.extend([((n, Settled), (m, Settled)), ((n, Late), (m, Late))]);
        if order.step.contains(&(n, Late)) {
            edges.push(((m, Up), (n, Late)));
        }
    }
    for n in (0..8).map(Node) {
        edges.push(((n, Up), (n, Settled)));
        match cbd(n) {
            true => edges.push(((n, Settled), (n, Late))),
            false if is_step((n, Down)) => edges.push(((n, Down), (n, Up))),
            false => {}
        }
    }
    for &(o, i) in &facts.deposed_of {
        edges.push(((i, Settled), (o, Late)));
    }
    edges
}

/// Everything that comes after each step.
fn after(steps: &[Point], edges: &[(Point, Point)]) -> Vec<(Point, Point)> {
    let mut found = Vec::new();
    for &step in steps {
        let mut seen = vec![step];
        let mut index = 0;
        while index < seen.len() {
            for &(from, to) in edges {
                if from == seen[index] && !seen.contains(&to) {
                    seen.push(to);
                }
            }
            index += 1;
        }
        found.extend(seen[1..].iter().filter(|it| steps.contains(it)).map(|&it| (step, it)));
    }
    found.sort();
    found
}

#[test]
fn pruning_loses_no_order_and_what_must_come_first_does() {
    for seed in 1..2_000 {
        let (facts, spread, decisions) = random(seed);
        let found = order(&Ledger::of(&facts).with(&spread).with(&decisions));
        let pruned: Vec<(Point, Point)> =
            found.before.iter().map(|it| ((it.0, it.1), (it.2, it.3))).collect();
        let closed = after(&found.step, &pruned);
        assert_eq!(closed, after(&found.step, &all_edges(&facts, &spread, &found)), "seed {seed}");
        assert!(!closed.iter().any(|&(a, b)| closed.contains(&(b, a))), "a circle, seed {seed}");

        let step = |point: Point| found.step.contains(&point);
        let first = |a: Point, b: Point| {
            assert!(
                !step(a) || !step(b) || closed.contains(&(a, b)),
                "{a:?} before {b:?}, seed {seed}"
            );
        };
        for &(n, m) in &facts.reads {
            first((m, Phase::Up), (n, Phase::Up));
        }
        for &(n, m) in &facts.needs {
            for going in [Phase::Down, Phase::Late] {
                first((n, going), (m, Phase::Down));
                first((n, going), (m, Phase::Late));
            }
            first((m, Phase::Down), (n, Phase::Up));
            first((n, Phase::Up), (m, Phase::Late));
            first((n, Phase::Down), (m, Phase::Up));
            first((m, Phase::Up), (n, Phase::Late));
        }
    }
}

#[test]
fn an_ephemeral_resource_is_opened_before_anything_that_uses_it_is_touched() {
    check(
        "
        opened(token). carries(token). carries(local). reads(local, token).
        reads(app, local). action(app, DeleteThenCreate, ReplaceByRequest).
        ",
        expect![[r#"
            step(token, Down).
            step(app, Down).
            step(app, Up).
            before(token, Down, token, Up).
            before(token, Down, local, Down).
            before(token, Up, local, Up).
            before(local, Down, app, Down).
            before(local, Up, app, Up).
            before(app, Down, app, Up).
            // token.Down app.Down app.Up.
        "#]],
    );
}

#[test]
fn an_ephemeral_resource_is_opened_before_what_its_provider_destroys() {
    check(
        "
        opened(token). carries(token). carries(aws). reads(aws, token).
        serves(aws, app). action(app, Delete, Plain).
        ",
        expect![[r#"
            step(token, Down).
            step(app, Down).
            before(token, Down, aws, Down).
            before(aws, Down, app, Down).
            // token.Down app.Down.
        "#]],
    );
}

#[test]
fn one_that_waits_for_what_is_made_is_opened_after_it() {
    check(
        "
        opened(token). opens_later(token, db). carries(token). reads(token, db).
        reads(app, token). action(app, Create, Plain). action(db, Create, Plain).
        ",
        expect![[r#"
            step(token, Up).
            step(db, Up).
            step(app, Up).
            before(token, Up, app, Up).
            before(db, Up, token, Up).
            // db.Up token.Up app.Up.
        "#]],
    );
}

#[test]
fn an_ephemeral_resource_is_opened_before_what_uses_it_is_made() {
    check(
        "
        opened(token). carries(token). reads(app, token). cbd(app).
        action(app, CreateThenDelete, ReplaceByRequest).
        ",
        expect![[r#"
            step(token, Down).
            step(app, Up).
            step(app, Late).
            before(token, Down, token, Up).
            before(token, Up, app, Up).
            before(app, Up, app, Settled).
            before(app, Settled, app, Late).
            // token.Down app.Up app.Late.
        "#]],
    );
}

#[test]
fn an_ephemeral_resource_is_opened_first_though_creating_first_spreads_to_it() {
    check(
        "
        opened(token). carries(token). carries(aws). reads(aws, token). reads(app, aws). serves(aws, app). serves(aws, gone).
        cbd(app). cbd(token). cbd(gone). action(app, Create, Plain). action(gone, Delete, Plain).
        ",
        expect![[r#"
            step(token, Down).
            step(app, Up).
            step(gone, Late).
            before(token, Down, token, Up).
            before(token, Up, aws, Up).
            before(aws, Up, app, Up).
            before(aws, Up, gone, Late).
            // token.Down app.Up gone.Late.
        "#]],
    );
}

#[test]
fn data_in_checks_is_read_when_everything_is_made() {
    check(
        "check_gate(probe). in_check(probe). in_check(other). managed(app). managed(db). reads(app, db). action(db, Create, Plain). action(app, Create, Plain).
         action(probe, Read, ReadBecauseCheckNested). action(other, Read, ReadBecauseCheckNested). action(plain, Read, Plain).",
        expect![[r#"
            step(probe, Up).
            step(other, Up).
            step(app, Up).
            step(db, Up).
            step(plain, Up).
            before(probe, Made, probe, Up).
            before(probe, Made, other, Up).
            before(app, Up, probe, Made).
            before(db, Up, probe, Made).
            before(db, Up, app, Up).
            // db.Up app.Up plain.Up probe.Up other.Up.
        "#]],
    );
}

#[test]
fn what_a_request_wants_first_is_done_first() {
    check(
        "ordered(a, b, f). action(a, Create, Plain). action(b, DeleteThenCreate, Plain).",
        expect![[r#"
            step(a, Up).
            step(b, Down).
            step(b, Up).
            before(a, Up, b, Down).
            before(a, Up, b, Up).
            before(b, Down, b, Up).
            // a.Up b.Down b.Up.
        "#]],
    );
    check(
        "ordered(a, b, f). cbd(a). action(a, CreateThenDelete, Plain). action(b, Update, Plain).",
        expect![[r#"
            step(a, Up).
            step(a, Late).
            step(b, Up).
            before(a, Up, a, Settled).
            before(a, Up, b, Up).
            before(a, Settled, a, Late).
            // a.Up b.Up a.Late.
        "#]],
    );
    check(
        "ordered(a, b, f). cbd(a). action(a, Delete, Plain). action(b, Update, Plain).",
        expect![[r#"
            step(a, Late).
            step(b, Up).
            before(a, Late, b, Up).
            // a.Late b.Up.
        "#]],
    );
}

/// What goes, and what its provider is made from for the first time.
const GONE: &str = "
    managed(cluster). reads(provider, cluster). provider_unknown(provider). serves(provider, gone). managed(gone). in_state(gone).
    action(cluster, Create, Plain). action(gone, Delete, Plain).
";

#[track_caller]
fn check_existing(more: &str, conclusions: Expect) {
    check(&format!("{GONE}{more}"), conclusions);
}

#[test]
fn what_goes_waits_for_a_provider_that_has_no_former_configuration() {
    check_existing(
        "",
        expect![[r#"
            step(cluster, Up).
            step(gone, Down).
            before(cluster, Up, provider, Up).
            before(provider, Up, gone, Down).
            // cluster.Up gone.Down.
        "#]],
    );
    // Through a value, and through data that is read for the first time.
    check(
        "managed(cluster). data(found). reads(found, cluster). reads(value, found). reads(provider, value). provider_unknown(provider).
         serves(provider, gone). managed(gone). in_state(gone). in_state(cluster).
         action(cluster, Update, Plain). action(found, Read, Plain). action(gone, Delete, Plain).",
        expect![[r#"
            step(cluster, Up).
            step(found, Up).
            step(gone, Down).
            before(cluster, Up, found, Up).
            before(found, Up, value, Up).
            before(value, Up, provider, Up).
            before(provider, Up, gone, Down).
            // cluster.Up found.Up gone.Down.
        "#]],
    );
    // What is recorded of its dependencies does not hold it back: nothing exists of them.
    check_existing(
        "needs(gone, cluster).",
        expect![[r#"
            step(cluster, Up).
            step(gone, Down).
            before(cluster, Up, provider, Up).
            before(provider, Up, gone, Down).
            // cluster.Up gone.Down.
        "#]],
    );
    // It goes before what it depends on, which exists.
    check_existing(
        "needs(gone, network). needs(gone, kept). needs(kept, network). managed(network). in_state(network). action(network, Delete, Plain).",
        expect![[r#"
            step(cluster, Up).
            step(gone, Down).
            step(network, Down).
            before(gone, Down, network, Down).
            before(gone, Down, kept, Down).
            before(kept, Down, network, Down).
            // gone.Down network.Down cluster.Up.
        "#]],
    );
    check_existing(
        "needs(gone, kept). needs(kept, network). managed(network). in_state(network). action(network, Delete, Plain).",
        expect![[r#"
            step(cluster, Up).
            step(gone, Down).
            step(network, Down).
            before(gone, Down, kept, Down).
            before(kept, Down, network, Down).
            // gone.Down network.Down cluster.Up.
        "#]],
    );
}
