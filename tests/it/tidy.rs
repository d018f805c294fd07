//! The rules of the house that the compiler does not know.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::support::{root, sources};

const EVERYWHERE: &[&str] = &["src", "rules", "cli/src", "cli/fleet", "tests", "benches"];

#[track_caller]
fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// Returns the rooms of the library, lowest first.
fn rooms() -> Vec<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    let names = text.lines().filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// The floors of the library, lowest first. Rooms of one floor may know each other.
const FLOORS: &[&str] = &[
    "address diagnostic error lately lists rarely reachable world stack value syntax",
    "schema expression config state request",
    "provider backend install",
    "encryption",
    "datalog reason lower",
    "event schedule observe plan planner",
    "explain execute verify",
    "policy",
    "operation",
    "testing",
    "workflow",
    "assist",
];

#[test]
fn every_room_has_a_floor() {
    let floors: Vec<&str> = FLOORS.iter().flat_map(|it| it.split(' ')).collect();
    let (mut listed, mut known) = (rooms(), floors.clone());
    listed.sort();
    known.sort_unstable();
    assert_eq!(listed, known);
    let height = |room: &str| FLOORS.iter().position(|it| it.split(' ').any(|it| it == room));
    let heights: Vec<_> = rooms().iter().map(|it| height(it)).collect();
    assert!(heights.is_sorted(), "src/lib.rs lists the rooms from the lowest floor up");
}

#[test]
fn a_room_uses_only_rooms_below_it() {
    static USE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bcrate::([a-z_]+)").expect("a valid expression"));
    let floor = |name: &str| FLOORS.iter().position(|it| it.split(' ').any(|it| it == name));
    let mut found = Vec::new();
    for (file, text) in sources(&["src"]) {
        let room = file.trim_start_matches("src/").trim_end_matches(".rs");
        let room = room.split('/').next().unwrap_or_default();
        let Some(own) = floor(room) else { continue };
        if file.contains("/tests") || file.ends_with("_tests.rs") {
            continue;
        }
        // What a room tests, it may test against anything.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for captures in USE.captures_iter(line) {
                let used = &captures[1];
                if floor(used).is_some_and(|it| it > own) {
                    found.push(format!("{file}:{}: {room} uses {used}", number + 1));
                }
            }
        }
    }
    assert_none("rooms use rooms above them (src/lib.rs has the order)", found);
}

/// The lines of code in a folder on which a pattern is found, tests left out.
fn found(folder: &str, pattern: &str) -> Vec<String> {
    let pattern = Regex::new(pattern).expect("a valid expression");
    let mut found = Vec::new();
    for (file, text) in code(&[folder]) {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//") && pattern.is_match(line));
        found.extend(lines.map(|(number, line)| format!("{file}:{}: {}", number + 1, line.trim())));
    }
    found
}

#[test]
fn workflows_tell_and_ask_a_host_and_know_no_process() {
    let process =
        r"\bstd::env\b|\benv::|\bio::std(in|out|err)\b|\bprint(ln)?!|\bprocess::|\bsignal::";
    assert_none("workflows that reach for the process", found("src/workflow", process));
}

