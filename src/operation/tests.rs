//! Variables and modules of whole folders.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::modules::{install_modules, quietly};
use super::variables::{collect_variables, finish, missing};
use crate::config::load_module;
use crate::config::tests::{context, folder, print};
use crate::diagnostic::Sources;
use crate::request::VariableSource;
use crate::value::Value;
use crate::world::{Files, World};

/// Prints the final values of all variables, and problems. `given` is a line of flags: `a=1 @file`.
#[track_caller]
fn check_values(files: &str, environment: &[(&str, &str)], given: &str, outcome: Expect) {
    let folder = folder(files);
    let sources = Sources::default();
    let (module, problems) = load_module(&Files::default(), folder.path(), ".", &sources);
    assert!(!problems.has_errors(), "{}", print(&problems, &sources));
    let module = module.expect("a module");
    let environment: BTreeMap<String, String> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let root = folder.path().to_path_buf();
    let world = World {
        cwd: root.clone(),
        root,
        environment,
        fixed_time: None,
        given: Default::default(),
        files: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    };
    let flag = |it: &str| match (it.strip_prefix('@'), it.split_once('=')) {
        (Some(path), _) => VariableSource::File(path.into()),
        (None, Some((name, text))) => VariableSource::Flag(name.to_owned(), text.to_owned()),
        (None, None) => panic!("a flag"),
    };
    let given: Vec<VariableSource> = given.split_whitespace().map(flag).collect();
    let (inputs, mut problems) =
        collect_variables(&module, folder.path(), &given, &world, &sources);
    let mut text = String::new();
    for (name, variable) in &module.variables {
        if let Some(value) =
            problems.take(finish(variable, &format!("var.{name}"), inputs.get(name), &sources))
        {
            text.push_str(&format!("{name} = {}\n", show(&value)));
        }
    }
    for it in missing(&module, &inputs) {
        text.push_str(&format!("missing {}\n", it.name.text));
    }
    text.push_str(&print(&problems, &sources));
    outcome.assert_eq(&text);
}

fn show(value: &Value) -> String {
    let mark = if value.marks().sensitive { "sensitive " } else { "" };
    let items = || {
        value
            .entries()
            .into_iter()
            .map(|(name, it)| format!("{name}={}", show(it)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let inner = match value.bare() {
        Value::Null(_) => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => format!("{it:?}"),
        Value::Object(_) | Value::Map(_) => format!("{{{}}}", items()),
        it => format!("[{}]", it.children().map(show).collect::<Vec<_>>().join(" ")),
    };
    format!("{mark}{inner}")
}

#[test]
fn the_last_place_that_gives_a_value_wins() {
    check_values(
        r#"
        -- main.tf --
        variable "a" { default = "default" }
        variable "b" { default = "default" }
        variable "c" { default = "default" }
        variable "d" { default = "default" }
        variable "e" { default = "default" }
        variable "f" { default = "default" }
        variable "g" { default = "default" }
        -- terraform.tfvars --
        c = "tfvars"
        d = "tfvars"
        -- terraform.tfvars.json --
        {"d": "${json}", "e": "json"}
        -- x.auto.tfvars --
        e = "auto"
        f = "auto"
        -- v.tfvars --
        f = "file"
        g = "file"
        "#,
        &[("TF_VAR_b", "environment"), ("TF_VAR_c", "environment"), ("TF_VAR_undeclared", "x")],
        "f=flag @v.tfvars g=flag",
        expect![[r#"
            a = "default"
            b = "environment"
            c = "tfvars"
            d = "${json}"
            e = "auto"
            f = "file"
            g = "flag"
        "#]],
    );
}

#[test]
fn text_is_read_as_the_type_demands() {
    check_values(
        r#"
        -- main.tf --
        variable "untyped" {}
        variable "number" { type = number }
        variable "list" { type = list(string) }
        variable "any" { type = any }
        variable "object" {
          type = object({
            a = optional(number, 5)
            b = optional(string)
          })
        }
        variable "kept" {
          default  = "kept"
          nullable = false
        }
        variable "secret" {
          default   = "x"
          sensitive = true
        }
        "#,
        &[],
        r#"untyped=[1] number=5 list=[1,"2"] any={a=1} object={}"#,
        expect![[r#"
            any = {a=1}
            kept = "kept"
            list = ["1" "2"]
            number = 5
            object = {a=5 b=null}
            secret = sensitive "x"
            untyped = "[1]"
        "#]],
    );
}

#[test]
fn what_is_wrong_with_values_is_told() {
    check_values(
        r#"
        -- main.tf --
        variable "number" { type = number }
        variable "list" { type = list(string) }
        variable "needed" {}
        variable "full" { nullable = false }
        -- v.tfvars --
        full = null
        u1   = 1
        u2   = 1
        u3   = 1
        u4   = 1
        -- w.tfvars --
        variable "x" {}
        "#,
        &[],
        "number=x list=[a] undeclared=1 @v.tfvars @w.tfvars @nowhere.tfvars",
        expect![[r#"
            missing list
            missing needed
            Variable declaration in .tfvars file  w.tfvars:1,1
            Failed to read variables file
            Variables not allowed  <value for var.list>:1,2
            Value for undeclared variable
            warning: Value for undeclared variable
            warning: Value for undeclared variable
            warning: Values for undeclared variables
            Required variable not set  v.tfvars:1,8
            Required variable not set  main.tf:2,1
            Required variable not set  main.tf:3,1
            Invalid value for input variable  main.tf:1,1
        "#]],
    );
}

#[test]
fn local_modules_are_found_and_written_down() {
    let folder = folder(
        r#"
        -- main.tf --
        module "a" { source = "./m" }
        module "b" { source = "./m/" }
        -- m/main.tf --
        module "n" { source = "../n" }
        -- n/main.tf --
        locals { x = 1 }
        "#,
    );
    let (data, sources) = (folder.path().join(".terraform"), Sources::default());
    let (done, problems) =
        install_modules(&context(folder.path(), &sources), &data, &[], quietly());
    assert_eq!(print(&problems, &sources), "");
    let lines: Vec<String> =
        done.installed.iter().map(|it| format!("- {} in {}", it.key, it.directory)).collect();
    expect![[r#"
        - a in m
        - b in m
        - a.n in n
        - b.n in n"#]]
    .assert_eq(&lines.join("\n"));
    let text = std::fs::read_to_string(data.join("modules/modules.json")).expect("a file");
    expect![[r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./m","Dir":"m"},{"Key":"a.n","Source":"../n","Dir":"n"},{"Key":"b","Source":"./m","Dir":"m"},{"Key":"b.n","Source":"../n","Dir":"n"}]}"#]].assert_eq(&text);

    let (again, _) = install_modules(&context(folder.path(), &sources), &data, &[], quietly());
    assert_eq!(again.installed, []);
}

#[test]
fn modules_that_cannot_be_installed_are_told() {
    let folder = folder(
        r#"
        -- main.tf --
        module "far" { source = "s3::https://example.com/x" }
        module "gone" { source = "./gone" }
        module "round" { source = "./m" }
        -- m/main.tf --
        module "back" { source = "../m" }
        "#,
    );
    let (data, sources) = (folder.path().join(".terraform"), Sources::default());
    let (_, problems) = install_modules(&context(folder.path(), &sources), &data, &[], quietly());
    expect![[r#"
        Failed to download module  main.tf:1,1
        Unreadable module directory  main.tf:2,26
        Module calls itself  m/main.tf:1,1
    "#]]
    .assert_eq(&print(&problems, &sources));
}
