//! `fmt`: which files it takes, what it tells, and how it exits.

use std::fs;
use std::path::Path;

use crate::support::binary::{self, Ran};

/// A folder with a file of each kind, none of them in the standard style but one.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("sub/.hidden")).expect("folders");
    for (name, text) in [
        ("main.tf", "a=1\n"),
        ("done.tf", "a = 1\n"),
        ("other.tofu", "a=1\n"),
        ("x.tfvars", "a=1\n"),
        ("x.tftest.hcl", "a=1\n"),
        ("x.tofutest.hcl", "a=1\n"),
        ("x.hcl", "a=1\n"),
        ("x.tf.json", "{}"),
        ("#x.tf#", "a=1\n"),
        (".x.tf", "a=1\n"),
        ("sub/y.tf", "a=1\n"),
        ("sub/.hidden/z.tf", "a=1\n"),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn fmt(folder: &Path, arguments: &[&str]) -> Ran {
    let words: Vec<String> = ["fmt"].iter().chain(arguments).map(|it| (*it).to_owned()).collect();
    binary::program(&words, folder).expect("it runs")
}

#[test]
fn a_check_names_what_would_change_and_writes_nothing() {
    let folder = folder();
    let ran = fmt(folder.path(), &["-check"]);
    assert_eq!(ran.stdout, "main.tf\nother.tofu\nx.tftest.hcl\nx.tfvars\nx.tofutest.hcl\n");
    assert_eq!(ran.code, Some(3));
    assert_eq!(fmt(folder.path(), &["-check", "-list=false"]).stdout, "");
    assert_eq!(fmt(folder.path(), &["-check", "done.tf"]).code, Some(0));
    assert_eq!(fmt(folder.path(), &["-check", "-recursive", "sub"]).stdout, "sub/y.tf\n");
    let text = fs::read_to_string(folder.path().join("main.tf")).expect("the file");
    assert_eq!(text, "a=1\n");
}

#[test]
fn files_are_written_and_then_nothing_is_left_to_do() {
    let folder = folder();
    let ran = fmt(folder.path(), &["-recursive"]);
    assert_eq!(ran.stdout.lines().count(), 6);
    assert_eq!(ran.code, Some(0));
    let text = fs::read_to_string(folder.path().join("sub/y.tf")).expect("the file");
    assert_eq!(text, "a = 1\n");
    assert_eq!(fmt(folder.path(), &["-recursive", "-check"]).code, Some(0));
}

#[test]
fn without_writing_the_text_or_the_difference_is_shown() {
    let folder = folder();
    assert_eq!(fmt(folder.path(), &["-write=false", "-list=false", "main.tf"]).stdout, "a = 1\n");
    let ran = fmt(folder.path(), &["-write=false", "-diff", "main.tf"]);
    let difference = "--- old/main.tf\n+++ new/main.tf\n@@ -1 +1 @@\n-a=1\n+a = 1\n";
    assert_eq!(ran.stdout, format!("main.tf\n{difference}"));
    let text = fs::read_to_string(folder.path().join("main.tf")).expect("the file");
    assert_eq!(text, "a=1\n");
}

#[test]
fn what_cannot_be_formatted_is_an_error_and_the_rest_is_formatted() {
    let folder = folder();
    fs::write(folder.path().join("bad.tf"), "a =\n").expect("a file");
    fs::write(folder.path().join("bytes.tf"), b"a = \"\xff\"\n").expect("a file");
    let ran = fmt(folder.path(), &[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("Error: Invalid expression\n\n  on bad.tf line 1:"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("Error: Invalid character encoding"), "{}", ran.stderr);
    assert!(ran.stdout.contains("main.tf\n"), "{}", ran.stdout);
    let ran = fmt(folder.path(), &["x.hcl", "sub"]);
    assert!(ran.stderr.contains("Error: Invalid file extension"), "{}", ran.stderr);
    assert_eq!((ran.stdout.as_str(), ran.code), ("sub/y.tf\n", Some(2)));
    let ran = fmt(folder.path(), &["nowhere"]);
    assert!(ran.stderr.contains("Error: Invalid file or directory path"), "{}", ran.stderr);
}
