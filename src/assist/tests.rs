//! What an editor asks, over texts in memory, without the wire.

use std::path::{Path, PathBuf};

use super::problems::{Found, of_folder};
use super::*;
use crate::world::{Files, World};

const ROOT: &str = "/work";

/// Folders in memory. The cursor is where `|` stands, in the file that has one.
fn opened(texts: &[(&str, &str)]) -> (Workspace, PathBuf, usize) {
    let bare: Vec<(&str, String)> = texts.iter().map(|it| (it.0, it.1.replace('|', ""))).collect();
    let files = Files::of_texts(Path::new(ROOT), bare.iter().map(|it| (it.0, &*it.1)));
    let world = World { files, ..World::of_this_process() };
    let marked = texts.iter().find_map(|it| Some((it.0, it.1.find('|')?)));
    let (name, at) = marked.unwrap_or(("main.tf", 0));
    (Workspace::new(world, vec![ROOT.into()]), Path::new(ROOT).join(name), at)
}

fn shown(places: Vec<Place>) -> Vec<String> {
    let name = |it: &Path| it.strip_prefix(ROOT).unwrap_or(it).display().to_string();
    places.iter().map(|it| format!("{}:{}", name(&it.path), it.range.start)).collect()
}

fn found(workspace: &Workspace) -> Found {
    of_folder(workspace, Path::new(ROOT)).run()
}

fn codes(found: &Found, name: &str) -> Vec<String> {
    let problems = found.files.get(&Path::new(ROOT).join(name)).cloned().unwrap_or_default();
    problems.into_iter().map(|it| it.code).collect()
}

#[test]
fn a_name_is_found_though_its_block_is_being_written() {
    let broken = "locals {\n  a = 1\n}\nresource \"terraform_data\" \"x\" {\n  input = local.\n}\n";
    let (workspace, path, at) = opened(&[
        ("main.tf", broken),
        ("out.tf", "output \"o\" { value = terraform_data.x|.id }\n"),
    ]);
    assert_eq!(
        shown(definition(&workspace, &path, at)),
        [format!("main.tf:{}", broken.find("x\"").expect("x"))]
    );
}

#[test]
fn a_name_bound_by_an_expression_is_none_of_the_module() {
    let text = "locals {\n  it = 1\n  all = [for local in [1] : local|]\n}\n";
    let (workspace, path, at) = opened(&[("main.tf", text)]);
    assert_eq!(shown(definition(&workspace, &path, at)), [""; 0]);
}

#[test]
fn blocks_of_override_files_are_declarations_too() {
    let (workspace, path, at) = opened(&[
        ("main.tf", "variable \"a\" {}\noutput \"o\" { value = var.a| }\n"),
        ("x_override.tf", "variable \"a\" { default = 1 }\n"),
    ]);
    assert_eq!(shown(definition(&workspace, &path, at)), ["main.tf:10", "x_override.tf:10"]);
    let renaming = rename(&workspace, &path, at, "b").expect("it can be renamed");
    assert_eq!(renaming.edits.len(), 3);
}

#[test]
fn what_cannot_be_understood_hides_nothing_else() {
    let text = "variable \"a\" {\n  type    = number\n  default = \"x\"\n}\nlocals {\n  b = local.none\n  c = var.a\n}\n";
    let (workspace, _, _) = opened(&[("main.tf", text)]);
    let codes = codes(&found(&workspace), "main.tf");
    assert_eq!(
        codes,
        ["invalid-default-value-for-variable", "reference-to-undeclared-local-value"]
    );
}

#[test]
fn a_module_is_checked_with_who_calls_it() {
    let (workspace, _, _) = opened(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
        ("m/main.tf", "variable \"a\" {}\noutput \"o\" { value = var.none }\n"),
    ]);
    assert_eq!(workspace.entries(), [PathBuf::from(ROOT)]);
    let found = found(&workspace);
    assert_eq!(codes(&found, "main.tf"), ["missing-required-argument"]);
    assert_eq!(codes(&found, "m/main.tf"), ["reference-to-undeclared-input-variable"]);
}

#[test]
fn folders_that_call_each_other_end_nothing() {
    let (workspace, path, _) = opened(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
        ("m/main.tf", "module \"up\" {\n  source = \"../\"\n}\n"),
    ]);
    assert!(!workspace.entries().is_empty());
    assert_eq!(workspace.reached(path.parent().expect("a folder")).len(), 2);
    assert!(!codes(&found(&workspace), "m/main.tf").is_empty());
}

#[test]
fn a_text_laid_over_a_file_is_what_counts() {
    let (mut workspace, path, _) = opened(&[("main.tf", "locals {\n  a = local.none\n}\n")]);
    assert!(!codes(&found(&workspace), "main.tf").is_empty());
    workspace.lay(&path, Language::Config, "locals {}\n");
    assert_eq!(codes(&found(&workspace), "main.tf"), [""; 0]);
}

#[test]
fn every_word_of_the_language_is_one_that_is_read() {
    let (workspace, path, at) = opened(&[(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    |\n  }\n}\n",
    )]);
    let completion = complete::complete(&workspace, &path, at);
    assert!(completion.items.len() >= 7, "{completion:?}");
    for it in completion.items.iter().filter(|it| it.sort == complete::Sort::Argument) {
        let text = format!(
            "resource \"terraform_data\" \"a\" {{\n  lifecycle {{\n    {} = null\n  }}\n}}\n",
            it.label
        );
        let (workspace, _, _) = opened(&[("main.tf", &text)]);
        let codes = codes(&found(&workspace), "main.tf");
        assert!(!codes.contains(&"unsupported-argument".to_owned()), "{}: {codes:?}", it.label);
    }
}
