//! What is read where texts lie over the disk, and where there is no disk.

use super::*;

fn names(files: &Files, folder: &Path) -> String {
    let shown =
        |it: Entry| format!("{}{}", it.name.to_string_lossy(), if it.is_folder { "/" } else { "" });
    let entries = files.entries(folder).map(|it| it.into_iter().map(shown).collect::<Vec<_>>());
    entries.map_or_else(|it| it.kind().to_string(), |it| it.join(" "))
}

#[test]
fn texts_in_memory_are_files_in_folders() {
    let root = Path::new("/nowhere/at/all");
    let files = Files::of_texts(root, [("main.tf", "a"), ("modules/net/main.tf", "b")]);
    assert_eq!(names(&files, root), "main.tf modules/");
    assert_eq!(names(&files, &root.join("./modules/../modules")), "net/");
    assert_eq!(files.read_text(&root.join("modules/net/../net/main.tf")).expect("is there"), "b");
    assert_eq!(files.kind(&root.join("modules")).expect("is there"), Kind::Folder);
    assert_eq!(names(&files, &root.join("main.tf")), "not a directory");
    let error = files.read(&root.join("modules")).expect_err("a folder");
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
}

#[test]
fn memory_alone_does_not_show_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.tf"), "disk").expect("is written");
    let files = Files::in_memory();
    assert_eq!(names(&files, folder.path()), "entity not found");
    let files = Files::of_texts(folder.path(), []);
    assert_eq!(names(&files, folder.path()), "");
    assert!(!files.exists(&folder.path().join("main.tf")));
}

#[test]
fn a_text_shadows_a_file_until_it_is_lifted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, other) = (folder.path().join("main.tf"), folder.path().join("other.tf"));
    std::fs::write(&main, "disk").expect("is written");
    std::fs::write(&other, "disk").expect("is written");
    let mut files = Files::default();
    files.lay(&main, "buffer");
    files.lay(&folder.path().join("new/a.tf"), "new");
    files.hide(&other);
    assert_eq!(names(&files, folder.path()), "main.tf new/");
    assert_eq!(files.read_text(&main).expect("is there"), "buffer");
    assert!(files.is_laid(&main) && !files.is_laid(&other) && !files.is_file(&other));
    files.lift(&main);
    files.lift(&other);
    assert_eq!(names(&files, folder.path()), "main.tf new/ other.tf");
    assert_eq!(files.read_text(&main).expect("is there"), "disk");
}

#[test]
fn what_is_in_a_hidden_folder_is_hidden_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("is made");
    std::fs::write(inner.join("a.tf"), "disk").expect("is written");
    let mut files = Files::default();
    files.hide(&inner);
    assert_eq!(names(&files, folder.path()), "");
    assert!(!files.exists(&inner.join("a.tf")));
}

#[test]
fn a_run_keeps_the_layer_that_it_was_given() {
    let path = Path::new("/nowhere/main.tf");
    let mut files = Files::in_memory();
    files.lay(path, "one");
    let run = files.clone();
    files.lay(path, "two");
    assert_eq!(run.read_text(path).expect("is there"), "one");
    assert_eq!(files.read_text(path).expect("is there"), "two");
}