/// Who looks at the disk without [`entail::world::Files`], and why. Everything else reads by way of it, so that texts in memory can
/// stand in for files.
const ON_THE_DISK: &[(&str, &str)] = &[
    ("src/world", "it is the way"),
    ("src/backend/", "states, locks and settings of folders: what is written is the product"),
    ("src/execute/", "the journal is written; provisioners send what is on the disk"),
    ("src/install/artifact.rs", "what is loaded goes to a file"),
    ("src/install/authenticate.rs", "archives that were loaded"),
    ("src/install/credentials.rs", "the user's own file with tokens is written"),
    ("src/install/hash.rs", "packages as they lie on the disk are hashed"),
    ("src/install/installer.rs", "packages are put in their places"),
    ("src/install/package.rs", "packages are unpacked, linked and copied"),
    ("src/install/plugins.rs", "packages that are installed"),
    ("src/install/provisioners.rs", "the folders of -plugin-dir are recorded, and forgotten"),
    ("src/install/search.rs", "packages in mirrors of the file system"),
    ("src/install/web.rs", "what is loaded goes to a file"),
    ("src/operation/git.rs", "the files of a commit are written out"),
    ("src/operation/modules/", "packages of modules are loaded and unpacked"),
    ("src/operation/plugins/", "packages are written to mirrors"),
    ("src/operation/policies/install.rs", "rules are put in their places"),
    ("src/provider/builtin/local/", "its objects are files"),
    ("src/provider/plugin/", "processes, their sockets and what is kept of them"),
    ("src/reason/shipped.rs", "the trace for developers is written"),
];

#[test]
fn files_are_read_by_way_of_the_world() {
    let disk = r"\bfs::(read|metadata|symlink_metadata|canonicalize|File|OpenOptions|write|copy|rename|create|remove)|\bstd::fs\b|\bread_dir\(|\.canonicalize\(|\.(exists|is_symlink)\(\)|\b(path|folder|root|file|here|it)\.is_(dir|file)\(\)";
    let (allowed, others): (Vec<String>, Vec<String>) = found("src", disk)
        .into_iter()
        .partition(|it| ON_THE_DISK.iter().any(|(place, _)| it.starts_with(place)));
    assert_none("rooms that look at the disk themselves (`World::files` is the way)", others);
    let idle =
        ON_THE_DISK.iter().filter(|(place, _)| !allowed.iter().any(|it| it.starts_with(place)));
    assert_none("places that no longer need to", idle.map(|it| it.0.to_owned()).collect());
}

/// The error types of all `Result<…>` in a text, with where each stands.
fn error_types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("Result<").filter_map(|(start, word)| {
        let inner = &text[start + word.len()..];
        let (mut depth, mut comma) = (0, None);
        for (at, letter) in inner.char_indices() {
            match letter {
                // The end of an arrow is no bracket.
                '>' if inner[..at].ends_with(['-', '=']) => {}
                '>' if depth == 0 => return Some((start, inner[comma? + 1..at].trim())),
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth -= 1,
                ',' if depth == 0 && !inner[at + 1..].trim_start().starts_with('>') => {
                    comma = Some(at);
                }
                _ => {}
            }
        }
        None
    })
}

#[test]
fn failures_are_no_bare_texts() {
    let types = |text| error_types(text).map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(
        types("Result<Vec<(String, String)>, Error> Result<\n (),\n String,\n>"),
        ["Error", "String,"]
    );
    assert!(types("io::Result<()>").is_empty());
    let mut found = Vec::new();
    for (file, text) in sources(&["src", "cli/src", "cli/fleet/src"]) {
        for (start, _) in error_types(&text).filter(|it| it.1.trim_end_matches(',') == "String") {
            found.push(format!("{file}:{}", text[..start].lines().count()));
        }
    }
    let words = "failures that are bare texts (`error::Error` has words, a cause and what was being done; an enum has cases)";
    assert_none(words, found);
}

#[test]
fn marks_are_taken_off_by_one_type() {
    let raw = found("src", r"\bunmark\w*\(|\bValue::Marked\(Arc|\bpath::mark_paths\b");
    let outside = raw.into_iter().filter(|it| !it.starts_with("src/value/"));
    assert_none("marks that do not travel in `value::Marked`", outside.collect());
}

#[test]
fn every_scope_is_known() {
    let scopes = found("src", r"^impl\b.* Scope for ");
    let rooms = [
        "config/early/",
        "expression/constant.rs",
        "lower/trace/",
        "observe/gone.rs",
        "observe/values/",
        // Policies look at what is written, and their rules at their own variables.
        "policy/written.rs",
        "datalog/formula.rs",
        // Tests look at other runs, and at what their run has come to.
        "testing/variables.rs",
        "testing/scope.rs",
    ];
    let is_known = |it: &String| rooms.iter().any(|room| it.starts_with(&format!("src/{room}")));
    assert_eq!(scopes.len(), rooms.len());
    assert_none("scopes beside those", scopes.into_iter().filter(|it| !is_known(it)).collect());
}

