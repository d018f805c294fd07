//! That nothing of a plan can be changed without being noticed.

use std::sync::Arc;

use entail_rules::{Action, Node, Phase, Reason, Violation};
use expect_test::{Expect, expect};

use super::Documents;
use crate::address::InstanceKey;
use crate::config::inputs::RootVariables;
use crate::config::tests::folder;
use crate::diagnostic::{Diagnostic, Sources};
use crate::event::Silence;
use crate::operation::plan::{Planned, plan};
use crate::operation::session::Session;
use crate::planner::Finished;
use crate::request::{PlanMode, Request, Selector};
use crate::state::{State, read};
use crate::world::World;

/// Two objects of which one reads the other, one that is left out, an output, and a check.
const FILES: &str = r#"
    -- main.tf --
    resource "terraform_data" "a" { input = "new" }
    resource "terraform_data" "b" { input = terraform_data.a.output }
    resource "terraform_data" "c" {}
    output "o" { value = terraform_data.a.input }
    check "k" {
      assert {
        condition     = terraform_data.a.input == "new"
        error_message = "It is old."
      }
    }
"#;

/// One of the two objects, what it took the place of, and an output that nothing declares.
const STATE: &str = r#"{
    "version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x",
    "outputs": {"gone": {"value": "x", "type": "string"}},
    "resources": [{
        "mode": "managed", "type": "terraform_data", "name": "a",
        "provider": "provider[\"terraform.io/builtin/terraform\"]",
        "instances": [
            {"schema_version": 0, "attributes": {"id": "1", "input": {"value": "old", "type": "string"}, "output": {"value": "old", "type": "string"}, "triggers_replace": null}},
            {"schema_version": 0, "deposed": "aaaaaaaa", "attributes": {"id": "0", "input": null, "output": null, "triggers_replace": null}}
        ]
    }]
}"#;

