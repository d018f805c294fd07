//! One case as a text file: sentences, `-- NAME --` sections with files, commands, and what the commands say.
//!
//! ```text
//! What needs an excluded instance stays out, and says so.
//! -- main.tf --
//! resource "null_resource" "a" {}
//! -- later/main.tf --
//! -- run --
//! apply -auto-approve
//! use later
//! plan -exclude=null_resource.a
//! -- $ plan -exclude=null_resource.a --
//! No changes.
//! ```
//!
//! Files are written before the first command; those in a folder `STAGE/` only once `use STAGE` says so, over what is
//! there (an empty file deletes). A command is what follows the program's name. `cat FILE` and `rm FILE` do what they say;
//! `actions FLAGS` lists what a plan would do, `deploy FLAGS` does it and lists each way in which what was done differs
//! from what was planned, `steps FLAGS` lists what is done in its order, `state` lists what the state file
//! holds, and `served` which provider it names for each object, at the resource or at the instance.
//! A line may end in `# exit`, `# stdout`: then only the exit code, or only standard output, is compared.
//! Behind `-- run --` each command has its golden section, in order.

use std::path::Path;

/// A named piece of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What stands between the dashes.
    pub name: String,
    /// The lines below, each with its end.
    pub text: String,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The sentences at the top.
    sentence: String,
    /// Files, stage by stage, as they stand.
    files: Vec<Section>,
    /// The text of `-- run --`.
    script: String,
    /// What the commands say.
    goldens: Vec<Section>,
}

/// One line of `-- run --`.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The files of a stage appear.
    Files(String),
    /// A file is shown.
    Cat(String),
    /// A file is deleted.
    Remove(String),
    /// The program runs, as written, with these arguments.
    Run {
        /// The line without its remark.
        line: String,
        /// Arguments.
        arguments: Vec<String>,
        /// What of it is compared.
        shown: Shown,
    },
}

/// What of a run is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// Everything.
    All,
    /// Standard output and the exit code.
    Stdout,
    /// The exit code, and the summaries of problems.
    Exit,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    ///
    /// If there is no sentence, or no `-- run --`.
    pub fn parse(text: &str) -> Result<Case, String> {
        let (sentence, sections) = sections(text);
        let at = sections.iter().position(|it| it.name == "run").ok_or("no section `-- run --`")?;
        if sentence.trim().is_empty() {
            return Err("the first line says what the case shows".into());
        }
        Ok(Case {
            sentence,
            files: sections[..at].to_vec(),
            script: sections[at].text.clone(),
            goldens: sections[at + 1..].to_vec(),
        })
    }

    /// Returns the case with other goldens.
    pub fn with(&self, goldens: Vec<Section>) -> Case {
        Case { goldens, ..self.clone() }
    }

    /// Returns the text of the case.
    pub fn print(&self) -> String {
        let run = Section { name: "run".into(), text: self.script.clone() };
        let sections = self.files.iter().chain([&run]).chain(&self.goldens);
        let body: String = sections.map(|it| format!("-- {} --\n{}", it.name, it.text)).collect();
        format!("{}{body}", self.sentence)
    }

    /// Writes the files of a stage; those that are there from the start have no name.
    pub fn write_files(&self, stage: &str, folder: &Path) -> Result<(), String> {
        let stages = self.stages()?;
        for file in &self.files {
            let place = match file.name.split_once('/') {
                Some((first, rest)) if stages.iter().any(|it| it == first) => (first, rest),
                _ => ("", &*file.name),
            };
            if place.0 != stage {
                continue;
            }
            let path = folder.join(place.1);
            let written = if file.text.is_empty() {
                std::fs::remove_file(&path)
            } else {
                std::fs::create_dir_all(path.parent().unwrap_or(folder))
                    .and_then(|()| std::fs::write(&path, &file.text))
            };
            written.map_err(|it| format!("{}: {it}", file.name))?;
        }
        Ok(())
    }

    fn stages(&self) -> Result<Vec<String>, String> {
        let stage = |it| match it {
            Command::Files(stage) => Some(stage),
            _ => None,
        };
        Ok(self.commands()?.into_iter().filter_map(stage).collect())
    }

    /// Returns the commands.
    pub fn commands(&self) -> Result<Vec<Command>, String> {
        self.script.lines().filter(|it| !it.trim().is_empty()).map(Command::parse).collect()
    }
}

impl Command {
    fn parse(line: &str) -> Result<Command, String> {
        let (line, shown) = match line.split_once(" # ") {
            None => (line, Shown::All),
            Some((line, "stdout")) => (line, Shown::Stdout),
            Some((line, "exit")) => (line, Shown::Exit),
            Some((_, other)) => return Err(format!("unknown remark `# {other}`")),
        };
        let line = line.trim();
        let arguments = words(line)?;
        Ok(match &arguments[..] {
            [word, stage] if word == "use" => Command::Files(stage.clone()),
            [word, file] if word == "cat" => Command::Cat(file.clone()),
            [word, file] if word == "rm" => Command::Remove(file.clone()),
            _ => Command::Run { line: line.to_owned(), arguments, shown },
        })
    }

    /// Returns the name of its golden section.
    pub fn title(&self) -> String {
        match self {
            Command::Files(stage) => format!("$ use {stage}"),
            Command::Cat(file) => format!("$ cat {file}"),
            Command::Remove(file) => format!("$ rm {file}"),
            Command::Run { line, .. } => format!("$ {line}"),
        }
    }
}

/// Splits at blanks; `'…'` keeps what it holds together.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let (mut word, mut is_word, mut quoted) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, is_word) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if quoted {
        return Err(format!("a quote is not closed: {line}"));
    }
    words.extend(is_word.then_some(word));
    Ok(words)
}

/// Splits a text at its `-- NAME --` lines.
fn sections(text: &str) -> (String, Vec<Section>) {
    let (mut sentence, mut sections): (String, Vec<Section>) = Default::default();
    for line in text.split_inclusive('\n') {
        let name = line.trim_end().strip_prefix("-- ").and_then(|it| it.strip_suffix(" --"));
        match (name, sections.last_mut()) {
            (Some(name), _) => sections.push(Section { name: name.into(), text: String::new() }),
            (None, Some(section)) => section.text.push_str(line),
            (None, None) => sentence.push_str(line),
        }
    }
    (sentence, sections)
}

#[test]
fn a_case_is_printed_as_it_was_read() {
    let text = "It is so.\n-- main.tf --\nlocals {}\n-- run --\nplan\n-- $ plan --\nNo changes.\n";
    assert_eq!(Case::parse(text).expect("a case").print(), text);
}

#[test]
fn quotes_keep_words_together() {
    let found = words("plan -exclude='a.b[\"x y\"]'  -no-color").expect("words");
    assert_eq!(found, ["plan", "-exclude=a.b[\"x y\"]", "-no-color"]);
}
