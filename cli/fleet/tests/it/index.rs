//! `fleet index`: what is in a lake, what never is, and what is left where something goes wrong.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::support::{Fleet, Ran, files, resource, with};

const STATES: &str = "states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n";

fn bucket(name: &str) -> Json {
    resource("aws_s3_bucket", name, json!({"id": format!("bucket-{name}-1"), "acl": "private"}))
}

fn catalogue(fleet: &Fleet) -> Json {
    let text = std::fs::read_to_string(fleet.path("lake/catalogue.json")).expect("a catalogue");
    serde_json::from_str(&text).expect("JSON")
}

fn tables(fleet: &Fleet) -> BTreeSet<PathBuf> {
    files(&fleet.path("lake/tables")).into_iter().collect()
}

/// The files that the catalogue names are there, and no others.
fn assert_whole(fleet: &Fleet) {
    let catalogue = catalogue(fleet);
    let of = |table: &Json| -> Vec<PathBuf> {
        let files = table.as_object().expect("buckets").values();
        files.map(|it| fleet.path("lake").join(it["path"].as_str().expect("a path"))).collect()
    };
    let named = catalogue["files"].as_object().expect("tables").values().flat_map(of);
    assert_eq!(named.collect::<BTreeSet<_>>(), tables(fleet));
}

#[test]
fn only_stacks_that_changed_are_written_again() {
    let fleet = Fleet::new(STATES);
    for number in 0..40 {
        let name = format!("s/n{number:02}.tfstate");
        fleet.state(&name, &format!("l{number}"), &[bucket("a"), bucket("b")]);
    }
    let json = fleet.run(&["index", "-json"]).json();
    assert_eq!(
        (&json["stacks"], &json["objects"], &json["changed"]),
        (&json!(40), &json!(80), &json!(40))
    );
    assert_whole(&fleet);
    let (before, catalogue_before) = (tables(&fleet), catalogue(&fleet));

    let json = fleet.run(&["index", "-json"]).json();
    assert_eq!(json["changed"], 0);
    assert_eq!((tables(&fleet), catalogue(&fleet)), (before.clone(), catalogue_before));

    fleet.state("s/n07.tfstate", "l7", &[bucket("a"), bucket("b"), bucket("c")]);
    std::fs::remove_file(fleet.path("s/n09.tfstate")).expect("it is there");
    let json = fleet.run(&["index", "-json"]).json();
    assert_eq!(
        (&json["stacks"], &json["objects"], &json["changed"]),
        (&json!(39), &json!(79), &json!(1))
    );
    assert_whole(&fleet);
    let after = tables(&fleet);
    assert!(after.intersection(&before).count() > after.len() / 4, "most buckets stay");
    assert!(after != before);

    let asked = fleet
        .run(&["query", "existing(n, \"aws_s3_bucket\"), stack(n, \"s/n07\")", "-json"])
        .json();
    assert_eq!(asked["rows"].as_array().map(Vec::len), Some(3), "{asked}");
    let gone = fleet.run(&["query", "existing(n, _), stack(n, \"s/n09\")", "-json"]).json();
    assert_eq!(gone["rows"], json!([]));
}

#[test]
fn an_index_from_nothing_and_one_from_changes_are_the_same() {
    let fleet = Fleet::new(STATES);
    for number in 0..12 {
        let uses = resource(
            "test_user",
            "u",
            json!({"id": format!("user-{number:04}"), "of": [format!("bucket-b{}-1", number / 2)]}),
        );
        fleet.state(
            &format!("s/n{number}.tfstate"),
            &format!("l{number}"),
            &[bucket(&format!("b{number}")), uses],
        );
    }
    fleet.run(&["index"]).ok();
    fleet.state("s/n3.tfstate", "l3", &[bucket("b3"), bucket("new")]);
    std::fs::remove_file(fleet.path("s/n0.tfstate")).expect("it is there");
    fleet.run(&["index"]).ok();
    fleet.run(&["index", "-out=anew"]).ok();
    for body in ["existing(n, t)", "uses(n, m)", "stack(n, s)", "provider_of(n, p)", "name(n, x)"] {
        let of = |lake: &str| fleet.run(&["query", &format!("-lake={lake}"), "-json", body]).json();
        let grown = of("lake");
        assert_eq!(grown, of("anew"), "{body}");
        assert!(!grown["rows"].as_array().expect("rows").is_empty(), "{body}");
    }
}

