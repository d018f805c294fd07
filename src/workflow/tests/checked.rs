//! What `init`, `validate` and `plan` say of one folder: what is told together, what is withheld, and where each thing is.

use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use parking_lot::Mutex;

use crate::config::tests::folder;
use crate::diagnostic::{Diagnostics, Sources};
use crate::event::{Event, Sink};
use crate::execute::Stop;
use crate::plan::Plan;
use crate::request::LintSelection;
use crate::workflow::init::{InitOptions, init};
use crate::workflow::options::PlanOptions;
use crate::workflow::plan::plan;
use crate::workflow::validate::validate;
use crate::workflow::{Host, LockOptions, Nobody, Schemas, StateOptions, Tell};
use crate::world::World;

/// Keeps the problems that it is told.
#[derive(Default)]
struct Listener(Mutex<Diagnostics>);

impl Sink for Listener {
    fn event(&self, _: Event) {}
}

impl Tell for Listener {
    fn problems(&self, problems: Diagnostics) {
        self.0.lock().extend(problems);
    }

    fn planned(&self, _: &Plan, _: &Schemas, problems: Diagnostics) {
        self.problems(problems);
    }
}

/// What a command says: each problem with its place.
fn says(
    (world, sources): (&Arc<World>, &Sources),
    name: &str,
    command: impl Fn(&Host<'_>) -> Result<Diagnostics, Diagnostics>,
) -> String {
    let (listener, stop) = (Listener::default(), Stop::default());
    let host = Host { world, sources, tell: &listener, ask: &Nobody, stop: &stop };
    let more = command(&host).unwrap_or_else(|it| it);
    let mut all = std::mem::take(&mut *listener.0.lock());
    all.extend(more);
    let line = |it: &crate::diagnostic::Diagnostic| {
        let place = it.subject.map_or_else(String::new, |it| sources.place(it));
        let kind = if it.is_error() { "error" } else { "warning" };
        format!("  {kind}: {} {place}", it.summary).trim_end().to_owned() + "\n"
    };
    let mut lines: Vec<String> = all.once().iter().map(line).collect();
    lines.sort();
    format!("{name}\n{}", lines.concat())
}

/// Initializes, validates and plans a folder, one after the other.
#[track_caller]
fn check(files: &str, expected: Expect) {
    let folder = folder(files);
    let (world, sources) = (world(folder.path()), Sources::default());
    let made = InitOptions {
        backend: Some(Default::default()),
        get: true,
        tests: "tests".into(),
        ..InitOptions::default()
    };
    let said = says((&world, &sources), "init", |host| {
        init(host, &made, &|_| {}).map(|()| Diagnostics::new())
    });
    expected.assert_eq(&(said + &checked((&world, &sources))));
}

/// Validates and plans a folder that nobody has initialized.
#[track_caller]
fn check_uninitialized(files: &str, expected: Expect) {
    let folder = folder(files);
    expected.assert_eq(&checked((&world(folder.path()), &Sources::default())));
}

fn world(root: &Path) -> Arc<World> {
    let world = World::of_this_process();
    let (root, environment) = (root.to_owned(), Default::default());
    Arc::new(World { cwd: root.clone(), root, environment, ..world })
}

fn checked(place: (&Arc<World>, &Sources)) -> String {
    let said = says(place, "validate", |host| validate(host, None, &LintSelection::default()));
    let state = StateOptions {
        lock: LockOptions { enabled: false, ..LockOptions::default() },
        ..StateOptions::default()
    };
    let options = PlanOptions { state, ..PlanOptions::default() };
    said + &says(place, "plan", |host| plan(host, &options).map(|it| it.finished.problems))
}

#[test]
fn a_module_that_wants_to_be_given_providers_is_valid_by_itself() {
    check(
        r#"
        -- main.tf --
        terraform {
          required_providers {
            null = {
              source                = "hashicorp/null"
              configuration_aliases = [null.east, null.west]
            }
          }
        }
        resource "null_resource" "a" { provider = null.east }
        module "inner" {
          source    = "./inner"
          providers = { null.any = null.west }
        }
        -- inner/main.tf --
        terraform {
          required_providers {
            null = {
              source                = "hashicorp/null"
              configuration_aliases = [null.any]
            }
          }
        }
        resource "null_resource" "a" { provider = null.any }
        "#,
        expect![[r#"
            init
            validate
            plan
              error: missing provider provider["registry.opentofu.org/hashicorp/null"].west main.tf:12,28
        "#]],
    );
}

#[test]
fn only_what_a_module_has_can_be_passed_on() {
    check(
        r#"
        -- main.tf --
        provider "random" {}
        module "implied" {
          source    = "./inner"
          providers = { null = null }
        }
        module "between" { source = "./between" }
        -- inner/main.tf --
        terraform {
          required_providers {
            null = { source = "hashicorp/null" }
          }
        }
        resource "null_resource" "a" {}
        -- between/main.tf --
        module "last" {
          source    = "./last"
          providers = { random = random }
        }
        -- between/last/main.tf --
        terraform {
          required_providers {
            random = { source = "hashicorp/random" }
          }
        }
        resource "random_id" "a" { byte_length = 1 }
        "#,
        expect![[r#"
            init
              warning: Reference to undefined provider between/main.tf:3,26
              warning: Reference to undefined provider main.tf:4,24
            validate
              error: missing provider module.between.provider["registry.opentofu.org/hashicorp/random"] between/main.tf:3,26
              error: missing provider provider["registry.opentofu.org/hashicorp/null"] main.tf:4,24
            plan
              error: missing provider module.between.provider["registry.opentofu.org/hashicorp/random"] between/main.tf:3,26
              error: missing provider provider["registry.opentofu.org/hashicorp/null"] main.tf:4,24
              warning: Reference to undefined provider between/main.tf:3,26
              warning: Reference to undefined provider main.tf:4,24
        "#]],
    );
}

#[test]
fn provider_blocks_that_nothing_uses_are_not_looked_at() {
    check(
        r#"
        -- main.tf --
        provider "random" {
          alias = "idle"
          size  = var.nosuch
        }
        provider "null" {
          alias = "busy"
          size  = var.nosuch
        }
        resource "null_resource" "a" { provider = null.busy }
        "#,
        expect![[r#"
            init
            validate
              error: Unsupported argument main.tf:7,3
            plan
              error: Unsupported argument main.tf:7,3
        "#]],
    );
}

#[test]
fn init_warns_of_what_validate_warns_of() {
    check(
        r#"
        -- main.tf --
        module "inner" { source = "./inner" }
        -- inner/main.tf --
        terraform {
          backend "local" {}
        }
        provider "null" {}
        resource "null_resource" "a" {
          lifecycle {
            ignore_changes = ["triggers"]
          }
        }
        "#,
        expect![[r#"
            init
              warning: Backend configuration ignored inner/main.tf:2,3
              warning: Quoted references are deprecated inner/main.tf:7,23
              warning: Redundant empty provider block inner/main.tf:4,1
            validate
              warning: Backend configuration ignored inner/main.tf:2,3
              warning: Quoted references are deprecated inner/main.tf:7,23
              warning: Redundant empty provider block inner/main.tf:4,1
            plan
              warning: Backend configuration ignored inner/main.tf:2,3
              warning: Quoted references are deprecated inner/main.tf:7,23
              warning: Redundant empty provider block inner/main.tf:4,1
        "#]],
    );
}

#[test]
fn each_part_of_a_resource_is_looked_at_by_itself() {
    check(
        r#"
        -- main.tf --
        resource "random_id" "unknown" {
          size = var.nowhere
        }
        resource "random_id" "repeats" {
          count       = var.nowhere
          byte_length = "x"
        }
        resource "random_id" "waits" {
          depends_on  = [random_id.nosuch]
          byte_length = 1
          size {
            of = var.nowhere
          }
        }
        resource "random_id" "body" {
          count       = "x"
          byte_length = var.nowhere
          size        = 1
          provisioner "local-exec" {}
        }
        resource "random_nosuch" "kind" {
          count = "x"
          size  = var.nowhere
        }
        resource "null_resource" "itself" {
          size = 1
          provisioner "local-exec" {
            command = null_resource.itself.id
          }
        }
        "#,
        expect![[r#"
            init
            validate
              error: Incorrect attribute value type main.tf:6,17
              error: Incorrect value type main.tf:16,17
              error: Incorrect value type main.tf:22,11
              error: Invalid resource type main.tf:21,10
              error: Missing required argument main.tf:1,32
              error: Missing required argument main.tf:19,28
              error: Reference to undeclared input variable main.tf:17,17
              error: Reference to undeclared input variable main.tf:5,17
              error: Reference to undeclared resource main.tf:9,18
              error: Unsupported argument main.tf:2,3
              error: Unsupported argument main.tf:26,3
              error: Unsupported block type main.tf:11,3
            plan
              error: Cycle: null_resource.itself, null_resource.itself (expand) main.tf:28,15
              error: Incorrect attribute value type main.tf:6,17
              error: Incorrect value type main.tf:16,17
              error: Incorrect value type main.tf:22,11
              error: Invalid resource type main.tf:21,10
              error: Missing required argument main.tf:1,32
              error: Missing required argument main.tf:19,28
              error: Reference to undeclared input variable main.tf:17,17
              error: Reference to undeclared input variable main.tf:5,17
              error: Reference to undeclared resource main.tf:9,18
              error: Unsupported argument main.tf:2,3
              error: Unsupported argument main.tf:26,3
              error: Unsupported block type main.tf:11,3
        "#]],
    );
}

#[test]
fn what_rests_on_a_broken_block_is_not_told_of() {
    check(
        r#"
        -- main.tf --
        locals {
          first  = var.nowhere
          second = "${local.first} ${var.nosuch}"
        }
        module "inner" {
          source = "./inner"
          text   = "${local.second} ${var.neither}"
        }
        output "apart" { value = local.nosuch }
        -- inner/main.tf --
        variable "text" {}
        output "text" { value = var.text + var.nope }
        "#,
        expect![[r#"
            init
            validate
              error: Reference to undeclared input variable main.tf:2,12
              error: Reference to undeclared local value main.tf:9,26
            plan
              error: Reference to undeclared input variable main.tf:2,12
              error: Reference to undeclared local value main.tf:9,26
        "#]],
    );
}

#[test]
fn each_provisioner_that_nobody_knows_is_told_of_and_nothing_else() {
    check(
        r#"
        -- main.tf --
        resource "null_resource" "a" {
          provisioner "shell" {}
          provisioner "shell" {}
          triggers = { a = var.nosuch }
        }
        resource "null_resource" "b" {
          provisioner "shell" {}
        }
        "#,
        expect![[r#"
            init
            validate
              error: Missing required provisioner plugin
              error: Missing required provisioner plugin
              error: Missing required provisioner plugin
            plan
              error: Missing required provisioner plugin
              error: Missing required provisioner plugin
              error: Missing required provisioner plugin
        "#]],
    );
}

#[test]
fn a_provider_that_is_not_installed_and_a_variable_without_a_value_come_first() {
    check_uninitialized(
        r#"
        -- main.tf --
        resource "nosuch_thing" "a" { name = var.nowhere }
        "#,
        expect![[r#"
            validate
              error: Missing required provider
            plan
              error: Inconsistent dependency lock file
        "#]],
    );
    check(
        r#"
        -- main.tf --
        variable "given" {}
        resource "null_resource" "a" {
          triggers = { a = var.nowhere }
        }
        "#,
        expect![[r#"
            init
            validate
              error: Reference to undeclared input variable main.tf:3,20
            plan
              error: No value for required variable main.tf:1,1
        "#]],
    );
}

#[test]
fn a_type_implies_a_provider_in_lower_case() {
    check(
        r#"
        -- main.tf --
        resource "Null_resource" "a" {}
        resource "null-_resource" "b" { provider = null }
        resource "null-_resource" "c" {}
        "#,
        expect![[r#"
            init
              error: Invalid provider local name main.tf:3,1
            validate
              error: Invalid provider local name main.tf:3,1
            plan
              error: Invalid provider local name main.tf:3,1
        "#]],
    );
}

#[test]
fn backends_that_nobody_knows_are_told_of_where_they_are_used() {
    check(
        r#"
        -- main.tf --
        terraform {
          backend "floppy" {}
        }
        "#,
        expect![[r#"
            init
              error: Unsupported backend type main.tf:2,11
            validate
            plan
              error: Invalid backend type main.tf:2,11
        "#]],
    );
}

/// How often programs are told of one problem by `init`, `validate` and `plan`.
fn times(files: &str, summary: &str) -> [usize; 3] {
    let folder = folder(files);
    let (world, sources, stop) = (world(folder.path()), Sources::default(), Stop::default());
    let told = |command: &dyn Fn(&Host<'_>) -> Result<Diagnostics, Diagnostics>| {
        let listener = Listener::default();
        let tell = &listener;
        let host = Host { world: &world, sources: &sources, tell, ask: &Nobody, stop: &stop };
        let returned = command(&host).unwrap_or_else(|it| it);
        let heard = listener.0.lock().clone();
        heard.into_iter().chain(returned).filter(|it| it.summary == summary).count()
    };
    let (backend, tests) = (Some(Default::default()), "tests".into());
    let made = InitOptions { backend, get: true, tests, ..InitOptions::default() };
    let lock = LockOptions { enabled: false, ..LockOptions::default() };
    let state = StateOptions { lock, ..StateOptions::default() };
    let options = PlanOptions { state, ..PlanOptions::default() };
    [
        told(&|host| init(host, &made, &|_| {}).map(|()| Diagnostics::new())),
        told(&|host| validate(host, None, &LintSelection::default())),
        told(&|host| plan(host, &options).map(|_| Diagnostics::new())),
    ]
}

#[test]
fn programs_are_told_as_often_as_a_file_is_read() {
    let summary = "Version constraints inside provider configuration blocks are deprecated";
    let alone = "\n-- main.tf --\nprovider \"null\" { version = \">= 1.0.0\" }\n";
    assert_eq!(times(alone, summary), [2, 1, 2]);
    let calling = format!("{alone}module \"m\" {{ source = \"./m\" }}\n-- m/main.tf --\n");
    assert_eq!(times(&calling, summary), [3, 1, 2]);
}

#[test]
fn programs_are_told_of_each_instance() {
    let files = r#"
        -- main.tf --
        module "m" {
          source   = "./m"
          for_each = toset(["a", "b"])
          old      = 1
        }
        -- m/main.tf --
        variable "old" { deprecated = "Do not use it." }
    "#;
    assert_eq!(times(files, "Variable marked as deprecated by the module author"), [0, 1, 3]);
}

#[test]
fn what_is_wrong_with_the_backend_is_told_before_names_and_providers() {
    check_uninitialized(
        r#"
        -- main.tf --
        terraform {
          backend "nosuch" {}
        }
        resource "nosuch_thing" "a" { name = var.nowhere }
        "#,
        expect![[r#"
            validate
              error: Missing required provider
            plan
              error: Invalid backend type main.tf:2,11
        "#]],
    );
}

#[test]
fn a_block_in_a_module_call_is_no_error_of_init() {
    check(
        r#"
        -- main.tf --
        module "m" {
          source = "./m"
          nosuch {}
        }
        -- m/main.tf --
        "#,
        expect![[r#"
            init
            validate
              error: Unsupported block type main.tf:3,3
            plan
              error: Unsupported block type main.tf:3,3
        "#]],
    );
}
