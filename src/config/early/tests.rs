//! Folders in; what a source became, or the chain of problems, out.

use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::config::tests::{context, folder};
use crate::config::{CallSource, call_source, load_module};
use crate::world::Files;

/// Prints the source of every call of the root module, and of the modules that they lead to; problems with their details.
#[track_caller]
fn check(files: &str, variables: &[(&str, &str)], outcome: Expect) {
    let folder = folder(files);
    let sources = Sources::default();
    let mut world = (*context(folder.path(), &sources).world).clone();
    for (name, value) in variables {
        world.environment.insert(format!("TF_VAR_{name}"), (*value).to_owned());
    }
    let context = Arc::new(EarlyContext::new(Arc::new(world), "blue", sources.clone()));
    let (root, problems) = load_module(&Files::default(), folder.path(), ".", &sources);
    assert!(!problems.has_errors(), "{problems:?}");
    let root = StaticModule::root(root.expect("a module"), context);
    let mut text = String::new();
    let mut problems = root.check_constants();
    let mut open = vec![Arc::new(root)];
    while let Some(place) = open.pop() {
        for call in place.module().calls.values() {
            let child = place.address().child(&call.name.text);
            let Some(CallSource { source, version }) =
                problems.take(call_source(call, &place, None))
            else {
                continue;
            };
            let version = version.map(|it| format!(" {it}")).unwrap_or_default();
            text.push_str(&format!("{child}: {source}{version}\n"));
            let directory = source.to_string();
            let (module, _) = load_module(
                &Files::default(),
                &folder.path().join(&directory),
                &directory,
                &sources,
            );
            if let Some(module) = module {
                let child = Arc::new(place.child(call, None, module));
                problems.extend(child.check_constants());
                open.push(child);
            }
        }
    }
    for it in problems {
        let place = it.subject.map_or(String::new(), |at| format!("  {}", sources.place(at)));
        let detail = format!("  {}", it.detail);
        text.push_str(&format!("{}{place}\n{}\n", it.summary, detail.trim_end()));
    }
    outcome.assert_eq(&text);
}

