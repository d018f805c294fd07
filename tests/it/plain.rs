//! What a block reads as it stands is not evaluated to find its reads: it must read what evaluation would find.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::dice::Dice;
use crate::support::place::Place;

#[test]
fn bodies_that_are_not_evaluated_read_what_evaluation_finds() {
    for seed in 1..=12 {
        let (plain, evaluated) = twins(&mut Dice(seed));
        let (ours, theirs) = (reads(&plain), reads(&evaluated));
        assert!(ours.len() > 20, "{plain}");
        assert_eq!(ours, theirs, "{plain}\n{evaluated}");
    }
}

/// The same resources twice: as they are written most often, and so that each argument has to be evaluated.
fn twins(dice: &mut Dice) -> (String, String) {
    let common = "variable \"v\" {\n  default = \"v\"\n}\nlocals {\n  l = terraform_data.r0.output\n}\n\
         resource \"terraform_data\" \"many\" {\n  count = 2\n}\n";
    let (mut plain, mut evaluated) = (common.to_owned(), common.to_owned());
    for number in 0..12 {
        let value = expression(dice, number, 2);
        let wrapped = match dice.below(3) {
            0 => format!("try({value})"),
            1 => format!("[{value}][0]"),
            _ => format!("true ? {value} : null"),
        };
        for (text, value) in [(&mut plain, &value), (&mut evaluated, &wrapped)] {
            let head = format!("resource \"terraform_data\" \"r{number}\" {{\n  input = {value}\n");
            let waits = if number % 5 == 4 { "  depends_on = [terraform_data.r1]\n" } else { "" };
            writeln!(text, "{head}{waits}}}").expect("text grows");
        }
    }
    (plain, evaluated)
}

fn expression(dice: &mut Dice, before: usize, depth: usize) -> String {
    let inner = |dice: &mut Dice| expression(dice, before, depth.saturating_sub(1));
    match dice.below(if depth == 0 { 6 } else { 11 }) {
        0 if before > 0 => "local.l".to_owned(),
        1 => "var.v".to_owned(),
        2 if before > 1 => "terraform_data.many".to_owned(),
        3 => "path.module".to_owned(),
        4 | 5 | 0 | 2 if before > 0 => format!("terraform_data.r{}.output", dice.below(before)),
        6 => format!("[{}, {}]", inner(dice), inner(dice)),
        7 => format!("{{ a = {}, b = {} }}", inner(dice), inner(dice)),
        8 => format!("\"-${{jsonencode({})}}-\"", inner(dice)),
        9 => format!("length(jsonencode([{}, {}]))", inner(dice), inner(dice)),
        10 => format!("({} == {})", inner(dice), inner(dice)),
        _ => "\"x\"".to_owned(),
    }
}

/// What each object reads.
fn reads(config: &str) -> BTreeSet<String> {
    let place = Place::new(config);
    let (said, code) = place.run(&["plan", "-no-color", "-out=p"]);
    assert_eq!(code, Some(0), "{config}\n{said}");
    let (facts, _) = place.run(&["facts", "-plan=p"]);
    let is_read = |it: &&str| it.starts_with("reads(") || it.starts_with("waits_for(");
    facts.lines().filter(is_read).map(str::to_owned).collect()
}
