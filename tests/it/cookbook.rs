//! The pages of examples about policies: each example is written into a folder of its own and run, and the page has to show
//! exactly what the program says. `UPDATE_EXPECT=1` writes that into the page.
//!
//! An example is what stands below a heading `###`, or the chapter that a newcomer begins with: blocks that name a file are files,
//! blocks `console` are run, and in the page about moving there are blocks in the languages of others.

use std::fs;
use std::path::Path;

use expect_test::expect_file;

use crate::support::normal::Normal;
use crate::support::{binary, in_parallel, root, words};

/// What of `plan` and `apply` is not shown: lines in an order of their own, and what every plan has.
const PROGRESS: [&str; 10] = [
    ": Refreshing state...",
    ": Reading...",
    ": Read complete",
    ": Creating...",
    ": Creation complete",
    ": Modifying...",
    ": Modifications complete",
    ": Destroying...",
    ": Destruction complete",
    ": Provisioning",
];

#[test]
fn the_cookbook_shows_what_its_policies_say() {
    assert!(check("policy-cookbook.md", &[]) >= 40);
}

#[test]
fn the_page_about_moving_shows_what_our_side_says() {
    let languages = ["rego", "yaml", "sentinel"];
    check("policy-moving.md", &languages);
    let text = fs::read_to_string(root().join("docs/policy-moving.md")).expect("a document");
    for language in languages {
        assert_eq!(
            text.matches(&format!("\n```{language}\n")).count(),
            10,
            "examples of {language}"
        );
    }
}

#[test]
fn the_first_ten_minutes_are_as_they_are_told() {
    let page = root().join("docs/policies.md");
    let text = fs::read_to_string(&page).expect("a document");
    let (before, rest) = text.split_once("\n## Ten minutes").expect("the chapter");
    let (chapter, after) = rest.split_once("\n## ").expect("a chapter behind it");
    let found = run(chapter, &[]);
    expect_file![page].assert_eq(&format!("{before}\n## Ten minutes{found}\n## {after}"));
    speaks(&found);
}

/// The README shows a policy of the configuration that its tour judges.
#[test]
fn the_readme_shows_a_policy_that_its_tour_judges_by() {
    let text = fs::read_to_string(root().join("README.md")).expect("a document");
    let (_, rest) = text.split_once("```rust\n").expect("a policy");
    let (shown, _) = rest.split_once("```").expect("its end");
    let policy = root().join("testdata/policies/demo/policies/storage.rules");
    assert!(fs::read_to_string(policy).expect("a policy").ends_with(shown), "{shown}");
}

/// Runs every example of a page, and returns how many there are.
fn check(page: &str, languages: &[&str]) -> usize {
    let page = root().join("docs").join(page);
    let text = fs::read_to_string(&page).expect("a document");
    let (beginning, examples) = text.split_once("\n### ").expect("there are examples");
    let examples: Vec<&str> = examples.split("\n### ").collect();
    let found = in_parallel(&examples, |it| run(it, languages));
    expect_file![page].assert_eq(&format!("{beginning}\n### {}", found.join("\n### ")));
    found.iter().for_each(|it| speaks(it));
    examples.len()
}

/// Returns an example with what the program says now.
fn run(example: &str, languages: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = example.split("```").enumerate().map(|(number, part)| {
        let (kind, body) = part.split_once('\n').unwrap_or((part, ""));
        match kind.split_once(' ') {
            _ if number % 2 == 0 => part.to_owned(),
            Some((_, file)) => {
                write(&folder.path().join(file), body);
                part.to_owned()
            }
            None if kind == "console" => format!("console\n{}", session(body, folder.path())),
            None if languages.contains(&kind) => part.to_owned(),
            None => panic!("nobody runs a block of {kind:?}: {example}"),
        }
    });
    parts.collect::<Vec<_>>().join("```")
}

/// Fails where nothing of an example is run, or a rule of it says nothing.
fn speaks(example: &str) {
    let title = example.lines().next().unwrap_or_default();
    let said: Vec<&str> = example.split("```console\n").skip(1).collect();
    assert!(said.iter().any(|it| it.starts_with("$ ")), "{title}: nothing is run");
    for name in example.lines().filter_map(named) {
        let is_said = said.iter().any(|it| it.split("```").next().unwrap_or(it).contains(name));
        assert!(is_said, "{title}: {name} says nothing");
    }
}

/// Returns the name of the rule that a line is about.
fn named(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("// @rule ")?.split_once(':')?.0)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// Runs the commands of a block, one after the other, and returns them with what they say.
fn session(block: &str, folder: &Path) -> String {
    let mut normal = Normal::new(folder);
    let commands = block.lines().filter_map(|it| it.strip_prefix("$ "));
    let run = commands.map(|command| {
        let shown = match words(command).expect("words").split_first() {
            Some((word, arguments)) if word == "entail" => said(arguments, folder),
            Some((word, [file])) if word == "rm" => {
                fs::remove_file(folder.join(file)).expect("a file that can go");
                String::new()
            }
            _ => panic!("nobody knows how to run `{command}`"),
        };
        format!("$ {command}\n{}", normal.text(&shown))
    });
    run.collect()
}

/// Returns what a command says, once it has ended as it should.
fn said(arguments: &[String], folder: &Path) -> String {
    let ran = binary::program(arguments, folder).expect("it runs");
    let shown = abridged(&ran.stdout) + ran.stderr.trim_end();
    let is_denied = |it: &str| it.contains(" denial") && !it.starts_with('0') && it.ends_with('.');
    let is_refused = shown.lines().any(|it| it.starts_with("Error: ") || is_denied(it));
    assert_eq!(ran.code != Some(0), is_refused, "{arguments:?}\n{shown}");
    shown.trim_end().to_owned() + "\n"
}

/// Returns a text without the changes that a plan lists, the progress of carrying them out, and what to do with the plan.
fn abridged(text: &str) -> String {
    let is_count = |it: &str| it.starts_with("Plan: ") || it.starts_with("No changes.");
    let text = text.split("\n────").next().unwrap_or_default();
    let first = text.lines().position(is_count);
    let lines = text.lines().skip(first.unwrap_or(0));
    let lines = lines.filter(|line| !PROGRESS.iter().any(|it| line.contains(it)));
    let begin = first.map_or(String::new(), |_| "…\n".to_owned());
    lines.fold(begin, |text, line| text + line + "\n")
}
