//! Which file of the library uses which. Files that use each other in a circle can only be understood together, so that no
//! circle is larger than three.
//!
//! A file uses another if it names something that is defined there, be it through `pub use`. What a file of a folder takes
//! from the file that the folder is named after is not counted: that is where the folder keeps what all of it shares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::support::sources;

const GREATEST: usize = 3;

/// The way to a module, or to something in it.
type Way = Vec<String>;

/// What a file says of names.
#[derive(Default)]
struct Module {
    defined: BTreeSet<String>,
    /// What `use` brings in, by the name that it has here.
    brought: BTreeMap<String, Way>,
    /// Modules of which everything is brought in.
    whole: Vec<Way>,
    /// Every way that is written.
    written: Vec<Way>,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid expression")
}

impl Module {
    fn read(code: &str) -> Module {
        static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*(?:fn|struct|enum|trait|type|const|static|union|macro_rules!) (\w+)",
            )
        });
        static USE: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);"));
        static WAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[a-z_]\w*(?:::\w+)+"));
        let mut module = Module {
            defined: DEFINED.captures_iter(code).map(|it| it[1].to_owned()).collect(),
            ..Module::default()
        };
        for captures in USE.captures_iter(code) {
            module.bring(&[], &captures[1]);
        }
        let rest = USE.replace_all(code, "");
        for found in WAY.find_iter(&rest) {
            if !rest[..found.start()].ends_with("::") {
                module.written.push(split(found.as_str()));
            }
        }
        module
    }

    /// Takes over a tree of `use`, below a way.
    fn bring(&mut self, below: &[String], tree: &str) {
        for branch in branches(tree) {
            let mut way = below.to_vec();
            if let Some((head, inner)) = branch.split_once('{') {
                way.extend(split(head.trim().trim_end_matches("::")));
                self.bring(&way, inner.trim_end().strip_suffix('}').unwrap_or(inner));
                continue;
            }
            let (said, other) = branch.split_once(" as ").unwrap_or((branch, ""));
            way.extend(split(said.trim()));
            if way.last().is_some_and(|it| it == "self") {
                way.pop();
            }
            if way.last().is_some_and(|it| it == "*") {
                way.pop();
                self.whole.push(way);
                continue;
            }
            let own =
                if other.is_empty() { way.last().cloned() } else { Some(other.trim().into()) };
            self.written.push(way.clone());
            self.brought.extend(own.map(|it| (it, way)));
        }
    }
}

fn split(way: &str) -> Way {
    way.split("::").map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// Splits what stands between braces at its own commas.
fn branches(tree: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in tree.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&tree[start..]);
    found.into_iter().map(str::trim).filter(|it| !it.is_empty()).collect()
}

struct Library(BTreeMap<Way, Module>);

impl Library {
    fn read(files: &BTreeMap<String, String>) -> Library {
        let modules = files.iter().filter(|it| !it.0.contains("tests")).map(|(name, text)| {
            let way = name.trim_start_matches("src/").trim_end_matches(".rs");
            let way = way.trim_end_matches("/mod").replace('/', "::");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|it| !it.trim_start().starts_with("//"));
            let code: String = lines.map(|it| format!("{it}\n")).collect();
            (if way == "lib" { Way::new() } else { split(&way) }, Module::read(&code))
        });
        Library(modules.collect())
    }

    /// Returns the file that defines what a way leads to; nothing where that is a module, or is not ours.
    fn resolve(&self, from: &Way, way: &[String], steps: u32) -> Option<Way> {
        if steps > 20 {
            return None;
        }
        let (mut at, mut rest) = (from.clone(), way);
        let child = |at: &Way, name: &String| [at.as_slice(), std::slice::from_ref(name)].concat();
        match way.first()?.as_str() {
            "crate" => (at, rest) = (Way::new(), &way[1..]),
            "self" => rest = &way[1..],
            "super" => {
                while rest.first().is_some_and(|it| it == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            _ if self.0.contains_key(&child(&at, &way[0])) => {}
            _ => {
                let brought = self.0.get(&at)?.brought.get(&way[0])?;
                return self.resolve(&at, &[brought, &way[1..]].concat(), steps + 1);
            }
        }
        while let Some(name) = rest.first() {
            if self.0.contains_key(&child(&at, name)) {
                at.push(name.clone());
                rest = &rest[1..];
                continue;
            }
            let module = self.0.get(&at)?;
            if module.defined.contains(name) {
                return Some(at);
            }
            if let Some(brought) = module.brought.get(name) {
                return self.resolve(&at, &[brought, &rest[1..]].concat(), steps + 1);
            }
            let through = |it: &Way| self.resolve(&at, &[it, rest].concat(), steps + 1);
            return module.whole.iter().find_map(through);
        }
        None
    }

    /// Returns which files each file uses.
    fn uses(&self) -> BTreeMap<&Way, BTreeSet<&Way>> {
        let used = |from: &Way, module: &Module| {
            let found = module.written.iter().filter_map(|it| self.resolve(from, it, 0));
            let found: BTreeSet<Way> = found.filter(|it| !from.starts_with(it)).collect();
            found.iter().filter_map(|it| Some(self.0.get_key_value(it)?.0)).collect()
        };
        self.0.iter().map(|(from, module)| (from, used(from, module))).collect()
    }

    /// Returns every circle, as the names of its files.
    fn circles(&self) -> BTreeSet<Vec<String>> {
        let uses = self.uses();
        let reached: BTreeMap<_, _> = uses.keys().map(|it| (*it, reached(&uses, it))).collect();
        let circle = |from: &Way| -> Vec<String> {
            let back = reached[from].iter().filter(|it| reached[**it].contains(from));
            back.map(|it| it.join("/")).collect()
        };
        uses.keys().map(|it| circle(it)).filter(|it| it.len() > 1).collect()
    }
}

/// Returns every file that one uses, and those that these use.
fn reached<'l>(uses: &BTreeMap<&Way, BTreeSet<&'l Way>>, from: &'l Way) -> BTreeSet<&'l Way> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(uses.get(next).into_iter().flatten().filter(|it| seen.insert(**it)));
    }
    seen
}

#[test]
fn no_circle_has_more_than_three_files() {
    let library = Library::read(&sources(&["src"]));
    let arrows: usize = library.uses().values().map(BTreeSet::len).sum();
    assert!(arrows > 1000, "{arrows} uses were found: what reads them must be wrong");
    let large: Vec<_> = library.circles().into_iter().filter(|it| it.len() > GREATEST).collect();
    assert!(large.is_empty(), "files that use each other in a circle:\n{large:#?}");
}

#[test]
fn a_circle_is_found_through_what_is_handed_on() {
    let file = |name: &str, text: &str| (format!("src/{name}.rs"), text.to_owned());
    let library = Library::read(&BTreeMap::from([
        file("lib", "pub mod room;\npub mod other;\n"),
        file("room/mod", "mod a;\nmod b;\npub use a::A;\npub fn shared() {}\n"),
        file("room/a", "use super::{b::{self, B}, shared};\npub struct A;\nfn f() { b::g() }\n"),
        file("room/b", "use crate::other;\npub struct B;\npub fn g() { other::far() }\n"),
        file("other", "use crate::room::A as Near;\npub fn far() -> Near { far() }\n"),
    ]));
    let found: Vec<String> = library.circles().iter().map(|it| it.join(" ")).collect();
    assert_eq!(found, ["other room/a room/b"]);
}
