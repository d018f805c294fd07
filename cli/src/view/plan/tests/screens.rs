//! Whole screens.

use entail::plan::{LeftOut, NotLookedAt};
use entail::world::terminal::seal;

use super::*;

fn named(name: &str, change: Change) -> Change {
    Change {
        address: Instance {
            resource: ResourceName::managed("test_thing", name),
            ..change.address.clone()
        },
        ..change
    }
}

#[track_caller]
fn check(plan: &Plan, expected: Expect) {
    expected.assert_eq(&screen(plan, &loose(), Look::default()));
}

#[test]
fn a_plan_explains_its_symbols_lists_changes_and_counts_them() {
    let object = r#"{"id": "x"}"#;
    let reason = |reason, change| Change { reason, ..change };
    let mut counted = change(Action::Delete, object, "null");
    counted.address.key = InstanceKey::Int(1);
    let mut keyed = change(Action::Delete, object, "null");
    keyed.address.key = InstanceKey::Str("k".into());
    let mut moved = named("m", change(Action::NoOp, object, object));
    moved.details.previous_address = Some(Box::new(change(Action::NoOp, "null", "null").address));
    let mut deposed = named("d", change(Action::Delete, object, "null"));
    deposed.deposed = Some("00000001".into());
    let mut data = named("r", change(Action::Read, "null", r#"{"id": "?"}"#));
    data.address.resource.mode = Mode::Data;
    let mut gone_data = data.clone();
    gone_data.action = Action::Delete;
    let mut imported =
        named("i", change(Action::Update, r#"{"id": "i"}"#, r#"{"id": "i", "input": 1}"#));
    imported.details.importing = Some(Box::new(entail::provider::ImportName::Id("i-1".into())));
    let changes = vec![
        reason(Reason::ReadBecauseConfigUnknown, data),
        gone_data,
        named("b", change(Action::NoOp, object, object)),
        named("c", change(Action::Create, "null", object)),
        reason(Reason::DeleteBecauseCountIndex, counted),
        reason(Reason::DeleteBecauseEachKey, keyed),
        deposed,
        reason(
            Reason::ReplaceBecauseTainted,
            named("t", change(Action::CreateThenDelete, object, r#"{"id": "?"}"#)),
        ),
        reason(
            Reason::ForgotBecauseLifecycleDestroyInConfig,
            named("f", change(Action::Forget, r#"{"id": "x", "input": {"a": [1]}}"#, "null")),
        ),
        moved,
        imported,
    ];
    check(
        &plan(changes, vec![output("o", Action::Create, "null", "\"?\"")]),
        expect![[r#"

            entail used the selected providers to generate the following execution plan.
            Resource actions are indicated with the following symbols:
              + create
              ~ update in-place (current -> planned)
              - destroy
            +/- create replacement and then destroy
             <= read (data resources)
              . forget

            entail will perform the following actions:

              # data.test_thing.r will be read during apply
              # (config refers to values not yet known)
             <= data "test_thing" "r" {
                  + id = (known after apply)
                }

              # test_thing.c will be created
              + resource "test_thing" "c" {
                  + id = "x"
                }

              # test_thing.a[1] will be destroyed
              # (because index [1] is out of range for count)
              - resource "test_thing" "a" {
                  - id = "x" -> null
                }

              # test_thing.a["k"] will be destroyed
              # (because key ["k"] is not in for_each map)
              - resource "test_thing" "a" {
                  - id = "x" -> null
                }

              # test_thing.d (deposed object 00000001) will be destroyed
              # (left over from a partially-failed replacement of this instance)
              - resource "test_thing" "d" {
                  - id = "x" -> null
                }

              # test_thing.t is tainted, so it must be replaced
            +/- resource "test_thing" "t" {
                  ~ id = "x" -> (known after apply)
                }

              # test_thing.f will be removed from the entail state but will not be destroyed
              # (because lifecycle.destroy = false is set in the configuration)
              . resource "test_thing" "f" {
                id    = "x"
                input = {
                    a = [
                        1,
                    ]
                }
            }

              # test_thing.a has moved to test_thing.m
                resource "test_thing" "m" {
                    id = "x"
                }

              # test_thing.i will be updated in-place
              # (imported from "i-1")
              ~ resource "test_thing" "i" {
                    id    = "i"
                  + input = 1
                }

            Plan: 1 to import, 2 to add, 1 to change, 4 to destroy, 1 to forget.

            Changes to Outputs:
              + o = (known after apply)
        "#]],
    );
}

#[test]
fn outputs_alone_can_be_applied() {
    let mut secret = output("s", Action::Update, "\"a\"", "\"b\"");
    secret.sensitive = true;
    let outputs = vec![
        secret,
        output("long_name", Action::Update, r#"{"a": 1, "b": [1, 2]}"#, r#"{"a": 1, "b": [1, 3]}"#),
        output("gone", Action::Delete, "{\"a\": [1]}", "null"),
        output("same", Action::NoOp, "1", "1"),
        output("unknown", Action::Update, "[1]", "\"?\""),
    ];
    check(
        &plan(Vec::new(), outputs),
        expect![[r#"

            Changes to Outputs:
              - gone      = {
                  - a = [
                      - 1,
                    ]
                } -> null
              ~ long_name = {
                  ~ b = [
                        1,
                      - 2,
                      + 3,
                    ]
                    # (1 unchanged attribute hidden)
                }
              ~ s         = (sensitive value)
              ~ unknown   = [
                  - 1,
                ] -> (known after apply)

            You can apply this plan to save these new output values to the entail state,
            without changing any real infrastructure.
        "#]],
    );
}

#[test]
fn where_there_is_nothing_to_do_the_screen_says_why() {
    let mut texts = String::new();
    for mode in [PlanMode::Normal, PlanMode::Destroy, PlanMode::RefreshOnly] {
        let plan = Plan { mode, ..plan(Vec::new(), Vec::new()) };
        texts.push_str(&screen(&plan, &loose(), Look::default()));
    }
    let failed = Plan { errored: true, ..plan(Vec::new(), Vec::new()) };
    texts.push_str(&screen(&failed, &loose(), Look::default()));
    expect![[r#"

        No changes. Your infrastructure matches the configuration.

        entail has compared your real infrastructure against your configuration and
        found no differences, so no changes are needed.

        No changes. No objects need to be destroyed.

        Either you have not created any objects yet or the existing objects were
        already deleted outside of entail.

        No changes. Your infrastructure still matches the configuration.

        entail has checked that the real remote objects still match the result of
        your most recent changes, and found no differences.

        Planning failed. entail encountered an error while generating this plan.

    "#]]
    .assert_eq(&texts);
}

fn drifted() -> Plan {
    let mut plan = plan(Vec::new(), Vec::new());
    plan.drift.extend([
        change(
            Action::Update,
            r#"{"id": "x", "input": 1, "output": 1}"#,
            r#"{"id": "x", "input": 2, "output": 2}"#,
        ),
        named("b", change(Action::Delete, r#"{"id": "y"}"#, "null")),
    ]);
    plan
}

#[test]
fn only_changes_outside_that_matter_are_shown() {
    check(
        &drifted(),
        expect![[r#"

            No changes. Your infrastructure matches the configuration.

            entail has compared your real infrastructure against your configuration and
            found no differences, so no changes are needed.
        "#]],
    );
    let mut plan = drifted();
    plan.changes.push(named("c", change(Action::Create, "null", r#"{"input": 2}"#)));
    plan.relevant_attributes =
        vec![("test_thing.a".into(), vec![PathStep::Attribute("input".into())])];
    check(
        &plan,
        expect![[r#"

            Note: Objects have changed outside of entail

            entail detected the following changes made outside of entail since the last
            "entail apply" which may have affected this plan:

              # test_thing.a has changed
              ~ resource "test_thing" "a" {
                    id     = "x"
                  ~ input  = 1 -> 2
                    # (1 unchanged attribute hidden)
                }


            Unless you have made equivalent changes to your configuration, or ignored the
            relevant attributes using ignore_changes, the following plan may include
            actions to undo or respond to these changes.

            ─────────────────────────────────────────────────────────────────────────────

            entail used the selected providers to generate the following execution plan.
            Resource actions are indicated with the following symbols:
              + create

            entail will perform the following actions:

              # test_thing.c will be created
              + resource "test_thing" "c" {
                  + input = 2
                }

            Plan: 1 to add, 0 to change, 0 to destroy.
        "#]],
    );
}

#[test]
fn a_refresh_only_plan_shows_all_that_changed_outside() {
    let plan = Plan { mode: PlanMode::RefreshOnly, ..drifted() };
    check(
        &plan,
        expect![[r#"

            Note: Objects have changed outside of entail

            entail detected the following changes made outside of entail since the last
            "entail apply" which may have affected this plan:

              # test_thing.a has changed
              ~ resource "test_thing" "a" {
                    id     = "x"
                  ~ input  = 1 -> 2
                  ~ output = 1 -> 2
                }

              # test_thing.b has been deleted
              - resource "test_thing" "b" {
                  - id = "y" -> null
                }


            This is a refresh-only plan, so entail will not take any actions to undo
            these. If you were expecting these changes then you can apply this plan to
            record the updated values in the entail state without changing any remote
            objects.
        "#]],
    );
}

#[test]
fn what_is_left_out_takes_one_line_for_each_thing_excluded() {
    let left_out = |root: &str, flag: &str, objects: &[&str]| LeftOut {
        root: root.into(),
        flag: flag.into(),
        objects: objects.iter().map(|it| (*it).to_owned()).collect(),
    };
    let mut plan = plan(Vec::new(), Vec::new());
    plan.left_out = vec![
        left_out("test_thing.a[\"k\"]", "-exclude=test_thing.a[\"k\"]", &["test_thing.a[\"k\"]"]),
        left_out("module.m", "out.txt:3", &["module.m.test_thing.a", "test_thing.b"]),
    ];
    check(
        &plan,
        expect![[r#"

            Left out, with everything that depends on it:
              test_thing.a["k"] (1 object)
              module.m (2 objects, out.txt:3)

            No changes. What takes part in this plan matches the configuration.

            entail has compared the real objects that take part against your
            configuration and found no differences, so no changes are needed.

            To see why something is left out, run:
                entail why 'test_thing.a["k"]'
        "#]],
    );
}

#[test]
fn a_plan_without_changes_begins_with_what_it_did_not_look_at() {
    let of = |mode: PlanMode, untargeted: usize, data: usize| Plan {
        mode,
        not_looked_at: NotLookedAt { untargeted, data },
        ..plan(Vec::new(), Vec::new())
    };
    check(
        &of(PlanMode::Normal, 3, 2),
        expect![[r#"

            Left out, because no -target needs it:
              3 objects

            No changes. What takes part in this plan matches the configuration.

            entail has compared the real objects that take part against your
            configuration and found no differences, so no changes are needed. Data
            sources were not read again: their recorded results serve.
        "#]],
    );
    check(
        &of(PlanMode::RefreshOnly, 0, 1),
        expect![[r#"

            No changes. What takes part in this plan still matches the configuration.

            entail has checked that the real remote objects that take part still match
            the result of your most recent changes, and found no differences. 1 data
            source was not read again: its recorded result serves.
        "#]],
    );
    check(
        &of(PlanMode::Destroy, 1, 0),
        expect![[r#"

            Left out, because no -target needs it:
              1 object

            No changes. No objects need to be destroyed.

            No object that takes part in this plan exists.
        "#]],
    );
}

#[test]
fn the_next_step_depends_on_where_the_plan_is() {
    let mut out = Vec::new();
    let look = Look::default();
    write_next_step(&mut out, None, None, look).expect("memory takes everything");
    write_next_step(&mut out, Some("my plan"), Some("new.tf"), look)
        .expect("memory takes everything");
    write_next_step(&mut out, None, None, Look { in_automation: true, ..look })
        .expect("memory takes everything");
    expect![[r#"

        ─────────────────────────────────────────────────────────────────────────────

        Note: You didn't use the -out option to save this plan, so entail can't
        guarantee to take exactly these actions if you run "entail apply" now.

        ─────────────────────────────────────────────────────────────────────────────

        entail has generated configuration and written it to new.tf. Please review
        the configuration and edit it as necessary before adding it to version
        control.

        Saved the plan to: my plan

        To perform exactly these actions, run the following command to apply:
            entail apply "my plan"
    "#]]
    .assert_eq(&String::from_utf8(out).expect("it is text"));
}

#[test]
fn colours_mark_symbols_and_verdicts() {
    let plan = plan(vec![change(Action::Delete, r#"{"id": "x"}"#, "null")], Vec::new());
    let look = Look { style: Style { colour: true, ..Style::default() }, ..Look::default() };
    let text = screen(&plan, &loose(), look).replace(seal(), "^");
    assert!(text.contains("^[1m  # test_thing.a^[0m will be ^[1;31mdestroyed^[0m"), "{text}");
    assert!(text.contains("  ^[31m-^[0m resource"), "{text}");
    assert!(text.contains("\"x\" ^[90m-> null^[0m"), "{text}");
}
