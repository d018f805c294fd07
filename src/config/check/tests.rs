//! Whole configurations in, what does not fit together out.

use expect_test::expect;

use super::super::tests::{check_problems as check, folder, load_folder};
use crate::diagnostic::Sources;
use crate::lower::BlockGraph;

#[test]
fn references_to_nothing_are_told() {
    check(
        r#"
        -- main.tf --
        variable "region" {}
        locals { name = 1 }
        resource "terraform_data" "web" {}
        output "a" { value = [var.regoin, var.other, local.nane, terraform_data.wbe.id, data.terraform_data.web, module.x.y] }
        output "b" { value = [path.here, terraform.nope, foo, self.id, each.key, count.index, each.foo] }
        "#,
        expect![[r#"
            Reference to undeclared input variable  main.tf:4,23
            Reference to undeclared input variable  main.tf:4,35
            Reference to undeclared local value  main.tf:4,46
            Reference to undeclared resource  main.tf:4,58
            Reference to undeclared resource  main.tf:4,81
            Reference to undeclared module  main.tf:4,106
            Invalid "path" attribute  main.tf:5,23
            Invalid "terraform" attribute  main.tf:5,34
            Invalid reference  main.tf:5,50
            Invalid "self" reference  main.tf:5,55
            Reference to "each" in context without for_each  main.tf:5,64
            Reference to "count" in non-counted context  main.tf:5,74
            Invalid "each" attribute  main.tf:5,87
        "#]],
    );
}

#[test]
fn keys_stand_where_resources_repeat() {
    check(
        r#"
        -- main.tf --
        resource "terraform_data" "one" {}
        resource "terraform_data" "many" {
          count = 2
          input = count.index
        }
        resource "terraform_data" "by" {
          for_each = { a = 1 }
          input    = each.value
          lifecycle {
            postcondition {
              condition     = self.id != each.key
              error_message = "x"
            }
          }
        }
        output "good" { value = [terraform_data.one.id, terraform_data.many[0].id, terraform_data.by["a"].id, terraform_data.many[*].id, terraform_data.one[*].id] }
        output "bad" { value = [terraform_data.one[0].id, terraform_data.many.id, terraform_data.by.id, terraform_data.many.count] }
        "#,
        expect![[r#"
            Unexpected resource instance key  main.tf:17,25
            Missing resource instance key  main.tf:17,51
            Missing resource instance key  main.tf:17,75
            Invalid resource count attribute  main.tf:17,97
        "#]],
    );
}

#[test]
fn modules_get_what_they_need() {
    check(
        r#"
        -- main.tf --
        module "a" {
          source = "./m"
          ned    = 1
        }
        module "b" {
          source   = "./m"
          for_each = { x = 1 }
          need     = each.key
        }
        output "o" { value = [module.a.out, module.a.nope, module.b["x"].out, module.b["x"].nope, module.b] }
        -- m/main.tf --
        variable "need" {}
        variable "free" { default = 1 }
        output "out" { value = var.need }
        "#,
        expect![[r#"
            Missing required argument  main.tf:1,12
            Unsupported argument  main.tf:3,3
        "#]],
    );
}

#[test]
fn depends_on_names_whole_things() {
    check(
        r#"
        -- main.tf --
        variable "v" {}
        resource "terraform_data" "a" { count = 1 }
        resource "terraform_data" "b" {
          depends_on = [terraform_data.a, terraform_data.a[0], var.v, terraform_data.a[0].id, terraform_data.c]
        }
        "#,
        expect![[r#"
            Invalid depends_on reference  main.tf:4,83
            Reference to undeclared resource  main.tf:4,87
        "#]],
    );
}

#[test]
fn what_reads_itself_is_told() {
    check(
        r#"
        -- main.tf --
        locals { l = local.l }
        resource "terraform_data" "a" { input = terraform_data.a.id }
        "#,
        expect![[r#"
            Self-referencing local value  main.tf:1,14
            Self-referential block  main.tf:2,41
        "#]],
    );
}

#[test]
fn iterators_of_dynamic_blocks_are_bound() {
    check(
        r#"
        -- main.tf --
        resource "x_y" "a" {
          dynamic "block" {
            for_each = [block.value]
            content {
              a = block.value
              b = it.value
              dynamic "inner" {
                for_each = block.value
                iterator = it
                content { c = [it.key, block.key] }
              }
            }
          }
        }
        -- b.tf.json --
        {"resource": {"x_y": {"b": {"dynamic": {"block": {"for_each": ["${block.value}"], "content": {"a": "${block.value}"}}}}}}}
        "#,
        expect![[r#"
            Reference to undeclared resource  b.tf.json:1,67
            Reference to undeclared resource  main.tf:3,17
            Reference to undeclared resource  main.tf:6,11
        "#]],
    );
}

#[test]
fn a_circle_is_told_once_at_its_shortest() {
    check(
        r#"
        -- main.tf --
        locals {
          a = local.b
          b = [local.c, local.a]
          c = local.a
        }
        resource "terraform_data" "x" { input = module.m.out }
        module "m" {
          source = "./m"
          in     = terraform_data.x.id
        }
        -- m/main.tf --
        variable "in" {}
        output "out" { value = var.in }
        "#,
        expect![[r#"
            Cycle: local.a (expand), local.b (expand)
            Cycle: terraform_data.x, module.m.output.out (expand), module.m.var.in (expand, reference), module.m.var.in (expand, input)
        "#]],
    );
}

#[test]
fn what_adopts_an_object_waits_for_what_names_it() {
    check(
        r#"
        -- main.tf --
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" {}
        import {
          to = terraform_data.a
          id = terraform_data.b.id
        }
        import {
          to = terraform_data.b
          id = terraform_data.a.id
        }
        "#,
        expect![[r#"
            Cycle: terraform_data.a, terraform_data.b
        "#]],
    );
}

#[test]
fn a_circle_is_told_link_by_link() {
    let folder = folder(
        r#"
        -- main.tf --
        locals {
          a = local.b
          b = [1, local.a]
        }
        "#,
    );
    let sources = Sources::default();
    let (config, _) = load_folder(folder.path(), &sources);
    let config = config.expect("a configuration");
    let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
    let problems = graph.check(&config, &graph.suspects(), &sources);
    expect![[r#"
        Each of these needs the value of the next, and the last that of the first:
          local.a depends on local.b, main.tf:2,7
          local.b depends on local.a, main.tf:3,11"#]]
    .assert_eq(&problems.0[0].detail);
}

#[test]
fn modules_that_read_each_other_in_parts_are_no_circle() {
    check(
        r#"
        -- main.tf --
        module "a" {
          source = "./m"
          in     = "start"
          late   = module.b.first
        }
        module "b" {
          source = "./m"
          in     = module.a.first
          late   = "end"
        }
        -- m/main.tf --
        variable "in" {}
        variable "late" {}
        resource "terraform_data" "first" { input = var.in }
        resource "terraform_data" "second" { input = var.late }
        output "first" { value = terraform_data.first.id }
        "#,
        expect![""],
    );
}

#[test]
fn moves_that_contradict_are_told() {
    check(
        r#"
        -- main.tf --
        resource "terraform_data" "a" {}
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
        moved {
          from = terraform_data.c
          to   = terraform_data.c
        }
        moved {
          from = terraform_data.d
          to   = terraform_data.e
        }
        moved {
          from = terraform_data.d
          to   = terraform_data.f
        }
        removed {
          from = terraform_data.a
          lifecycle { destroy = false }
        }
        "#,
        expect![[r#"
            Removed resource block still exists  main.tf:18,1
            Moved object still exists  main.tf:2,1
            Redundant move statement  main.tf:6,1
            Ambiguous move statements  main.tf:14,1
        "#]],
    );
}

#[test]
fn providers_are_passed_by_name_and_type() {
    check(
        r#"
        -- main.tf --
        terraform {
          required_providers {
            x = { source = "acme/x" }
            y = { source = "acme/y" }
          }
        }
        module "a" {
          source    = "./m"
          providers = { x = y, x.extra = x }
        }
        module "b" {
          source = "./m"
        }
        -- m/main.tf --
        terraform {
          required_providers {
            x = {
              source                = "acme/x"
              configuration_aliases = [x.extra]
            }
          }
        }
        "#,
        expect![[r#"
            Provider type mismatch  main.tf:9,21
            Missing required provider configuration  main.tf:11,1
        "#]],
    );
}

#[test]
fn an_alias_without_a_block_is_told() {
    check(
        r#"
        -- main.tf --
        provider "terraform" { alias = "here" }
        resource "terraform_data" "a" { provider = terraform.here }
        resource "terraform_data" "b" { provider = terraform.there }
        "#,
        expect![[r#"
            Provider configuration not present  main.tf:3,44
        "#]],
    );
}

#[test]
fn data_of_a_check_stays_in_it() {
    check(
        r#"
        -- main.tf --
        check "c" {
          data "x_y" "d" {}
          assert {
            condition     = data.x_y.d.id != ""
            error_message = data.x_y.d.id
          }
        }
        output "o" { value = data.x_y.d.id }
        "#,
        expect![[r#"
            Reference to scoped resource  main.tf:8,22
        "#]],
    );
}

#[test]
fn a_whole_call_and_its_instance_without_a_key_move_each_for_itself() {
    check(
        r#"
        -- main.tf --
        module "b" { source = "./m" }
        module "c" {
          source = "./m"
          count  = 2
        }
        moved {
          from = module.a
          to   = module.b
        }
        moved {
          from = module.a
          to   = module.c[1]
        }
        moved {
          from = module.a
          to   = module.c[0]
        }
        -- m/main.tf --
        resource "terraform_data" "it" {}
        "#,
        expect![[r#"
            Ambiguous move statements  main.tf:14,1
        "#]],
    );
}
