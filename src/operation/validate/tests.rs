//! Folders in, what `validate` says out: summary, place, detail where it matters.

use std::sync::Arc;

use expect_test::{Expect, expect};

use crate::config::tests::folder;
use crate::diagnostic::Sources;
use crate::observe::pool::Pool;
use crate::operation::session::Session;
use crate::state::State;
use crate::world::World;

/// The one place that validates: files as text in, problems as text out.
#[track_caller]
fn check(files: &str, expected: Expect) {
    let folder = folder(files);
    let world = World {
        root: folder.path().into(),
        cwd: folder.path().into(),
        environment: Default::default(),
        fixed_time: None,
        given: Default::default(),
        files: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    };
    let (world, sources) = (Arc::new(world), Sources::default());
    let context = crate::operation::session::early_context(&world, &sources).expect("a context");
    let data = world.root.join(".terraform");
    let (_, installed) = crate::operation::modules::install_modules(
        &context,
        &data,
        &[],
        crate::operation::modules::quietly(),
    );
    assert!(!installed.has_errors(), "{installed:?}");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let problems = runtime.block_on(async {
        let (session, told) = Session::open_for_validation(world.clone(), sources.clone())
            .expect("a configuration that can be read");
        let (pool, _) =
            Pool::start(&session.provider_sources, session.needed_providers(&State::default()))
                .await;
        super::check(&session, &pool, &told).await
    });
    let lines = problems.iter().map(|it| {
        let place = it.subject.map_or_else(String::new, |it| sources.place(it));
        let kind = if it.is_error() { "error" } else { "warning" };
        format!("{kind}: {} {place}\n", it.summary)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn expressions_are_evaluated_without_values_of_variables_and_resources() {
    check(
        r#"
        -- main.tf --
        variable "n" { type = number }
        locals {
          fine = var.n + 1
          bad  = upper(var.n, 1)
        }
        resource "terraform_data" "a" {
          input = 1 + {}
        }
        resource "terraform_data" "b" {
          count = -1
          input = terraform_data.a.nosuch
        }
        "#,
        expect![[r#"
            error: Too many function arguments main.tf:4,23
            error: Invalid operand main.tf:7,15
        "#]],
    );
}

#[test]
fn what_rests_on_a_wrong_block_is_not_looked_at() {
    check(
        r#"
        -- main.tf --
        locals {
          first  = 1 + {}
          second = local.first + {}
        }
        output "o" { value = upper(local.second, 1) }
        "#,
        expect![[r#"
            error: Invalid operand main.tf:2,16
        "#]],
    );
}

#[test]
fn a_child_takes_what_its_call_gives_as_far_as_that_is_decided() {
    check(
        r#"
        -- main.tf --
        module "m" {
          source = "./m"
          n      = 0
          o      = { name = "x", size = 3 }
          old    = "y"
        }
        output "missing" { value = module.m.nosuch }
        -- m/main.tf --
        variable "n" {
          type = number
          validation {
            condition     = var.n > 0
            error_message = "Must be positive."
          }
        }
        variable "o" { type = object({ name = string }) }
        variable "old" {
          default    = ""
          deprecated = "Use nothing."
        }
        output "o" { value = var.o.name }
        "#,
        expect![[r#"
            error: Invalid value for variable main.tf:3,12
            warning: Object attribute is ignored main.tf:4,26
            warning: Variable marked as deprecated by the module author main.tf:5,12
            error: Unsupported attribute main.tf:7,36
        "#]],
    );
}

#[test]
fn providers_are_asked_of_every_block_that_can_be_decoded() {
    check(
        r#"
        -- main.tf --
        variable "length" { type = number }
        resource "random_password" "unknown" { length = var.length }
        resource "random_password" "short" { length = 0 }
        resource "local_file" "both" {
          filename       = "x"
          content        = "a"
          content_base64 = "YQ=="
        }
        resource "terraform_data" "a" {
          lifecycle {
            ignore_changes = [output, nosuch]
          }
        }
        "#,
        expect![[r#"
            error: Invalid Attribute Value main.tf:3,47
            error: Invalid Attribute Combination main.tf:4,30
            error: Invalid Attribute Combination main.tf:4,30
            error: Invalid Attribute Combination main.tf:6,20
            error: Invalid Attribute Combination main.tf:7,20
            warning: Redundant ignore_changes element main.tf:9,10
            error: Unsupported attribute main.tf:11,31
        "#]],
    );
}

#[test]
fn conditions_count_where_they_are_decided() {
    check(
        r#"
        -- main.tf --
        variable "v" {
          validation {
            condition     = length(var.v) > 3
            error_message = "Too short."
          }
        }
        locals { known = 1 }
        output "o" {
          value = 1
          precondition {
            condition     = local.known == 2
            error_message = "Not two."
          }
        }
        output "secret" { value = sensitive("x") }
        "#,
        expect![[r#"
            error: Module output value precondition failed main.tf:11,21
            error: Output refers to sensitive values main.tf:15,1
        "#]],
    );
}

#[test]
fn what_rests_on_a_failed_block_is_left_alone_through_outputs_too() {
    check(
        r#"
        -- main.tf --
        module "made" { source = "./made" }
        resource "terraform_data" "user" {
          input = module.made.id
          size  = 1
        }
        resource "terraform_data" "other" {
          input = module.made.name
          size  = 1
        }
        -- made/main.tf --
        resource "terraform_data" "it" { size = 1 }
        output "id" { value = terraform_data.it.id }
        output "name" { value = "it" }
        "#,
        expect![[r#"
            error: Unsupported argument main.tf:8,3
            error: Unsupported argument made/main.tf:1,34
        "#]],
    );
}

#[test]
fn a_block_with_a_wrong_reference_is_told_of_that_alone() {
    check(
        r#"
        -- main.tf --
        module "made" {
          source = "./made"
          size   = terraform_data.nosuch.id
        }
        resource "terraform_data" "it" {
          input = local.nosuch
          size  = 1
        }
        resource "terraform_data" "user" {
          input = terraform_data.it.id
          size  = 1
        }
        -- made/main.tf --
        variable "size" {}
        resource "terraform_data" "sized" {
          input = var.size
          size  = 1
        }
        resource "terraform_data" "other" { size = 1 }
        "#,
        expect![[r#"
            error: Reference to undeclared resource main.tf:3,12
            error: Reference to undeclared local value main.tf:6,11
            error: Unsupported argument made/main.tf:6,37
        "#]],
    );
}

#[test]
fn each_of_the_sources_of_a_call_is_looked_at() {
    check(
        r#"
        -- main.tf --
        module "app" {
          for_each = { a = "one", b = "two", c = "three" }
          source   = "./${each.value}"
        }
        -- one/main.tf --
        resource "terraform_data" "it" { inputt = 1 }
        -- two/main.tf --
        resource "terraform_data" "it" { outputt = 1 }
        module "in" {
          source = "../in"
          size   = "none"
        }
        -- three/main.tf --
        resource "terraform_data" "it" { input = upper("x", 1) }
        module "in" { source = "../three/in" }
        -- in/main.tf --
        variable "size" { type = number }
        resource "terraform_data" "it" { input = upper(var.size, 1) }
        -- three/in/main.tf --
        output "size" { value = lower("A", 1) }
        "#,
        expect![[r#"
            error: Unsupported argument one/main.tf:1,34
            error: Unsupported argument two/main.tf:1,34
            error: Too many function arguments three/main.tf:1,53
            error: Invalid value for input variable in/main.tf:1,1
            error: Too many function arguments three/in/main.tf:1,36
        "#]],
    );
}

#[cfg(not(feature = "ssh"))]
#[test]
fn without_the_feature_provisioners_that_need_another_machine_name_it() {
    let folder = folder(
        r#"
        -- main.tf --
        resource "terraform_data" "a" {
          provisioner "local-exec" {
            command = "true"
          }
          provisioner "remote-exec" {
            inline = ["true"]
          }
        }
        "#,
    );
    let project = crate::Project::open(folder.path());
    let problems = project.plan(&crate::Request::default()).expect_err("it is refused");
    let told: String = problems.iter().map(|it| format!("{it}\n")).collect();
    assert!(told.contains("\"remote-exec\" reaches other machines over SSH"), "{told}");
    assert!(told.contains("built without the feature \"ssh\""), "{told}");
    assert!(!told.contains("local-exec"), "{told}");
}

#[test]
fn bodies_that_are_alike_but_for_what_they_name_are_told_of_each() {
    let like = |name: &str, of: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{ input = length(jsonencode([{of}, \"x\"])) }}\n"
        )
    };
    let fine: String = (1..9)
        .map(|it| like(&format!("b{it}"), &format!("terraform_data.b{}.output", it - 1)))
        .collect();
    let wrong = [
        like("attribute", "terraform_data.b1.nosuch"),
        like("attribute_again", "terraform_data.b2.nosuch"),
        like("of_counted", "terraform_data.counted.output"),
        like("of_data", "data.terraform_remote_state.there.output"),
        like("too_many", "upper(terraform_data.b1.id, 1)"),
        like("itself", "local.nosuch"),
    ];
    check(
        &format!(
            "-- main.tf --\nresource \"terraform_data\" \"b0\" {{}}\nresource \"terraform_data\" \"counted\" {{ count = 2 }}\ndata \"terraform_remote_state\" \"there\" {{ backend = \"local\" }}\n{fine}{}",
            wrong.concat()
        ),
        expect![[r#"
            error: Unsupported attribute main.tf:12,85
            error: Unsupported attribute main.tf:13,91
            error: Missing resource instance key main.tf:14,69
            error: Unsupported attribute main.tf:15,99
            error: Too many function arguments main.tf:16,95
            error: Reference to undeclared local value main.tf:17,65
        "#]],
    );
}
