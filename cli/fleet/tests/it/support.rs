//! A folder with a fleet in it, and the program that is run there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value as Json, json};

/// A folder with a fleet.
pub struct Fleet {
    folder: tempfile::TempDir,
}

impl Fleet {
    /// Makes a folder with this `fleet.hcl`.
    pub fn new(settings: &str) -> Fleet {
        let fleet = Fleet { folder: tempfile::tempdir().expect("a folder") };
        fleet.write("fleet.hcl", settings);
        fleet
    }

    /// Returns the folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }

    /// Returns a path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("it is written");
    }

    /// Writes a state.
    pub fn state(&self, name: &str, lineage: &str, resources: &[Json]) {
        self.write(name, &state(lineage, 1, resources).to_string());
    }

    /// Runs `entail-fleet`.
    pub fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, &[])
    }

    /// Runs `entail-fleet` with variables of the environment.
    pub fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = self.command(words, variables).output().expect("it starts");
        Ran::of(&output)
    }

    /// Returns the command that runs `entail-fleet`.
    pub fn command(&self, words: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail-fleet"));
        command.args(words).current_dir(self.root()).env_remove("TF_ENCRYPTION");
        for (name, value) in variables {
            command.env(name, value);
        }
        command
    }
}

/// What a command has said.
#[derive(Debug)]
pub struct Ran {
    /// What it exited with.
    pub code: Option<i32>,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

impl Ran {
    /// Takes what was said.
    pub fn of(output: &Output) -> Ran {
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Returns the output, where all went well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self.out
    }

    /// Returns the output as JSON.
    #[track_caller]
    pub fn json(self) -> Json {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"))
    }
}

/// A state of version 4.
pub fn state(lineage: &str, serial: u64, resources: &[Json]) -> Json {
    json!({
        "version": 4,
        "terraform_version": "1.9.0",
        "serial": serial,
        "lineage": lineage,
        "outputs": {},
        "resources": resources,
        "check_results": null,
    })
}

/// A managed resource with one object.
pub fn resource(kind: &str, name: &str, attributes: Json) -> Json {
    with(kind, name, attributes, &[], &[])
}

/// A managed resource with one object, what it rests on, and its sensitive attributes.
pub fn with(
    kind: &str,
    name: &str,
    attributes: Json,
    dependencies: &[&str],
    sensitive: &[&str],
) -> Json {
    let paths: Vec<Json> =
        sensitive.iter().map(|it| json!([{ "type": "get_attr", "value": it }])).collect();
    json!({
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider": "provider[\"registry.opentofu.org/hashicorp/test\"]",
        "instances": [{
            "schema_version": 0,
            "attributes": attributes,
            "sensitive_attributes": paths,
            "dependencies": dependencies,
        }],
    })
}

/// Every text in a columnar file, read as a stranger reads it; nothing of other files.
pub fn texts(file: &Path) -> String {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    if file.extension().is_none_or(|it| it != "parquet") {
        return String::new();
    }
    let file = std::fs::File::open(file).expect("it is there");
    let reader = SerializedFileReader::new(file).expect("a columnar file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|it| format!("{}\n", it.expect("a row"))).collect()
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}