#[test]
fn nothing_sensitive_gets_into_a_lake() {
    let fleet = Fleet::new(STATES);
    let taint = |number: usize| format!("TAINT{number}-0123456789abcdef");
    let mut document = crate::support::state(
        "l",
        1,
        &[
            with(
                "test_thing",
                "marked",
                json!({"id": "thing-0001", "body": taint(1)}),
                &[],
                &["body"],
            ),
            resource(
                "aws_db_instance",
                "named",
                json!({"id": "db-00000001", "password": taint(2), "endpoint": "db.example"}),
            ),
            resource(
                "test_thing",
                "nested",
                json!({"id": "thing-0002", "login": [{"user": "u", "token": taint(3)}]}),
            ),
            resource(
                "random_password",
                "p",
                json!({"id": "none", "result": taint(4), "length": 16}),
            ),
        ],
    );
    document["outputs"] = json!({
        "secret": {"value": taint(5), "type": "string", "sensitive": true},
        "open": {"value": "to be seen", "type": "string"},
    });
    document["resources"][0]["instances"][0]["private"] = json!("VEFJTlQ2LTAxMjM0NTY3ODlhYmNkZWY=");
    fleet.write("s/one.tfstate", &document.to_string());
    fleet.run(&["index"]).ok();

    // What is compressed is looked at through every row that can be asked for.
    let mut seen = String::new();
    for body in [
        "resource(n, t), argument(n, x, v)",
        "output(o), o.value == v",
        "existing(n, t), state(n)[x] == v",
    ] {
        seen += &fleet.run(&["query", "-json", body]).ok();
    }
    seen += &std::fs::read_to_string(fleet.path("lake/catalogue.json")).expect("a catalogue");
    for file in files(&fleet.path("lake")) {
        seen += &String::from_utf8_lossy(&std::fs::read(&file).expect("it is read"));
        seen += &crate::support::texts(&file);
    }
    assert!(!seen.contains("TAINT"), "a secret got out");
    assert!(!seen.contains("VEFJTlQ2"), "private data got out");
    assert!(
        seen.contains("db.example") && seen.contains("to be seen"),
        "what is no secret is there"
    );
    assert!(seen.contains("(sensitive)"), "that there is a secret is known");
}

#[test]
fn a_stack_that_can_no_longer_be_read_keeps_what_was_known_of_it() {
    let fleet = Fleet::new(STATES);
    fleet.state("s/a.tfstate", "la", &[bucket("a")]);
    fleet.state("s/b.tfstate", "lb", &[bucket("b")]);
    fleet.run(&["index"]).ok();
    fleet.write("s/a.tfstate", "{ broken");
    fleet.state("s/b.tfstate", "lb", &[bucket("b"), bucket("c")]);
    let ran = fleet.run(&["index", "-json", "-strict"]);
    assert_eq!(ran.code, Some(1));
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["failed"][0]["stack"], "s/a");
    let found = fleet.run(&["query", "existing(n, _)", "-json"]).json();
    assert_eq!(
        found["rows"],
        json!([["aws_s3_bucket.a@s/a"], ["aws_s3_bucket.b@s/b"], ["aws_s3_bucket.c@s/b"]])
    );
    // It is tried again, though nothing was written since.
    assert_eq!(fleet.run(&["index", "-strict"]).code, Some(1));
    fleet.state("s/a.tfstate", "la", &[bucket("z")]);
    fleet.run(&["index", "-strict"]).ok();
    let found = fleet.run(&["query", "existing(n, _), stack(n, \"s/a\")", "-json"]).json();
    assert_eq!(found["rows"], json!([["aws_s3_bucket.z@s/a"]]));
}

#[test]
fn a_configuration_that_cannot_be_read_is_told_and_its_state_is_taken() {
    let fleet = Fleet::new("stacks \"all\" {\n  directories = [\"m\"]\n}\n");
    fleet.write("m/main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n");
    fleet.write("m/inner/main.tf", "resource \"without_a_name\" {}\n");
    fleet.state("m/terraform.tfstate", "lm", &[bucket("a")]);
    let ran = fleet.run(&["index", "-json"]);
    assert!(ran.err.contains("Of stack `m`, only the state is known"), "{}", ran.err);
    assert_eq!(ran.json()["objects"], 1);
}

