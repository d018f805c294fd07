//! What the documents say, held against what the program does.

use std::fs;

use expect_test::expect_file;

use crate::support::{binary, root, words};

#[test]
fn the_reference_of_relations_is_that_of_the_rules() {
    expect_file![root().join("docs/relations.md")]
        .assert_eq(&entail::policy::catalogue::markdown());
}

#[test]
fn the_reference_of_the_library_is_that_of_its_rules() {
    expect_file![root().join("docs/policy-library.md")]
        .assert_eq(&entail::policy::reference::library_markdown());
}

#[test]
fn the_library_passes_its_own_cases() {
    for provider in ["aws", "azure", "general", "google"] {
        let folder = format!("rules/library/{provider}");
        let arguments = ["policy", "test", &format!("-policy={folder}"), &folder];
        let arguments = arguments.map(str::to_owned);
        let ran = binary::program(&arguments, root()).expect("it runs");
        assert!(ran.stdout.ends_with(", 0 failed.\n"), "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn the_reference_of_functions_is_that_of_their_table() {
    expect_file![root().join("docs/functions.md")]
        .assert_eq(&entail::expression::functions::markdown());
}

#[test]
fn the_readme_starts_with_the_two_commands() {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md");
    let commands = "# entail\n\n    cargo run --release -- -chdir=testdata/quickstart plan -exclude=null_resource.b\n    cargo test\n";
    assert!(text.starts_with(commands));
}

/// Each section of the page on providers starts in an empty folder; a block of configuration is its `main.tf`, or the file that
/// is named behind it.
#[test]
fn the_examples_of_providers_run_as_shown() {
    let text = fs::read_to_string(root().join("docs/providers.md")).expect("a document");
    for section in text.split("\n## ").skip(1) {
        let folder = tempfile::tempdir().expect("a folder");
        for block in section.split("```").skip(1).step_by(2) {
            let (kind, body) = block.split_once('\n').unwrap_or((block, ""));
            match kind.split_once(' ').unwrap_or((kind, "main.tf")) {
                ("hcl", file) => {
                    let path = folder.path().join(file);
                    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                    fs::write(path, body).expect("a file");
                }
                ("console", _) => run_as_shown("docs/providers.md", body, folder.path()),
                (other, _) => panic!("nobody knows how to run a block of {other}"),
            }
        }
    }
}

fn run_as_shown(document: &str, tour: &str, folder: &std::path::Path) {
    for entry in tour.split("$ entail ").skip(1) {
        let (command, shown) = entry.split_once('\n').unwrap_or((entry, ""));
        let arguments = words(command).expect("words");
        let ran = binary::program(&arguments, folder).expect("it runs");
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        let mut lines = printed.lines();
        for line in shown.lines().filter(|it| !it.is_empty()) {
            assert!(
                lines.any(|it| it.trim_end() == line),
                "{document}: `entail {command}` does not print, at its place:\n{line}\n\nbut:\n{printed}"
            );
        }
    }
}

/// Every `$ entail …` of a document is run, in order, in one copy of the quickstart; the lines below it are among what it prints.
#[test]
fn the_documents_show_what_the_program_prints() {
    for document in ["README.md", "docs/rules.md"] {
        let text = fs::read_to_string(root().join(document)).expect("a document");
        let clone = tempfile::tempdir().expect("a folder");
        let copy = |from: &str, to: &str| {
            let to = clone.path().join(to);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(root().join(from), to).expect("a copy");
        };
        copy("testdata/quickstart/main.tf", "tour/main.tf");
        for file in ["main.tf", "policies/network.rules", "policies/storage.rules"] {
            let file = format!("testdata/policies/demo/{file}");
            copy(&file, &file);
        }
        let folder = clone.path().join("tour");
        let tours =
            text.split("```console\n").skip(1).map(|it| it.split("```").next().unwrap_or_default());
        for entry in tours.flat_map(|it| it.split("$ entail ").skip(1)) {
            let (command, shown) = entry.split_once('\n').unwrap_or((entry, ""));
            let arguments = command.trim_end_matches(" || true").split(' ');
            let arguments: Vec<String> = arguments.map(str::to_owned).collect();
            let ran = binary::program(&arguments, &folder).expect("it runs");
            let mut printed = ran.stdout.lines();
            for line in shown.lines().filter(|it| !it.is_empty()) {
                assert!(
                    printed.any(|it| it.trim_end() == line),
                    "{document}: `entail {command}` does not print, at its place:\n{line}\n\nbut:\n{}{}",
                    ran.stdout,
                    ran.stderr
                );
            }
        }
    }
}

/// The examples of a document that brings its own files: those of a heading make a folder, in which its commands run.
#[test]
fn the_examples_of_modules_do_what_the_text_says() {
    let text = fs::read_to_string(root().join("docs/modules.md")).expect("a document");
    for chapter in text.split("\n## ").skip(1) {
        let folder = tempfile::tempdir().expect("a folder");
        for block in chapter.split("```").skip(1).step_by(2) {
            if let Some(files) = block.strip_prefix("hcl\n") {
                write_files(files, folder.path());
            }
            let Some(tour) = block.strip_prefix("console\n") else { continue };
            for entry in tour.split("$ entail ").skip(1) {
                let (command, shown) = entry.split_once('\n').unwrap_or((entry, ""));
                let arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
                let ran = binary::program(&arguments, folder.path()).expect("it runs");
                let all = format!("{}{}", ran.stdout, ran.stderr);
                let mut printed = all.lines();
                for line in shown.lines().filter(|it| !it.is_empty()) {
                    assert!(
                        printed.any(|it| it.trim_end() == line),
                        "`entail {command}` does not print, at its place:\n{line}\n\nbut:\n{all}"
                    );
                }
            }
        }
    }
}

/// Writes the files of an example: each begins with a comment that is its name.
fn write_files(text: &str, folder: &std::path::Path) {
    for file in format!("\n{text}").split("\n# ").skip(1) {
        let (name, content) = file.split_once('\n').unwrap_or((file, ""));
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
}
