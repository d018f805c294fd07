//! Folders of strangers: nothing in them is run, and nothing outside of them is changed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use entail::install::Platform;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::client::Client;

const CONFIG: &str = "terraform {\n  required_providers {\n    null = { source = \"evil.example/x/null\" }\n  }\n}\nresource \"null_resource\" \"r\" {\n  triggers = { a = \"b\" }\n  nothing  = provider::null::f(1)\n}\n";

/// Puts a plugin where `init` would have put it, with a lock file that accepts it. Returns its file.
fn ship(root: &Path, program: &[u8]) -> PathBuf {
    let platform = Platform::current();
    let package = root.join(format!(".terraform/providers/evil.example/x/null/1.0.0/{platform}"));
    std::fs::create_dir_all(&package).expect("made");
    let file = package.join("terraform-provider-null_v1.0.0");
    std::fs::write(&file, program).expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("set");
    let sum: String = Sha256::digest(program).iter().map(|it| format!("{it:02x}")).collect();
    let sum = Sha256::digest(format!("{sum}  terraform-provider-null_v1.0.0\n"));
    let hash = BASE64_STANDARD.encode(sum);
    let lock = format!(
        "provider \"evil.example/x/null\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:{hash}\",\n  ]\n}}\n"
    );
    std::fs::write(root.join(".terraform.lock.hcl"), lock).expect("written");
    file
}

fn begin(client: &mut Client, options: &Json) {
    let folders = json!([{ "uri": client.uri(""), "name": "folder" }]);
    client.initialize(json!({
        "processId": null, "capabilities": {}, "workspaceFolders": folders, "initializationOptions": options,
    }));
}

fn messages(problems: &[Json]) -> String {
    problems.iter().filter_map(|it| it["message"].as_str()).collect::<Vec<_>>().join("\n")
}

/// A folder with a plugin that leaves a file behind when it is run; with that file's path.
fn with_proof() -> (Client, PathBuf) {
    let client = Client::begun(&[("main.tf", CONFIG)]);
    let root = client.path("");
    let proof = root.join("OWNED");
    ship(&root, format!("#!/bin/sh\nid >'{}'\n", proof.display()).as_bytes());
    (client, proof)
}

#[test]
fn a_plugin_that_a_folder_ships_is_not_run() {
    let (mut client, proof) = with_proof();
    begin(&mut client, &Json::Null);
    client.open("main.tf");
    let problems =
        client.problems_until("main.tf", |it| messages(it).contains("Provider not started"));
    assert!(messages(&problems).contains("evil.example/x/null"), "{problems:#?}");
    for method in ["hover", "completion", "definition", "signatureHelp"] {
        let place = client.at("main.tf", "  nothing");
        client.ask_whole(&format!("textDocument/{method}"), place);
    }
    let document = json!({ "textDocument": { "uri": client.uri("main.tf") } });
    client.ask_whole("textDocument/codeLens", document);
    let why = json!({
        "command": "entail.why",
        "arguments": [{ "folder": client.uri(""), "address": "null_resource.r" }],
    });
    let refused = client.ask_whole("workspace/executeCommand", why);
    let told = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("would run the programs of this folder"), "{refused:#}");
    // What was asked last is answered last, and waits for all that was begun before.
    client.tell(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": [{ "uri": client.uri(".terraform.lock.hcl"), "type": 2 }] }),
    );
    client.replace("main.tf", 2, &format!("{CONFIG}# more\n"));
    client.problems_until("main.tf", |it| messages(it).contains("Provider not started"));
    assert!(!proof.exists(), "the plugin was run");
}

#[test]
fn a_plugin_of_a_trusted_folder_is_run() {
    let (mut client, proof) = with_proof();
    begin(&mut client, &json!({ "trusted": true }));
    client.open("main.tf");
    client.problems_until("main.tf", |it| messages(it).contains("Failed to load plugin schemas"));
    assert!(proof.exists(), "it was asked what it accepts");
}

#[test]
fn what_a_command_has_learnt_of_a_plugin_is_known_by_its_content() {
    let plugin = Path::new(env!("CARGO_BIN_EXE_entail")).with_file_name("entail-plugin");
    let program = std::fs::read(&plugin).expect("the plugin is built with the program");
    let text = CONFIG.replace("provider::null::f(1)", "1");
    let mut client = Client::begun(&[("main.tf", text.as_str()), ("sub/main.tf", text.as_str())]);
    let root = client.path("");
    // The user has used the plugin elsewhere.
    ship(&root.join("sub"), &program);
    let run = Command::new(env!("CARGO_BIN_EXE_entail"))
        .arg("validate")
        .current_dir(root.join("sub"))
        .env_clear()
        .env("HOME", &root)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(told.contains("An argument named \"nothing\" is not expected here"), "{told}");
    std::fs::remove_dir_all(root.join("sub")).expect("gone");
    ship(&root, &program);
    begin(&mut client, &Json::Null);
    client.open("main.tf");
    let problems =
        client.problems_until("main.tf", |it| messages(it).contains("named \"nothing\""));
    assert!(!messages(&problems).contains("Provider not started"), "{problems:#?}");
}

#[test]
fn a_rename_stays_in_the_folders_that_are_open() {
    let outer = tempfile::tempdir().expect("a folder");
    let outside = outer.path().canonicalize().expect("it is there").join("outside");
    std::fs::create_dir(&outside).expect("made");
    std::fs::write(
        outside.join("main.tf"),
        "variable \"size\" {}\noutput \"o\" {\n  value = var.size\n}\n",
    )
    .expect("written");
    let main = "module \"m\" {\n  source = \"./linked\"\n  size   = 1\n}\nvariable \"own\" {}\noutput \"p\" {\n  value = var.own\n}\n";
    let mut client = Client::begun(&[("main.tf", main)]);
    std::os::unix::fs::symlink(&outside, client.path("linked")).expect("linked");
    begin(&mut client, &Json::Null);
    client.open("main.tf");
    let mut params = client.at("main.tf", "  si");
    params["newName"] = json!("width");
    let refused = client.ask_whole("textDocument/rename", params);
    let told = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("outside of the folders that are open"), "{refused:#}");
    let mut params = client.at("main.tf", "var.ow");
    params["newName"] = json!("mine");
    let renamed = client.ask_whole("textDocument/rename", params);
    assert!(renamed["result"].to_string().contains("mine"), "{renamed:#}");
}
