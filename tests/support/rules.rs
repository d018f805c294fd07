//! Random configurations, and random rules about them.

use std::fmt::Write as _;

use super::dice::Dice;

/// Variables that need not have a value, with their types and values that they may have.
const VARIABLES: &[(&str, &str, &[&str])] = &[
    ("v0", "string", &[r#""x""#, r#""y""#, r#""true""#, r#""22""#]),
    ("v1", "any", &[r#""x""#, "1", "false", "null", r#"["x"]"#, r#"{ p = "x" }"#]),
    ("v2", "number", &["1", "2", "22", "null"]),
    ("v3", "list(string)", &["[]", r#"["x"]"#, r#"["x", "y"]"#]),
    ("v4", "bool", &["true", "false"]),
    ("v5", "number", &["0", "1", "2"]),
];

const TYPES: &[&str] = &["t_a", "t_b"];

/// A configuration of a few resources. Its variables have no values.
pub fn configuration(dice: &mut Dice) -> String {
    let mut text = String::new();
    for (name, ty, _) in VARIABLES {
        let _ = writeln!(text, "variable \"{name}\" {{\n  type = {ty}\n}}");
    }
    let count = 2 + dice.below(4);
    for at in 0..2 {
        let _ = writeln!(text, "locals {{\n  l{at} = {}\n}}", value(dice, at));
    }
    for at in 0..count {
        let _ = writeln!(text, "resource \"{}\" \"r{at}\" {{", TYPES[at % TYPES.len()]);
        if dice.one_in(6) {
            let _ = writeln!(text, "  count = {}", dice.pick(&["2", "var.v5", "length(var.v3)"]));
        }
        for name in ["a", "b", "c", "d"] {
            if !dice.one_in(4) {
                let _ = writeln!(text, "  {name} = {}", value(dice, at));
            }
        }
        for _ in 0..dice.below(3) {
            let (p, q) = (value(dice, at), value(dice, at));
            let _ = writeln!(text, "  rule {{\n    p = {p}\n    q = {q}\n  }}");
        }
        if dice.one_in(4) {
            let (over, p) = (dice.pick(&["var.v3", r#"["x"]"#]), value(dice, at));
            let _ = writeln!(
                text,
                "  dynamic \"rule\" {{\n    for_each = {over}\n    content {{\n      p = {p}\n      q = rule.value\n    }}\n  }}"
            );
        }
        text.push_str("}\n");
    }
    text
}

/// Values for some of the variables, or for all.
pub fn values(dice: &mut Dice, of_all: bool) -> String {
    let mut text = String::new();
    for (name, _, values) in VARIABLES {
        if of_all || dice.one_in(2) {
            let _ = writeln!(text, "{name} = {}", dice.pick(values));
        }
    }
    text
}

/// An expression of the configuration; it may refer to resources before this one.
fn value(dice: &mut Dice, at: usize) -> String {
    let before = |dice: &mut Dice| {
        let of = dice.below(at.max(1));
        format!("{}.r{of}", TYPES[of % TYPES.len()])
    };
    match dice.below(if at == 0 { 9 } else { 14 }) {
        0 | 1 => (*dice.pick(&[r#""x""#, r#""y""#, "1", "22", "true", "false"])).to_owned(),
        2 => {
            (*dice.pick(&[r#""true""#, r#""22""#, "null", "[]", "{}", r#"["x", "y"]"#])).to_owned()
        }
        3 | 4 => format!("var.v{}", dice.below(5)),
        5 => format!("{{ p = var.v{}, x = \"x\" }}", dice.below(3)),
        6 => format!("[\"x\", var.v{}]", dice.below(3)),
        7 => format!("\"${{var.v0}}-x\" == \"x-x\" ? \"x\" : {}", dice.pick(&["\"y\"", "var.v0"])),
        8 => "jsonencode({ p = var.v1, x = [\"x\", var.v0] })".to_owned(),
        9 => format!("{}.id", before(dice)),
        10 | 11 => format!("try({}.{}, \"x\")", before(dice), dice.pick(&["a", "b", "c"])),
        12 => format!("local.l{}", dice.below(2)),
        _ => format!("[{}.id, var.v0]", before(dice)),
    }
}

/// A rule in its parts.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The lines above it.
    pub above: String,
    /// The head.
    pub head: String,
    /// The premises, with the variables that each names.
    pub premises: Vec<Premise>,
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct Premise {
    /// As it is written.
    pub text: String,
    /// The variables in it.
    pub variables: Vec<String>,
}

impl Rule {
    /// Returns it as it is written.
    pub fn text(&self) -> String {
        let body: Vec<&str> = self.premises.iter().map(|it| it.text.as_str()).collect();
        format!("{}{} <-- {};\n", self.above, self.head, body.join(", "))
    }

    /// Returns whether the order of its premises counts.
    pub fn is_ordered(&self) -> bool {
        self.premises.iter().any(|it| it.text.starts_with("agg "))
    }

    /// Returns the same in two rules: one concludes what the first premises say, the other goes on from there.
    pub fn split(&self, at: usize, helper: &str) -> [Rule; 2] {
        let (first, rest) = self.premises.split_at(at);
        let mut shared: Vec<String> = Vec::new();
        for name in first.iter().flat_map(|it| &it.variables) {
            let is_wanted = |it: &Premise| it.variables.contains(name);
            let in_head = self.head.contains(&format!("({name},"))
                || self.head.contains(&format!("{{{name}"))
                || self.head.contains(&format!(", {name})"))
                || self.head.contains(&format!("({name})"));
            if (in_head || rest.iter().any(is_wanted)) && !shared.contains(name) {
                shared.push(name.clone());
            }
        }
        let head = format!("{helper}({})", shared.join(", "));
        let mut premises = vec![Premise { text: head.clone(), variables: shared }];
        premises.extend_from_slice(rest);
        [
            Rule { above: String::new(), head, premises: first.to_vec() },
            Rule { premises, ..self.clone() },
        ]
    }
}

/// Returns rules as a file.
pub fn text(rules: &[Rule]) -> String {
    rules.iter().map(Rule::text).collect()
}

/// Rules that judge, over relations of their own: a relation rests on those before it, or on itself.
pub fn rules(dice: &mut Dice) -> Vec<Rule> {
    let mut all = Vec::new();
    // The number of columns of each relation.
    let mut known: Vec<usize> = Vec::new();
    for at in 0..2 + dice.below(4) {
        let arity = 1 + dice.below(2);
        for _ in 0..=dice.below(2) {
            let (premises, bound) = body(dice, &known);
            let column = bound.last().filter(|it| *it != "n").cloned();
            let head = match (arity, column) {
                (1, _) => format!("h{at}(n)"),
                (_, Some(column)) => format!("h{at}(n, {column})"),
                (_, None) => format!("h{at}(n, \"x\")"),
            };
            all.push(Rule { above: String::new(), head, premises });
        }
        if dice.one_in(3) {
            let rest = if arity == 1 { "" } else { ", v" };
            let from = ["n", "m"].map(|it| Premise {
                text: if it == "n" { "depends_on(m, n)".into() } else { format!("h{at}(n{rest})") },
                variables: vec!["m".into(), "n".into()],
            });
            let head = format!("h{at}(m{rest})");
            all.push(Rule { above: String::new(), head, premises: from.to_vec() });
        }
        known.push(arity);
    }
    for at in 0..2 + dice.below(3) {
        let (premises, bound) = body(dice, &known);
        let level = dice.pick(&["deny", "warn", "note"]);
        let shown = dice.pick(&bound);
        let said = dice.pick(&["{n} is wrong", "{n.a}", "wrong"]);
        let above = format!("// @rule r.r{at}: `n` with `{shown}`\n");
        let head = format!("{level}(n, \"{said} {{{shown}}}\")");
        all.push(Rule { above, head, premises });
    }
    all
}

/// A body about a node `n`, and the variables that it binds.
fn body(dice: &mut Dice, known: &[usize]) -> (Vec<Premise>, Vec<String>) {
    let mut bound = vec!["n".to_owned()];
    let kind = dice.pick(&["\"t_a\"", "\"t_b\"", "_", "_"]);
    let first = format!("resource(n, {kind})");
    let mut premises = vec![Premise { text: first, variables: bound.clone() }];
    for at in 0..1 + dice.below(4) {
        let (text, new) = premise(dice, known, &bound, at);
        let named = |name: &&String| {
            let pattern = regex::Regex::new(&format!(r"\b{name}\b")).expect("a pattern");
            pattern.is_match(&text)
        };
        let mut variables: Vec<String> = bound.iter().filter(named).cloned().collect();
        variables.extend(new.clone());
        bound.extend(new);
        premises.push(Premise { text, variables });
    }
    (premises, bound)
}

/// One premise over what is bound, and the variable that it binds.
fn premise(
    dice: &mut Dice,
    known: &[usize],
    bound: &[String],
    at: usize,
) -> (String, Option<String>) {
    let name =
        (*dice.pick(&["a", "b", "c", "d", "rule.p", "rule.q", "a.p", "b[0]", "c[_]"])).to_owned();
    let term = (*dice.pick(&[r#""x""#, r#""y""#, "1", "22", "true", "false"])).to_owned();
    let new = format!("v{at}");
    let value = bound.iter().rev().find(|it| *it != "n" && *it != "m");
    let helper = (!known.is_empty()).then(|| dice.below(known.len()));
    let column = |dice: &mut Dice| match value {
        Some(it) if dice.one_in(2) => it.clone(),
        _ => "\"x\"".to_owned(),
    };
    match dice.below(15) {
        0 => (format!("n.{name}"), None),
        1 => (format!("!n.{name}"), None),
        2 => (format!("n.{name} == {term}"), None),
        3 => (format!("!n.{name} == {term}"), None),
        4 | 5 => (format!("n.{name} == {new}"), Some(new)),
        6 => (format!("{new} in n.{}", dice.pick(&["rule", "a", "b"])), Some(new)),
        7 => (format!("if {}", condition(dice, value.map_or("n.a", |it| it))), None),
        8 => (format!("if {}", condition(dice, "n.a")), None),
        9 => (format!("let {new} = {}", computed(dice, value.map_or("n.b", |it| it))), Some(new)),
        10 => (format!("agg {new} = count() in n.{}", dice.pick(&["rule[_]", "a[_]"])), Some(new)),
        11 => match value {
            Some(it) => (format!("{it}.p == {term}"), None),
            None => (format!("n.d[{new}] == {term}"), Some(new)),
        },
        it => {
            let Some(helper) = helper else { return (format!("n.{name} == {term}"), None) };
            match (known[helper], it) {
                (1, 12) => (format!("!h{helper}(n)"), None),
                (1, _) => (format!("h{helper}(n)"), None),
                (_, 12) => (format!("!h{helper}(n, {})", column(dice)), None),
                (_, 13) => (format!("h{helper}(n, {new})"), Some(new)),
                _ => (format!("h{helper}(n, {})", column(dice)), None),
            }
        }
    }
}

fn condition(dice: &mut Dice, of: &str) -> String {
    let one = |dice: &mut Dice| match dice.below(10) {
        0 => format!("{of} == {}", dice.pick(&[r#""x""#, "1", "true", "null", "n.b"])),
        1 => format!("{of} != {}", dice.pick(&[r#""x""#, "22", "false", "null"])),
        2 => format!("try({of} > 1, false)"),
        3 => format!("can({of}[0])"),
        4 => format!("try(length({of}), 0) > 0"),
        5 => format!("try(contains({of}, \"x\"), false)"),
        6 => format!("try(startswith({of}, \"x\"), true)"),
        7 => format!("try(alltrue([for it in {of} : it == \"x\"]), false)"),
        8 => format!("{of} < 10"),
        _ => format!("try(lookup({of}, \"p\", \"x\"), \"y\") == \"x\""),
    };
    let first = one(dice);
    match dice.below(4) {
        0 => format!("{first} && {}", one(dice)),
        1 => format!("({first}) || {}", one(dice)),
        2 => format!("!({first})"),
        _ => first,
    }
}

fn computed(dice: &mut Dice, of: &str) -> String {
    match dice.below(6) {
        0 => format!("try(length({of}), 0)"),
        1 => format!("{{ p = {of} }}"),
        2 => format!("try(jsondecode({of}), {{ p = \"x\" }})"),
        3 => format!("[{of}, \"x\"]"),
        4 => format!("try(tostring({of}), \"x\")"),
        _ => of.to_owned(),
    }
}