/// Makes the plan without `terraform_data.c`, lets it be changed, and returns the faults found then.
#[track_caller]
fn check(change: impl FnOnce(&mut Finished, &dyn Fn(&str) -> Node), faults: Expect) {
    let folder = folder(FILES);
    let world = World {
        root: folder.path().into(),
        cwd: folder.path().into(),
        environment: Default::default(),
        files: Default::default(),
        fixed_time: None,
        given: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    };
    let session = Session::open(Arc::new(world), Sources::default(), &Default::default())
        .expect("a configuration that can be planned");
    let state: State = read::read(STATE.as_bytes()).expect("a state").expect("not an empty one");
    let mut request = Request::default();
    request.excludes.push(Selector {
        target: "terraform_data.c".parse().expect("an address"),
        text: "terraform_data.c".to_owned(),
        origin: "-exclude=terraform_data.c".to_owned(),
        is_of_policy: false,
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let Planned { mut finished, state, .. } = runtime
        .block_on(plan(&session, &request, state, RootVariables::default(), &Silence))
        .unwrap_or_else(|it| panic!("{it:?}"));
    let names: Vec<String> = (0..finished.structure.nodes.len() as u32)
        .map(|it| finished.structure.name(Node(it)))
        .collect();
    let node = |name: &str| {
        Node(names.iter().position(|it| it == name).expect("it is in the plan") as u32)
    };
    finished.order();
    change(&mut finished, &node);
    let documents = Documents { config: &session.config, state: &state, mode: PlanMode::Normal };
    let mut told = super::plan(&finished, &documents);
    told.extend(super::steps(&finished));
    let mut found: Vec<String> = told
        .iter()
        .map(|it| it.detail.replace(" Please report this with the configuration.", ""))
        .collect();
    found.sort();
    faults.assert_eq(&found.join("\n"));
}

#[test]
fn a_plan_as_it_was_made_has_no_fault() {
    check(|_, _| {}, expect![[""]]);
}

#[test]
fn an_object_that_the_structure_has_lost_is_missed() {
    check(
        |plan, _| {
            let all = plan.structure.resources.iter_mut();
            let lost = all.filter(|it| &*it.address.resource.name == "b");
            lost.for_each(|it| it.declared = false);
        },
        expect!["terraform_data.b is declared, and the plan knows nothing of it."],
    );
    check(
        |plan, _| {
            let all = plan.structure.resources.iter_mut();
            all.for_each(|it| it.instances.retain(|_, _| &*it.address.resource.name != "b"));
        },
        expect![[r#"
            terraform_data.b is declared, and the plan knows nothing of it.
            terraform_data.b is in the plan, and nothing was concluded of it.
            terraform_data.b was decided, and is not in the plan."#]],
    );
    check(
        |plan, _| plan.structure.resources.iter_mut().for_each(|it| it.besides.deposed.clear()),
        expect![[r#"
            terraform_data.a (deposed object aaaaaaaa) was decided, and is not in the plan.
            terraform_data.a is in the plan, and nothing was concluded of it.
            terraform_data.a is in the state, and the plan knows nothing of it."#]],
    );
    check(
        |plan, _| {
            plan.structure.nodes.iter_mut().for_each(|it| {
                if matches!(it, crate::lower::structure::NodeKind::Recorded(_)) {
                    *it = crate::lower::structure::NodeKind::Module(crate::lower::Structure::ROOT);
                }
            })
        },
        expect!["output.gone is declared or recorded, and the plan knows nothing of it."],
    );
}

#[test]
fn an_object_takes_part_or_is_left_out_and_not_both() {
    check(
        |plan, node| plan.selection.selected.retain(|it| it.0 != node("terraform_data.a")),
        expect!["terraform_data.a neither takes part in this run nor is left out."],
    );
    check(
        |plan, node| plan.selection.excluded.push((node("terraform_data.a"),)),
        expect![[r#"
        terraform_data.a both takes part in this run and is left out.
        terraform_data.a is left out, and no list says so."#]],
    );
    check(
        |plan, node| {
            plan.selection.excluded.clear();
            plan.selection.selected.push((node("terraform_data.c"),));
        },
        expect![[r#"
            terraform_data.c is listed as left out, and takes part.
            terraform_data.c takes part in this run, and nothing is decided of it."#]],
    );
    check(
        |plan, _| plan.plan.left_out.clear(),
        expect!["terraform_data.c is left out, and no list says so."],
    );
    check(
        |plan, _| plan.plan.left_out[0].objects.push("terraform_data.b".to_owned()),
        expect!["terraform_data.b is listed as left out, and takes part."],
    );
}

#[test]
fn what_the_walk_did_is_what_was_concluded() {
    check(
        |plan, node| plan.endings.retain(|it| it.0 != node("terraform_data.b")),
        expect![[r#"
        terraform_data.b is planned in another way than was concluded.
        terraform_data.b was never looked at."#]],
    );
    check(
        |plan, node| {
            let twice =
                *plan.endings.iter().find(|it| it.0 == node("terraform_data.b")).expect("it ended");
            plan.endings.push(twice);
        },
        expect!["terraform_data.b was settled twice."],
    );
    check(
        |plan, node| plan.decisions.action.retain(|it| it.0 != node("terraform_data.b")),
        expect![[r#"
            terraform_data.b (make) has a step, and nothing is to be done.
            terraform_data.b takes part in this run, and nothing is decided of it."#]],
    );
    check(
        |plan, node| {
            plan.decisions.action.push((node("terraform_data.b"), Action::Update, Reason::Plain));
        },
        expect![[r#"
            terraform_data.b has two actions.
            terraform_data.b was left by the walk in another way than was concluded."#]],
    );
    check(
        |plan, node| {
            plan.decisions.blocked.push((node("terraform_data.b"), node("terraform_data.a")))
        },
        expect!["terraform_data.b is decided in two ways."],
    );
}

#[test]
fn every_change_is_a_conclusion_and_every_conclusion_a_change() {
    check(
        |plan, _| {
            let first = plan.plan.changes[0].clone();
            plan.plan.changes.retain(|it| it.place() != first.place());
        },
        expect!["terraform_data.a was decided, and is not in the plan."],
    );
    check(
        |plan, _| {
            let again = plan.plan.changes[0].clone();
            plan.plan.changes.push(again);
        },
        expect!["terraform_data.a is in the plan twice."],
    );
    check(
        |plan, _| plan.plan.changes[0].action = Action::Create,
        expect!["terraform_data.a is planned in another way than was concluded."],
    );
    check(
        |plan, _| Arc::make_mut(&mut plan.plan.changes[0].served_by).key = InstanceKey::Int(1),
        expect!["terraform_data.a is served by another provider instance than was concluded."],
    );
    check(
        |plan, _| plan.plan.changes[0].address.key = InstanceKey::Int(1),
        expect![[r#"
        terraform_data.a was decided, and is not in the plan.
        terraform_data.a[1] is in the plan, and nothing was concluded of it."#]],
    );
}

#[test]
fn what_is_only_looked_at_is_not_planned_and_the_other_way_round() {
    check(
        |plan, node| plan.instances.only_refreshed.push((node("terraform_data.a"),)),
        expect!["terraform_data.a was asked something else than was concluded."],
    );
    check(
        |plan, _| plan.instances.only_refreshed.clear(),
        expect![
            "terraform_data.a (deposed object aaaaaaaa) was asked something else than was concluded."
        ],
    );
}

#[test]
fn what_changed_outside_is_told_as_it_was_concluded() {
    check(
        |plan, node| plan.decisions.drift.push((node("terraform_data.a"), Action::Update)),
        expect![
            "terraform_data.a is told to have changed outside in another way than was concluded."
        ],
    );
    check(
        |plan, _| plan.plan.drift.push(plan.plan.changes[0].clone()),
        expect![
            "terraform_data.a is told to have changed outside in another way than was concluded."
        ],
    );
}

#[test]
fn every_check_is_judged_or_left_out() {
    check(
        |plan, _| plan.output_changes.check_left.clear(),
        expect!["check.k is not decided in just one way."],
    );
    check(
        |plan, node| {
            plan.output_changes.check_left.clear();
            plan.output_changes.checked.push((node("check.k"),));
        },
        expect!["check.k was looked at in another way than was concluded."],
    );
}

#[test]
fn every_output_gets_a_value_or_keeps_its_own() {
    check(
        |plan, _| plan.outputs.recalculated.clear(),
        expect!["output.o neither gets a new value nor keeps its own."],
    );
    check(
        |plan, _| plan.outputs.keeps_value.clear(),
        expect!["output.gone neither gets a new value nor keeps its own."],
    );
    check(
        |plan, _| plan.plan.outputs.clear(),
        expect!["output.o is planned in another way than was concluded."],
    );
    check(
        |plan, _| plan.output_changes.output_action.clear(),
        expect!["output.o is planned in another way than was concluded."],
    );
}

#[test]
fn every_step_belongs_to_an_action_and_none_comes_after_itself() {
    check(
        |plan, _| {
            plan.order_mut().step.pop();
        },
        expect!["terraform_data.a (deposed object aaaaaaaa) (destroy late) has no step."],
    );
    check(
        |plan, node| plan.order_mut().step.push((node("terraform_data.c"), Phase::Up)),
        expect!["terraform_data.c (make) has a step, and nothing is to be done."],
    );
    check(
        |plan, node| {
            let (a, b) = (node("terraform_data.a"), node("terraform_data.b"));
            plan.order_mut().before.push((b, Phase::Up, a, Phase::Up));
        },
        expect!["terraform_data.a (make) comes after itself."],
    );
}

#[test]
fn what_is_forbidden_is_not_planned() {
    check(
        |plan, node| {
            plan.violations.violation.push((Violation::PreventsDestroy, node("terraform_data.a")));
        },
        expect!["terraform_data.a forbids the plan, and it was made."],
    );
    check(
        |plan, _| plan.problems.push(Diagnostic::error("Wrong")),
        expect!["The plan has errors, and does not say so."],
    );
}
