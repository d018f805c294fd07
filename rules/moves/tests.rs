//! What `moves` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, _) = text::read_ledger(facts, &mut names);
    let moves = arrange(&Ledger::of(&base));
    let sequence = match moves.sequence(&base.statement) {
        Some(found) => {
            found.iter().map(|it| names.name("Statement", it.word())).collect::<Vec<_>>().join(" ")
        }
        None => "no sequence".to_owned(),
    };
    conclusions.assert_eq(&format!("{}{sequence}\n", text::print(&moves, &names)));
}

#[test]
fn a_chain_is_carried_out_from_its_start() {
    check(
        "statement(bc). statement(ab). statement(x). chains(bc, ab). chains(x, x).",
        expect![[r#"
        move_after(bc, ab).
        ab bc x
    "#]],
    );
}

#[test]
fn what_lies_in_a_moved_module_moves_after_it() {
    check(
        "statement(inner). statement(module). nests(inner, module).",
        expect![[r#"
        move_after(inner, module).
        module inner
    "#]],
    );
}

#[test]
fn statements_in_a_circle_have_no_sequence() {
    check(
        "statement(ab). statement(bc). statement(ca). statement(x). chains(ab, ca). chains(bc, ab). chains(ca, bc). chains(x, ab).",
        expect![[r#"
            move_after(ab, ca).
            move_after(bc, ab).
            move_after(ca, bc).
            move_after(x, ab).
            move_cycle(ab).
            move_cycle(bc).
            move_cycle(ca).
            no sequence
        "#]],
    );
}
