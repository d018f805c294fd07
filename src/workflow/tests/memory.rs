//! Workflows over texts that no disk has: a configuration in memory, and buffers over the files of a folder.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{FileId, Sources};
use crate::execute::Stop;
use crate::request::LintSelection;
use crate::workflow::format::{FormatOptions, format};
use crate::workflow::options::PlanOptions;
use crate::workflow::plan::plan;
use crate::workflow::validate::validate;
use crate::workflow::{Host, LockOptions, Nobody, StateOptions};
use crate::world::{Files, World};

/// Runs something with a host that reads these files and nothing of the environment.
fn with<T>(files: &Files, root: &Path, sources: &Sources, work: impl Fn(&Host<'_>) -> T) -> T {
    let world = World {
        cwd: root.into(),
        root: root.into(),
        environment: Default::default(),
        files: files.clone(),
        ..World::of_this_process()
    };
    let (world, stop) = (Arc::new(world), Stop::default());
    work(&Host { world: &world, sources, tell: &Nobody, ask: &Nobody, stop: &stop })
}

/// What `fmt` makes of all files: their names, and the new texts of those that change.
fn formatted(host: &Host<'_>) -> Vec<(String, Option<String>)> {
    let options = FormatOptions { paths: &[], write: true, recursive: true };
    let (formatted, problems) = format(host, &options);
    assert!(!problems.has_errors(), "{problems}");
    formatted.into_iter().map(|it| (it.name, (it.old != it.new).then_some(it.new))).collect()
}

const MODULES: &str = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"inner","Source":"./inner","Dir":"inner"}]}"#;

fn in_memory(root: &Path) -> Files {
    let main = r#"
variable "who" {}
module "inner" {
  source = "./inner"
  text   = "${trimspace(file("words/greeting.txt"))} ${var.who}"
}
output "said" {
    value = "${module.inner.said}: ${join(",", fileset(path.module, "words/*.txt"))}"
}
"#;
    let inner = "variable \"text\" {}\nresource \"terraform_data\" \"it\" {}\noutput \"said\" { value = var.text }\n";
    let texts = [
        ("main.tf", main),
        ("inner/main.tf", inner),
        ("terraform.tfvars", "who = \"world\"\n"),
        ("words/greeting.txt", "hello\n"),
        (".terraform/modules/modules.json", MODULES),
    ];
    Files::of_texts(root, texts)
}

#[test]
fn a_configuration_in_memory_alone_is_formatted_validated_and_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("never/made");
    let (files, sources) = (in_memory(&root), Sources::default());
    let names = with(&files, &root, &sources, formatted);
    let changed: Vec<(&str, bool)> = names.iter().map(|it| (&it.0[..], it.1.is_some())).collect();
    assert_eq!(changed, [("inner/main.tf", false), ("main.tf", true), ("terraform.tfvars", false)]);

    let problems =
        with(&files, &root, &sources, |it| validate(it, None, &LintSelection::default()))
            .expect("it is checked");
    assert!(problems.is_empty(), "{problems}");

    let state = StateOptions {
        lock: LockOptions { enabled: false, ..LockOptions::default() },
        ..StateOptions::default()
    };
    let options = PlanOptions { state, ..PlanOptions::default() };
    let made = with(&files, &root, &sources, |host| plan(host, &options)).expect("it is planned");
    let plan = made.finished.plan;
    let changes: Vec<String> = plan.changes.iter().map(|it| it.address.to_string()).collect();
    assert_eq!(changes, ["module.inner.terraform_data.it"]);
    assert_eq!(plan.outputs["said"].after.as_str(), Some("hello world: words/greeting.txt"));
    assert!(!folder.path().join("never").exists(), "nothing was written");
}

#[test]
fn a_buffer_shadows_a_file_and_its_text_has_a_version_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, sources) = (folder.path(), Sources::default());
    let main = root.join("main.tf");
    let (saved, unsaved) = ("output \"a\" { value = 1 }\n", "output \"a\" { value =   local.b }\n");
    std::fs::write(&main, saved).expect("it is written");
    let mut files = Files::default();
    let check = |files: &Files| {
        with(files, root, &sources, |it| validate(it, None, &LintSelection::default()))
    };

    assert!(check(&files).expect("it is checked").is_empty());
    files.lay(&main, unsaved);
    for _ in 0..2 {
        let problems = check(&files).unwrap_or_else(|it| it);
        let problem = problems.iter().next().expect("there is no such local value");
        let source = sources.get(problem.subject.expect("a place").file()).expect("a source");
        assert_eq!((&source.name[..], &source.text()[..], source.version), ("main.tf", unsaved, 2));
    }
    assert!(sources.is_outdated(FileId(1)) && !sources.is_outdated(FileId(2)));
    assert!(sources.get(FileId(3)).is_none(), "a text that is read again is no other");

    let new = "output \"a\" { value = local.b }\n".to_owned();
    assert_eq!(with(&files, root, &sources, formatted), [("main.tf".to_owned(), Some(new))]);
    assert_eq!(std::fs::read_to_string(&main).expect("it is there"), saved);
}
