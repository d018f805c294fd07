//! States in; the screens that show them out.

use expect_test::expect;

use super::*;

const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "x",
  "outputs": {
    "o": {"value": {"a": 1, "b c": ["x"]}, "type": ["object", {"a": "number", "b c": ["tuple", ["string"]]}]},
    "s": {"value": "s", "type": "string", "sensitive": true}
  },
  "resources": [
    {"mode": "managed", "type": "test_thing", "name": "a", "provider": "provider[\"registry.opentofu.org/hashicorp/test\"]", "instances": [
      {"index_key": 0, "schema_version": 0, "status": "tainted", "attributes": {"id": "x", "none": null, "text": "one\ntwo\n", "secret": "s"},
       "sensitive_attributes": [[{"type": "get_attr", "value": "secret"}]]},
      {"index_key": 0, "deposed": "00000001", "schema_version": 0, "attributes": {"id": "y"}}
    ]},
    {"module": "module.m", "mode": "data", "type": "test_thing", "name": "b",
     "provider": "provider[\"registry.opentofu.org/hashicorp/test\"]", "instances": [
      {"schema_version": 0, "attributes": {"id": "z", "json": "{\"a\":[1]}", "map": {"k": "v"}}}
    ]}
  ]
}"#;

fn state() -> State {
    entail::state::read::read(STATE.as_bytes()).expect("it is a state").expect("it is not empty")
}

#[test]
fn a_state_is_shown_object_by_object() {
    let (state, schemas) = (state(), Schemas::new());
    let mut out = Vec::new();
    write(&mut out, &objects(&state, &schemas), &state.outputs, &schemas, Look::default())
        .expect("memory takes everything");
    expect![[r#"
        # test_thing.a[0]: (tainted)
        resource "test_thing" "a" {
            id     = "x"
            secret = (sensitive value)
            text   = <<-EOT
                one
                two
            EOT
        }

        # test_thing.a[0]: (deposed object 00000001)
        resource "test_thing" "a" {
            id = "y"
        }


        # module.m.data.test_thing.b:
        data "test_thing" "b" {
            id   = "z"
            json = jsonencode(
                {
                    a = [
                        1,
                    ]
                }
            )
            map  = {
                k = "v"
            }
        }


        Outputs:

        o = {
            a     = 1
            "b c" = [
                "x",
            ]
        }
        s = (sensitive value)
    "#]]
    .assert_eq(&String::from_utf8(out).expect("it is text"));
}

#[test]
fn sensitive_values_are_shown_on_demand() {
    let (state, schemas) = (state(), Schemas::new());
    let mut out = Vec::new();
    let look = Look { show_sensitive: true, ..Look::default() };
    write(&mut out, &objects(&state, &schemas), &state.outputs, &schemas, look)
        .expect("memory takes everything");
    let text = String::from_utf8(out).expect("it is text");
    assert!(text.contains("secret = \"s\"") && text.contains("\ns = \"s\""), "{text}");
}

#[test]
fn an_empty_state_says_so() {
    let mut out = Vec::new();
    write(&mut out, &[], &BTreeMap::new(), &Schemas::new(), Look::default())
        .expect("memory takes everything");
    assert_eq!(out, b"The state file is empty. No resources are represented.\n");
}

#[test]
fn an_object_that_fits_no_schema_shows_nothing_of_an_attribute_in_which_a_secret_is() {
    let text = STATE.replace(
        r#""secret": "s"}"#,
        r#""secret": "s", "keepers": {"public": "p", "hidden": "hush"}}"#,
    );
    let mark = r#"[{"type": "get_attr", "value": "keepers"}, {"type": "index", "value": {"value": "hidden", "type": "string"}}]"#;
    let text = text
        .replace(r#""sensitive_attributes": ["#, &format!(r#""sensitive_attributes": [{mark}, "#));
    let state = entail::state::read::read(text.as_bytes()).expect("a state").expect("not empty");
    let schemas = Schemas::new();
    let mut out = Vec::new();
    write(&mut out, &objects(&state, &schemas), &state.outputs, &schemas, Look::default())
        .expect("memory takes everything");
    let text = String::from_utf8(out).expect("it is text");
    assert!(text.contains("keepers = (sensitive value)") && !text.contains("hush"), "{text}");
}

#[test]
fn modules_stand_before_those_inside_and_are_set_off_from_those_around() {
    let object = |module: &str| {
        format!(
            r#"{{"module": "{module}", "mode": "managed", "type": "test_thing", "name": "a",
                "provider": "provider[\"registry.opentofu.org/hashicorp/test\"]",
                "instances": [{{"schema_version": 0, "attributes": {{}}}}]}}"#
        )
    };
    let modules = ["module.a", "module.b", "module.a.module.in", "module.b.module.in"].map(object);
    let text = format!(
        r#"{{"version": 4, "serial": 1, "lineage": "x", "resources": [{}]}}"#,
        modules.join(",")
    );
    let state = entail::state::read::read(text.as_bytes()).expect("a state").expect("not empty");
    let mut out = Vec::new();
    let schemas = Schemas::new();
    write(&mut out, &objects(&state, &schemas), &state.outputs, &schemas, Look::default())
        .expect("memory takes everything");
    expect![[r#"
        # module.a.test_thing.a:
        resource "test_thing" "a" {}


        # module.a.module.in.test_thing.a:
        resource "test_thing" "a" {}
        # module.b.test_thing.a:
        resource "test_thing" "a" {}


        # module.b.module.in.test_thing.a:
        resource "test_thing" "a" {}
    "#]]
    .assert_eq(&String::from_utf8(out).expect("it is text"));
}
