//! What somebody who writes waits for, in a workspace of 10,000 resources: the first diagnostics, and what follows each key.
//!
//! `cargo bench -p entail-cli --bench editor` prints a line for each shape: one folder with 100 files, and 100 folders that call
//! each other's modules.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

#[path = "../tests/lsp/client.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod client;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use client::Client;

const FILES: usize = 100;
const EACH: usize = 100;
const KEYS: usize = 200;

/// A file with 100 resources, each of which reads the one before; the last line of the first is wrong.
fn file(number: usize) -> String {
    let mut text =
        format!("variable \"size_{number}\" {{\n  type    = number\n  default = 2\n}}\n\n");
    for at in 0..EACH {
        let name = format!("r{number}_{at}");
        let before = match at {
            0 => format!("var.size_{number}"),
            _ => format!("terraform_data.r{number}_{}.id", at - 1),
        };
        text.push_str(&format!(
            "resource \"terraform_data\" \"{name}\" {{\n  input = {{\n    name  = \"{name}\"\n    other = {before}\n  }}\n}}\n\n"
        ));
    }
    text
}

fn main() {
    let one: Vec<(String, String)> =
        (0..FILES).map(|it| (format!("file{it}.tf"), file(it))).collect();
    measure("one folder", &one, "file0.tf");
    let many: Vec<(String, String)> =
        (0..FILES).map(|it| (format!("stack{it}/main.tf"), file(it))).collect();
    measure("100 folders", &many, "stack0/main.tf");
}

fn measure(shape: &str, files: &[(String, String)], name: &str) {
    let files: Vec<(&str, &str)> = files.iter().map(|it| (&*it.0, &*it.1)).collect();
    let mut client = Client::begun(&files);
    let started = Instant::now();
    let root = client.uri("");
    client.initialize(json!({ "capabilities": {}, "rootUri": root }));
    let text = std::fs::read_to_string(client.path(name)).expect("the file is there");
    let wrong = format!("{text}output \"wrong\" {{\n  value = terraform_data.none.id\n}}\n");
    client.open_as(name, &wrong);
    client.problems_until(name, |it| !it.is_empty());
    let first = started.elapsed();
    let (mut told, mut offered, mut checked) = (Vec::new(), Vec::new(), Vec::new());
    let mut text = wrong;
    for key in 0..KEYS {
        let version = key as i32 + 2;
        // Somebody writes a reference, letter by letter, and takes it away again.
        let letters = ["\nlocals {\n  x = v", "\nlocals {\n  x = var.", "\nlocals {\n  x = var.s"];
        let new = format!("{text}{}", letters[key % 3]);
        let at = Instant::now();
        client.replace(name, version, &new);
        let place = client::position(&new, new.len());
        let params = json!({ "textDocument": { "uri": client.uri(name) }, "position": place });
        let found = client.ask("textDocument/completion", params);
        offered.push(at.elapsed());
        assert!(found["items"].as_array().is_some_and(|it| !it.is_empty()), "{found}");
        client.wait_for(|it| is_told(it, version));
        told.push(at.elapsed());
    }
    for key in 0..10 {
        // A whole change: what `validate` says of it comes after.
        let version = (KEYS + key) as i32 + 2;
        text = text.replace("terraform_data.none", "terraform_data.nones");
        let at = Instant::now();
        client.replace(name, version, &text);
        let count = format!("none{}", "s".repeat(key + 1));
        client.problems_until(name, |it| {
            it.iter().any(|it| {
                it["message"].as_str().is_some_and(|it| it.contains(&format!("\"{count}\"")))
            })
        });
        checked.push(at.elapsed());
    }
    println!(
        "{shape}: first diagnostics {} ms; after a key: completion p95 {} ms, syntax p95 {} ms; all of validate p95 {} ms; {} MB",
        first.as_millis(),
        late(&mut offered),
        late(&mut told),
        late(&mut checked),
        client.memory() / 1024,
    );
    client.end();
}

fn is_told(message: &Json, version: i32) -> bool {
    message["method"] == "textDocument/publishDiagnostics"
        && message["params"]["version"] == version
}

/// What 95 of 100 take at most, in milliseconds.
fn late(times: &mut [Duration]) -> u128 {
    times.sort();
    times[times.len() * 95 / 100].as_millis()
}
