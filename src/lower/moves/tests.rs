//! Configuration and recorded addresses in; addresses afterwards, and what is wrong, out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use expect_test::{Expect, expect};

use super::*;
use crate::address::{ProviderConfig, RareMap};
use crate::config::tests::load_folder;
use crate::lower::{BlockGraph, TraceInput, trace};
use crate::reason::ENGINES;
use crate::request::Request;
use crate::state::{Attributes, InstanceState, Object, Status};
use crate::world::World;

/// The one place that moves: a configuration (`-- FILE --` starts the file of a module) and the recorded addresses.
#[track_caller]
fn check(config: &str, recorded: &str, expected: Expect) {
    let folder = folder(config);
    let sources = Sources::default();
    let (config, found) = load_folder(folder.path(), &sources);
    assert!(!found.has_errors(), "{found:?}");
    let config = config.expect("a configuration");

    let mut state = state(recorded);
    let moved = apply_moves(ENGINES[0], &config, &mut state);
    let mut text = String::new();
    for (address, _, instance) in state.instances() {
        let was = moved.moved.get(&address).map(|it| format!("  was {it}")).unwrap_or_default();
        let kind = match moved.moved.contains_key(&address) && !moved.explicit.contains(&address) {
            true => ", implied",
            false => "",
        };
        let object = instance.current.as_ref().expect("an object");
        let read = object.reads.iter().flatten().map(|it| format!("  reads {it}"));
        let rests = object.dependencies.iter().map(|it| format!("  rests on {it}"));
        let more: String = read.chain(rests).collect();
        writeln!(text, "{address}{was}{kind}{more}").expect("text");
    }
    for (at, wanted) in &moved.blocked {
        writeln!(text, "blocked: {at} to {wanted}").expect("text");
    }
    let structure = structure(&config, folder.path());
    for problem in moved.check(&config, &structure, &sources).iter() {
        let place = problem.subject.map(|it| format!(" ({})", sources.place(it)));
        writeln!(text, "{}{}", problem.summary, place.unwrap_or_default()).expect("text");
        for line in problem.detail.lines().filter(|it| !it.is_empty()) {
            writeln!(text, "  {line}").expect("text");
        }
    }
    expected.assert_eq(&text);
}

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut name = "main.tf".to_owned();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --")) {
            Some(it) => name = it.to_owned(),
            None if line.is_empty() => {}
            None => files.entry(name.clone()).or_default().push_str(&format!("{line}\n")),
        }
    }
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

/// One address a line; behind it, what it reads, which is recorded in both ways.
fn state(recorded: &str) -> State {
    let mut state = State::default();
    for line in recorded.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let mut words = line.split_whitespace();
        let address: Instance = words.next().expect("an address").parse().expect("an address");
        let reads: Vec<Instance> = words.map(|it| it.parse().expect("an address")).collect();
        let object = Object {
            status: Status::Ready,
            schema_version: 0,
            attributes: Attributes::Flat(RareMap::new()),
            dependencies: reads.iter().map(|it| it.config().to_string().into()).collect(),
            reads: Some(reads.iter().map(|it| it.to_string().into()).collect()),
            recorded_as: None,
            create_before_destroy: false,
            skip_destroy: false,
            besides: Default::default(),
        };
        let provider: ProviderConfig =
            "provider[\"registry.opentofu.org/hashicorp/t\"]".parse().expect("a provider");
        let resource = state.resources.served_by(address.of(), &provider);
        let instance = InstanceState { current: Some(object.into()), ..InstanceState::default() };
        resource.instances.insert(address.key, instance);
    }
    state
}

fn structure(config: &Config, root: &Path) -> Structure {
    let graph = BlockGraph::of(ENGINES[0], config);
    let sorted = graph.sorted().expect("an order");
    let world = World {
        cwd: root.to_owned(),
        root: root.to_owned(),
        environment: BTreeMap::new(),
        fixed_time: None,
        given: Default::default(),
        files: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    };
    let variables = BTreeMap::new();
    trace::trace(TraceInput {
        repetitions: trace::Repetitions::NONE,
        followed: None,
        config,
        graph: &graph,
        sorted,
        variables: &variables,
        workspace: "default",
        world: &world,
        sources: &Sources::default(),
        state: &State::default(),
        request: &Request::default(),
    })
    .structure
}

