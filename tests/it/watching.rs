//! What is judged again while a plan is carried out: as if everything were judged after every step, whatever a rule looks at.
//!
//! An ordinary run tries some; `ENTAIL_POLICIES=1000` tries that many, from another beginning with `ENTAIL_SEED`.

use crate::support::dice::Dice;
use crate::support::number;
use crate::support::place::Place;

/// What a rule asks of `n`, with a number for `K`; each in another way that reaches what is not known yet.
const ASKS: &[&str] = &[
    "n.input.a == K",
    "!n.input.a == K",
    "if n.input.a > K",
    "own(n, v), if v == K",
    "let x = n.input.a + 1, if x == K",
    "x in n.input.l, if x == K",
    "n.input.l[_] == K",
    "agg c = max(x) in n.input.l, if c == K",
    "agg c = count() in n.input.l[i], n.input.l[0] == K, if c > 1",
    "argument(n, \"input\", v), if v.a == K",
    "n[k].a == K, if k == \"output\"",
    "reads(n, m), resource(m, \"random_integer\"), m.result == K",
    "reads(n, m), m.output.a == K",
    "output(o), o.value == K",
    "variable(v), within(v, m), address(m, \"module.m\"), v.value == K",
    "agg c = count(v) in own(_, v), if c < K",
    "resource(m, \"random_integer\"), m.result == v, n.input.a == v, if v == K",
    "!seen(n)",
];

const OWN: &str = "
own(n, v) <-- resource(n, \"terraform_data\"), n.input.a == v;
seen(n) <-- own(n, v), if v != 2;
";

/// A configuration of a few objects, each of what others become.
fn configuration(dice: &mut Dice) -> String {
    let mut text = "variable \"keys\" {\n  default = [\"x\"]\n}\n".to_owned();
    for at in 0..3 {
        let value = dice.below(4);
        text.push_str(&format!(
            "resource \"random_integer\" \"r{at}\" {{\n  min = {value}\n  max = {value}\n}}\n"
        ));
        let before = match (at, dice.below(3)) {
            (0, _) | (_, 0) => format!("random_integer.r{at}.result"),
            (_, 1) => format!("terraform_data.t{}.output.a", at - 1),
            _ => format!("random_integer.r{}.result + 1", at - 1),
        };
        text.push_str(&format!(
            "resource \"terraform_data\" \"t{at}\" {{\n  input = {{ a = {before}, l = [{before}, {}] }}\n}}\n",
            dice.below(4)
        ));
    }
    let of = dice.below(3);
    text.push_str(&format!("output \"o\" {{\n  value = terraform_data.t{of}.output.a\n}}\n"));
    text.push_str(&format!(
        "module \"m\" {{\n  source = \"./m\"\n  v = random_integer.r{of}.result\n}}\n"
    ));
    text
}

fn rules(dice: &mut Dice) -> String {
    let number = dice.below(4).to_string();
    let count = 1 + dice.below(2);
    let asked: Vec<String> = (0..count).map(|_| dice.pick(ASKS).replace('K', &number)).collect();
    // Names of one part are no names of another.
    let asked = asked.join(", ");
    format!("// @rule a.b: x\ndeny(n, \"no\") <-- resource(n, \"terraform_data\"), {asked};\n{OWN}")
}

#[test]
fn an_apply_ends_where_the_finished_objects_are_denied() {
    let (count, seed) = (number("ENTAIL_POLICIES").unwrap_or(30), number("ENTAIL_SEED"));
    let first = seed.map_or(1, |it| 1 + it.wrapping_mul(1_000_003));
    let (mut ended, mut passed) = (0, 0);
    for seed in first..first + count {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (config, rules) = (configuration(&mut dice), rules(&mut dice));
        let place = Place::new(&config);
        place.write(
            "m/main.tf",
            "variable \"v\" {}\nresource \"terraform_data\" \"in\" {\n  input = { a = var.v }\n}\n",
        );
        place.succeed(&["init"]);
        let free = place.copied();
        place.write("policies/a.rules", &rules);
        let (out, code) = place.run(&["apply", "-auto-approve"]);
        free.succeed(&["apply", "-auto-approve"]);
        free.write("policies/a.rules", &rules);
        let (said, denied) = free.run(&["plan"]);
        let case = format!("seed {seed}\n{config}\n{rules}\n{out}\n{said}");
        assert_eq!(code, denied, "{case}");
        match code {
            Some(0) => passed += 1,
            _ => {
                assert!(out.contains("a.b"), "{case}");
                ended += 1;
            }
        }
    }
    assert!(ended > 0 && passed > 0, "{ended} ended, {passed} passed");
}
