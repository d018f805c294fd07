//! Further parts of random configurations: variables, outputs, data sources, and what is moved, given up or unused.

use std::fmt::Write as _;

use super::model::{Variable, Writer};

impl Writer<'_> {
    /// A data source that the next objects may read. Its arguments are known when it is planned, or it is read during the apply.
    pub(super) fn data(&mut self, name: &str) {
        self.note("data source");
        let of = self.text_of("d");
        let _ = writeln!(
            self.text,
            "data \"null_data_source\" \"{name}\" {{\n  inputs = {{ of = {of} }}\n}}"
        );
        self.atoms.push(format!("data.null_data_source.{name}.outputs[\"of\"]"));
    }

    /// An object that has another address after the first apply.
    pub(super) fn moved(&mut self, gone: &mut String, added: &mut String) {
        if !self.dice.one_in(4) {
            return;
        }
        self.note("moved object");
        let input = self.text_of("moved");
        let block = |name: &str| {
            format!("resource \"terraform_data\" \"{name}\" {{\n  input = {input}\n}}\n")
        };
        gone.push_str(&block("former"));
        added.push_str(&block("present"));
        added.push_str(
            "moved {\n  from = terraform_data.former\n  to   = terraform_data.present\n}\n",
        );
    }

    /// An object that the configuration gives up.
    pub(super) fn removed(&mut self, gone: &mut String, added: &mut String) {
        if !self.dice.one_in(5) {
            return;
        }
        self.note("removed block");
        let input = self.text_of("removed");
        gone.push_str(&format!(
            "resource \"terraform_data\" \"given_up\" {{\n  input = {input}\n}}\n"
        ));
        added.push_str(
            "removed {\n  from = terraform_data.given_up\n  lifecycle {\n    destroy = false\n  }\n}\n",
        );
    }

    /// Declares what nothing reads: the address of each, and its line.
    pub(super) fn unused(&mut self) -> Vec<(String, String)> {
        let mut unused = Vec::new();
        if self.dice.one_in(3) {
            self.note("unused variable");
            let line = "variable \"idle\" { default = \"idle\" }\n".to_owned();
            unused.push(("var.idle".to_owned(), line));
        }
        if self.dice.one_in(3) {
            self.note("unused local");
            let value = self.text_of("idle");
            unused.push(("local.idle".to_owned(), format!("locals {{ idle = {value} }}\n")));
        }
        unused.iter().for_each(|it| self.text.push_str(&it.1));
        unused
    }

    /// An expression that calls a function, and is another one whenever `atom` is.
    pub(super) fn called(&mut self, atom: &str) -> String {
        const SELECTS: [&str; 8] = [
            "merge({ a = OTHER }, { b = ONE }).b",
            "zipmap([\"p\", \"q\"], [OTHER, ONE])[\"q\"]",
            "{ for k, v in { p = ONE, q = OTHER } : k => v }[\"p\"]",
            "[OTHER, ONE][1]",
            "element([ONE, OTHER], 0)",
            "lookup({ a = OTHER, b = ONE }, \"b\")",
            "try(ONE, \"none\")",
            "coalesce(ONE, \"none\")",
        ];
        const JOINS: [&str; 4] = [
            "format(\"%s-%s\", ONE, OTHER)",
            "jsonencode({ a = ONE, b = [OTHER] })",
            "join(\",\", [for v in [ONE, OTHER] : upper(v)])",
            "join(\",\", concat([ONE], [OTHER]))",
        ];
        let form = match self.dice.below(5) {
            0 => {
                // What is in lists of unknown types may be a list itself, and then which item is which is not known.
                self.note("flatten");
                self.is_injective = false;
                "flatten([[OTHER], [ONE, OTHER]])[1]"
            }
            1 | 2 => {
                self.note("function that puts together");
                self.dice.pick(&JOINS)
            }
            _ => {
                self.note("function that selects");
                self.dice.pick(&SELECTS)
            }
        };
        let other = self.dice.pick(&self.atoms).clone();
        form.replace("ONE", atom).replace("OTHER", &other)
    }

    pub(super) fn object_variable(&mut self, variables: &mut Vec<Variable>) {
        if !self.dice.one_in(2) {
            return;
        }
        self.note("variable: object read by path");
        let after = *self.dice.pick(&[
            "{ x = { y = \"9\", z = [\"2\", \"3\"] }, w = \"4\" }",
            "{ x = { y = \"1\", z = [\"9\", \"3\"] }, w = \"4\" }",
            "{ x = { y = \"1\", z = [\"2\", \"3\"] }, w = \"9\" }",
        ]);
        variables.push(Variable {
            name: "n".to_owned(),
            kind: "object({ x = object({ y = string, z = list(string) }), w = string })",
            before: "{ x = { y = \"1\", z = [\"2\", \"3\"] }, w = \"4\" }".to_owned(),
            after: after.to_owned(),
        });
        for atom in ["var.n.x.y", "var.n.x.z[0]", "var.n.x[\"z\"][1]", "var.n.w"] {
            self.atoms.push(atom.to_owned());
        }
    }

    pub(super) fn map_variable(&mut self, variables: &mut Vec<Variable>) {
        let after = match self.dice.one_in(2) {
            true => "{ a = \"1\", b = \"3\" }",
            false => "{ a = \"3\", b = \"2\" }",
        };
        variables.push(Variable {
            name: "m".to_owned(),
            kind: "map(string)",
            before: "{ a = \"1\", b = \"2\" }".to_owned(),
            after: after.to_owned(),
        });
        // Who asks about the whole variable asks about each of its parts.
        self.is_injective = false;
        match self.dice.one_in(2) {
            true => {
                self.note("variable: map read by key");
                self.atoms.push("var.m[\"a\"]".to_owned());
                self.atoms.push("var.m[\"b\"]".to_owned());
            }
            false => {
                self.note("variable: map read by name");
                self.atoms.push("var.m.a".to_owned());
            }
        }
        self.is_injective = true;
    }

    pub(super) fn list_variable(&mut self, variables: &mut Vec<Variable>) {
        let after = match self.dice.one_in(2) {
            true => "[\"a\", \"b\", \"c\"]",
            false => "[\"a\"]",
        };
        variables.push(Variable {
            name: "k".to_owned(),
            kind: "list(string)",
            before: "[\"a\", \"b\"]".to_owned(),
            after: after.to_owned(),
        });
        self.sets.push("toset(var.k)".to_owned());
        self.sets.push("toset([\"a\", \"b\"])".to_owned());
        if self.dice.one_in(3) {
            self.note("list read by index");
            self.atoms.push("var.k[0]".to_owned());
        }
    }

    pub(super) fn late_keys(&mut self, number: usize) {
        self.note("keys known late");
        let _ = write!(
            self.text,
            "resource \"terraform_data\" \"seed{number}\" {{\n  input = join(\",\", var.k)\n}}\n"
        );
        self.seeds.push(format!("seed{number}"));
        self.sets.push(format!("toset(split(\",\", terraform_data.seed{number}.output))"));
    }

    pub(super) fn outputs(&mut self) {
        let count = 2 + self.dice.below(3);
        for number in 0..count {
            let value = self.text_of("o");
            if !value.contains("${") {
                self.note("output of a constant");
            }
            let _ = writeln!(self.text, "output \"o{number}\" {{\n  value = {value}\n}}");
        }
        let all = self.atoms.last().cloned().unwrap_or_default();
        let _ = writeln!(self.text, "output \"last\" {{\n  value = {all}\n}}");
    }
}
