//! What `selection` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::Facts;
use crate::instances::Instances;
use crate::text::{self, Names};

/// The one place that calls the stratum: facts in, conclusions out, both as text.
#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = select(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_reads_an_excluded_object_is_left_out_too() {
    check(
        "object(app). object(db). object(dns). reads(app, db). excluding(). hit(db, Exclude, f).",
        expect![[r#"
            out(app).
            out(db).
            excluded_by(app, db).
            excluded_by(db, db).
            selected(dns).
            excluded(app).
            excluded(db).
        "#]],
    );
}

#[test]
fn exclusion_passes_through_values() {
    check(
        "object(app). object(db). reads(app, local). reads(local, db). excluding(). hit(db, Exclude, f).",
        expect![[r#"
            out(app).
            out(db).
            out(local).
            excluded_by(app, local).
            excluded_by(db, db).
            excluded_by(local, db).
            excluded(app).
            excluded(db).
        "#]],
    );
}

#[test]
fn who_reads_an_excluded_instance_of_keys_not_known_yet_is_decided_once_they_are() {
    check(
        "object(p). pending(p). object(user). reads(all, p). reads_open(all, p). reads(user, all). excluding(). hit(p, Part, f).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, all).
            doubted_by(all, p).
            selection_awaits(user, p).
            selection_awaits(all, p).
            open(user).
            selected(p).
        "#]],
    );
}

#[test]
fn an_excluded_instance_that_is_not_there_leaves_nothing_out() {
    check(
        "
    object(p). pending(p). keys_from(p, p). object(user). reads(all, p). reads_open(all, p). reads(user, all).
    filtered(). excluding(). hit(p, Part, f). hit(z, Exclude, f). late(z, p). expanded(p). object(x). late(x, p). reads(all, x).
",
        expect![[r#"
            out(z).
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, all).
            doubted_by(all, p).
            excluded_by(z, z).
            selected(p).
            selected(user).
            selected(x).
            evaluated(all).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
}

#[test]
fn an_excluded_instance_that_is_there_leaves_its_readers_out() {
    check(
        "
    object(p). pending(p). keys_from(p, p). object(user). reads(all, p). reads_open(all, p). reads(user, all).
    filtered(). excluding(). hit(p, Part, f). hit(z, Exclude, f). late(z, p). expanded(p). object(x). late(x, p). reads(all, x). object(z). reads(all, z).",
        expect![[r#"
            out(user).
            out(all).
            out(z).
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, all).
            doubted_by(all, p).
            excluded_by(user, all).
            excluded_by(all, z).
            excluded_by(z, z).
            selected(p).
            selected(x).
            excluded(user).
            excluded(z).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
}

#[test]
fn who_reads_one_instance_that_may_read_what_is_left_out_is_decided_once_it_does() {
    check(
        "object(user). object(x). late(x, p). may_read(x, base). reads(user, x). reads_open(user, x). excluding(). hit(base, Exclude, f).",
        expect![[r#"
            out(base).
            doubtful(x).
            doubted_by(user, x).
            doubted_by(x, base).
            excluded_by(base, base).
            selection_awaits(user, p).
            open(user).
            open(x).
        "#]],
    );
}

#[test]
fn what_may_read_a_value_whose_exclusion_is_not_known_yet_may_be_left_out_too() {
    check(
        "pending(p). reads(all, p). reads_open(all, p). excluding(). hit(p, Part, f). may_read(q, all).",
        expect![[r#"
            doubtful(p).
            doubtful(q).
            doubted_by(p, p).
            doubted_by(all, p).
            doubted_by(q, all).
            selection_awaits(all, p).
        "#]],
    );
}

#[test]
fn what_would_go_and_may_have_to_stay_is_decided_with_what_rests_on_it() {
    check(
        "
        object(p). pending(p). keys_from(p, p). object(user). reads(user, p). reads_open(user, p). excluding(). hit(p, Part, f).
        in_state(user). object(gone). in_state(gone). needs(user, gone). to_be_destroyed(gone).
    ",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, p).
            doubted_by(gone, user).
            judged_after(gone, p).
            delayed(gone, p).
            selection_awaits(user, p).
            selection_awaits(gone, p).
            open(user).
            open(gone).
            selected(p).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
    // Keys cannot wait for what they depend on.
    check(
        "
        object(p). pending(p). keys_from(p, p). object(user). reads(user, p). reads_open(user, p). excluding(). hit(p, Part, f).
        in_state(user). object(gone). in_state(gone). needs(user, gone). to_be_destroyed(gone). reads(p, keys). waits_for(keys, v). reads(v, w). waits_for(w, gone).",
        expect![[r#"
            out(gone).
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, p).
            doubted_by(gone, user).
            kept(gone).
            guarded(gone).
            judged_after(gone, p).
            excluded_by(gone, user).
            selection_awaits(user, p).
            selection_awaits(gone, p).
            open(user).
            selected(p).
            excluded(gone).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
}

#[test]
fn what_late_keys_may_depend_on_is_not_decided_after_them() {
    // The keys of `q` come from all instances of `p`: `x` may be one, and any may read `base`.
    check(
        "pending(p). keys_from(p, p). pending(q). keys_from(q, q). late(old, q). in_state(old). excluding(). hit(old, Exclude, f).
         needs(old, x). needs(old, base). needs(old, other). late(x, p). may_read(p, base).
         reads(q, keys). reads(keys, all). reads(all, p). reads_open(all, p).",
        expect![[r#"
            out(old).
            kept(old).
            kept(x).
            kept(base).
            kept(other).
            judged_after(x, q).
            judged_after(base, q).
            judged_after(other, q).
            delayed(other, q).
            excluded_by(old, old).
        "#]],
    );
    check(
        "pending(p). expanded(p). pending(q). keys_from(q, q). late(old, q). in_state(old). filtered(). excluding(). hit(q, Part, f).
         hit(old, Part, f). object(x). in_state(x). to_be_destroyed(x). needs(old, x). late(x, p).
         reads(q, keys). reads(keys, all). reads(all, p). reads_open(all, p).",
        expect![[r#"
            out(x).
            doubtful(q).
            doubtful(old).
            doubted_by(q, q).
            doubted_by(old, old).
            doubted_by(x, old).
            kept(x).
            guarded(x).
            judged_after(x, q).
            excluded_by(x, old).
            selection_awaits(x, q).
            excluded(x).
        "#]],
    );
}

#[test]
fn with_targets_only_what_is_wanted_waits_for_keys() {
    check(
        "object(p). pending(p). object(user). object(other). reads(user, p). reads_open(user, p). reads(other, p). reads_open(other, p).
         filtered(). targeting(). hit(user, Target, f). excluding(). hit(p, Part, g).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, p).
            doubted_by(other, p).
            want(p).
            want(user).
            wanted_by(p, user).
            wanted_by(user, user).
            selection_awaits(user, p).
            selection_awaits(other, p).
            open(user).
            selected(p).
            untargeted(other).
        "#]],
    );
}

#[test]
fn values_that_what_may_take_part_reads_are_evaluated_unless_they_wait_too() {
    check(
        "object(p). pending(p). object(user). object(q). reads(all, p). reads_open(all, p). reads(user, all). reads(user, v). reads(v, w).
         reads(q, all). may_read(q, u). filtered(). excluding(). hit(p, Part, f).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, all).
            doubted_by(q, all).
            doubted_by(all, p).
            selection_awaits(user, p).
            selection_awaits(q, p).
            selection_awaits(all, p).
            open(user).
            open(q).
            selected(p).
            evaluated(v).
            evaluated(w).
            evaluated(u).
        "#]],
    );
}

#[test]
fn what_rests_below_an_object_that_may_have_to_stay_may_have_to_stay_too() {
    check(
        "object(p). pending(p). keys_from(p, p). object(user). reads(user, p). reads_open(user, p). excluding(). hit(p, Part, f).
         in_state(user). object(gone). in_state(gone). needs(user, gone). to_be_destroyed(gone).
         object(below). in_state(below). needs(gone, below). to_be_destroyed(below).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, p).
            doubted_by(gone, user).
            doubted_by(below, gone).
            judged_after(gone, p).
            judged_after(below, p).
            delayed(gone, p).
            delayed(below, p).
            selection_awaits(user, p).
            selection_awaits(gone, p).
            selection_awaits(below, p).
            open(user).
            open(gone).
            open(below).
            selected(p).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
}

#[test]
fn what_is_below_an_object_that_stays_anyway_may_have_to_stay_too() {
    check(
        "object(p). pending(p). keys_from(p, p). object(user). reads(user, p). reads_open(user, p). excluding(). hit(p, Part, f).
         in_state(user). object(between). in_state(between). needs(user, between).
         object(below). in_state(below). needs(between, below). to_be_destroyed(below).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, p).
            doubted_by(between, user).
            doubted_by(below, between).
            judged_after(between, p).
            judged_after(below, p).
            delayed(between, p).
            delayed(below, p).
            selection_awaits(user, p).
            selection_awaits(below, p).
            open(user).
            open(below).
            selected(p).
            selected(between).
            asks_keys(p).
            requires_keys(p).
        "#]],
    );
}

#[test]
fn what_may_have_to_stay_is_also_judged_after_its_own_keys() {
    check(
        "pending(p). keys_from(p, g). excluding(). hit(p, Part, f). reads(n, p). reads_open(n, p). in_state(n).
         late(n, q). pending(q). keys_from(q, h). needs(n, m).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(n, p).
            doubted_by(m, n).
            judged_after(m, g).
            judged_after(m, h).
            delayed(m, g).
            delayed(m, h).
            selection_awaits(n, p).
        "#]],
    );
}

#[test]
fn a_value_behind_one_that_waits_for_keys_is_evaluated_early() {
    check(
        "object(p). pending(p). object(user). reads(all, p). reads_open(all, p). reads(v, all). reads(user, v). reads(v, w).
         filtered(). excluding(). hit(p, Part, f).",
        expect![[r#"
            doubtful(p).
            doubted_by(p, p).
            doubted_by(user, v).
            doubted_by(all, p).
            doubted_by(v, all).
            selection_awaits(user, p).
            selection_awaits(all, p).
            selection_awaits(v, p).
            open(user).
            selected(p).
            evaluated(w).
        "#]],
    );
}

#[test]
fn what_an_excluded_object_rests_on_is_not_destroyed() {
    check(
        "
        mode(Destroy).
        object(net). object(db). object(app).
        in_state(net). in_state(db). in_state(app).
        to_be_destroyed(net). to_be_destroyed(db). to_be_destroyed(app).
        needs(app, db). needs(db, net).
        excluding(). hit(db, Exclude, f).
        ",
        expect![[r#"
            out(net).
            out(db).
            kept(net).
            kept(db).
            guarded(net).
            guarded(db).
            excluded_by(net, db).
            excluded_by(db, db).
            selected(app).
            excluded(net).
            excluded(db).
        "#]],
    );
}

#[test]
fn what_a_vanished_excluded_object_rests_on_is_guarded_though_it_stays() {
    check(
        "object(db). object(net). in_state(db). in_state(net). to_be_destroyed(db). needs(db, net). excluding(). hit(db, Exclude, f).",
        expect![[r#"
            out(db).
            kept(db).
            kept(net).
            guarded(db).
            guarded(net).
            excluded_by(db, db).
            selected(net).
            excluded(db).
        "#]],
    );
}

#[test]
fn what_an_excluded_object_rests_on_may_still_be_changed() {
    check(
        "object(db). object(app). in_state(db). in_state(app). needs(app, db). reads(app, db). excluding(). hit(app, Exclude, f).",
        expect![[r#"
            out(app).
            kept(db).
            kept(app).
            excluded_by(app, app).
            selected(db).
            excluded(app).
        "#]],
    );
}

#[test]
fn an_object_that_was_never_made_protects_nothing() {
    check(
        "object(db). object(app). in_state(db). to_be_destroyed(db). needs(app, db). excluding(). hit(app, Exclude, f).",
        expect![[r#"
            out(app).
            excluded_by(app, app).
            selected(db).
            excluded(app).
        "#]],
    );
}

#[test]
fn a_target_takes_what_it_reads_along() {
    check(
        "
        targeting().
        object(app). object(db). object(dns).
        reads(app, local). reads(local, db).
        hit(app, Target, f).
        ",
        expect![[r#"
            want(app).
            want(db).
            want(local).
            wanted_by(app, app).
            wanted_by(db, local).
            wanted_by(local, app).
            selected(app).
            selected(db).
            untargeted(dns).
        "#]],
    );
}

#[test]
fn keys_not_known_yet_are_asked_for_where_a_target_needs_the_whole() {
    check(
        "targeting(). object(p). pending(p). object(base). object(user). may_read(p, base). reads(all, p). reads_open(all, p). reads(user, all). hit(user, Target, f).",
        expect![[r#"
            want(p).
            want(base).
            want(user).
            want(all).
            wanted_by(p, all).
            wanted_by(base, p).
            wanted_by(user, user).
            wanted_by(all, user).
            selected(p).
            selected(base).
            selected(user).
        "#]],
    );
}

#[test]
fn keys_not_known_yet_are_asked_for_where_a_target_names_an_instance() {
    check(
        "targeting(). object(p). object(base). object(old). late(old, p). may_read(old, base). hit(old, Target, f).",
        expect![[r#"
            want(p).
            want(base).
            want(old).
            wanted_by(p, old).
            wanted_by(base, old).
            wanted_by(old, old).
            open(old).
            selected(p).
            selected(base).
        "#]],
    );
}

#[test]
fn keys_not_known_yet_are_asked_for_where_a_target_may_name_an_instance() {
    check(
        "targeting(). object(p). pending(p). object(base). may_read(p, base). hit(p, Among, f).",
        expect![[r#"
            want(p).
            want(base).
            wanted_by(p, p).
            wanted_by(base, p).
            selected(p).
            selected(base).
        "#]],
    );
}

#[test]
fn what_may_be_left_out_is_followed_through_what_is_not_known_yet() {
    check(
        "object(user). object(base). pending(q). excluding(). hit(base, Exclude, f). may_read(p, base). may_read(q, p). reads_open(user, q).",
        expect![[r#"
            out(base).
            doubtful(q).
            doubtful(p).
            doubted_by(user, q).
            doubted_by(q, p).
            doubted_by(p, base).
            excluded_by(base, base).
            selection_awaits(user, q).
            open(user).
            excluded(base).
        "#]],
    );
}

#[test]
fn what_rests_below_an_excluded_instance_is_judged_after_its_keys() {
    check(
        "in_state(x). late(x, p). keys_from(p, g). excluding(). hit(x, Exclude, f). needs(x, m). needs(m, l).",
        expect![[r#"
            out(x).
            kept(x).
            kept(m).
            kept(l).
            judged_after(m, g).
            judged_after(l, g).
            delayed(m, g).
            delayed(l, g).
            excluded_by(x, x).
        "#]],
    );
}

#[test]
fn what_rests_below_a_doubtful_instance_is_judged_after_its_keys() {
    check(
        "in_state(x). late(x, p). keys_from(p, g). may_read(x, up). excluding(). hit(up, Exclude, f). needs(x, m).",
        expect![[r#"
            out(up).
            doubtful(x).
            doubted_by(x, up).
            doubted_by(m, x).
            judged_after(m, g).
            delayed(m, g).
            excluded_by(up, up).
        "#]],
    );
}

#[test]
fn what_rests_below_an_instance_that_is_kept_is_judged_after_its_keys() {
    check(
        "in_state(user). excluding(). hit(user, Exclude, f). needs(user, x). late(x, p). keys_from(p, g). needs(x, m).",
        expect![[r#"
            out(user).
            kept(user).
            kept(x).
            kept(m).
            judged_after(m, g).
            delayed(m, g).
            excluded_by(user, user).
        "#]],
    );
}

#[test]
fn what_a_doubtful_instance_rests_on_is_judged_after_its_keys_and_its_own() {
    check(
        "in_state(x). late(x, p). keys_from(p, g). may_read(x, up). excluding(). hit(up, Exclude, f). needs(x, y). late(y, q). keys_from(q, h). needs(x, z). late(z, r). keys_from(r, g).",
        expect![[r#"
            out(up).
            doubtful(x).
            doubted_by(x, up).
            doubted_by(y, x).
            doubted_by(z, x).
            judged_after(y, g).
            judged_after(z, g).
            delayed(y, g).
            delayed(z, g).
            excluded_by(up, up).
        "#]],
    );
}

#[test]
fn where_something_is_left_out_only_what_takes_part_has_values_evaluated() {
    check(
        "filtered(). object(a). object(b). reads(a, v). reads(v, w). reads(w, b). reads(b, unused). excluding(). hit(b, Exclude, f). object(c). reads(c, x). reads(x, y). object(p). pending(p). may_read(p, u).",
        expect![[r#"
            out(a).
            out(b).
            out(v).
            out(w).
            excluded_by(a, v).
            excluded_by(b, b).
            excluded_by(v, w).
            excluded_by(w, b).
            selected(c).
            selected(p).
            excluded(a).
            excluded(b).
            evaluated(x).
            evaluated(y).
            evaluated(u).
        "#]],
    );
}

#[test]
fn an_instance_that_may_read_what_is_left_out_holds_what_it_rests_on() {
    check(
        "object(base). object(old). object(up). in_state(old). in_state(base). to_be_destroyed(base). needs(old, base).
         late(old, p). may_read(old, up). excluding(). hit(up, Exclude, f).",
        expect![[r#"
            out(up).
            doubtful(old).
            doubted_by(base, old).
            doubted_by(old, up).
            excluded_by(up, up).
            selection_awaits(base, p).
            open(base).
            open(old).
            excluded(up).
        "#]],
    );
}

#[test]
fn an_instance_found_in_the_walk_is_selected_by_what_it_reads_itself() {
    let mut names = Names::default();
    let (facts, earlier) = text::read_ledger(
        "
        targeting(). object(x). object(y). reads(x, up). reads(y, down). reads(all, x). reads(all, y).
        out(down). want(all).
        ",
        &mut names,
    );
    let found = select(&earlier.ledger(&facts));
    expect![[r#"
        out(y).
        out(down).
        out(all).
        excluded_by(y, down).
        excluded_by(all, y).
        want(x).
        want(y).
        want(up).
        want(down).
        want(all).
        wanted_by(x, all).
        wanted_by(y, all).
        wanted_by(up, x).
        wanted_by(down, y).
        selected(x).
        excluded(y).
    "#]]
    .assert_eq(&text::print(&found, &names));
}

#[test]
fn destroying_a_target_destroys_what_rests_on_it() {
    check(
        "
        mode(Destroy). targeting().
        object(net). object(db). object(app).
        to_be_destroyed(net). to_be_destroyed(db). to_be_destroyed(app).
        needs(app, db). needs(db, net).
        hit(db, Target, f).
        ",
        expect![[r#"
            want(db).
            want(app).
            wanted_by(db, db).
            wanted_by(app, db).
            selected(db).
            selected(app).
            untargeted(net).
        "#]],
    );
}

#[test]
fn of_a_target_and_an_exclusion_the_plain_intersection_is_selected() {
    check(
        "
        targeting().
        object(a). object(b). object(c). object(d).
        reads(b, a). reads(c, b).
        hit(c, Target, t). hit(b, Exclude, x).
        ",
        expect![[r#"
            out(b).
            out(c).
            excluded_by(b, b).
            excluded_by(c, b).
            want(a).
            want(b).
            want(c).
            wanted_by(a, b).
            wanted_by(b, c).
            wanted_by(c, c).
            selected(a).
            excluded(b).
            excluded(c).
            untargeted(d).
        "#]],
    );
}

/// A random graph: `reads` and `needs` lead from higher to lower ids.
fn random(seed: u64) -> (Facts, Instances) {
    let (mut facts, mut gone) = (Facts::default(), Instances::default());
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut chance = move |out_of: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % out_of
    };
    if chance(2) == 0 {
        facts.targeting.push(());
    }
    facts.mode.push((if chance(3) == 0 { Mode::Destroy } else { Mode::Normal },));
    let count = 2 + chance(9) as u32;
    for n in 0..count {
        let node = Node(n);
        if chance(4) != 0 {
            facts.object.push((node,));
        }
        if chance(2) == 0 {
            facts.in_state.push((node,));
        }
        if chance(3) == 0 {
            gone.to_be_destroyed.push((node,));
        }
        if chance(3) == 0 {
            facts.pending.push((node,));
        }
        if n > 0 && chance(2) == 0 {
            facts.keys_from.push((node, Node(chance(u64::from(n)) as u32)));
        }
        match chance(3) {
            0 => facts.expanded.push((node,)),
            1 => facts.skipped.push((node,)),
            _ => {}
        }
        match chance(8) {
            0 => facts.hit.push((node, Hit::Exclude, Flag(0))),
            1 => facts.hit.push((node, Hit::Target, Flag(0))),
            2 => facts.hit.push((node, Hit::Part, Flag(0))),
            3 => facts.hit.push((node, Hit::Among, Flag(0))),
            _ => {}
        }
        for m in 0..n {
            match chance(5) {
                0 => facts.reads.push((node, Node(m))),
                1 => facts.needs.push((node, Node(m))),
                2 if chance(4) == 0 => facts.late.push((node, Node(m))),
                3 => match chance(3) {
                    0 => facts.may_read.push((node, Node(m))),
                    1 => facts.reads_open.push((node, Node(m))),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    if facts.hit.iter().any(|it| matches!(it.1, Hit::Exclude | Hit::Part)) {
        facts.excluding.push(());
    }
    if facts.mode == [(Mode::Destroy,)] {
        // Only what exists rests on something, and all of it would go.
        facts.in_state.extend(facts.needs.iter().map(|it| (it.0,)));
        facts.in_state.sort();
        facts.in_state.dedup();
        gone.to_be_destroyed = facts.in_state.clone();
    }
    (facts, gone)
}

/// The same by going over everything until nothing changes.
fn brute_force(facts: &Facts, gone: &Instances) -> [Vec<(Node,)>; 4] {
    use std::collections::BTreeSet;
    let has = |rows: &[(Node,)], n: Node| rows.contains(&(n,));
    let hits = |n: Node, hit: Hit| facts.hit.iter().any(|it| it.0 == n && it.1 == hit);
    let all: Vec<Node> = (0..12).map(Node).collect();
    let (mut out, mut kept, mut want) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut doubtful: BTreeSet<Node> = BTreeSet::new();
    // Pairs of an object and a pending node.
    let (mut depends, mut stays) = (BTreeSet::new(), BTreeSet::new());
    let of = |rows: &[(Node, Node)], n: Node| {
        rows.iter().filter(|it| it.0 == n).map(|it| it.1).collect::<Vec<_>>()
    };
    let has_late = |n: Node| facts.late.iter().any(|it| it.0 == n);
    loop {
        let before = (out.len(), kept.len(), want.len(), doubtful.len());
        let before = (before, depends.len(), stays.len());
        let is_needed = |g: Node, stays: &BTreeSet<(Node, Node)>, kept: &BTreeSet<Node>| {
            let comes = |p: Node| facts.keys_from.contains(&(p, g));
            let is_kept = |n: Node| kept.contains(&n) || stays.iter().any(|it| it.0 == n);
            stays.iter().any(|it| comes(it.1))
                || facts.late.iter().any(|it| comes(it.1) && is_kept(it.0))
        };
        let sources: Vec<Node> =
            all.iter().copied().filter(|it| is_needed(*it, &stays, &kept)).collect();
        let mut depended_on: BTreeSet<Node> = BTreeSet::new();
        let mut open = sources;
        while let Some(next) = open.pop() {
            let may = if depended_on.contains(&next) { of(&facts.may_read, next) } else { vec![] };
            let behind =
                if depended_on.contains(&next) { of(&facts.reads_open, next) } else { vec![] };
            let late = facts.late.iter().filter(|it| behind.contains(&it.1)).map(|it| it.0);
            let further = of(&facts.reads, next).into_iter().chain(of(&facts.waits_for, next));
            open.extend(further.chain(may).chain(late).filter(|it| depended_on.insert(*it)));
        }
        for &n in &all {
            let is_behind = |m: Node| depends.iter().any(|it: &(Node, Node)| it.0 == m);
            let is_in_doubt = |m: &Node| out.contains(m) || doubtful.contains(m) || is_behind(*m);
            if hits(n, Hit::Part) || of(&facts.may_read, n).iter().any(is_in_doubt) {
                doubtful.insert(n);
            }
            for m in of(&facts.reads_open, n).into_iter().filter(|it| doubtful.contains(it)) {
                depends.extend(has(&facts.pending, m).then_some((n, m)));
                depends.extend(of(&facts.late, m).into_iter().map(|it| (n, it)));
            }
            for m in of(&facts.reads, n) {
                let of_it: Vec<Node> =
                    depends.iter().filter(|it| it.0 == m).map(|it| it.1).collect();
                depends.extend(of_it.into_iter().map(|it| (n, it)));
            }
            if has(&facts.in_state, n) {
                stays.extend(depends.iter().copied().filter(|it| it.0 == n));
                let own = of(&facts.late, n).into_iter().filter(|_| doubtful.contains(&n));
                stays.extend(own.map(|it| (n, it)));
            }
            let below: Vec<(Node, Node)> = stays.iter().copied().filter(|it| it.0 == n).collect();
            for m in of(&facts.needs, n) {
                stays.extend(below.iter().map(|it| (m, it.1)));
                if has(&gone.to_be_destroyed, m) {
                    depends.extend(below.iter().map(|it| (m, it.1)));
                }
            }
            if hits(n, Hit::Exclude)
                || facts.reads.iter().any(|&(r, m)| r == n && out.contains(&m))
                || kept.contains(&n) && has(&gone.to_be_destroyed, n)
            {
                out.insert(n);
            }
            let is_spared = |r: Node| {
                stays.iter().any(|it| it.0 == r)
                    && has(&gone.to_be_destroyed, n)
                    && depended_on.contains(&n)
            };
            if out.contains(&n) && has(&facts.in_state, n)
                || facts.needs.iter().any(|&(r, m)| m == n && (kept.contains(&r) || is_spared(r)))
            {
                kept.insert(n);
            }
            let destroyed_dependent = facts.mode[0].0 == Mode::Destroy
                && facts.needs.iter().any(|&(r, m)| r == n && want.contains(&m));
            if hits(n, Hit::Target)
                || facts.reads.iter().any(|&(r, m)| m == n && want.contains(&r))
                || hits(n, Hit::Among)
                || facts.late.iter().any(|&(i, p)| p == n && want.contains(&i))
                || facts.may_read.iter().any(|&(r, m)| {
                    let whole = facts.reads_open.iter().any(|it| it.1 == r && want.contains(&it.0));
                    m == n
                        && (hits(r, Hit::Among)
                            || want.contains(&r) && has_late(r)
                            || has(&facts.pending, r) && whole)
                })
                || destroyed_dependent
            {
                want.insert(n);
            }
        }
        let after = (out.len(), kept.len(), want.len(), doubtful.len());
        if before == (after, depends.len(), stays.len()) {
            break;
        }
    }
    let targeting = !facts.targeting.is_empty();
    let mut sorted: Vec<(Node,)> = facts.object.clone();
    sorted.sort();
    let is_known = |p: Node| has(&facts.expanded, p) || has(&facts.skipped, p);
    let is_late = |n: Node| of(&facts.late, n).into_iter().any(|it| !is_known(it));
    let awaits = |n: Node| depends.iter().any(|it| it.0 == n && !is_known(it.1));
    let is_wanted = |n: Node| !targeting || want.contains(&n);
    let pick =
        |test: &dyn Fn(Node) -> bool| sorted.iter().copied().filter(|it| test(it.0)).collect();
    [
        pick(&|n| is_wanted(n) && !out.contains(&n) && !is_late(n) && !awaits(n)),
        pick(&|n| out.contains(&n)),
        pick(&|n| !is_wanted(n) && !out.contains(&n) && !is_late(n)),
        pick(&|n| is_late(n) || is_wanted(n) && !out.contains(&n) && awaits(n)),
    ]
}

#[test]
fn the_rules_agree_with_going_over_everything_and_every_object_has_one_outcome() {
    for seed in 1..3_000 {
        let (facts, gone) = random(seed);
        let selection = select(&Ledger::of(&facts).with(&gone));
        let expected = brute_force(&facts, &gone);
        let found = [selection.selected, selection.excluded, selection.untargeted, selection.open];
        assert_eq!(found, expected, "seed {seed}: {facts:?}");
        let outcomes: usize = found[..3].iter().map(Vec::len).sum();
        let left_open = found[3].iter().filter(|it| !found[1].contains(it)).count();
        assert_eq!(outcomes + left_open, facts.object.len(), "seed {seed}");
    }
}

#[test]
fn keys_are_asked_for_where_something_takes_part() {
    check(
        "
        mode(Normal). object(p). pending(p). keys_from(p, g). object(q). pending(q). keys_from(q, h). excluding(). hit(q, Exclude, f).
        filtered().
        ",
        expect![[r#"
            out(q).
            excluded_by(q, q).
            selected(p).
            excluded(q).
            asks_keys(g).
            requires_keys(g).
        "#]],
    );
}

#[test]
fn a_run_that_leaves_nothing_out_evaluates_every_value() {
    check(
        "mode(Normal).",
        expect![[r#"
        evaluates_all().
    "#]],
    );
    check("mode(RefreshOnly). filtered().", expect![[""]]);
    check("mode(Destroy).", expect![[""]]);
}

#[test]
fn what_keys_wait_for_is_not_decided_after_them() {
    check(
        "
        in_state(x). late(x, p). keys_from(p, g). to_be_destroyed(x). may_read(x, up). excluding(). hit(up, Exclude, f). needs(x, m). needs(x, k).
        reads(g, v). reads(v, m). waits_for(g, w). waits_for(w, z). needs(x, z).
        ",
        expect![[r#"
            out(up).
            doubtful(x).
            doubted_by(x, up).
            doubted_by(m, x).
            doubted_by(k, x).
            doubted_by(z, x).
            judged_after(m, g).
            judged_after(k, g).
            judged_after(z, g).
            delayed(k, g).
            excluded_by(up, up).
        "#]],
    );
}

#[test]
fn two_that_would_wait_for_each_others_keys_do_not() {
    check(
        "
        in_state(x). late(x, p). keys_from(p, g). may_read(x, up). excluding(). hit(up, Exclude, f). needs(x, m). reads(h, m).
        in_state(y). late(y, q). keys_from(q, h). may_read(y, up). needs(y, n). reads(g, n).
        ",
        expect![[r#"
            out(up).
            doubtful(x).
            doubtful(y).
            doubted_by(x, up).
            doubted_by(m, x).
            doubted_by(y, up).
            doubted_by(n, y).
            judged_after(m, g).
            judged_after(n, h).
            excluded_by(up, up).
        "#]],
    );
}

#[test]
fn what_keys_wait_for_a_part_of_is_not_decided_after_them() {
    check(
        "in_state(x). late(x, p). keys_from(p, g). may_read(x, up). excluding(). hit(up, Exclude, f). needs(x, z). waits_for(g, z).",
        expect![[r#"
            out(up).
            doubtful(x).
            doubted_by(x, up).
            doubted_by(z, x).
            judged_after(z, g).
            excluded_by(up, up).
        "#]],
    );
}

#[test]
fn the_keys_of_a_call_are_asked_for_where_everything_is_evaluated() {
    check(
        "
        mode(Normal). call_keys(g).
        ",
        expect![[r#"
            evaluates_all().
            asks_keys(g).
            requires_keys(g).
        "#]],
    );
    check(
        "
        mode(Normal). precedes_destroy(). call_keys(g).
        ",
        expect![[r#"
            evaluates_all().
            asks_keys(g).
        "#]],
    );
    check(
        "
        mode(Normal). filtered(). targeting(). call_keys(g).
        ",
        expect![[""]],
    );
}

#[test]
fn what_no_target_wants_is_recalled_where_what_is_evaluated_leads_to_it() {
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). waits_for(t, a).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
            consulted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). reads(t, v). waits_for(v, w). reads(w, a).",
        expect![[r#"
            want(t).
            want(v).
            wanted_by(t, t).
            wanted_by(v, t).
            selected(t).
            untargeted(a).
            evaluated(v).
            consulted(a).
            consulted(w).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). reads(t, v). waits_for(v, w). waits_for(w, x). reads(x, a).",
        expect![[r#"
            want(t).
            want(v).
            wanted_by(t, t).
            wanted_by(v, t).
            selected(t).
            untargeted(a).
            evaluated(v).
            consulted(a).
            consulted(w).
            consulted(x).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). output(o). reads(o, v). reads(v, w). waits_for(w, a).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
            consulted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). output(o). waits_for(o, a). reads(a, b). object(b).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
            untargeted(b).
            consulted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). output(o). reads(o, a).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
        "#]],
    );
}

#[test]
fn who_reads_the_keys_of_others_recalls_all_instances() {
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(t, Target, f). reads(t, keys).",
        expect![[r#"
            want(t).
            want(keys).
            wanted_by(t, t).
            wanted_by(keys, t).
            selected(t).
            untargeted(k).
            untargeted(l).
            evaluated(keys).
            consulted(k).
            consulted(l).
            consulted(all).
            consulted(keys).
        "#]],
    );
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(t, Target, f). reads(t, v). reads(v, keys).",
        expect![[r#"
            want(t).
            want(keys).
            want(v).
            wanted_by(t, t).
            wanted_by(keys, v).
            wanted_by(v, t).
            selected(t).
            untargeted(k).
            untargeted(l).
            evaluated(keys).
            evaluated(v).
            consulted(k).
            consulted(l).
            consulted(all).
            consulted(keys).
        "#]],
    );
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(t, Target, f). output(o). reads(o, keys).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(k).
            untargeted(l).
            consulted(k).
            consulted(l).
            consulted(all).
            consulted(keys).
        "#]],
    );
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(t, Target, f). output(o). reads(o, v). reads(v, keys).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(k).
            untargeted(l).
            consulted(k).
            consulted(l).
            consulted(all).
            consulted(keys).
        "#]],
    );
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(t, Target, f). waits_for(t, v). reads(v, keys).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(k).
            untargeted(l).
            consulted(k).
            consulted(l).
            consulted(all).
            consulted(keys).
            consulted(v).
        "#]],
    );
    check(
        "object(t). object(k). object(l). reads(all, k). reads(all, l). reads(all, keys). reads(k, keys). reads(l, keys).
         collection(all). member(k, all). member(l, all). filtered(). targeting(). hit(k, Target, f).",
        expect![[r#"
            want(k).
            want(keys).
            wanted_by(k, k).
            wanted_by(keys, k).
            selected(k).
            untargeted(t).
            untargeted(l).
            evaluated(keys).
        "#]],
    );
}

#[test]
fn what_no_target_wants_is_recalled_where_keys_are_not_known_or_only_what_exists_counts() {
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). object(p). pending(p).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
            untargeted(p).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). call_keys(g).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). expanded(p).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). skipped(p).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
        "#]],
    );
    check(
        "object(t). object(a). filtered(). targeting(). hit(t, Target, f). mode(RefreshOnly). object(k). member(k, all).",
        expect![[r#"
            want(t).
            wanted_by(t, t).
            selected(t).
            untargeted(a).
            untargeted(k).
        "#]],
    );
}

#[test]
fn a_target_takes_what_the_provider_that_destroys_it_reads() {
    check(
        "
        mode(Destroy). targeting(). filtered(). object(app). in_state(app). hit(app, Target, f).
        object(token). ephemeral(token). read_by_provider(token). object(other). ephemeral(other).
        waits_for(app, aws). waits_for(aws, token). waits_for(elsewhere, other).
        ",
        expect![[r#"
            want(app).
            want(token).
            wanted_by(app, app).
            wanted_by(token, aws).
            selected(app).
            selected(token).
            untargeted(other).
            consulted(token).
            consulted(aws).
        "#]],
    );
}
