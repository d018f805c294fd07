//! Pairs in which chains that make the new object first, and objects that must not be destroyed, stand around instances that are
//! known late, beside data sources that read all of these; some of it is excluded.

use std::fmt::Write as _;

use super::{Kind, Pair};
use crate::support::dice::Dice;

const KEYS: [&[&str]; 5] = [&["x", "y"], &["x"], &["x", "y", "z"], &["y", "z"], &["z"]];

const WHOLE: [&str; 4] = [
    "values(terraform_data.late)[*].output",
    "length(terraform_data.late)",
    "keys(terraform_data.late)",
    "[for key, it in terraform_data.late : it.id]",
];

pub fn random(seed: u64) -> Pair {
    let mut dice = Dice::of(seed);
    let dice = &mut dice;
    let (old, new) = (*dice.pick(&KEYS), *dice.pick(&KEYS));
    let text = blocks(dice, old, new);
    let before = text.replace("PROTECT", "false").replace("REPLACED", "\"1\"");
    let mut after = text.replace("PROTECT", if dice.one_in(3) { "false" } else { "true" });
    after = after.replace("REPLACED", if dice.one_in(2) { "\"1\"" } else { "\"2\"" });
    if dice.one_in(2) {
        after = after.replace("input = \"root\"", "input = \"root, changed\"");
    }
    let list =
        |keys: &[&str]| keys.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", ");
    let seed_block =
        format!("resource \"terraform_data\" \"seed\" {{ input = [{}] }}\n", list(new));
    let known = |keys: &[&str]| {
        let pairs: Vec<String> =
            keys.iter().map(|it| format!("{it} = terraform_data.seed.id")).collect();
        format!("toset(keys({{ {} }}))", pairs.join(", "))
    };
    let flags = flags(dice);
    Pair {
        seed,
        kind: Kind::Managed,
        before: format!("{seed_block}{}", before.replace("KEYS", &known(old))),
        late: format!("{seed_block}{}", after.replace("KEYS", "toset(terraform_data.seed.output)")),
        known: format!("{seed_block}{}", after.replace("KEYS", &known(new))),
        inner: [String::new(), String::new()],
        flags,
        asked: vec!["terraform_data.late[\"x\"]"],
    }
}

/// `lifecycle`, mostly one that spreads or holds.
fn lifecycle(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.one_in(2) {
        text.push_str("    create_before_destroy = true\n");
    }
    if dice.one_in(3) {
        text.push_str("    prevent_destroy = PROTECT\n");
    }
    if dice.one_in(4) {
        text.push_str("    replace_triggered_by = [terraform_data.root]\n");
    }
    if text.is_empty() { text } else { format!("  lifecycle {{\n{text}  }}\n") }
}

fn blocks(dice: &mut Dice, old: &[&str], new: &[&str]) -> String {
    let mut text = "resource \"terraform_data\" \"up\" {\n  for_each = toset([\"x\", \"y\", \"z\"])\n  input    = each.key\n}\n".to_owned();
    let mut add = |dice: &mut Dice, name: &str, input: &str, holds: bool| {
        let replaced = if dice.one_in(2) { "  triggers_replace = REPLACED\n" } else { "" };
        let lifecycle = if holds { lifecycle(dice) } else { String::new() };
        let repeats = if name == "late" { "  for_each = KEYS\n" } else { "" };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" {name:?} {{\n{repeats}  input = {input}\n{replaced}{lifecycle}}}"
        );
    };
    let part = |dice: &mut Dice| *dice.pick(&["id", "output"]);
    add(dice, "root", "\"root\"", false);
    let input = format!("terraform_data.root.{}", part(dice));
    add(dice, "middle", &input, true);
    let input = format!("terraform_data.middle.{}", part(dice));
    add(dice, "top", &input, true);
    let input = *dice.pick(&[
        "each.key",
        "terraform_data.middle.output",
        "terraform_data.top.id",
        "each.key == \"z\" ? terraform_data.root.output : each.key",
        "terraform_data.up[each.key].output",
    ]);
    add(dice, "late", input, true);
    let whole = *dice.pick(&WHOLE);
    let has_data = dice.one_in(2);
    if dice.one_in(2) {
        let input = if has_data { "data.local_file.all.content" } else { whole };
        add(dice, "users", input, true);
    }
    if let Some(key) = old.iter().find(|it| new.contains(it)).filter(|_| dice.one_in(2)) {
        add(dice, "user", &format!("terraform_data.late[{key:?}].output"), true);
    }
    if has_data {
        let _ = writeln!(
            text,
            "data \"local_file\" \"all\" {{\n  filename = jsonencode({whole}) == \"never\" ? \"x.txt\" : \"y.txt\"\n}}"
        );
    }
    for name in ["whole", "other"] {
        if dice.one_in(3) {
            let _ = writeln!(text, "output {name:?} {{ value = {} }}", dice.pick(&WHOLE));
        }
    }
    text
}

fn flags(dice: &mut Dice) -> Vec<String> {
    let count = *dice.pick(&[1, 1, 2, 3]);
    let flag = |dice: &mut Dice| {
        let key = *dice.pick(&["x", "y", "z"]);
        match dice.below(8) {
            0 => "-exclude=terraform_data.root".to_owned(),
            1 => "-exclude=terraform_data.middle".to_owned(),
            2 => "-exclude=terraform_data.top".to_owned(),
            3 => "-exclude=terraform_data.late".to_owned(),
            4 | 5 => format!("-exclude=terraform_data.late[{key:?}]"),
            6 => format!("-exclude=terraform_data.up[{key:?}]"),
            _ => "-exclude=terraform_data.users".to_owned(),
        }
    };
    (0..count).map(|_| flag(dice)).collect()
}
