//! Random configurations to ask about: what they declare, and what is changed afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::support::dice::Dice;

/// The features that the generator claims to cover.
pub const FEATURES: [&str; 32] = [
    "variable: map read by key",
    "variable: map read by name",
    "local: object read by key",
    "local: object read by name",
    "lookup",
    "count",
    "for_each over a set",
    "for_each over a map with values",
    "keys known late",
    "splat",
    "for expression",
    "keys of a resource",
    "module",
    "module with count",
    "module with for_each",
    "nested module",
    "module input read by key",
    "conditional",
    "output of a constant",
    "depends_on",
    "gone object",
    "gone object that depends on another",
    "moved object",
    "removed block",
    "data source",
    "unused variable",
    "unused local",
    "list read by index",
    "function that selects",
    "function that puts together",
    "flatten",
    "variable: object read by path",
];

/// A root variable with its default and another value.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// The type constraint.
    pub kind: &'static str,
    /// The default, as an expression.
    pub before: String,
    /// What it is changed to.
    pub after: String,
}

impl Variable {
    /// Returns the flag that changes it.
    pub fn flag(&self) -> String {
        format!("-var={}={}", self.name, self.after.trim_matches('"'))
    }
}

/// A configuration, as text, with what can be asked about it.
#[derive(Clone, Debug)]
pub struct Model {
    pub seed: u64,
    /// Files by name.
    pub files: BTreeMap<String, String>,
    /// What `main.tf` declares only until the first apply.
    pub gone: String,
    /// What `main.tf` declares only after it.
    pub added: String,
    /// Lines of `main.tf` that declare what nothing reads.
    pub unused: Vec<(String, String)>,
    pub variables: Vec<Variable>,
    /// The resources whose outputs are the keys of others.
    pub seeds: Vec<String>,
    pub features: BTreeSet<&'static str>,
    /// Whether every expression tells different inputs apart, so that what is listed is what changes.
    pub is_injective: bool,
}

/// What writes a model.
pub(super) struct Writer<'d> {
    pub(super) dice: &'d mut Dice,
    pub(super) text: String,
    /// Expressions that are strings.
    pub(super) atoms: Vec<String>,
    /// Expressions that are sets of strings.
    pub(super) sets: Vec<String>,
    /// Expressions that are maps or objects of strings.
    pub(super) maps: Vec<String>,
    pub(super) seeds: Vec<String>,
    pub(super) features: BTreeSet<&'static str>,
    pub(super) is_injective: bool,
}

