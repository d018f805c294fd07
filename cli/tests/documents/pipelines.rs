//! `docs/ci.md`: what stands there runs.

use super::folder::Folder;

/// The commands of the program in a block of a document, by the words behind its name.
fn commands(block: &str) -> Vec<Vec<String>> {
    let found = block.lines().filter_map(|it| it.split_once("entail ").map(|it| it.1));
    found.map(|it| it.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn the_commands_of_both_pipelines_run_as_they_stand() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ci.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let blocks: Vec<&str> = document.split("```").skip(1).step_by(2).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let folder = Folder::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}\n")]);
        let commands = commands(block);
        assert_eq!(commands.len(), 3, "{commands:?}");
        for command in &commands {
            folder.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        for file in ["plan.out", "plan.md", "plan.xml", "plan.html"] {
            assert!(block.contains(file) && folder.path(file).is_file(), "{file}");
        }
    }
}
