//! Folders in, what was understood or what is wrong out, as text.

use std::path::Path;

use expect_test::{Expect, expect};

use super::*;
use crate::address::ResourceName;
use crate::diagnostic::{Diagnostics, Sources};
use crate::lower::BlockGraph;
use crate::value::Value;
use crate::world::Files;

/// Writes the files of a sectioned text (`-- name --`) into a fresh folder.
pub(crate) fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file: Option<(String, String)> = None;
    let write = |file: &Option<(String, String)>| {
        let Some((name, text)) = file else { return };
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let indent = text.lines().find_map(|it| it.find("-- ")).unwrap_or(0);
    for line in text.lines() {
        let line = line.get(indent..).unwrap_or(line.trim_start());
        match line.trim().strip_prefix("-- ").and_then(|it| it.strip_suffix(" --")) {
            Some(name) => {
                write(&file);
                file = Some((name.to_owned(), String::new()));
            }
            None => {
                if let Some((_, text)) = &mut file {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    write(&file);
    folder
}

/// The context of a folder in which nobody gives variables.
pub(crate) fn context(root: &Path, sources: &Sources) -> Arc<early::EarlyContext> {
    let world = crate::world::World {
        cwd: root.into(),
        root: root.into(),
        environment: BTreeMap::new(),
        fixed_time: None,
        given: Default::default(),
        files: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    };
    Arc::new(early::EarlyContext::new(Arc::new(world), "default", sources.clone()))
}

/// Installs local modules without the room that does so: every folder below the root is known by its calls.
pub(crate) fn installed(root: &Path) -> InstalledModules {
    let sources = Sources::default();
    let mut modules = InstalledModules::default();
    let Some(module) = load_module(&Files::default(), root, ".", &sources).0 else {
        return modules;
    };
    let place = early::StaticModule::root(module, context(root, &sources));
    let mut open = vec![Arc::new(place)];
    while let Some(place) = open.pop() {
        if place.address().0.len() > 5 {
            continue;
        }
        for call in place.module().calls.values() {
            let Ok(CallSource { source, .. }) = call_source(call, &place, None) else { continue };
            let child = place.child_at(call, None);
            let path = source::join_path(&place.module().directory, &source.to_string());
            modules.insert(&child, InstalledModule::of(&source.to_string(), None, &path));
            if let Some(module) =
                load_module(&Files::default(), &root.join(&path), &path, &sources).0
            {
                open.push(Arc::new(place.child(call, None, module)));
            }
        }
    }
    modules
}

/// Reads a folder whose local modules are installed.
pub(crate) fn load_folder(root: &Path, sources: &Sources) -> (Option<Config>, Diagnostics) {
    load_config(&Files::default(), root, sources, &installed(root), &context(root, sources))
}

/// Prints problems, one per line: severity, summary, place.
pub(crate) fn print(problems: &Diagnostics, sources: &Sources) -> String {
    let line = |it: &crate::diagnostic::Diagnostic| {
        let place = it.subject.map_or(String::new(), |at| format!("  {}", sources.place(at)));
        let mark = if it.is_error() { "" } else { "warning: " };
        format!("{mark}{}{place}\n", it.summary)
    };
    problems.iter().map(line).collect()
}

/// Files that a seed repeats: what stands in `<…>` is replaced by one of its choices, which are separated by semicolons. All but one
/// in `rare` places have the first.
pub(crate) fn drawn(
    template: &str,
    seed: &mut u64,
    rare: usize,
    choices: fn(&str) -> &'static str,
) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, place)) = rest.split_once('<') {
        let (place, behind) = place.split_once('>').expect("a place ends");
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let drawn = (*seed >> 33) as usize;
        let among: Vec<&str> = choices(place).split(';').collect();
        let at = if drawn.is_multiple_of(rare) { drawn / rare % among.len() } else { 0 };
        text.push_str(before);
        text.push_str(among[at]);
        rest = behind;
    }
    text + rest
}

/// Loads files and calls `look` with the configuration, where nothing is wrong with it so far.
pub(crate) fn with_config(files: &str, look: impl FnOnce(&Config)) {
    let folder = folder(files);
    let sources = Sources::default();
    let (config, problems) = load_folder(folder.path(), &sources);
    if let Some(config) = config.filter(|_| !problems.has_errors()) {
        look(&config);
    }
}

/// The one place that loads and checks: files in, problems out.
#[track_caller]
pub(crate) fn check_problems(files: &str, problems: Expect) {
    let folder = folder(files);
    let sources = Sources::default();
    let (config, mut found) = load_folder(folder.path(), &sources);
    if let (Some(config), false) = (config, found.has_errors()) {
        found.extend(check::check_calls(&config));
        let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
        let suspects = graph.suspects();
        found.extend(graph.check(&config, &suspects, &sources));
        found.extend(check::check_for_plan(&config, &suspects, &sources));
    }
    problems.assert_eq(&print(&found, &sources));
}

#[track_caller]
pub(crate) fn load(files: &str) -> Config {
    let folder = folder(files);
    let sources = Sources::default();
    let (config, problems) = load_folder(folder.path(), &sources);
    assert!(!problems.has_errors(), "{}", print(&problems, &sources));
    config.expect("a configuration")
}

#[test]
fn every_kind_of_block_is_read() {
    let config = load(
        r#"
        -- main.tf --
        terraform {
          required_providers {
            x = { source = "acme/x", version = "~> 1.0" }
          }
          backend "local" { path = "s.tfstate" }
        }
        provider "x" { alias = "west" }
        variable "v" {
          type        = object({ a = optional(number, 5), b = list(string) })
          default     = { b = [1] }
          description = "text"
          sensitive   = true
          validation {
            condition     = var.v.a > 0
            error_message = "no"
          }
        }
        locals { l = var.v }
        output "o" {
          value     = local.l
          sensitive = true
        }
        resource "x_thing" "r" {
          count    = 2
          provider = x.west
          name     = "n"
          nested { a = 1 }
          lifecycle {
            create_before_destroy = true
            ignore_changes        = [name, nested[0].a]
          }
          provisioner "local-exec" {
            when    = destroy
            command = "true"
          }
        }
        data "x_thing" "d" {}
        module "m" {
          source = "./m"
          in     = 1
        }
        moved {
          from = x_thing.old[0]
          to   = x_thing.r[0]
        }
        check "c" {
          assert {
            condition     = local.l != 1
            error_message = "x"
          }
        }
        -- m/main.tf --
        variable "in" {}
        "#,
    );
    let root = config.root();
    let v = &root.variables["v"];
    assert_eq!(v.ty.to_string(), "object({a=optional(number),b=list(string)})");
    assert_eq!(v.default.as_ref().and_then(|it| it.get("a")).and_then(Value::as_int), Some(5));
    let r = &root.resources[&ResourceName::managed("x_thing", "r")];
    assert_eq!(r.provider_source.to_string(), "registry.opentofu.org/acme/x");
    assert_eq!(
        r.besides.provider.as_deref().map(ProviderRef::local_name),
        Some("x.west".to_owned())
    );
    let names: Vec<&str> = r.body.attributes.iter().map(|it| &*it.name.text).collect();
    assert_eq!(
        (names, r.body.blocks.len(), r.besides.provisioners[0].on_destroy),
        (vec!["name"], 1, true)
    );
    assert!(
        matches!(&r.besides.lifecycle.ignore_changes, IgnoreChanges::Paths(paths) if paths.len() == 2)
    );
    assert!(matches!(r.besides.repetition, Repetition::Count(_)));
    assert_eq!(root.moved.len(), 1);
    assert_eq!(root.backend.as_ref().map(|it| &*it.kind.text), Some("local"));
    assert_eq!(config.modules.len(), 2);
}

#[test]
fn of_blocks_that_say_no_more_than_most_nothing_is_held_besides() {
    let config = load(
        r#"
        -- main.tf --
        module "m" {
          source = "./m"
          in     = 1
        }
        resource "x_thing" "r" {
          name = "n"
        }
        resource "x_thing" "waits" {
          depends_on = [x_thing.r]
        }
        provider "x" {
          alias = "west"
        }
        -- m/main.tf --
        variable "in" {}
        "#,
    );
    let root = config.root();
    assert!(root.calls["m"].besides.is_plain());
    let is_plain =
        |name| root.resources[&ResourceName::managed("x_thing", name)].besides.is_plain();
    assert_eq!((is_plain("r"), is_plain("waits")), (true, false));
}

#[test]
fn json_is_read_alike() {
    let config = load(
        r#"
        -- main.tf.json --
        {
          "//": "a comment",
          "variable": {"v": {"type": "list(string)", "default": ["a${b}"], "description": "${not} a template"}},
          "locals": {"l": "${var.v}"},
          "output": {"o": {"value": "${local.l[0]}-x", "depends_on": ["terraform_data.a"]}},
          "resource": {"terraform_data": {"a": [{"input": "x", "count": 2,
            "lifecycle": {"ignore_changes": ["input"], "replace_triggered_by": ["terraform_data.b"]}}],
            "b": {"depends_on": ["var.v"], "provider": "terraform"}}},
          "moved": {"from": "terraform_data.x", "to": "terraform_data.b"}
        }
        "#,
    );
    let root = config.root();
    let v = &root.variables["v"];
    assert_eq!(v.ty.to_string(), "list(string)");
    assert_eq!(v.description.as_deref(), Some("${not} a template"));
    assert_eq!(
        v.default
            .as_ref()
            .map(|it| it.children().filter_map(|it| it.as_str().map(str::to_owned)).collect()),
        Some(vec!["a${b}".to_owned()])
    );
    let a = &root.resources[&ResourceName::managed("terraform_data", "a")];
    assert!(matches!(&a.besides.repetition, Repetition::Count(_)));
    assert_eq!(a.besides.lifecycle.replace_triggered_by.len(), 1);
    assert_eq!((root.moved.len(), root.outputs["o"].depends_on.len()), (1, 1));
}

#[test]
fn in_json_what_is_not_evaluated_stands_without_a_template_around_it() {
    check_problems(
        r#"
        -- main.tf.json --
        {
          "variable": {"v": {"type": "${string}"}},
          "output": {"o": {"value": "${var.v}", "depends_on": ["${terraform_data.a}"]}},
          "resource": {"terraform_data": {
            "a": {"lifecycle": {"ignore_changes": ["${input}"], "replace_triggered_by": ["${terraform_data.b}"]}},
            "b": {"depends_on": ["${var.v}"], "provider": "${terraform}"}}},
          "moved": {"from": "${terraform_data.x}", "to": "terraform_data.b"}
        }
        "#,
        expect![[r#"
            Invalid type specification  main.tf.json:2,30
            Invalid expression  main.tf.json:3,56
            Invalid expression  main.tf.json:5,44
            Invalid expression  main.tf.json:5,82
            Invalid expression  main.tf.json:6,51
            Invalid expression  main.tf.json:6,26
            Invalid expression  main.tf.json:7,21
        "#]],
    );
}

#[test]
fn override_files_replace_part_by_part() {
    let config = load(
        r#"
        -- main.tf --
        variable "v" { default = "a" }
        locals { l = 1 }
        output "o" { value = 1 }
        resource "terraform_data" "a" {
          input = "base"
          keep  = 1
          block { n = 1 }
          block { n = 2 }
          other {}
          lifecycle {
            prevent_destroy       = true
            create_before_destroy = true
          }
        }
        -- main_override.tf --
        variable "v" {
          type    = number
          default = "5"
        }
        locals { l = 2 }
        output "o" { sensitive = true }
        resource "terraform_data" "a" {
          input = "over"
          block { n = 3 }
          lifecycle { create_before_destroy = false }
        }
        -- override.tf.json --
        {"resource": {"terraform_data": {"a": {"count": 3}}}}
        "#,
    );
    let root = config.root();
    assert_eq!(root.variables["v"].default.as_ref().and_then(Value::as_int), Some(5));
    assert_eq!(root.locals["l"].value.as_literal(), Some(Value::int(2)));
    assert!(root.outputs["o"].sensitive);
    let a = &root.resources[&ResourceName::managed("terraform_data", "a")];
    let attributes: Vec<&str> = a.body.attributes.iter().map(|it| &*it.name.text).collect();
    let blocks: Vec<&str> = a.body.blocks.iter().map(|it| &*it.kind.text).collect();
    assert_eq!((attributes, blocks), (vec!["keep", "input"], vec!["other", "block"]));
    assert_eq!(a.besides.lifecycle.create_before_destroy, Some(false));
    assert!(a.besides.lifecycle.prevent_destroy.is_some());
    assert!(matches!(a.besides.repetition, Repetition::Count(_)));
}

#[test]
fn what_is_not_there_cannot_be_overridden() {
    check_problems(
        r#"
        -- override.tf --
        variable "v" {}
        locals { l = 2 }
        output "o" {}
        module "m" {}
        resource "terraform_data" "a" {}
        data "terraform_data" "a" {}
        moved {
          from = a.b
          to   = a.c
        }
        provider "x" { alias = "y" }
        "#,
        expect![[r#"
            Missing base provider configuration for override  override.tf:11,1
            Missing base variable declaration to override  override.tf:1,1
            Missing base local value definition to override  override.tf:2,10
            Missing base output definition to override  override.tf:3,1
            Missing module call to override  override.tf:4,1
            Missing resource to override  override.tf:5,1
            Missing data resource to override  override.tf:6,1
            Cannot override 'moved' blocks  override.tf:7,1
        "#]],
    );
}

#[test]
fn nothing_is_declared_twice() {
    check_problems(
        r#"
        -- a.tf --
        variable "v" {}
        locals { l = 1 }
        output "o" { value = 1 }
        module "m" { source = "./m" }
        resource "terraform_data" "a" {}
        provider "terraform" {}
        terraform {
          required_providers {}
          backend "local" {}
        }
        -- b.tf --
        variable "v" {}
        locals { l = 1 }
        output "o" { value = 1 }
        module "m" { source = "./m" }
        resource "terraform_data" "a" {}
        provider "terraform" {}
        terraform {
          required_providers {}
          backend "local" {}
        }
        "#,
        expect![[r#"
            Duplicate required providers configuration  b.tf:8,3
            Duplicate backend configuration  b.tf:9,3
            Duplicate provider configuration  b.tf:6,1
            Duplicate variable declaration  b.tf:1,1
            Duplicate local value definition  b.tf:2,10
            Duplicate output definition  b.tf:3,1
            Duplicate module call  b.tf:4,1
            Duplicate resource "terraform_data" configuration  b.tf:5,1
        "#]],
    );
}

#[test]
fn wrong_blocks_are_told_with_their_summaries() {
    check_problems(
        r#"
        -- main.tf --
        variable "source" {}
        variable "1x" { type = lst(string) }
        variable "d" {
          type    = number
          default = "x"
        }
        variable "n" {
          nullable = false
          default  = null
        }
        variable "w" {
          validation {
            condition     = true
            error_message = "x"
          }
        }
        resource "terraform_data" "a" {
          count    = 1
          for_each = {}
          lifecycle {
            enabled        = true
            ignore_changes = "all"
          }
          lifecycle {}
        }
        data "terraform_data" "d" {
          lifecycle { prevent_destroy = true }
        }
        moved {
          from = module.m
          to   = a.b
        }
        removed { from = a.b[0] }
        foo {}
        module "m" {}
        output "o" { vale = 1 }
        check "c" {}
        "#,
        expect![[r#"
            Unsupported block type  main.tf:34,1
            Invalid variable name  main.tf:1,10
            Invalid variable name  main.tf:2,10
            Invalid type specification  main.tf:2,24
            Invalid validation expression  main.tf:13,21
            Invalid variable validation condition  main.tf:13,21
            Invalid expression  main.tf:22,23
            Duplicate lifecycle block  main.tf:24,3
            Invalid combination of "count", "enabled", and "for_each"  main.tf:18,3
            Invalid data resource lifecycle argument  main.tf:27,15
            Invalid "moved" addresses  main.tf:29,1
            Resource instance address with keys is not allowed  main.tf:33,21
            Missing required argument  main.tf:35,12
            Missing required argument  main.tf:36,12
            Unsupported argument  main.tf:36,14
            Zero assert blocks  main.tf:37,1
            Invalid default value for variable  main.tf:5,13
            Invalid default value for variable  main.tf:9,14
        "#]],
    );
}

#[test]
fn only_the_incompatible_version_is_told() {
    check_problems(
        r#"
        -- main.tf --
        terraform { required_version = ">= 99" }
        resource "a" {}
        -- b.tofu --
        terraform { required_version = ">= 99" }
        "#,
        expect![[r#"
            Incompatible module  b.tofu:1,13
        "#]],
    );
}

#[test]
fn a_module_that_is_not_installed_is_told() {
    let folder = folder("-- main.tf --\nmodule \"m\" { source = \"./m\" }\n");
    let sources = Sources::default();
    let context = context(folder.path(), &sources);
    let (config, problems) = load_config(
        &Files::default(),
        folder.path(),
        &sources,
        &InstalledModules::default(),
        &context,
    );
    expect![[r#"
        Module not installed  main.tf:1,1
    "#]]
    .assert_eq(&print(&problems, &sources));
    assert!(config.is_some_and(|it| !it.root().is_empty()));
}

#[test]
fn an_empty_folder_is_an_empty_module() {
    let folder = tempfile::tempdir().expect("a folder");
    let (module, problems) =
        load_module(&Files::default(), folder.path(), ".", &Sources::default());
    assert!(module.is_some_and(|it| it.is_empty()) && problems.is_empty());
}

#[test]
fn a_missing_folder_is_told() {
    let sources = Sources::default();
    let (module, problems) =
        load_module(&Files::default(), Path::new("/nowhere/at/all"), "x", &sources);
    assert!(module.is_none());
    assert_eq!(print(&problems, &sources), "Failed to read module directory\n");
}

#[test]
fn sources_must_be_known() {
    check_problems(
        r#"
        -- main.tf --
        variable "v" {}
        module "a" { source = var.v }
        module "b" { source = "b" }
        module "c" {
          source  = "./c"
          version = "1.0"
        }
        "#,
        expect![[r#"
            Failed to request input from user for variable var.v  main.tf:1,1
            Unable to compute static value  main.tf:2,23
            Invalid module source address  main.tf:3,23
            Invalid registry module source address  main.tf:5,13
        "#]],
    );
}