#[test]
fn an_index_that_is_killed_leaves_the_last_whole_one() {
    let fleet = Fleet::new(STATES);
    for number in 0..60 {
        fleet.state(&format!("s/n{number}.tfstate"), &format!("l{number}"), &[bucket("a")]);
    }
    fleet.run(&["index"]).ok();
    for round in 0..6 {
        for number in 0..60 {
            fleet.state(
                &format!("s/n{number}.tfstate"),
                &format!("l{number}"),
                &vec![bucket("a"); 1][..],
            );
        }
        let before = fleet.run(&["query", "existing(n, t)", "-json"]).ok();
        let mut child = fleet.command(&["index"], &[]).spawn().expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(15 * round));
        child.kill().expect("it is killed, or over");
        child.wait().expect("it is over");
        assert_eq!(fleet.run(&["query", "existing(n, t)", "-json"]).ok(), before, "round {round}");
    }
    fleet.run(&["index"]).ok();
    assert_whole(&fleet);
}

#[test]
fn a_lake_that_cannot_be_used_is_told() {
    let fleet = Fleet::new(STATES);
    fleet.state("s/a.tfstate", "la", &[bucket("a")]);
    let told =
        |ran: Ran| ran.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
    let ran = fleet.run(&["query", "existing(n, t)"]);
    assert!(told(ran).contains("Cannot use the lake"));
    fleet.run(&["index"]).ok();
    let path = fleet.path("lake/catalogue.json");
    let text = std::fs::read_to_string(&path).expect("a catalogue");
    std::fs::write(&path, text.replacen("\"version\": 1", "\"version\": 7", 1))
        .expect("it is written");
    for words in [&["query", "existing(n, t)"][..], &["index"]] {
        let ran = fleet.run(words);
        assert_eq!(ran.code, Some(1));
        assert!(told(ran).contains("is of version 7, and this program reads version 1"));
    }
    std::fs::write(&path, &text).expect("it is written");
    let table = tables(&fleet).into_iter().find(|it| it.to_string_lossy().contains("/existing/"));
    std::fs::write(table.expect("a table"), "PAR1 damaged PAR1").expect("it is written");
    let ran = fleet.run(&["query", "existing(n, t)"]);
    assert_eq!(ran.code, Some(1));
    assert!(told(ran).contains("Trouble with the lake"));
}

/// Objects of a few identities and mentions, so that many meet, some in more stacks than tell anything.
fn random_objects(chance: &mut dyn FnMut(u64) -> u64) -> Vec<Json> {
    (0..chance(4))
        .map(|number| {
            let mentions: Vec<String> =
                (0..chance(4)).map(|_| format!("identity-{:04}", chance(30))).collect();
            let id = match chance(3) {
                0 => format!("identity-{:04}", chance(30)),
                _ => format!("identity-of-its-own-{}", chance(1 << 40)),
            };
            let arn = format!("identity-{:04}", chance(30));
            resource(
                "test_thing",
                &format!("t{number}"),
                json!({"id": id, "arn": arn, "of": {"in": mentions}}),
            )
        })
        .collect()
}

#[test]
fn what_uses_what_is_the_same_however_the_lake_has_grown() {
    let fleet = Fleet::new(STATES);
    let mut state = 7_u64;
    let mut chance = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for number in 0..30 {
        let objects = random_objects(&mut chance);
        fleet.state(&format!("s/n{number}.tfstate"), &format!("l{number}"), &objects);
    }
    fleet.run(&["index"]).ok();
    let mut pairs = 0;
    for round in 0..10 {
        for _ in 0..1 + chance(4) {
            let number = chance(30);
            let path = format!("s/n{number}.tfstate");
            match chance(5) {
                0 => std::fs::remove_file(fleet.path(&path)).unwrap_or_default(),
                _ => fleet.state(&path, &format!("l{number}"), &random_objects(&mut chance)),
            }
        }
        fleet.run(&["index"]).ok();
        assert_whole(&fleet);
        let anew = format!("-out=anew{round}");
        fleet.run(&["index", &anew]).ok();
        let of =
            |lake: &str| fleet.run(&["query", &format!("-lake={lake}"), "-csv", "uses(n, m)"]).ok();
        let (grown, anew) = (of("lake"), of(&format!("anew{round}")));
        assert_eq!(grown, anew, "round {round}");
        let back = |lake: &str| {
            fleet.run(&[
                "impact",
                &format!("-lake={lake}"),
                "-json",
                "-depth=1",
                "test_thing.t0@s/n1",
            ])
        };
        assert_eq!(back("lake").out, back(&format!("anew{round}")).out, "round {round}");
        pairs += grown.lines().count();
    }
    assert!(pairs > 100, "{pairs} pairs were compared");
}