#[test]
fn a_chain_of_moves_becomes_one() {
    check(
        r#"
        moved {
          from = t.b
          to   = t.c
        }
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "c" {}
        "#,
        "t.a",
        expect![[r#"
            t.c  was t.a
        "#]],
    );
}

#[test]
fn a_chain_that_meets_another_object_moves_that_one_and_blocks_the_first() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        moved {
          from = t.b
          to   = t.c
        }
        resource "t" "c" {}
        "#,
        "t.a
         t.b",
        expect![[r#"
            t.a
            t.c  was t.b
            blocked: t.a to t.b
        "#]],
    );
}

#[test]
fn moves_in_a_circle_are_refused_and_move_nothing() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        moved {
          from = t.b
          to   = t.a
        }
        "#,
        "t.a",
        expect![[r#"
            t.a
            Cyclic dependency in move statements
              The following chained move statements form a cycle, and so there is no final location to move objects to:
                - main.tf:1,1: t.a[*] → t.b[*]
                - main.tf:5,1: t.b[*] → t.a[*]
              A chain of move statements must end with an address that doesn't appear in any other statements, and which typically also refers to an object still declared in the configuration.
        "#]],
    );
}

#[test]
fn what_is_in_the_way_stays() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {}
        "#,
        "t.a
         t.b",
        expect![[r#"
            t.a
            t.b
            blocked: t.a to t.b
        "#]],
    );
}

#[test]
fn the_warning_names_what_is_blocked() {
    let mut blocked = BTreeMap::new();
    let address = |it: &str| Movable::Resource(it.parse().expect("an address"));
    blocked.insert(address("t.a"), address("t.b"));
    expect![[r#"
        Unresolved resource instance address changes
        The configuration says that these objects moved, but other objects are already recorded at the new addresses:
          - t.a could not move to t.b

        They keep their old addresses, and are planned to be destroyed where nothing declares those any more. To plan something else, first resolve the conflicts with the "state" commands."#]]
    .assert_eq(&{
        let warning = Moved { blocked, ..Moved::default() }.warning().expect("a warning");
        format!("{}\n{}", warning.summary, warning.detail)
    });
}

#[test]
fn a_single_one_moves_to_an_instance() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b[0]
        }
        resource "t" "b" {
          count = 2
        }
        "#,
        "t.a",
        expect![[r#"
            t.b[0]  was t.a
        "#]],
    );
}

#[test]
fn a_whole_resource_moves_with_the_keys_it_has() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {
          for_each = toset(["x"])
        }
        "#,
        "t.a",
        expect![[r#"
            t.b  was t.a
        "#]],
    );
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {
          count = 2
        }
        "#,
        "t.a[0]
         t.a[1]",
        expect![[r#"
            t.b[0]  was t.a[0]
            t.b[1]  was t.a[1]
        "#]],
    );
}

#[test]
fn count_that_comes_takes_the_single_one_along() {
    check(
        r#"
        resource "t" "a" {
          count = 2
        }
        "#,
        "t.a",
        expect![[r#"
            t.a[0]  was t.a, implied
        "#]],
    );
}

#[test]
fn count_that_goes_keeps_the_first_one() {
    check(
        r#"
        resource "t" "a" {}
        "#,
        "t.a[0]
         t.a[1]",
        expect![[r#"
            t.a  was t.a[0], implied
            t.a[1]
        "#]],
    );
}

#[test]
fn enabled_counts_as_no_repetition() {
    check(
        r#"
        resource "t" "a" {
          lifecycle {
            enabled = true
          }
        }
        "#,
        "t.a[0]",
        expect![[r#"
            t.a  was t.a[0], implied
        "#]],
    );
}

#[test]
fn for_each_implies_nothing() {
    check(
        r#"
        resource "t" "a" {
          for_each = toset(["x"])
        }
        resource "t" "b" {
          for_each = toset(["x"])
        }
        "#,
        "t.a
         t.b[0]",
        expect![[r#"
            t.a
            t.b[0]
        "#]],
    );
}

#[test]
fn a_written_move_turns_the_implied_one_off() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.a[1]
        }
        resource "t" "a" {
          count = 2
        }
        "#,
        "t.a",
        expect![[r#"
            t.a[1]  was t.a
        "#]],
    );
}

#[test]
fn a_written_move_turns_the_implied_one_off_even_when_it_is_blocked() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {
          count = 3
        }
        "#,
        "t.a[0]
         t.a[1]
         t.b",
        expect![[r#"
            t.a[0]
            t.a[1]
            t.b
            blocked: t.a to t.b
        "#]],
    );
}

#[test]
fn an_implied_move_that_finds_its_place_taken_is_blocked() {
    check(
        r#"
        resource "t" "a" {
          count = 1
        }
        "#,
        "t.a
         t.a[0]",
        expect![[r#"
            t.a
            t.a[0]
            blocked: t.a to t.a[0]
        "#]],
    );
}

#[test]
fn two_may_cross_to_another_resource() {
    check(
        r#"
        moved {
          from = t.a[0]
          to   = t.b[1]
        }
        moved {
          from = t.a[1]
          to   = t.b[0]
        }
        resource "t" "b" {
          count = 2
        }
        "#,
        "t.a[0]
         t.a[1]",
        expect![[r#"
            t.b[0]  was t.a[1]
            t.b[1]  was t.a[0]
        "#]],
    );
}

#[test]
fn two_cannot_cross_in_place() {
    check(
        r#"
        moved {
          from = t.a[0]
          to   = t.a[1]
        }
        moved {
          from = t.a[1]
          to   = t.a[0]
        }
        resource "t" "a" {
          count = 2
        }
        "#,
        "t.a[0]
         t.a[1]",
        expect![[r#"
            t.a[0]
            t.a[1]
            Moved object still exists (main.tf:1,1)
              This statement declares a move from t.a[0], but that resource instance is still declared at main.tf:10,9.
              Change your configuration so that this instance will be declared as t.a[1] instead.
            Moved object still exists (main.tf:5,1)
              This statement declares a move from t.a[1], but that resource instance is still declared at main.tf:10,9.
              Change your configuration so that this instance will be declared as t.a[0] instead.
        "#]],
    );
}

#[test]
fn saying_the_same_twice_is_fine() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {}
        "#,
        "t.a",
        expect![[r#"
            t.b  was t.a
        "#]],
    );
}

#[test]
fn one_place_cannot_go_to_two_nor_two_to_one() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.b
        }
        moved {
          from = t.a
          to   = t.c
        }
        moved {
          from = t.d
          to   = t.b
        }
        "#,
        "",
        expect![[r#"
            Ambiguous move statements (main.tf:5,1)
              A statement at main.tf:1,1 declared that t.a moved to t.b, but this statement instead declares that it moved to t.c.
              Each resource can move to only one destination resource.
            Ambiguous move statements (main.tf:9,1)
              A statement at main.tf:1,1 declared that t.a moved to t.b, but this statement instead declares that t.d moved there.
              Each resource can have moved from only one source resource.
        "#]],
    );
}

#[test]
fn a_move_to_itself_is_redundant() {
    check(
        r#"
        moved {
          from = t.a
          to   = t.a
        }
        "#,
        "t.a",
        expect![[r#"
            t.a
            Redundant move statement (main.tf:1,1)
              This statement declares a move from t.a to the same address, which is the same as not declaring this move at all.
        "#]],
    );
}

#[test]
fn a_module_call_is_renamed_with_all_its_instances() {
    check(
        r#"
        moved {
          from = module.x
          to   = module.y
        }
        module "y" {
          source = "./child"
          count  = 2
        }
        -- child/main.tf --
        resource "t" "a" {}
        "#,
        "module.x[0].t.a
         module.x[1].t.a
         module.x[1].module.z.t.b",
        expect![[r#"
            module.y[0].t.a  was module.x[0].t.a
            module.y[1].t.a  was module.x[1].t.a
            module.y[1].module.z.t.b  was module.x[1].module.z.t.b
        "#]],
    );
}

#[test]
fn one_module_instance_moves_alone() {
    check(
        r#"
        moved {
          from = module.x[0]
          to   = module.y[1]
        }
        module "y" {
          source = "./child"
          count  = 2
        }
        -- child/main.tf --
        resource "t" "a" {}
        "#,
        "module.x[0].t.a
         module.x[1].t.a",
        expect![[r#"
            module.x[1].t.a
            module.y[1].t.a  was module.x[0].t.a
        "#]],
    );
}

#[test]
fn a_single_module_gets_a_key() {
    check(
        r#"
        moved {
          from = module.x
          to   = module.x["k"]
        }
        module "x" {
          source   = "./child"
          for_each = toset(["k"])
        }
        -- child/main.tf --
        resource "t" "a" {}
        "#,
        "module.x.t.a",
        expect![[r#"
            module.x["k"].t.a  was module.x.t.a
        "#]],
    );
}

#[test]
fn resources_move_into_modules_and_out_of_them() {
    let modules = r#"
        module "x" {
          source = "./child"
        }
        module "k" {
          source = "./child"
          count  = 2
        }
        -- child/main.tf --
        resource "t" "a" {}
    "#;
    let into = r#"
        moved {
          from = t.a
          to   = module.x.t.a
        }
        moved {
          from = t.b
          to   = module.k[1].t.a
        }
    "#;
    check(
        &format!("{into}{modules}"),
        "t.a
         t.b",
        expect![[r#"
            module.k[1].t.a  was t.b
            module.x.t.a  was t.a
        "#]],
    );
    check(
        r#"
        moved {
          from = module.x.t.a
          to   = t.a
        }
        resource "t" "a" {}
        "#,
        "module.x.t.a",
        expect![[r#"
            t.a  was module.x.t.a
        "#]],
    );
}

#[test]
fn a_module_does_not_move_onto_another() {
    check(
        r#"
        moved {
          from = module.x
          to   = module.y
        }
        module "y" {
          source = "./child"
        }
        -- child/main.tf --
        resource "t" "a" {}
        "#,
        "module.x.t.a
         module.y.t.a",
        expect![[r#"
            module.x.t.a
            module.y.t.a
            blocked: module.x to module.y
        "#]],
    );
}

#[test]
fn a_module_call_that_gains_or_loses_count_takes_its_objects_along() {
    check(
        r#"
        module "m" {
          source = "./child"
          count  = 1
        }
        module "n" {
          source = "./child"
        }
        -- child/main.tf --
        resource "t" "a" {}
        "#,
        "module.m.t.a
         module.n[0].t.a
         module.n[1].t.a",
        expect![[r#"
            module.m[0].t.a  was module.m.t.a, implied
            module.n.t.a  was module.n[0].t.a, implied
            module.n[1].t.a
        "#]],
    );
}

#[test]
fn count_on_call_and_resource_at_once_moves_both_steps() {
    check(
        r#"
        module "m" {
          source = "./child"
          count  = 1
        }
        -- child/main.tf --
        resource "t" "a" {
          count = 1
        }
        "#,
        "module.m.t.a",
        expect![[r#"
            module.m[0].t.a[0]  was module.m.t.a, implied
        "#]],
    );
}

#[test]
fn a_statement_of_a_module_holds_in_each_of_its_instances() {
    check(
        r#"
        module "m" {
          source   = "./child"
          for_each = toset(["p", "q"])
        }
        -- child/main.tf --
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {}
        "#,
        r#"module.m["p"].t.a
           module.m["q"].t.a
           t.a"#,
        expect![[r#"
            t.a
            module.m["p"].t.b  was module.m["p"].t.a
            module.m["q"].t.b  was module.m["q"].t.a
        "#]],
    );
}

#[test]
fn what_moves_within_a_moved_module_moves_after_it() {
    check(
        r#"
        moved {
          from = module.y.t.a
          to   = module.y.t.b
        }
        moved {
          from = module.x
          to   = module.y
        }
        module "y" {
          source = "./child"
        }
        -- child/main.tf --
        resource "t" "b" {}
        "#,
        "module.x.t.a",
        expect![[r#"
            module.y.t.b  was module.x.t.a
        "#]],
    );
}

#[test]
fn a_module_that_only_changes_its_key_does_not_circle_with_what_moves_inside() {
    check(
        r#"
        moved {
          from = module.m
          to   = module.m[0]
        }
        module "m" {
          source = "./child"
          count  = 1
        }
        -- child/main.tf --
        moved {
          from = t.a
          to   = t.b
        }
        resource "t" "b" {}
        "#,
        "module.m.t.a",
        expect![[r#"
            module.m[0].t.b  was module.m.t.a
        "#]],
    );
}

#[test]
fn what_others_recorded_of_a_moved_object_follows_it() {
    check(
        r#"
        moved {
          from = t.a[0]
          to   = t.b
        }
        resource "t" "a" {
          count = 2
        }
        resource "t" "b" {}
        resource "t" "user" {}
        "#,
        "t.a[0]
         t.a[1]
         t.user t.a[0]",
        expect![[r#"
            t.a[1]
            t.b  was t.a[0]
            t.user  reads t.b  rests on t.a  rests on t.b
            Moved object still exists (main.tf:1,1)
              This statement declares a move from t.a[0], but that resource instance is still declared at main.tf:6,9.
              Change your configuration so that this instance will be declared as t.b instead.
        "#]],
    );
}

#[test]
fn an_instance_that_is_still_declared_in_one_module_instance_is_told_there() {
    check(
        r#"
        module "m" {
          source   = "./child"
          for_each = { p = 0, q = 1 }
          size     = each.value
        }
        -- child/main.tf --
        variable "size" {}
        moved {
          from = t.a[0]
          to   = t.b
        }
        resource "t" "a" {
          count = var.size
        }
        resource "t" "b" {}
        "#,
        "",
        expect![[r#"
            Moved object still exists (child/main.tf:2,1)
              This statement declares a move from module.m["q"].t.a[0], but that resource instance is still declared at child/main.tf:7,9.
              Change your configuration so that this instance will be declared as module.m["q"].t.b instead.
        "#]],
    );
}
