//! Events in; the lines of the JSON stream out.

use std::time::Duration;

use entail::address::{InstanceKey, ModuleInstance, ResourceName};
use entail::diagnostic::Span;
use entail::event::{ChangeNote, EventObject, Phase};
use entail::plan::{Action, Reason};
use entail::provider::ImportName;
use entail::value::Type;
use expect_test::{Expect, expect};

use super::*;
use entail::plan::LeftOut;

const NOON: &str = "2026-01-02T12:00:00.000001Z";

fn address(key: InstanceKey) -> Instance {
    let module = ModuleInstance::default().child("m", InstanceKey::None);
    Instance { module, resource: ResourceName::managed("null_resource", "a"), key }
}

fn subject() -> EventObject {
    EventObject {
        address: address(InstanceKey::Str("<x>".into())),
        deposed: None,
        id: Some(("id", "<1>".into())),
    }
}

/// Compares messages without what they all begin with.
#[track_caller]
fn check(events: &[Event], expected: Expect) {
    let text: String = events.iter().map(|it| messages(it, &Sources::default(), NOON)).collect();
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("every line is JSON");
    }
    expected.assert_eq(
        &text.replace(&format!("\"@module\":\"tofu.ui\",\"@timestamp\":\"{NOON}\","), ""),
    );
}