#[test]
fn the_terminal_runs_workflows_and_not_what_they_are_made_of() {
    let rooms = r"\bentail::(observe|planner|lower|schedule|verify)\b|\boperation::(session|plan|apply|saved|import)\b";
    assert_none("commands that do what a workflow does", found("cli/src", rooms));
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = |(name, text): (String, String)| (!text.starts_with("//! ")).then_some(name);
    assert_none(
        "files that do not open with a `//!` sentence",
        sources(EVERYWHERE).into_iter().filter_map(silent).collect(),
    );
}

/// The code of a folder's files, tests left out.
fn code(folders: &[&str]) -> Vec<(String, String)> {
    let files = sources(folders).into_iter().filter(|it| !it.0.contains("tests"));
    let without_tests =
        |text: &str| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    files.map(|(name, text)| (name, without_tests(&text))).collect()
}

/// A function as it is written.
struct Function {
    /// Its file, line and name.
    place: String,
    lines: usize,
    parameters: usize,
}

/// Finds the functions that have a body. What is formatted ends one with a brace below its first letter.
fn functions(folders: &[&str]) -> Vec<Function> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*fn (\w+)")
            .expect("a valid expression")
    });
    let mut found = Vec::new();
    for (file, text) in code(folders) {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let Some(captures) = HEAD.captures(line) else { continue };
            let (indent, name) = (&captures[1], captures.get(2).expect("it has a name"));
            let end = format!("{indent}}}");
            let is_short = line.ends_with('}') || line.ends_with(';');
            let rest =
                if is_short { Some(0) } else { lines[number..].iter().position(|it| *it == end) };
            let signature: Vec<&str> = lines[number..].iter().take(40).copied().collect();
            found.push(Function {
                place: format!("{file}:{}: {}", number + 1, name.as_str()),
                lines: rest.unwrap_or_default() + 1,
                parameters: parameters(&signature.join("\n")[name.end()..]),
            });
        }
    }
    assert!(
        found.len() > 1000,
        "{} functions were found: what reads them must be wrong",
        found.len()
    );
    found
}

/// Counts the parameters of a function, its own object among them. `text` begins behind the name.
fn parameters(text: &str) -> usize {
    let mut open: Vec<char> = Vec::new();
    let (mut found, mut is_begun, mut before) = (0, false, ' ');
    for it in text.chars() {
        match it {
            '>' if "-=".contains(before) => {}
            ',' if open == ['('] => {
                found += usize::from(is_begun);
                is_begun = false;
            }
            ')' | ']' | '}' | '>' => {
                open.pop();
                if open.is_empty() && it == ')' {
                    break;
                }
            }
            _ => {
                is_begun |= open.first() == Some(&'(') && !it.is_whitespace();
                if "(<[{".contains(it) {
                    open.push(it);
                }
            }
        }
        before = it;
    }
    found + usize::from(is_begun)
}

#[test]
fn parameters_are_counted() {
    assert_eq!(parameters("()"), 0);
    assert_eq!(parameters("(&self)"), 1);
    assert_eq!(
        parameters("<T: Fn(u8, u8) -> u8>((a, b): (T, T), c: Vec<(u8, u8)>) -> (u8, u8)"),
        2
    );
    assert_eq!(parameters("(\n    a: &dyn Fn(u8, u8) -> u8,\n    b: [u8; 2],\n) {"), 2);
}

/// The most lines of a function. A table that is longer stands in a `const`.
const SCREEN: usize = 80;

/// The most lines of a file that is no test.
const SUBJECT: usize = 450;

