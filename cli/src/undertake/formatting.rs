//! `fmt`: finds files, formats them, and writes, lists or compares what changed.

use std::fs;
use std::path::{Component, Path, PathBuf};

use entail::backend::files::{Fresh, replace};
use entail::config::files::is_ignored;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::syntax;

use crate::commands::fmt::FmtArgs;
use crate::ui::Ui;
use crate::view::difference;

/// The endings of files that are formatted.
const ENDINGS: [&str; 5] = [".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl"];

/// Formats what the arguments name. Exits with 2 after an error, and under `-check` with 3 where a file would change.
pub fn run(ui: &mut Ui, args: &FmtArgs) -> Result<u8, Diagnostics> {
    ui.space_problems();
    let ui = &*ui;
    let from_input = args.words.first().is_some_and(|it| it == "-");
    let wishes = Wishes {
        list: args.check || args.list && !from_input,
        write: args.write && !args.check && !from_input,
        diff: args.diff,
        recursive: args.recursive,
    };
    let mut run = Run { ui, wishes, out: String::new(), problems: Diagnostics::new() };
    if from_input {
        run.input();
    } else if args.words.is_empty() {
        run.directory(Path::new("."));
    } else {
        run.all(&args.words);
    }
    let Run { out, problems, .. } = run;
    if problems.has_errors() {
        if !args.check {
            ui.out(&out);
        }
        ui.diagnostics(problems);
        return Ok(2);
    }
    if !args.check {
        ui.out(&out);
        return Ok(0);
    }
    if args.list && !from_input {
        ui.out(&out);
    }
    Ok(if out.is_empty() { 0 } else { 3 })
}

/// What happens to a file that changes.
struct Wishes {
    list: bool,
    write: bool,
    diff: bool,
    recursive: bool,
}

struct Run<'a> {
    ui: &'a Ui,
    wishes: Wishes,
    out: String,
    problems: Diagnostics,
}

impl Run<'_> {
    /// Formats the standard input.
    fn input(&mut self) {
        match self.ui.read_all() {
            Ok(bytes) => self.text(Path::new("<stdin>"), bytes),
            Err(_) => self.problems.push(
                Diagnostic::error("Failed to read file")
                    .detail("Failed to load the content of the \"<stdin>\" file"),
            ),
        }
    }

    /// Formats the files and directories that are named; the first one that is not there ends it.
    fn all(&mut self, words: &[String]) {
        for word in words {
            let path = normal(word);
            let Ok(found) = fs::metadata(&path) else {
                return self.problems.push(
                    Diagnostic::error("Invalid file or directory path")
                        .detail(format!("No file or directory at {}", path.display())),
                );
            };
            if found.is_dir() {
                self.directory(&path);
            } else if is_formatted(&path.to_string_lossy()) {
                self.file(&path);
            } else {
                self.problems.push(Diagnostic::error("Invalid file extension").detail(
                    "Only .tf, .tofu, .tfvars, .tftest.hcl, and .tofutest.hcl files can be processed with entail fmt",
                ));
            }
        }
    }

    fn directory(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let Ok(mut entries) = entries else {
            return self.problems.push(
                Diagnostic::error("Invalid path")
                    .detail(format!("Cannot read directory {}", directory.display())),
            );
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_ignored(&name) {
                continue;
            }
            let path = match directory == Path::new(".") {
                true => PathBuf::from(entry.file_name()),
                false => directory.join(entry.file_name()),
            };
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                if self.wishes.recursive {
                    self.directory(&path);
                }
            } else if is_formatted(&name) {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        match fs::read(path) {
            Ok(bytes) => self.text(path, bytes),
            Err(_) => self.problems.push(
                Diagnostic::error("Failed to open file")
                    .detail(format!("Failed to read file {}", path.display())),
            ),
        }
    }

    fn text(&mut self, path: &Path, bytes: Vec<u8>) {
        let name = path.display().to_string();
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(wrong) => return self.problems.push(not_utf8(&name, &wrong)),
        };
        let file = self.ui.sources.add(name.as_str(), text.as_str().into());
        match syntax::format(file, &text) {
            Ok(formatted) => self.formatted(path, &name, &text, &formatted),
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn formatted(&mut self, path: &Path, name: &str, old: &str, new: &str) {
        let Wishes { list, write, diff, .. } = self.wishes;
        if old != new {
            if list {
                self.out.push_str(&format!("{name}\n"));
            }
            if write && replace(path, new.as_bytes(), Fresh::Usual).is_err() {
                return self.problems.push(
                    Diagnostic::error("Writing formatted file failed")
                        .detail(format!("Failed to write {name}")),
                );
            }
            if diff {
                self.out.push_str(&difference::unified(name, old, new));
            }
        }
        if !list && !write && !diff {
            self.out.push_str(new);
        }
    }
}

fn is_formatted(name: &str) -> bool {
    ENDINGS.iter().any(|it| name.ends_with(it))
}

/// The bytes at hand are no text.
fn not_utf8(name: &str, wrong: &std::string::FromUtf8Error) -> Diagnostic {
    let before = &wrong.as_bytes()[..wrong.utf8_error().valid_up_to()];
    let line = before.iter().filter(|it| **it == b'\n').count() + 1;
    Diagnostic::error("Invalid character encoding").detail(format!(
        "Line {line} of {name} is not UTF-8. All input files must be UTF-8 encoded; choose that encoding in your editor.",
    ))
}

/// Returns a path relative to the working directory, without detours.
fn normal(word: &str) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let (whole, here) = (clean(&here.join(word)), clean(&here));
    let shared = whole.components().zip(here.components()).take_while(|it| it.0 == it.1).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(whole.components().skip(shared)).collect();
    match relative.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => relative,
    }
}

/// Resolves `.` and `..` by name.
fn clean(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            other => done.push(other),
        }
    }
    done
}
