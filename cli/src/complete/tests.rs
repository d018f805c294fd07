//! Words that are being typed in a folder; what they may become.

use std::fs;
use std::path::PathBuf;

use entail::world::World;

use super::{candidates, shells, unfinished};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("entail-complete-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("folder")).expect("a folder");
        fs::write(path.join("main.tf"), CONFIGURATION).expect("a file");
        fs::write(path.join("terraform.tfstate"), STATE).expect("a file");
        fs::write(path.join("saved.plan"), "PK\u{3}\u{4}").expect("a file");
        Folder(path)
    }

    fn world(&self) -> World {
        World { root: self.0.clone(), cwd: self.0.clone(), ..World::of_this_process() }
    }

    #[track_caller]
    fn check(&self, line: &str, expected: &[&str]) {
        let words = unfinished(line);
        let found = candidates(&words[1..], self.world());
        let found: Vec<_> = found.iter().map(|it| it.word.as_str()).collect();
        assert_eq!(found, expected, "{line}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

const CONFIGURATION: &str = r#"
variable "size" { default = 1 }
locals { twice = var.size * 2 }
output "all" { value = local.twice }
resource "terraform_data" "new" {}
"#;

const STATE: &str = r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [
  {"module": "module.m", "mode": "managed", "type": "terraform_data", "name": "old", "instances": [
    {"index_key": "a b", "attributes": {}}, {"index_key": 0, "attributes": {}}]},
  {"mode": "data", "type": "local_file", "name": "d", "instances": [{"attributes": {}}]}]}"#;

#[test]
fn commands_flags_and_their_words_are_completed() {
    let folder = Folder::new("words");
    folder.check("entail pl", &["plan"]);
    folder.check("entail state s", &["show"]);
    folder.check("entail plan -det", &["-detailed-exitcode"]);
    folder.check("entail plan --det", &["--detailed-exitcode"]);
    folder.check("entail plan -refresh", &["-refresh-only", "-refresh=false"]);
    folder.check("entail why -not=re", &["-not=read", "-not=recalculate", "-not=replace"]);
    folder.check("entail why -not re", &["read", "recalculate", "replace"]);
    folder.check("entail graph -type=plan-d", &["-type=plan-destroy"]);
    folder.check("entail completion z", &["zsh"]);
    folder.check("entail -no-color plan -auto", &[]);
}

#[test]
fn addresses_come_from_the_configuration_and_the_state() {
    let folder = Folder::new("addresses");
    let of_state =
        ["module.m", "module.m.terraform_data.old", "module.m.terraform_data.old[\"a b\"]"];
    let indexed = ["module.m.terraform_data.old[0]"];
    folder.check(
        "entail plan -target=mod",
        &[&of_state[..], &indexed]
            .concat()
            .iter()
            .map(|it| format!("-target={it}"))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    folder.check("entail state show t", &[]);
    folder.check("entail taint data", &["data.local_file.d"]);
    folder.check("entail why t", &["terraform_data.new"]);
    folder.check("entail why -json v", &["var.size"]);
    folder.check("entail impact local.", &["local.twice"]);
    folder.check("entail output ", &["all"]);
    folder.check("entail plan -var s", &["size="]);
}

#[test]
fn hosts_of_the_cli_configuration_are_completed() {
    let folder = Folder::new("hosts");
    let file = folder.0.join("cli.tfrc");
    let text = "credentials \"b.example.com\" { token = \"t\" }\nhost \"a.example.com\" { services = {} }\n";
    fs::write(&file, text).expect("a file");
    for command in ["login", "logout"] {
        let mut world = folder.world();
        world.environment.insert("TF_CLI_CONFIG_FILE".into(), file.display().to_string());
        let words = unfinished(&format!("entail {command} "));
        let found = candidates(&words[1..], world);
        let found: Vec<_> = found.iter().map(|it| it.word.as_str()).collect();
        assert_eq!(found, ["a.example.com", "b.example.com"]);
    }
}

#[test]
fn files_relations_and_workspaces_are_completed() {
    let folder = Folder::new("files");
    folder.check("entail apply ", &["folder/", "saved.plan"]);
    folder.check("entail why x -plan=s", &["-plan=saved.plan"]);
    folder.check("entail plan -out=ma", &["-out=main.tf"]);
    folder.check("entail facts selecte", &["selected"]);
    folder.check("entail why x -of=selecte", &["-of=selected"]);
    folder.check("entail workspace select d", &["default"]);
    folder.check("entail -chdir=fol", &["-chdir=folder/"]);
}

#[test]
fn what_cannot_be_read_has_no_names_and_no_words() {
    let folder = Folder::new("broken");
    fs::write(folder.0.join("main.tf"), "resource {").expect("a file");
    fs::write(folder.0.join("terraform.tfstate"), "{").expect("a file");
    folder.check("entail plan -target=", &[]);
    folder.check("entail nosuch -x", &[]);
    assert!(candidates(&[], folder.world()).is_empty());
}

#[test]
fn a_line_that_is_being_typed_has_an_open_end() {
    assert_eq!(unfinished("entail plan "), ["entail", "plan", ""]);
    assert_eq!(unfinished("entail why 'a[\"b c"), ["entail", "why", "a[\"b c"]);
    assert_eq!(unfinished(r"entail why a\[\"), ["entail", "why", "a["]);
}

#[test]
fn bash_is_given_what_stands_behind_its_own_breaks() {
    let folder = Folder::new("bash");
    let answer = |line: &str| {
        let words = unfinished(line);
        shells::for_bash(&candidates(&words[1..], folder.world()), &words[words.len() - 1], line)
    };
    assert_eq!(answer("entail why -not=cr"), ".create\n");
    assert_eq!(
        answer("entail why 'module.m.terraform_data.old["),
        ".module.m.terraform_data.old[\"a b\"]\n.module.m.terraform_data.old[0]\n"
    );
    assert_eq!(
        answer("entail state rm module.m.terraform_data.old[0"),
        ".module.m.terraform_data.old\\[0\\]\n"
    );
}