/// The most parameters of a function, its own object among them; what belongs together goes together.
const PARAMETERS: usize = 6;

#[test]
fn a_function_fits_a_screen() {
    let long = functions(&["src", "rules", "cli/src", "cli/fleet/src"])
        .into_iter()
        .filter(|it| it.lines > SCREEN);
    let long = long.map(|it| format!("{} has {} lines", it.place, it.lines));
    assert_none("functions to be split where a part has a name of its own", long.collect());
}

#[test]
fn a_signature_is_read_at_a_glance() {
    let wide = functions(&["src", "rules", "cli/src", "cli/fleet/src"]).into_iter();
    let wide = wide.filter(|it| it.parameters > PARAMETERS);
    let wide = wide.map(|it| format!("{} has {} parameters", it.place, it.parameters));
    assert_none("functions that take too much", wide.collect());
}

#[test]
fn a_file_is_one_subject() {
    let long = sources(&["src", "rules", "cli/src", "cli/fleet/src"]).into_iter();
    let long =
        long.filter(|(name, text)| !name.contains("tests") && text.lines().count() > SUBJECT);
    assert_none("files to be split by what they are about", long.map(|it| it.0).collect());
}

#[test]
fn nothing_is_left_undone() {
    // Written in two parts, so that this file does not find itself.
    let words = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];
    let mut found = Vec::new();
    for (name, text) in sources(EVERYWHERE) {
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|it| line.contains(it)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert_none("macros that stand for work not done", found);
}

#[test]
fn rules_hold_no_text_and_no_floats() {
    static RELATION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:relation|lattice) \w+\(.*\b(?:String|str|f32|f64|Value)\b")
            .expect("a valid expression")
    });
    let mut found = Vec::new();
    for (name, text) in sources(&["rules"]) {
        found.extend(
            text.lines().filter(|it| RELATION.is_match(it)).map(|it| format!("{name}: {it}")),
        );
    }
    assert_none("columns that are no plain atoms", found);
}

#[test]
fn every_rule_has_a_name() {
    let mut found = Vec::new();
    for (name, text) in sources(&["rules"]) {
        if name.contains("/tests") || !text.contains("ascent! {") {
            continue;
        }
        let mut is_named = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with("// @rule ") {
                is_named = true;
            } else if line.contains(" <-- ") && !line.starts_with("//") && !is_named {
                found.push(format!("{name}:{}: {line}", number + 1));
            } else if line.is_empty() {
                is_named = false;
            }
        }
    }
    assert_none("rules without `// @rule NAME: sentence`", found);
}