impl Writer<'_> {
    pub(super) fn note(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// An expression that is a string and differs whenever one of up to three others does.
    pub(super) fn text_of(&mut self, mark: &str) -> String {
        let count = self.dice.below(3).min(self.atoms.len());
        let mut parts = vec![mark.to_owned()];
        for _ in 0..count {
            let atom = self.dice.pick(&self.atoms).clone();
            let atom = if self.dice.one_in(4) { self.called(&atom) } else { atom };
            parts.push(format!("${{{atom}}}"));
        }
        if count > 0 && self.dice.one_in(12) {
            // Which of the two is read says nothing of the other.
            self.note("conditional");
            self.is_injective = false;
            let (a, b) = (self.dice.pick(&self.atoms).clone(), self.dice.pick(&self.atoms).clone());
            parts.push(format!("${{length({a}) > 2 ? {a} : {b}}}"));
        }
        format!("\"{}\"", parts.join("/"))
    }

    fn resource(&mut self, name: &str) {
        let mut input = self.text_of(name);
        let kind = "terraform_data";
        let mut repetition = String::new();
        match self.dice.below(5) {
            0 => {
                self.note("count");
                let count = match self.sets.is_empty() || self.dice.one_in(2) {
                    true => (1 + self.dice.below(2)).to_string(),
                    false => format!("length({})", self.dice.pick(&self.sets)),
                };
                repetition = format!("  count = {count}\n");
                self.atoms.push(format!("{kind}.{name}[0].output"));
                self.note("splat");
                self.atoms.push(format!("join(\",\", {kind}.{name}[*].output)"));
            }
            1 if !self.sets.is_empty() => {
                self.note("for_each over a set");
                let set = self.dice.pick(&self.sets).clone();
                repetition = format!("  for_each = {set}\n");
                if self.dice.one_in(2) {
                    input = format!("\"{}/${{each.key}}\"", input.trim_matches('"'));
                }
                self.atoms.push(format!("{kind}.{name}[\"a\"].output"));
                self.note("for expression");
                self.atoms.push(format!("join(\",\", [for k, v in {kind}.{name} : v.output])"));
                self.note("keys of a resource");
                self.atoms.push(format!("join(\",\", keys({kind}.{name}))"));
            }
            2 if self.atoms.len() > 1 => {
                self.note("for_each over a map with values");
                let (a, b) =
                    (self.dice.pick(&self.atoms).clone(), self.dice.pick(&self.atoms).clone());
                repetition = format!("  for_each = {{\n    a = {a}\n    b = {b}\n  }}\n");
                input = format!("\"{}/${{each.value}}\"", input.trim_matches('"'));
                self.atoms.push(format!("{kind}.{name}[\"a\"].output"));
                self.atoms.push(format!("{kind}.{name}[\"b\"].output"));
            }
            _ => self.atoms.push(format!("{kind}.{name}.output")),
        }
        if self.dice.one_in(8) {
            self.data(name);
        }
        let mut waits = String::new();
        if self.dice.one_in(10) {
            self.note("depends_on");
            waits = "  depends_on = [terraform_data.first]\n".to_owned();
        }
        let _ = write!(
            self.text,
            "resource \"{kind}\" \"{name}\" {{\n{repetition}  input = {input}\n{waits}}}\n"
        );
    }

    fn locals(&mut self, number: usize) {
        let (one, other) = (self.text_of("e"), self.text_of("r"));
        let _ =
            writeln!(self.text, "locals {{\n  t{number} = {{ env = {one}, rel = {other} }}\n}}");
        if self.dice.one_in(2) {
            self.note("local: object read by name");
            self.atoms.push(format!("local.t{number}.rel"));
            self.atoms.push(format!("local.t{number}.env"));
        } else {
            self.note("local: object read by key");
            self.atoms.push(format!("local.t{number}[\"rel\"]"));
            self.atoms.push(format!("local.t{number}[\"env\"]"));
        }
        if self.dice.one_in(4) {
            self.note("lookup");
            self.atoms.push(format!("lookup(local.t{number}, \"rel\", \"none\")"));
        }
        self.maps.push(format!("local.t{number}"));
    }

    fn module(&mut self, number: usize, files: &mut BTreeMap<String, String>) {
        let name = format!("m{number}");
        let repetition = match self.dice.below(3) {
            0 => {
                self.note("module with count");
                "  count = 2\n".to_owned()
            }
            1 if !self.sets.is_empty() => {
                self.note("module with for_each");
                format!("  for_each = {}\n", self.dice.pick(&self.sets))
            }
            _ => {
                self.note("module");
                String::new()
            }
        };
        let (p, q) = (self.text_of("p"), self.text_of("q"));
        let tags = match self.maps.is_empty() || self.dice.one_in(2) {
            true => format!("{{ env = {}, rel = {} }}", self.text_of("x"), self.text_of("y")),
            false => self.dice.pick(&self.maps).clone(),
        };
        let _ = write!(
            self.text,
            "module \"{name}\" {{\n{repetition}  source = \"./{name}\"\n  p = {p}\n  q = {q}\n  tags = {tags}\n}}\n"
        );
        let key = match &repetition {
            it if it.is_empty() => "",
            it if it.contains("count") => "[0]",
            _ => "[\"a\"]",
        };
        self.atoms.push(format!("module.{name}{key}.o"));
        self.atoms.push(format!("module.{name}{key}.r"));
        match key {
            "[0]" => self.atoms.push(format!("join(\",\", module.{name}[*].o)")),
            "" => {}
            _ => self.atoms.push(format!("join(\",\", values(module.{name})[*].o)")),
        }
        let mut inner = String::from(
            "variable \"p\" {}\nvariable \"q\" {}\nvariable \"tags\" {\n  type = object({ env = string, rel = string })\n}\n",
        );
        self.note("module input read by key");
        let read = if self.dice.one_in(2) { "var.tags[\"rel\"]" } else { "var.tags.rel" };
        let _ = write!(
            inner,
            "resource \"terraform_data\" \"x\" {{\n  input = \"x/${{var.p}}\"\n}}\nresource \"terraform_data\" \"y\" {{\n  input = \"y/${{{read}}}\"\n}}\n"
        );
        if self.dice.one_in(3) {
            self.note("nested module");
            inner.push_str("module \"in\" {\n  source = \"./in\"\n  for_each = toset([\"k\"])\n  i = var.q\n}\n");
            files.insert(
                format!("{name}/in/main.tf"),
                "variable \"i\" {}\nresource \"terraform_data\" \"z\" {\n  input = \"z/${var.i}\"\n}\noutput \"o\" {\n  value = terraform_data.z.output\n}\n".to_owned(),
            );
            inner.push_str("output \"r\" {\n  value = \"${module.in[\"k\"].o}/${terraform_data.y.output}\"\n}\n");
        } else {
            inner
                .push_str("output \"r\" {\n  value = \"${var.q}/${terraform_data.y.output}\"\n}\n");
        }
        inner.push_str("output \"o\" {\n  value = terraform_data.x.output\n}\n");
        files.insert(format!("{name}/main.tf"), inner);
    }
}

