//! The first command of the README, as a newcomer runs it: from the root of a clone, with nothing prepared.

use crate::support::{binary, root};

#[test]
fn the_first_command_of_the_readme_plans() {
    let output = binary::process(binary::path(), root())
        .args(["-chdir=testdata/quickstart", "plan", "-no-color", "-exclude=null_resource.b"])
        .output()
        .expect("the binary runs");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    for (line, wanted) in [
        ("# null_resource.a will be created", true),
        ("# null_resource.b will be created", false),
        ("# null_resource.c will be created", true),
        ("# null_resource.d will be created", false),
        ("Plan: 2 to add, 0 to change, 0 to destroy.", true),
    ] {
        assert_eq!(stdout.contains(line), wanted, "{line}\n{stdout}");
    }
    let left: Vec<_> = std::fs::read_dir(root().join("testdata/quickstart"))
        .expect("a folder")
        .map(|it| it.expect("an entry").file_name())
        .collect();
    assert_eq!(left, ["main.tf"], "planning leaves nothing behind");
}