#[test]
fn a_stream_begins_with_the_version() {
    let version = version(NOON).replace(env!("CARGO_PKG_VERSION"), "X");
    expect![[r#"
        {"@level":"info","@message":"entail X","@module":"tofu.ui","@timestamp":"2026-01-02T12:00:00.000001Z","entail":"X","tofu":"1.12.6","type":"version","ui":"1.2"}
    "#]].assert_eq(&version);
}

#[test]
fn steps_of_an_apply_carry_a_hook() {
    check(
        &[
            Event::RefreshStart(subject()),
            Event::ApplyStart(EventObject { id: None, ..subject() }, Action::Create),
            Event::ApplyProgress(subject(), Action::Create, Duration::from_secs(10)),
            Event::ApplyComplete(subject(), Action::Create, Duration::from_secs(11)),
            Event::ApplyErrored(subject(), Action::Delete, Duration::ZERO),
            Event::ProvisionProgress(
                address(InstanceKey::Int(1)),
                "local-exec".into(),
                "a & b\n".into(),
            ),
            Event::EphemeralStart(address(InstanceKey::None), Phase::Open),
            Event::EphemeralComplete(address(InstanceKey::None), Phase::Open, Duration::ZERO),
        ],
        expect![[r#"
            {"@level":"info","@message":"module.m.null_resource.a[\"<x>\"]: Refreshing state... [id=<1>]","hook":{"resource":{"addr":"module.m.null_resource.a[\"<x>\"]","module":"module.m","resource":"null_resource.a[\"<x>\"]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":"\u003cx\u003e"},"id_key":"id","id_value":"<1>"},"type":"refresh_start"}
            {"@level":"info","@message":"module.m.null_resource.a[\"<x>\"]: Creating...","hook":{"resource":{"addr":"module.m.null_resource.a[\"<x>\"]","module":"module.m","resource":"null_resource.a[\"<x>\"]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":"\u003cx\u003e"},"action":"create"},"type":"apply_start"}
            {"@level":"info","@message":"module.m.null_resource.a[\"<x>\"]: Still creating... [10s elapsed]","hook":{"resource":{"addr":"module.m.null_resource.a[\"<x>\"]","module":"module.m","resource":"null_resource.a[\"<x>\"]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":"\u003cx\u003e"},"action":"create","elapsed_seconds":10},"type":"apply_progress"}
            {"@level":"info","@message":"module.m.null_resource.a[\"<x>\"]: Creation complete after 11s [id=<1>]","hook":{"resource":{"addr":"module.m.null_resource.a[\"<x>\"]","module":"module.m","resource":"null_resource.a[\"<x>\"]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":"\u003cx\u003e"},"action":"create","id_key":"id","id_value":"<1>","elapsed_seconds":11},"type":"apply_complete"}
            {"@level":"info","@message":"module.m.null_resource.a[\"<x>\"]: Destruction errored after 0s","hook":{"resource":{"addr":"module.m.null_resource.a[\"<x>\"]","module":"module.m","resource":"null_resource.a[\"<x>\"]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":"\u003cx\u003e"},"action":"delete","elapsed_seconds":0},"type":"apply_errored"}
            {"@level":"info","@message":"module.m.null_resource.a[1]: (local-exec): a & b","hook":{"resource":{"addr":"module.m.null_resource.a[1]","module":"module.m","resource":"null_resource.a[1]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":1},"provisioner":"local-exec","output":"a & b"},"type":"provision_progress"}
            {"@level":"info","@message":"module.m.null_resource.a: Opening...","hook":{"resource":{"addr":"module.m.null_resource.a","module":"module.m","resource":"null_resource.a","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":null},"Msg":"Opening..."},"type":"ephemeral_action_started"}
            {"@level":"info","@message":"module.m.null_resource.a: Open complete","hook":{"resource":{"addr":"module.m.null_resource.a","module":"module.m","resource":"null_resource.a","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":null},"Msg":"Open complete"},"type":"ephemeral_action_complete"}
        "#]],
    );
}

#[test]
fn changes_summaries_and_outputs_have_their_messages() {
    let note = ChangeNote {
        address: address(InstanceKey::None),
        previous_address: None,
        action: Action::DeleteThenCreate,
        reason: Reason::ReplaceBecauseTainted,
        importing: None,
        generated_config: None,
    };
    let moved = ChangeNote {
        previous_address: Some(address(InstanceKey::Int(0))),
        action: Action::NoOp,
        reason: Reason::Plain,
        importing: Some(ImportName::Id("i".into())),
        ..note.clone()
    };
    let planned =
        OutputNote { sensitive: true, action: Some(Action::NoOp), ..OutputNote::default() };
    let stored = OutputNote { stored: Some((Type::STRING, "<v>".into())), ..OutputNote::default() };
    let secret = OutputNote { sensitive: true, ..stored.clone() };
    check(
        &[
            Event::PlannedChange(Box::new(note)),
            Event::Drift(Box::new(moved)),
            Event::LeftOut(Box::new(LeftOut {
                root: "t.a".into(),
                flag: "-exclude=t.a".into(),
                objects: vec!["t.a".into(), "t.b".into()],
            })),
            Event::ChangeSummary(Summary { add: 1, stage: Stage::Apply, ..Summary::default() }),
            Event::Outputs(
                [("a".into(), planned), ("b".into(), stored), ("c".into(), secret)].into(),
            ),
        ],
        expect![[r#"
            {"@level":"info","@message":"module.m.null_resource.a: Plan to replace","change":{"resource":{"addr":"module.m.null_resource.a","module":"module.m","resource":"null_resource.a","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":null},"action":"replace","reason":"tainted"},"type":"planned_change"}
            {"@level":"info","@message":"module.m.null_resource.a: Drift detected (move)","change":{"resource":{"addr":"module.m.null_resource.a","module":"module.m","resource":"null_resource.a","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":null},"previous_resource":{"addr":"module.m.null_resource.a[0]","module":"module.m","resource":"null_resource.a[0]","implied_provider":"null","resource_type":"null_resource","resource_name":"a","resource_key":0},"action":"move","importing":{"id":"i"}},"type":"resource_drift"}
            {"@level":"info","@message":"t.a: Left out (-exclude=t.a)","left_out":{"root":"t.a","flag":"-exclude=t.a","objects":["t.a","t.b"]},"type":"left_out"}
            {"@level":"info","@message":"Apply complete! Resources: 1 added, 0 changed, 0 destroyed.","changes":{"add":1,"change":0,"import":0,"remove":0,"forget":0,"operation":"apply"},"type":"change_summary"}
            {"@level":"info","@message":"Outputs: 3","outputs":{"a":{"sensitive":true,"action":"noop"},"b":{"sensitive":false,"type":"string","value":"\u003cv\u003e"},"c":{"sensitive":true,"type":"string"}},"type":"outputs"}
        "#]],
    );
}

#[test]
fn a_problem_carries_its_place_and_source() {
    let sources = Sources::default();
    let file = sources.add("main.tf", "locals {\n  a = nope\n}\n".into());
    let mut problem =
        Diagnostic::error("Bad").detail("Very bad.").at(Span::new(file, 15, 19)).about("t.a");
    problem.values = vec![("b".into(), "is 1".into()), ("a".into(), "is 2".into())];
    problem.function = Some(("max".into(), None));
    let text = messages(&Event::Diagnostic(Box::new(problem)), &sources, NOON);
    expect![[r#"
        {"@level":"error","@message":"Error: Bad","@module":"tofu.ui","@timestamp":"2026-01-02T12:00:00.000001Z","diagnostic":{"severity":"error","summary":"Bad","detail":"Very bad.","address":"t.a","range":{"filename":"main.tf","start":{"line":2,"column":7,"byte":15},"end":{"line":2,"column":11,"byte":19}},"snippet":{"context":"locals","code":"  a = nope","start_line":2,"highlight_start_offset":6,"highlight_end_offset":10,"values":[{"traversal":"a","statement":"is 2"},{"traversal":"b","statement":"is 1"}],"function_call":{"called_as":"max","signature":{"name":"max","params":[],"variadic_param":{"name":"numbers","type":"number"},"return_type":"number"}}}},"type":"diagnostic"}
    "#]].assert_eq(&text);
}