impl Model {
    /// Returns the configuration of a seed.
    pub fn random(seed: u64) -> Model {
        let mut dice = Dice::of(seed);
        let dice = &mut dice;
        let mut variables = vec![Variable {
            name: "s".to_owned(),
            kind: "string",
            before: "\"one\"".to_owned(),
            after: "\"two\"".to_owned(),
        }];
        let mut writer = Writer {
            dice,
            text: String::new(),
            atoms: vec!["var.s".to_owned()],
            sets: Vec::new(),
            maps: Vec::new(),
            seeds: Vec::new(),
            features: BTreeSet::new(),
            is_injective: true,
        };
        writer.map_variable(&mut variables);
        writer.list_variable(&mut variables);
        writer.object_variable(&mut variables);
        writer.text.push_str("resource \"terraform_data\" \"first\" {\n  input = \"first\"\n}\n");
        let mut files = BTreeMap::new();
        let count = 3 + writer.dice.below(5);
        for number in 0..count {
            match writer.dice.below(6) {
                0 => writer.locals(number),
                1 => writer.module(number, &mut files),
                2 if writer.dice.one_in(2) => writer.late_keys(number),
                _ => writer.resource(&format!("r{number}")),
            }
        }
        writer.outputs();
        let mut gone = String::new();
        if writer.dice.one_in(3) {
            writer.note("gone object");
            let input = writer.text_of("gone");
            gone = format!("resource \"terraform_data\" \"gone\" {{\n  input = {input}\n}}\n");
            if writer.dice.one_in(2) {
                writer.note("gone object that depends on another");
                gone.push_str("resource \"terraform_data\" \"gone2\" {\n  input = terraform_data.gone.output\n}\n");
            }
        }
        let mut added = String::new();
        writer.moved(&mut gone, &mut added);
        writer.removed(&mut gone, &mut added);
        let unused = writer.unused();
        let mut head = String::new();
        for it in &variables {
            let _ = writeln!(
                head,
                "variable \"{}\" {{\n  type    = {}\n  default = {}\n}}",
                it.name, it.kind, it.before
            );
        }
        files.insert("main.tf".to_owned(), head + &writer.text);
        let (seeds, features, is_injective) = (writer.seeds, writer.features, writer.is_injective);
        Model { seed, files, gone, added, unused, variables, seeds, features, is_injective }
    }

    /// Returns all files as one text.
    pub fn text(&self) -> String {
        let files = self.files.iter().map(|(name, text)| format!("# {name}\n{text}"));
        files.collect::<String>() + "# before\n" + &self.gone + "# after\n" + &self.added
    }

    /// Returns `main.tf` as it is after the first apply.
    pub fn main(&self) -> String {
        format!("{}{}", self.files["main.tf"], self.added)
    }
}
