//! A folder of a test, and the program in it.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder with files. Gone afterwards.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder can be made"));
        for (name, text) in files {
            let path = folder.path(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("the folder takes files");
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_entail"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .output()
            .expect("the program starts")
    }

    /// The standard output of a run that ends well.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// Standard output and standard error of a run that ends badly.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str]) -> (String, String) {
        let output = self.output(arguments);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(!output.status.success(), "{arguments:?}: {out}{err}");
        (out, err)
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks that a text is a document in XML, and returns how often each element is there.
#[track_caller]
pub fn elements(document: &str) -> std::collections::BTreeMap<String, usize> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(document);
    reader.config_mut().check_end_names = true;
    let mut found = std::collections::BTreeMap::new();
    let mut depth = 0;
    loop {
        match reader.read_event().expect("it is XML") {
            Event::Start(it) => {
                it.attributes().for_each(|it| {
                    it.expect("an attribute")
                        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                        .expect("its value");
                });
                depth += 1;
                *found.entry(it.name().as_ref().to_owned()).or_default() += 1;
            }
            Event::Empty(it) => *found.entry(it.name().as_ref().to_owned()).or_default() += 1,
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "everything ends");
    found
}
