//! `impact -since`: what was edited since a commit, as git sees it.

#![expect(clippy::print_stderr, reason = "a tool that is missing is told")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::binary;

const BEFORE: &str = r#"
variable "a" { default = 1 }
locals {
  one = var.a
  two = 2
}
resource "terraform_data" "one" { input = local.one }
resource "terraform_data" "two" { input = local.two }
resource "terraform_data" "gone" { input = 3 }
resource "terraform_data" "reads" { input = terraform_data.two.output }
module "m" {
  source = "../m"
  v      = terraform_data.one.output
  w      = 1
}
"#;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    let output = command.args(arguments).current_dir(folder).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn entail(folder: &Path, arguments: &[&str]) -> (String, bool) {
    let output = binary::process(binary::path(), folder).args(arguments).output().expect("it runs");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

/// The addresses that would be touched, with their distance.
fn touched(folder: &Path, arguments: &[&str]) -> Vec<(String, u64)> {
    let (text, is_well) = entail(folder, &[&["impact", "-json"], arguments].concat());
    assert!(is_well, "{text}");
    let document: Json = serde_json::from_str(&text).expect("JSON");
    let all = document["impacted"].as_array().expect("a list").iter();
    let one = |it: &Json| {
        (
            it["address"].as_str().expect("text").to_owned(),
            it["distance"].as_u64().expect("a number"),
        )
    };
    all.map(one).collect()
}

#[test]
fn what_was_edited_since_a_commit_is_where_one_begins() {
    if Command::new("git").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no git");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (root, module) = (folder.path().join("root"), folder.path().join("m"));
    fs::create_dir_all(&root).expect("a folder");
    fs::create_dir_all(&module).expect("a folder");
    fs::write(root.join("main.tf"), BEFORE).expect("a file");
    let inner = "variable \"v\" {}\nvariable \"w\" {}\nresource \"terraform_data\" \"in\" { input = var.v }\nresource \"terraform_data\" \"w\" { input = var.w }\n";
    fs::write(module.join("main.tf"), inner).expect("a file");
    let (text, is_well) = entail(&root, &["init"]);
    assert!(is_well, "{text}");
    git(folder.path(), &["init", "-q"]);
    fs::write(folder.path().join(".gitignore"), ".terraform\n").expect("a file");
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "first"]);
    assert_eq!(touched(&root, &["-since=HEAD"]), []);

    // One value of several in a block, a block that goes, an argument of a call, and a file that is new.
    let after = BEFORE
        .replace("two = 2", "two = 22")
        .replace("resource \"terraform_data\" \"gone\" { input = 3 }\n", "")
        .replace("w      = 1", "w      = 2");
    fs::write(root.join("main.tf"), after).expect("a file");
    fs::write(root.join("new.tf"), "resource \"terraform_data\" \"new\" {}\n").expect("a file");
    let found = touched(&root, &["-since=HEAD"]);
    let expected = [
        ("local.two", 0),
        ("module.m.var.w", 0),
        ("terraform_data.new", 0),
        ("module.m.terraform_data.w", 1),
        ("terraform_data.two", 1),
        ("terraform_data.reads", 2),
    ];
    let mut found: Vec<(&str, u64)> = found.iter().map(|it| (it.0.as_str(), it.1)).collect();
    found.sort_by_key(|it| (it.1, it.0));
    assert_eq!(found, expected);
    let (text, _) = entail(&root, &["impact", "-since=HEAD"]);
    assert!(text.contains("terraform_data.gone has no block any more"), "{text}");

    // A file of a module elsewhere in the repository.
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "second"]);
    fs::write(module.join("main.tf"), inner.replace("input = var.v", "input = \"${var.v}!\""))
        .expect("a file");
    assert_eq!(touched(&root, &["-since=HEAD"]), [("module.m.terraform_data.in".to_owned(), 0)]);

    // The first plan is made from the files of that commit, beside the state and the modules as they are.
    let (text, is_well) = entail(&root, &["apply", "-auto-approve"]);
    assert!(is_well, "{text}");
    let (text, _) = entail(&root, &["diff", "-since=HEAD"]);
    assert!(text.contains("only in A: update module.m.terraform_data.in"), "{text}");
    assert!(text.contains("0 only in B, 1 only in A"), "{text}");
    let (text, is_well) = entail(&root, &["diff", "-since=nowhere"]);
    assert!(!is_well && text.contains("No such commit"), "{text}");

    let (text, is_well) = entail(&root, &["impact", "-since=nowhere"]);
    assert!(!is_well && text.contains("No such commit"), "{text}");
}