#[test]
fn a_source_is_any_expression_of_variables_and_locals() {
    check(
        r#"
        -- main.tf --
        variable "dir" { default = "net" }
        locals { base = "./${var.dir}" }
        module "a" { source = "${local.base}/${terraform.workspace}" }
        module "b" { source = join("/", [local.base, basename(path.root)]) }
        module "c" {
          source  = "acme/${var.dir}/aws"
          version = "~> ${length(var.dir)}.0"
        }
        module "d" {
          source  = "./d"
          version = null
        }
        "#,
        &[],
        expect![[r#"
            module.a: ./net/blue
            module.b: ./net
            module.c: acme/net/aws ~> 3.0
            module.d: ./d
        "#]],
    );
}

#[test]
fn the_input_of_a_called_module_is_evaluated_where_the_call_stands() {
    check(
        r#"
        -- main.tf --
        variable "x" {}
        locals { deep = "./inner-${var.x}" }
        module "m" {
          source = "./m"
          source_of_inner = local.deep
        }
        -- m/main.tf --
        variable "source_of_inner" { type = string }
        module "inner" { source = var.source_of_inner }
        "#,
        &[("x", "one")],
        expect![[r#"
            module.m: ./m
            module.m.module.inner: ./inner-one
        "#]],
    );
}

#[test]
fn what_a_run_decides_is_refused_with_every_name_on_the_way() {
    check(
        r#"
        -- main.tf --
        resource "terraform_data" "a" {}
        locals {
          id  = terraform_data.a.id
          dir = "./${local.id}"
        }
        module "m" { source = local.dir }
        module "n" { source = "./${module.m.out}${each.key}" }
        "#,
        &[],
        expect![[r#"
            Dynamic value in static context  main.tf:3,9
              Unable to use terraform_data.a in static context, which is required by local.id
            Unable to compute static value  main.tf:4,3
              local.dir depends on local.id which is not available
            Unable to compute static value  main.tf:6,23
              module.m.source depends on local.dir which is not available
            Module output not supported in static context  main.tf:7,28
              Unable to use module.m.out in static context, which is required by module.n.source
            Dynamic value in static context  main.tf:7,43
              Unable to use each.key in static context, which is required by module.n.source
        "#]],
    );
}

#[test]
fn a_circle_is_told_with_the_way_to_it() {
    check(
        r#"
        -- main.tf --
        locals {
          a = local.b
          b = local.a
        }
        module "m" { source = local.a }
        "#,
        &[],
        expect![[r#"
            Circular reference  main.tf:2,3
              local.a is self referential
            Unable to compute static value  main.tf:2,3
              local.a depends on local.b which is not available
            Unable to compute static value  main.tf:5,23
              module.m.source depends on local.a which is not available
        "#]],
    );
}

#[test]
fn names_that_do_not_exist_are_told() {
    check(
        r#"
        -- main.tf --
        module "m" { source = "./${var.nope}/${local.nope}/${path.nope}/${terraform.env}" }
        module "n" { source = "./${local.nope}" }
        module "o" { source = "./${var.nope}" }
        "#,
        &[],
        expect![[r#"
            Undefined variable  main.tf:1,28
              Undefined variable var.nope
            Undefined local  main.tf:1,40
              Undefined local local.nope
            Invalid "path" attribute  main.tf:1,54
              The "path" object does not have an attribute named "nope".
            Invalid "terraform" attribute  main.tf:1,67
              The attribute terraform.env was removed long ago. The name of the current workspace is terraform.workspace.
            Undefined local  main.tf:2,28
              Undefined local local.nope
            Undefined variable  main.tf:3,28
              Undefined variable var.nope
        "#]],
    );
}

#[test]
fn secrets_decide_no_source() {
    check(
        r#"
        -- main.tf --
        variable "secret" {
          default   = "x"
          sensitive = true
        }
        variable "short" {
          default   = "x"
          ephemeral = true
        }
        module "a" { source = "./${var.secret}" }
        module "b" { source = "./${var.short}" }
        module "c" {
          source  = "a/b/c"
          version = var.secret
        }
        "#,
        &[],
        expect![[r#"
            Sensitive value not allowed  main.tf:9,23
              Sensitive values, or values derived from sensitive values, cannot be used as module.a.source.
            Ephemeral value not allowed  main.tf:10,23
              Ephemeral values, or values derived from ephemeral values, cannot be used as module.b.source.
            Invalid version constraint  main.tf:13,13
              Sensitive values, or values derived from them, cannot be used as module version constraints.
        "#]],
    );
}

#[test]
fn a_value_that_nobody_gives_is_told_with_what_needs_it() {
    check(
        r#"
        -- main.tf --
        variable "dir" {}
        module "a" { source = "./${var.dir}" }
        module "m" { source = "./m" }
        -- m/main.tf --
        variable "needed" {}
        module "inner" { source = "./${var.needed}" }
        "#,
        &[],
        expect![[r#"
            module.m: ./m
            Failed to request input from user for variable var.dir  main.tf:1,1
  
            Unable to compute static value  main.tf:2,23
              module.a.source depends on var.dir which is not available
            Missing required variable in module call  main.tf:3,12
  
            Unable to compute static value  ./m/main.tf:2,27
              module.m:module.inner.source depends on module.m:var.needed which is not available
        "#]],
    );
}

#[test]
fn variables_say_whether_they_may_be_static() {
    check(
        r#"
        -- main.tf --
        resource "terraform_data" "a" {}
        variable "never" {
          default = "x"
          const   = false
        }
        module "a" { source = "./${var.never}" }
        module "p" {
          source = "./p"
          s      = terraform_data.a.id
        }
        -- p/main.tf --
        variable "s" { const = true }
        "#,
        &[],
        expect![[r#"
            module.p: ./p
            Unable to use variable in static context  main.tf:6,28
              The variable "never" cannot be used in a static context, because it is declared as "const = false".
            Dynamic value in static context  main.tf:9,12
              Unable to use terraform_data.a in static context, which is required by module.p:var.s
            Unable to compute static value  main.tf:7,1
              module.p: depends on module.p:var.s which is not available
        "#]],
    );
}

#[test]
fn values_are_fitted_to_their_variables() {
    check(
        r#"
        -- main.tf --
        variable "n" { type = number }
        variable "o" {
          type    = object({ dir = optional(string, "usual") })
          default = {}
        }
        variable "null" {
          type     = string
          nullable = false
        }
        module "a" { source = "./${var.n}" }
        module "b" { source = "./${var.o.dir}" }
        module "m" { 
          source = "./m"
          given  = null
        }
        -- m/main.tf --
        variable "given" { 
          type     = string 
          nullable = false
        }
        module "x" { source = "./${var.given}" }
        "#,
        &[("n", "many")],
        expect![[r#"
            module.b: ./usual
            module.m: ./m
            Invalid value for input variable
              The given value is not suitable for var.n declared at main.tf:1,1-13: a number is required.
            Unable to compute static value  main.tf:10,23
              module.a.source depends on var.n which is not available
            Required variable not set  ./m/main.tf:1,1
              The given value is not suitable for var.given defined at ./m/main.tf:1,1-17: required variable may not be set to null.
            Unable to compute static value  ./m/main.tf:5,23
              module.m:module.x.source depends on module.m:var.given which is not available
        "#]],
    );
}

#[test]
fn a_source_that_is_no_text_is_refused() {
    check(
        r#"
        -- main.tf --
        module "a" { source = null }
        module "b" { source = ["x"] }
        module "c" { source = plantimestamp() }
        module "d" { source = 1 }
        module "e" {
          source  = "a/b/c"
          version = "nonsense"
        }
        module "f" {
          source  = "./f"
          version = ["1"]
        }
        "#,
        &[],
        expect![[r#"
            Unsuitable value type  main.tf:1,23
              Unsuitable value: a string is required
            Unsuitable value type  main.tf:2,23
              Unsuitable value: string required, but have tuple
            Unsuitable value type  main.tf:3,23
              Unsuitable value: a string is required
            Invalid module source address  main.tf:4,23
              entail failed to determine your intended installation method for remote module package "1".

            If you intended this as a path relative to the current module, use "./1" instead. The "./" prefix indicates that the address is a relative filesystem path.
            Invalid version constraint  main.tf:7,13
              This string does not use correct version constraint syntax.
            Invalid version constraint  main.tf:11,13
              A string value is required for version, and it must be known.
            Invalid registry module source address  main.tf:10,13
              Failed to parse module registry address: can't use local directory "./f" as a module registry address. The argument "version" applies only to registry modules.
        "#]],
    );
}
