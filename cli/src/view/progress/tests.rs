//! Events in; the lines that people watch out.

use entail::address::{Instance, InstanceKey, ModuleInstance, ResourceName};
use expect_test::{Expect, expect};

use super::*;

fn address() -> Instance {
    let module = ModuleInstance::default().child("m", InstanceKey::Str("x".into()));
    Instance { module, resource: ResourceName::managed("t", "a"), key: InstanceKey::Int(0) }
}

fn subject(id: Option<&str>, deposed: Option<&str>) -> EventObject {
    EventObject {
        address: address(),
        deposed: deposed.map(Str::from),
        id: id.map(|it| ("id", it.into())),
    }
}

#[track_caller]
fn check(events: &[Event], expected: Expect) {
    expected
        .assert_eq(&events.iter().filter_map(|it| line(it, Style::default())).collect::<String>());
}

#[test]
fn every_step_has_its_line() {
    let seconds = Duration::from_secs;
    check(
        &[
            Event::RefreshStart(subject(Some("x"), None)),
            Event::RefreshComplete(subject(Some("x"), None)),
            Event::ApplyStart(subject(None, None), Action::Create),
            Event::ApplyProgress(subject(None, None), Action::Create, seconds(10)),
            Event::ApplyComplete(subject(Some("x"), None), Action::Create, seconds(70)),
            Event::ApplyStart(subject(Some("x"), None), Action::Update),
            Event::ApplyProgress(subject(Some(&"y".repeat(90)), None), Action::Update, seconds(20)),
            Event::ApplyErrored(subject(Some("x"), None), Action::Update, seconds(21)),
            Event::ApplyStart(subject(Some("x"), Some("00000001")), Action::Delete),
            Event::ApplyComplete(subject(None, Some("00000001")), Action::Delete, seconds(0)),
            Event::ApplyComplete(subject(None, None), Action::Forget, seconds(0)),
            Event::ImportStart {
                address: address(),
                name: entail::provider::ImportName::Id("i-1".into()),
                applying: true,
            },
            Event::ProvisionStart(address(), "local-exec".into()),
            Event::ProvisionProgress(address(), "local-exec".into(), "one\r\n\ntwo  \n".into()),
            Event::ProvisionProgress(address(), "local-exec".into(), String::new()),
            Event::EphemeralStart(address(), Phase::Open),
            Event::EphemeralComplete(address(), Phase::Close, seconds(0)),
        ],
        expect![[r#"
            module.m["x"].t.a[0]: Refreshing state... [id=x]
            module.m["x"].t.a[0]: Creating...
            module.m["x"].t.a[0]: Still creating... [10s elapsed]
            module.m["x"].t.a[0]: Creation complete after 1m10s [id=x]
            module.m["x"].t.a[0]: Modifying... [id=x]
            module.m["x"].t.a[0]: Still modifying... [id=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy, 20s elapsed]
            module.m["x"].t.a[0] (deposed object 00000001): Destroying... [id=x]
            module.m["x"].t.a[0]: Destruction complete after 0s
            module.m["x"].t.a[0]: Importing... [id=i-1]
            module.m["x"].t.a[0]: Provisioning with 'local-exec'...
            module.m["x"].t.a[0] (local-exec): one
            module.m["x"].t.a[0] (local-exec): two

            module.m["x"].t.a[0]: Opening...
            module.m["x"].t.a[0]: Close complete after 0s
        "#]],
    );
}

#[test]
fn summaries_name_imports_and_forgotten_objects_only_where_there_are_some() {
    let some = Summary { import: 1, add: 2, change: 3, remove: 4, forget: 5, stage: Stage::Plan };
    let none = Summary { import: 0, forget: 0, ..some };
    let all = [some, none].into_iter().flat_map(|it| {
        [Stage::Plan, Stage::Apply, Stage::Destroy]
            .map(|stage| format!("{}\n", summary(&Summary { stage, ..it })))
    });
    expect![[r#"
        Plan: 1 to import, 2 to add, 3 to change, 4 to destroy, 5 to forget.
        Apply complete! Resources: 1 imported, 2 added, 3 changed, 4 destroyed, 5 forgotten.
        Destroy complete! Resources: 4 destroyed.
        Plan: 2 to add, 3 to change, 4 to destroy.
        Apply complete! Resources: 2 added, 3 changed, 4 destroyed.
        Destroy complete! Resources: 4 destroyed.
    "#]]
    .assert_eq(&all.collect::<String>());
}

struct Recorder(Mutex<Vec<String>>);

impl Sink for Recorder {
    fn event(&self, event: Event) {
        let line = line(&event, Style::default()).unwrap_or_default();
        self.0.lock().push(line);
    }
}

#[test]
fn a_pulse_passes_events_on_and_stops_when_dropped() {
    let recorder = Arc::new(Recorder(Mutex::default()));
    let pulse = Pulse::new(recorder.clone());
    pulse.event(Event::ApplyStart(subject(None, None), Action::Create));
    pulse.event(Event::ApplyComplete(subject(None, None), Action::Create, Duration::ZERO));
    drop(pulse);
    assert_eq!(recorder.0.lock().len(), 2);
}