#[test]
fn outside_packages_have_one_owner() {
    let owners: &[(&str, &[&str])] = &[
        ("ascent", &["rules"]),
        ("hcl_edit", &["src/syntax"]),
        ("clap", &["cli"]),
        ("rustyline", &["cli/src/ui"]),
        ("lsp_server", &["cli/src/lsp"]),
        ("lsp_types", &["cli/src/lsp"]),
        ("indicatif", &["cli/src/ui"]),
        ("httparse", &["src/install/signin"]),
        ("percent_encoding", &["src/backend", "src/install"]),
        ("miette", &["cli"]),
        ("rust_sugiyama", &["cli/src/view/drawing/"]),
        ("reqwest", &["src/install", "src/backend", "cli/src/telemetry"]),
        ("reqsign_core", &["src/backend"]),
        ("reqsign_aws_v4", &["src/backend/s3"]),
        ("reqsign_azure_storage", &["src/backend/azurerm"]),
        ("reqsign_google", &["src/backend/gcs"]),
        ("arrow", &["cli/fleet/src/lake", "cli/fleet/src/engine"]),
        ("datafusion", &["cli/fleet/src/engine"]),
        ("ballista", &["cli/fleet/src/engine/cluster"]),
        ("object_store", &["cli/fleet/src/lake"]),
        ("parquet", &["cli/fleet/src/lake", "cli/fleet/src/engine/cluster"]),
        ("quick_xml", &["src/backend", "cli/fleet/src/run"]),
        ("zip", &["src/install", "src/operation/modules", "src/plan/file"]),
        ("pgp", &["src/install"]),
        ("russh", &["src/execute/provision"]),
        ("tonic", &["src/provider/plugin"]),
        ("prost", &["src/provider/plugin", "src/plan/exchange.rs"]),
        ("tower", &["src/provider/plugin"]),
        ("rcgen", &["src/provider/plugin"]),
        ("hyper_util", &["src/provider/plugin"]),
        ("tokio_rustls", &["src/provider/plugin", "src/backend/pg"]),
        ("tokio_postgres", &["src/backend/pg"]),
        ("rustls", &["src/provider/plugin", "src/install/web.rs", "src/backend"]),
        ("x509_parser", &["src/backend/web"]),
        ("rsa", &["src/expression/functions"]),
        ("libyaml_safer", &["src/expression/functions"]),
        ("ed25519_dalek", &["src/plan"]),
    ];
    let named = |package: &str| {
        Regex::new(&format!(r"(^|[^\w:]){package}::|\buse {package};")).expect("a valid expression")
    };
    let owners: Vec<_> =
        owners.iter().map(|(package, places)| (package, places, named(package))).collect();
    let mut found = Vec::new();
    for (name, text) in sources(&["src", "rules", "cli/src", "cli/fleet/src"]) {
        if name.contains("tests") {
            continue;
        }
        for (package, places, named) in &owners {
            let is_used =
                text.lines().any(|it| !it.trim_start().starts_with("//") && named.is_match(it));
            if is_used && !places.iter().any(|it| name.starts_with(it)) {
                found.push(format!("{name} uses {package}"));
            }
        }
    }
    assert_none("packages used outside the room that owns them", found);
}

/// The fuzz targets have a lock file of their own: whoever adds a dependency has to update both.
#[test]
fn both_lock_files_have_every_dependency() {
    let read = |file: &str| fs::read_to_string(root().join(file)).expect("a file of ours");
    let manifest = read("Cargo.toml");
    let lines = manifest.lines().skip_while(|it| *it != "[dependencies]").skip(1);
    let names: Vec<&str> = lines
        .take_while(|it| !it.starts_with('['))
        .filter_map(|it| it.split(['.', ' ']).next())
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .collect();
    assert!(names.contains(&"serde"), "{names:?}");
    let mut found = Vec::new();
    for file in ["Cargo.lock", "tests/fuzz/Cargo.lock"] {
        let lock = read(file);
        let mut packages = lock.split("[[package]]");
        let own = packages.find(|it| it.contains("\nname = \"entail\"\n")).expect("the library");
        let has = |name: &str| {
            own.contains(&format!("\n \"{name}\"")) || own.contains(&format!("\n \"{name} "))
        };
        found.extend(names.iter().filter(|it| !has(it)).map(|it| format!("{it} in {file}")));
    }
    assert_none(
        "dependencies that a lock file lacks: cargo metadata --manifest-path tests/fuzz/Cargo.toml adds them",
        found,
    );
}

/// Text that is checked in says nothing of the machine it was written on.
#[test]
fn nothing_names_a_machine() {
    let words = [concat!("/ho", "me/"), concat!("/Use", "rs/"), concat!("/tm", "p/")];
    let is_text =
        |it: &Path| it.extension().is_some_and(|it| it == "txt" || it == "md" || it == "tf");
    let mut open = vec![root().join("testdata"), root().join("docs")];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path).expect("a folder").map(|it| it.expect("an entry").path()),
            );
        } else if is_text(&path) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if words.iter().any(|it| text.contains(it)) {
                found.push(path.display().to_string());
            }
        }
    }
    assert_none("files that name a folder of some machine", found);
}
