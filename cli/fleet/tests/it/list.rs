//! `fleet list`: what is found, and what is wrong with what cannot be read.

use serde_json::json;

use crate::support::{Fleet, resource};

const SETTINGS: &str = r#"
stacks "live" {
  directories = ["live/*"]
  labels      = { env = "prod" }
}
states "archive" {
  backend = "local"
  paths   = ["states/**/*.tfstate"]
}
"#;

#[test]
fn stacks_are_named_by_their_paths_with_labels_and_objects() {
    let fleet = Fleet::new(SETTINGS);
    fleet.write("live/app/main.tf", "resource \"null_resource\" \"a\" {}\n");
    fleet.write("live/notes/README.md", "no configuration\n");
    fleet.state(
        "live/app/terraform.tfstate",
        "l-app",
        &[resource("null_resource", "a", json!({"id":"1"}))],
    );
    fleet.state(
        "states/old/one.tfstate",
        "l-one",
        &[
            resource("null_resource", "a", json!({"id":"1"})),
            resource("null_resource", "b", json!({"id":"2"})),
        ],
    );
    let json = fleet.run(&["list", "-json"]).json();
    assert_eq!(
        json,
        json!({"stacks": [
            {"stack": "live/app", "labels": {"env": "prod"}, "objects": 1, "error": null},
            {"stack": "states/old/one", "labels": {}, "objects": 2, "error": null},
        ]})
    );
    let text = fleet.run(&["list", "-strict"]).ok();
    assert_eq!(
        text,
        "live/app        1 object  env=prod\nstates/old/one  2 objects\n2 stacks, 3 objects; 0 could not be read.\n"
    );
}

