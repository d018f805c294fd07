//! State files in, states and state files out.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use pretty_assertions::assert_eq;

use super::journal::{self, Base, Flaw, Record};
use super::text::{Layout, push_compact, push_json, push_string};
use super::{State, names, read, write};
use crate::address::{InstanceKey, Provider};

/// A file as OpenTofu writes it: every member that it knows, in its order and layout.
const WHOLE: &str = include_str!("whole.tfstate");

fn state(text: &str) -> State {
    read::read(text.as_bytes()).expect("the state is read").expect("there is a state")
}

/// A state with one resource, whose instances are given as text.
fn with_instances(instances: &str) -> String {
    let provider = r#"provider[\"terraform.io/builtin/terraform\"]"#;
    format!(
        r#"{{"version": 4, "terraform_version": "1.9.0", "serial": 3, "lineage": "abc", "outputs": {{}}, "resources": [
        {{"mode": "managed", "type": "terraform_data", "name": "a", "provider": "{provider}", "instances": [{instances}]}}]}}"#
    )
}

#[track_caller]
fn check_problem(text: &str, problem: Expect) {
    let problems = read::read(text.as_bytes()).expect_err("the state is refused");
    problem.assert_eq(&problems.iter().map(|it| it.to_string()).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_whole_file_is_written_as_it_was_read() {
    assert_eq!(write::write(&state(WHOLE)), WHOLE);
}

#[test]
fn no_text_is_no_state() {
    assert!(read::read(b"").expect("it is read").is_none());
}

#[test]
fn another_layout_and_order_become_the_usual_ones() {
    let text = r#"{"serial":3,"version":4,"lineage":"abc","terraform_version":"1.5.0","resources":[
      {"module":"module.b[10]","mode":"managed","type":"t","name":"n","provider":"provider[\"r.io/x/y\"]","instances":[
        {"index_key":"z","attributes":{ "a" : "<&>\u2028" , "b":[ ],"c":[1,2] }},{"index_key":"a","schema_version":2},{"index_key":3,"schema_version":0}]},
      {"module":"module.b[2]","mode":"data","type":"t","name":"n","provider":"provider[\"r.io/x/y\"]","instances":[{"schema_version":0}]},
      {"mode":"managed","type":"t","name":"empty","provider":"provider[\"r.io/x/y\"]","instances":[]}]}"#;
    expect![[r#"
        {
          "version": 4,
          "terraform_version": "1.12.6",
          "serial": 3,
          "lineage": "abc",
          "outputs": {},
          "resources": [
            {
              "mode": "managed",
              "type": "t",
              "name": "empty",
              "provider": "provider[\"r.io/x/y\"]",
              "instances": []
            },
            {
              "module": "module.b[10]",
              "mode": "managed",
              "type": "t",
              "name": "n",
              "provider": "provider[\"r.io/x/y\"]",
              "instances": [
                {
                  "index_key": 3,
                  "schema_version": 0,
                  "attributes": {},
                  "sensitive_attributes": []
                },
                {
                  "index_key": "a",
                  "schema_version": 2,
                  "attributes": {},
                  "sensitive_attributes": []
                },
                {
                  "index_key": "z",
                  "schema_version": 0,
                  "attributes": {
                    "a": "\u003c\u0026\u003e\u2028",
                    "b": [],
                    "c": [
                      1,
                      2
                    ]
                  },
                  "sensitive_attributes": []
                }
              ]
            },
            {
              "module": "module.b[2]",
              "mode": "data",
              "type": "t",
              "name": "n",
              "provider": "provider[\"r.io/x/y\"]",
              "instances": [
                {
                  "schema_version": 0,
                  "attributes": {},
                  "sensitive_attributes": []
                }
              ]
            }
          ],
          "check_results": null
        }

    "#]]
    .assert_eq(&write::write(&state(text)));
}

#[test]
fn a_pulled_state_is_one_line() {
    expect![[r#"
        {"version":4,"terraform_version":"1.12.6","serial":3,"lineage":"abc","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"x"},"sensitive_attributes":[]}]}],"check_results":null}
    "#]]
    .assert_eq(&write::write_compact(&state(&with_instances(r#"{"attributes": {"id": "x"}}"#))));
}

#[test]
fn what_instances_read_is_kept_apart_from_what_others_know() {
    let text = with_instances(
        r#"{"index_key": 0}, {"index_key": 0, "deposed": "00000001"}, {"index_key": 1}"#,
    );
    let mut before = state(&text);
    let resource = before.resources.values_mut().next().expect("there is a resource");
    let first = resource.instances.get_mut(&InstanceKey::Int(0)).expect("there is an instance");
    first.current.as_mut().expect("it has an object").reads =
        Some(["terraform_data.b[\"x\"]".into()].into());
    first.deposed.values_mut().for_each(|it| it.reads = Some(Box::default()));

    let text = write::write_compact(&before);
    assert!(text.ends_with(
        // The deposed object read nothing, which others know as well: it rests on nothing.
        "\"check_results\":null,\"entail\":{\"made_from\":{\"terraform_data.a[0]\":[\"terraform_data.b[\\\"x\\\"]\"]}}}\n"
    ));
    assert_eq!(write::write_compact(&state(&text)), text);
}

#[test]
fn a_record_of_what_is_gone_is_passed_over() {
    let text = r#"{"version": 4, "serial": 1, "lineage": "a", "entail": {"made_from": {"t.gone": ["t.a"], "???": [], "t.a x": []}}}"#;
    assert!(state(text).is_empty());
}

#[test]
fn what_older_versions_recorded_is_complete_where_it_names_no_data() {
    let object = |name: &str| {
        format!(
            r#"{{"mode": "managed", "type": "t", "name": "{name}", "provider": "provider[\"x/y/t\"]", "instances": [{{"attributes": {{}}}}]}}"#
        )
    };
    let text = format!(
        r#"{{"version": 4, "serial": 1, "lineage": "a", "resources": [{}, {}], "entail": {{"reads": {{"t.a": ["module.m.data.d.x[0]", "t.c"], "t.b": ["t.data[0]"]}}}}}}"#,
        object("a"),
        object("b")
    );
    let state = state(&text);
    let reads = |name: &str| {
        let address = format!("t.{name}").parse().expect("it is an address");
        state.current(&address).expect("it exists").reads.as_deref()
    };
    assert_eq!(reads("a"), None);
    assert_eq!(reads("b"), Some(&["t.data[0]".into()][..]));
}

#[test]
fn text_that_is_no_state_is_refused() {
    check_problem(
        "{ \"version\": 4,\n  \"serial\": ]",
        expect![
            "Unsupported state file format: The state file could not be parsed as JSON: syntax error at byte offset 29."
        ],
    );
    check_problem(
        "<html>",
        expect![
            "Unsupported state file format: The state file could not be parsed as JSON: syntax error at byte offset 1."
        ],
    );
    check_problem(
        "{\"resource\": {}}",
        expect![
            "Unsupported state file format: The state file does not have a \"version\" attribute, which is required to identify the format version."
        ],
    );
    check_problem(
        "[]",
        expect![
            "Unsupported state file format: The state file does not have a \"version\" attribute, which is required to identify the format version."
        ],
    );
    check_problem(
        "{\"version\": \"4\"}",
        expect![
            "Unsupported state file format: The version in the state file is string. A positive whole number is required."
        ],
    );
    check_problem(
        "{\"version\": 0}",
        expect![
            "Unsupported state file format: The state file claims format version zero, which no program ever wrote."
        ],
    );
    check_problem(
        "{\"version\": 4, \"resources\": 5}",
        expect![
            "Invalid state file format: The state file does not conform to the expected JSON data structure: invalid type: integer `5`, expected a sequence at line 1 column 29."
        ],
    );
    check_problem(
        "{\"meta\": {}, \"encrypted_data\": \"x\"}",
        expect![
            "Unsupported state file format: This state file is encrypted and can not be read without an encryption configuration"
        ],
    );
}

#[test]
fn a_newer_format_names_its_writer() {
    check_problem(
        "{\"version\": 5, \"terraform_version\": \"9.1.0\"}",
        expect![
            "Unsupported state file format: The state file uses format version 5, which is not supported by OpenTofu 1.12.6. This state file was created by OpenTofu 9.1.0."
        ],
    );
    check_problem(
        "{\"version\": 5}",
        expect![
            "Unsupported state file format: The state file uses format version 5, which is not supported by OpenTofu 1.12.6. This state file may have been created by a newer version of OpenTofu."
        ],
    );
}

#[test]
fn instances_that_cannot_be_are_refused() {
    check_problem(
        &with_instances(r#"{"index_key": true}"#),
        expect![
            "Invalid resource instance metadata in state: Resource terraform_data.a has an instance with the invalid instance key true."
        ],
    );
    check_problem(
        &with_instances(r#"{"status": "broken"}, {"index_key": 1, "deposed": "abc"}"#),
        expect![[r#"
            Invalid resource instance metadata in state: Instance terraform_data.a has invalid status "broken".
            Invalid resource instance metadata in state: Instance terraform_data.a[1] has an object with deposed key "abc", which is not correctly formatted."#]],
    );
    check_problem(
        &with_instances(r#"{"index_key": 1}, {"index_key": 1}"#),
        expect![
            "Duplicate resource instance in state: Instance terraform_data.a[1] appears multiple times in the state file."
        ],
    );
}

#[test]
fn a_provider_must_be_named_once_and_the_same() {
    let resource = |provider: &str, instances: &str| {
        format!(
            r#"{{"version": 4, "resources": [{{"mode": "managed", "type": "t", "name": "n", {provider} "instances": [{instances}]}}]}}"#
        )
    };
    check_problem(
        &resource("", "{}"),
        expect![
            "Provider field missing state: Resource t.n is missing a provider address, both on the resource and the resource instances."
        ],
    );
    check_problem(
        &resource("\"provider\": \"provider[aws]\",", "{}"),
        expect![[
            r#"Invalid provider configuration address: The state file says that t.n belongs to "provider[aws]", which is not a provider configuration address."#
        ]],
    );
    check_problem(
        &resource(r#""provider": "provider[\"a/b/c\\\\\"]","#, "{}"),
        expect![[
            r#"Invalid provider configuration address: The state file says that t.n belongs to "provider[\"a/b/c\\\\\"]", which is not a provider configuration address."#
        ]],
    );
    check_problem(
        &resource(
            "",
            r#"{"index_key": 0, "provider": "provider[\"a/b/c\"]"}, {"index_key": 1, "provider": "provider[\"a/b/d\"].x[\"k\"]"}"#,
        ),
        expect![[
            r#"Provider instance field conflict in state: Resource t.n has instances with different provider addresses: "provider[\"a/b/c\"]" != "provider[\"a/b/d\"].x"."#
        ]],
    );
}

#[test]
fn names_are_read_as_they_are_printed() {
    for text in [
        "t.n",
        "data.t.n[0]",
        "module.a.t.n",
        "module.a[\"x.y[0]\"].module.b[1].data.t.n[\"q\\\"$${x}\\u0007\\n\"]",
        "module.a.ephemeral.t.n",
    ] {
        assert_eq!(names::instance(text).expect(text).to_string(), text);
    }
    for text in [
        "provider[\"r.io/a/b\"]",
        "module.a.module.b.provider[\"r.io/a/b\"].x[\"k\"]",
        "provider[\"r.io/a/b\"].x[0]",
    ] {
        let (config, key) = names::provider(text).expect(text);
        assert_eq!(format!("{config}{key}"), text);
    }
    assert_eq!(
        names::provider("module.a.provider.aws.x").expect("it is read").0.to_string(),
        "module.a.provider[\"registry.opentofu.org/-/aws\"].x"
    );
    for text in
        ["", "t", "t.n.x", "t.n[", "t.n[\"a]", "module.a", "t..n", "t.n[0]x", "t.n[\"\\q\"]"]
    {
        assert_eq!(names::instance(text), None, "{text}");
    }
    for text in [
        "provider",
        "provider[\"a_b\"]",
        "provider.a`b",
        "provider.a_b",
        "module.a[0].provider[\"a/b/c\"]",
        "provider[0]",
    ] {
        assert_eq!(names::provider(text), None, "{text}");
    }
}

#[test]
fn terraforms_registry_becomes_ours_unless_the_configuration_means_it() {
    let text = with_instances("{}")
        .replace("terraform.io/builtin/terraform", "registry.terraform.io/hashicorp/null");
    let provider = |state: &State| {
        state.resources.values().next().expect("there is a resource").provider.to_string()
    };

    let mut adopted = state(&text);
    assert!(adopted.adopt_providers(&BTreeSet::new()));
    assert_eq!(provider(&adopted), "provider[\"registry.opentofu.org/hashicorp/null\"]");

    let mut kept = state(&text);
    let required = Provider {
        host: "registry.terraform.io".into(),
        namespace: "hashicorp".into(),
        kind: "null".into(),
    };
    assert!(!kept.adopt_providers(&BTreeSet::from([required])));
    assert_eq!(provider(&kept), "provider[\"registry.terraform.io/hashicorp/null\"]");
}

#[test]
fn a_state_of_version_3_is_brought_up_to_date() {
    let text = r#"{"version": 3, "terraform_version": "0.11.14", "serial": 7, "lineage": "old", "modules": [
      {"path": ["root"], "outputs": {"ids": {"sensitive": true, "type": "list", "value": ["a", "b"]}},
       "resources": {
         "aws_instance.web.1": {"type": "aws_instance", "depends_on": ["aws_vpc.v"], "provider": "provider.aws.west",
           "primary": {"id": "i-1", "attributes": {"id": "i-1", "tags.%": "0"}, "meta": {"schema_version": "1", "e2bfb730": {"create": 600}}, "tainted": true},
           "deposed": [{"id": "i-0"}]},
         "data.aws_ami.x": {"primary": {"id": "ami"}, "provider": ""}}},
      {"path": ["root", "net"], "resources": {"null_resource.n": {"primary": {"id": "5"}, "provider": "module.net.provider.null"}}}]}"#;
    let state = state(text);
    assert_eq!((state.serial, state.lineage.as_str(), state.outputs.len()), (7, "old", 1));
    expect![[r#"
        data.aws_ami.x by provider["registry.opentofu.org/-/aws"]
        aws_instance.web[1] by provider["registry.opentofu.org/-/aws"].west
        module.net.null_resource.n by module.net.provider["registry.opentofu.org/-/null"]"#]]
    .assert_eq(
        &state
            .instances()
            .map(|(it, resource, _)| format!("{it} by {}", resource.provider))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let (_, _, web) = state.instances().nth(1).expect("there is an instance");
    expect![[r#"
        Shared(
            Object {
                status: Tainted,
                schema_version: 1,
                attributes: Flat(
                    {
                        "id": "i-1",
                        "tags.%": "0",
                    },
                ),
                dependencies: [],
                reads: None,
                recorded_as: None,
                create_before_destroy: false,
                skip_destroy: false,
                besides: Rarely(
                    Some(
                        ObjectBesides {
                            sensitive: [],
                            private: Rarely(
                                Some(
                                    [
                                        123,
                                        34,
                                        101,
                                        50,
                                        98,
                                        102,
                                        98,
                                        55,
                                        51,
                                        48,
                                        34,
                                        58,
                                        123,
                                        34,
                                        99,
                                        114,
                                        101,
                                        97,
                                        116,
                                        101,
                                        34,
                                        58,
                                        32,
                                        54,
                                        48,
                                        48,
                                        125,
                                        125,
                                    ],
                                ),
                            ),
                            identity: None,
                        },
                    ),
                ),
            },
        )
    "#]]
    .assert_debug_eq(web.current.as_ref().expect("it has an object"));
    assert_eq!(web.deposed.keys().map(|it| &**it).collect::<Vec<_>>(), ["00000001"]);
}

#[test]
fn an_old_state_that_makes_no_sense_is_refused() {
    check_problem(
        r#"{"version": 3, "serial": 1, "modules": [{"path": ["root", "1x"], "resources": {}}]}"#,
        expect![[
            r#"State format upgrade failed: Error upgrading state file format from version 3 to version 4: state contains invalid module path ["root", "1x"]: "1x" is not a valid identifier."#
        ]],
    );
    check_problem(
        r#"{"version": 3, "serial": 1, "modules": [{"path": ["root"], "resources": {"what": {"primary": {"id": "x"}}}}]}"#,
        expect![
            "State format upgrade failed: Error upgrading state file format from version 3 to version 4: invalid internal resource address format: what."
        ],
    );
}

#[test]
fn strings_are_escaped_as_go_does() {
    let mut out = String::new();
    push_string(&mut out, "a\"\\\n\r\t\u{8}\u{c}\u{1}<>&\u{2028}\u{2029}ü\u{7f}€");
    assert_eq!(
        out,
        "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u003c\\u003e\\u0026\\u2028\\u2029ü\u{7f}€\""
    );
}

#[test]
fn layouts_are_the_same_text_but_for_space() {
    let text = r#"{"a":[],"b":{},"c":[1,-2.5e3,true,null,"x,\"y<"],"d":{"e":{"f":[[]]}}}"#;
    let mut pretty = String::new();
    push_json(&mut pretty, text, Layout::Indented, 0);
    expect![[r#"
        {
          "a": [],
          "b": {},
          "c": [
            1,
            -2.5e3,
            true,
            null,
            "x,\"y\u003c"
          ],
          "d": {
            "e": {
              "f": [
                []
              ]
            }
          }
        }"#]]
    .assert_eq(&pretty);
    let mut compact = String::new();
    push_compact(&mut compact, &pretty);
    assert_eq!(compact, text.replace('<', "\\u003c"));
}

#[test]
fn deep_attributes_are_read_and_written_without_recursion() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = with_instances(&format!("{{\"attributes\": {{\"deep\": {deep}}}}}"));
    assert!(write::write_compact(&state(&text)).contains(&deep));
}

fn base() -> Base {
    let lineage = || "abc".to_owned();
    Base { lineage: lineage(), serial: 3, next_lineage: lineage(), plan: "d1".into() }
}

/// Writes a journal whose lines say this.
fn journal_of(lines: &[String]) -> String {
    let (mut chain, mut text) = journal::Chain::begin(&base());
    lines.iter().for_each(|it| text += &chain.line(it));
    text
}

/// Says that an instance of `terraform_data.a` is gone.
fn gone(key: i64) -> String {
    let address = names::instance(&format!("terraform_data.a[{key}]")).expect("an address");
    journal::records_json(&[Record::Removed { address, deposed: None }])
}

#[test]
fn a_journal_says_what_became_of_each_object() {
    let mut before = state(&with_instances(
        r#"{"index_key": 0, "attributes": {"id": "x"}, "private": "aGk="}, {"index_key": 1}"#,
    ));
    let after = state(&with_instances(
        r#"{"index_key": 0, "attributes": {"id": "y"}, "status": "tainted"}, {"index_key": 0, "deposed": "00000001", "attributes": {"id": "x"}}"#,
    ));
    let resource = after.resources.values().next().expect("there is a resource");
    let mut lines = Vec::new();
    for (address, _, instance) in after.instances() {
        let objects = instance
            .current
            .iter()
            .map(|it| (None, it))
            .chain(instance.deposed.iter().map(|(key, it)| (Some(key.clone()), it)));
        for (deposed, object) in objects {
            let (provider, provider_key) =
                (resource.provider.clone().into_inner(), InstanceKey::None);
            let object = Box::new(super::Object {
                reads: Some(["t.n".into()].into()),
                ..(**object).clone()
            });
            lines.push(journal::records_json(&[Record::Written {
                address: address.clone(),
                deposed,
                provider,
                provider_key,
                object,
            }]));
        }
    }
    lines.push(gone(1));
    let text = journal_of(&lines);

    let journal::JournalContents { base: read_base, records, flaw, .. } =
        journal::read(text.as_bytes());
    assert_eq!((read_base, records.len(), flaw), (Some(base()), 3, None));
    for record in records {
        before.record(record);
    }
    let mut expected = after.clone();
    for object in expected
        .resources
        .values_mut()
        .flat_map(|it| it.instances.values_mut())
        .flat_map(|it| it.current.iter_mut().chain(it.deposed.values_mut()))
    {
        object.reads = Some(["t.n".into()].into());
    }
    assert_eq!(write::write(&before), write::write(&expected));
}

#[test]
fn a_torn_journal_is_read_up_to_the_tear() {
    let text = journal_of(&[gone(0), gone(1)]);
    let last = text.lines().last().expect("a line").len() + 1;
    for cut in 1..=last {
        let found = journal::read(&text.as_bytes()[..text.len() - cut]);
        // Where only its end is missing, a line is whole.
        let whole = if cut == 1 { 2 } else { 1 };
        assert_eq!((found.records.len(), found.flaw), (whole, None), "{cut} bytes missing");
    }
    let first = journal_of(&[]);
    for cut in 2..=first.len() {
        let found = journal::read(&first.as_bytes()[..first.len() - cut]);
        assert_eq!((found.base, found.flaw), (None, None), "{cut} bytes missing");
    }
}

#[test]
fn the_changes_of_a_step_count_together() {
    let gone = |key: i64| Record::Removed {
        address: names::instance(&format!("terraform_data.a[{key}]")).expect("an address"),
        deposed: None,
    };
    let text = journal_of(&[journal::records_json(&[gone(0), gone(1), gone(2)])]);
    assert_eq!(journal::read(text.as_bytes()).records.len(), 3);
    assert_eq!(journal::read(&text.as_bytes()[..text.len() - 2]).records.len(), 0);
}

#[test]
fn a_damaged_line_costs_itself_alone() {
    let text = journal_of(&[gone(0), gone(1)]);
    let found = journal::read(text.replace("a[0]", "a[7]").as_bytes());
    assert_eq!((found.records.len(), found.flaw), (1, Some(Flaw::Lines(1))));
    let found = journal::read(text.replace("abc", "abd").as_bytes());
    assert_eq!((found.base, found.records.len(), found.flaw), (None, 2, Some(Flaw::Start)));
}

#[test]
fn whatever_is_changed_in_a_journal_is_noticed() {
    let text = journal_of(&[gone(0), gone(1)]).into_bytes();
    for at in 0..text.len() {
        for change in [0, b'\n', b' ', b'x', text[at] ^ 1] {
            let mut changed = text.clone();
            changed[at] = change;
            if changed != text {
                assert!(journal::read(&changed).flaw.is_some(), "byte {at} is {change}");
            }
        }
    }
    for nothing in [&b"garbage\n"[..], b"garbage", &[0; 4096], b"\n", b"{}"] {
        assert_eq!(journal::read(nothing).flaw, Some(Flaw::Start), "{nothing:?}");
    }
    let newer = String::from_utf8(text).expect("text").replace("\"journal\":4", "\"journal\":5");
    let json = newer.split_once(' ').and_then(|it| it.1.split_once('\n')).expect("a line").0;
    let newer = format!("{}\n", journal::sealed_for_tests(json));
    assert_eq!(journal::read(newer.as_bytes()).flaw, Some(Flaw::Newer(5)));
}

#[test]
fn a_state_that_was_stored_holds_what_its_journal_tells() {
    let made = state(&with_instances(r#"{"index_key": 0, "attributes": {"id": "x"}}"#));
    let mut records = journal::difference(&State::default(), &made);
    let mut now = State::default();
    for record in &mut records {
        // It was made by this program, and read nothing.
        if let Record::Written { object, .. } = record {
            object.reads = Some(Box::default());
        }
        now.record(record.clone());
    }
    let text = write::write_as(&now, "lineage", 1);
    let stored = read::read(text.as_bytes()).expect("a state").expect("one that is there");
    assert!(journal::holds(&stored, &records), "{text}");
}

#[test]
fn the_difference_of_two_states_leads_from_one_to_the_other() {
    let before = state(&with_instances(
        r#"{"index_key": 0, "attributes": {"id": "x"}}, {"index_key": 1, "attributes": {"id": "y"}}, {"index_key": 2, "deposed": "00000001", "attributes": {"id": "z"}}"#,
    ));
    let after = state(&with_instances(
        r#"{"index_key": 0, "attributes": { "id" : "x" }}, {"index_key": 2, "attributes": {"id": "y"}}, {"index_key": 3, "status": "tainted", "attributes": {"id": "w"}}"#,
    ));
    let records = journal::difference(&before, &after);
    assert_eq!(records.len(), 4, "{records:?}");
    assert!(journal::holds(&after, &records));
    assert!(!journal::holds(&before, &records));
    let mut now = before.clone();
    records.into_iter().for_each(|it| now.record(it));
    assert!(super::is_same(&now, &after));
    assert!(journal::difference(&now, &after).is_empty());
}

#[test]
fn what_was_begun_and_has_no_later_line_is_unfinished() {
    let address = |key: i64| names::instance(&format!("t.a[{key}]")).expect("an address");
    let begun = |key: i64| journal::Begun {
        address: address(key),
        deposed: None,
        action: "create".into(),
        provider: "example.com/a/b".into(),
        known: vec![("name".into(), "x \"y\"\n".into())],
    };
    let text = journal_of(&[
        journal::begun_json(&begun(0)),
        journal::begun_json(&begun(1)),
        journal::begun_json(&begun(2)),
        journal::records_json(&[Record::Removed { address: address(0), deposed: None }]),
        journal::ended_json(&address(1)),
    ]);
    let found = journal::read(text.as_bytes());
    assert_eq!((found.unfinished, found.records.len(), found.flaw), (vec![begun(2)], 1, None));
    let older = text.replace("{\"journal\":4", "{\"journal\":1");
    assert!(journal::read(older.as_bytes()).base.is_none(), "its checksum is another");
}

#[test]
fn lines_that_are_missing_or_moved_are_noticed() {
    let text = journal_of(&(0..6).map(gone).collect::<Vec<_>>());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let flaw = |lines: &[&str]| journal::read(lines.concat().as_bytes()).flaw;
    assert_eq!(flaw(&lines), None);
    for at in 1..lines.len() {
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at]);
        assert_eq!(flaw(&doubled), Some(Flaw::Order(1)), "line {at} twice");
        for to in 1..lines.len() {
            let mut moved = lines.clone();
            let line = moved.remove(at);
            if at + 1 < lines.len() && to == at {
                assert_eq!(flaw(&moved), Some(Flaw::Order(1)), "without line {at}");
            }
            moved.insert(to, line);
            assert_eq!(flaw(&moved).is_some(), to != at, "line {at} at {to}");
            let mut swapped = lines.clone();
            swapped.swap(at, to);
            assert_eq!(flaw(&swapped).is_some(), to != at, "lines {at} and {to} exchanged");
        }
    }
    // The end may be cut off: a run that was killed has ended there.
    for rest in 1..lines.len() {
        assert_eq!(flaw(&lines[..rest]), None, "{rest} lines");
    }
    // Lines of another journal do not fit, though their numbers do.
    let other = journal_of(&(6..12).map(gone).collect::<Vec<_>>());
    let others: Vec<&str> = other.split_inclusive('\n').collect();
    for at in 1..lines.len() - 1 {
        let mut mixed = lines.clone();
        mixed[at] = others[at];
        assert!(matches!(flaw(&mixed), Some(Flaw::Order(_))), "line {at}");
        // What can be read is read all the same: the user may want it.
        assert_eq!(journal::read(mixed.concat().as_bytes()).records.len(), 6);
    }
}

#[test]
fn a_journal_of_an_older_version_is_read_and_told_to_be_one() {
    for version in 1..=3 {
        let first =
            format!(r#"{{"journal":{version},"lineage":"abc","serial":3,"next_lineage":"abc"}}"#);
        let lines = [first, gone(0), gone(1)].map(|it| journal::sealed_for_tests(&it));
        let found = journal::read((lines.join("\n") + "\n").as_bytes());
        assert_eq!((found.records.len(), found.flaw), (2, Some(Flaw::Older(version))));
        assert_eq!(found.base.map(|it| it.serial), Some(3));
    }
}
