//! Plans as people read them at a terminal, and what of them flags leave out.

use super::*;
use crate::view::plan::reading::Only;

/// Three instances that change alike, one that changes otherwise, one in a module that goes.
fn several() -> Plan {
    let keyed = |key: &str, after: &str| {
        let mut it = change(Action::Update, r#"{"id":"1","input":"a"}"#, after);
        it.address.key = InstanceKey::Str(key.into());
        it
    };
    let alike = r#"{"id":"1","input":"b"}"#;
    let mut gone = change(Action::Delete, r#"{"id":"1","input":"a"}"#, "null");
    gone.address.module = ModuleInstance::default().child("m", InstanceKey::None);
    gone.address.resource = ResourceName::managed("test_thing", "old");
    let made = change(Action::Create, "null", r#"{"id":"?","input":"n"}"#);
    let all = vec![
        made,
        keyed("x", alike),
        keyed("y", alike),
        keyed("z", r#"{"id":"1","input":"c"}"#),
        keyed("w", alike),
        gone,
    ];
    plan(all, Vec::new())
}

fn people() -> Reading {
    Reading { for_people: true, ..Reading::default() }
}

/// The lines that name changes.
fn named(text: &str) -> Vec<&str> {
    text.lines().filter(|it| it.starts_with("  # ")).collect()
}

#[test]
fn people_see_what_destroys_first_and_what_is_alike_once() {
    let text = read(&several(), &loose(), Look::default(), &people());
    expect![[r##"
        [
            "  # module.m.test_thing.old will be destroyed",
            "  # test_thing.a[\"x\"] will be updated in-place",
            "  # 3 × the same change: also test_thing.a[\"y\"], test_thing.a[\"w\"] (-full shows each)",
            "  # test_thing.a[\"z\"] will be updated in-place",
            "  # test_thing.a will be created",
        ]
    "##]]
    .assert_debug_eq(&named(&text));
    let head = text.split("following actions:").nth(1).expect("a head");
    let head: String = head.lines().skip(1).take(4).map(|it| format!("{it}\n")).collect();
    expect![[r#"

        Plan: 1 to add, 4 to change, 1 to destroy.
          in the root module: 1 to add, 4 to change, 0 to destroy.
          in module.m: 0 to add, 0 to change, 1 to destroy.
    "#]]
    .assert_eq(&head);
}

#[test]
fn full_shows_each_and_other_programs_see_the_usual_text() {
    let full = Reading { full: true, ..people() };
    assert_eq!(named(&read(&several(), &loose(), Look::default(), &full)).len(), 6);
    let usual = named(&read(&several(), &loose(), Look::default(), &Reading::default())).join("|");
    assert!(
        usual.starts_with("  # test_thing.a will be created|  # test_thing.a[\"x\"]"),
        "{usual}"
    );
    assert!(!usual.contains("the same change"), "{usual}");
}

#[test]
fn what_flags_leave_out_is_counted() {
    let only = Reading { only: vec![Only::Delete, Only::Create], ..Reading::default() };
    let text = read(&several(), &loose(), Look::default(), &only);
    assert_eq!(named(&text).len(), 2, "{text}");
    assert!(text.contains("4 more changes are planned and not shown"), "{text}");
    assert!(text.contains("Plan: 1 to add, 4 to change, 1 to destroy."), "{text}");

    let modules = vec!["module.m".parse().expect("an address")];
    let within = Reading { modules, ..Reading::default() };
    let text = read(&several(), &loose(), Look::default(), &within);
    assert_eq!(named(&text), ["  # module.m.test_thing.old will be destroyed"]);

    let types = Reading { types: vec!["other".into()], ..Reading::default() };
    assert_eq!(named(&read(&several(), &loose(), Look::default(), &types)).len(), 0);
    assert!(Only::read("remake").is_err());
}