#[test]
fn what_cannot_be_read_is_told_of_its_stack_and_the_others_go_on() {
    let fleet = Fleet::new(SETTINGS);
    let one = [resource("null_resource", "a", json!({"id":"1"}))];
    fleet.write("live/empty/main.tf", "");
    fleet.write("live/wrong/main.tf", "terraform { backend \"nowhere\" {} }\n");
    fleet.write("states/broken.tfstate", "{\"version\": 4, \"serial\": ");
    fleet.write("states/encrypted.tfstate", "{\"serial\":1,\"lineage\":\"x\",\"meta\":{},\"encrypted_data\":\"aaaa\",\"encryption_version\":\"v0\"}");
    fleet.write("states/newer.tfstate", "{\"version\": 99, \"terraform_version\": \"9.0.0\"}");
    fleet.write("states/nothing.tfstate", "");
    fleet.state("states/copy-a.tfstate", "same", &one);
    fleet.state("states/copy-b.tfstate", "same", &one);
    fleet.state("states/good.tfstate", "good", &one);
    let ran = fleet.run(&["list", "-json"]);
    let json = ran.json();
    let of = |name: &str| {
        let stacks = json["stacks"].as_array().expect("stacks");
        let found = stacks.iter().find(|it| it["stack"] == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(of("states/good")["objects"], 1);
    assert_eq!(of("live/empty")["objects"], 0);
    assert_eq!(of("states/copy-a")["error"], json!(null));
    let errors = [
        ("states/broken", "Unsupported state file format"),
        ("states/encrypted", "encrypt"),
        ("states/newer", "99"),
        ("states/nothing", "No state"),
        ("states/copy-b", "lineage same, and so has that of `states/copy-a`"),
    ];
    for (name, part) in errors {
        let error = of(name)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(part), "{name}: {error}");
        assert_eq!(of(name)["objects"], json!(null), "{name}");
    }
    assert_eq!(fleet.run(&["list", "-strict"]).code, Some(1));
}

#[test]
fn one_name_for_two_stacks_is_an_error_of_the_second() {
    let fleet = Fleet::new(
        "stacks \"a\" { directories = [\"app\"] }\nstates \"b\" { paths = [\"*.tfstate\"] }\n",
    );
    fleet.write("app/main.tf", "");
    fleet.state("app.tfstate", "l", &[]);
    let json = fleet.run(&["list", "-json"]).json();
    let errors: Vec<_> =
        json["stacks"].as_array().expect("stacks").iter().map(|it| it["error"].is_null()).collect();
    assert_eq!(errors, [true, false], "{json}");
}

#[test]
fn settings_that_make_no_sense_are_told_with_their_places() {
    let cases = [
        ("stacks \"a\" {}\n", "The block needs `directories`"),
        ("stacks {}\n", "has one label"),
        ("stakcs \"a\" {}\n", "`stakcs` means nothing here"),
        ("states \"a\" { backend = \"nope\" }\n", "There is no backend type named \"nope\""),
        (
            "states \"a\" {\n  backend = \"s3\"\n  paths = [\"x\"]\n}\n",
            "`paths` is for states in files",
        ),
        (
            "states \"a\" {\n  backend = \"s3\"\n  config = { buckte = \"x\" }\n}\n",
            "The argument `buckte`",
        ),
        (
            "stacks \"a\" {\n  directories = [\"x\"]\n  labels = \"x\"\n}\n",
            "`labels` must be an object",
        ),
        (
            "stacks \"a\" { directories = [\"x\"] }\nstates \"a\" { paths = [\"y\"] }\n",
            "what another block is called already",
        ),
        ("", "names no stacks"),
    ];
    for (text, part) in cases {
        let ran = Fleet::new(text).run(&["list"]);
        let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert_eq!(ran.code, Some(1), "{text}: {}", ran.err);
        assert!(told.contains(part), "{text}: {told}");
        assert!(text.is_empty() || told.contains("fleet.hcl"), "{told}");
    }
    let fleet = Fleet::new("");
    std::fs::remove_file(fleet.path("fleet.hcl")).expect("it is there");
    assert!(fleet.run(&["list"]).err.contains("There is no file fleet.hcl"));
}

#[test]
fn a_pattern_that_means_nothing_is_a_warning() {
    let fleet = Fleet::new("states \"a\" { paths = [\"nowhere/*.tfstate\"] }\n");
    let ran = fleet.run(&["list"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!((ran.err.clone() + &ran.out).contains("No stacks there"), "{ran:?}");
}

/// Serves one text to whoever asks, on loopback.
fn serve(text: String) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut asked = [0; 4096];
            if stream.read(&mut asked).is_err() {
                continue;
            }
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                text.len()
            );
            stream.write_all((head + &text).as_bytes()).unwrap_or_default();
        }
    });
    format!("http://{address}/state")
}

#[test]
fn states_of_other_backends_are_stacks_and_one_that_is_away_is_told() {
    let one = [resource("null_resource", "a", json!({"id": "1"}))];
    let address = serve(crate::support::state("l-http", 3, &one).to_string());
    let fleet = Fleet::new(&format!(
        "states \"web\" {{\n  backend = \"http\"\n  config  = {{ address = {address:?} }}\n  labels  = {{ a = \"b\" }}\n}}\nstates \"away\" {{\n  backend = \"http\"\n  config  = {{ address = \"http://127.0.0.1:9/none\", retry_max = 0 }}\n}}\n"
    ));
    let json = fleet.run(&["list", "-json"]).json();
    assert_eq!(
        json["stacks"][1],
        json!({"stack": "web", "labels": {"a": "b"}, "objects": 1, "error": null})
    );
    assert_eq!(json["stacks"][0]["stack"], "away");
    assert!(json["stacks"][0]["error"].is_string(), "{json}");
    fleet.run(&["index"]).ok();
    let json = fleet.run(&["query", "-json", "existing(n, t)"]).json();
    assert_eq!(json["rows"], json!([["null_resource.a@web", "null_resource"]]));
    assert_eq!(fleet.run(&["index", "-json"]).json()["changed"], 0, "lineage and serial say so");
}
