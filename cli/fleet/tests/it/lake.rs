//! The folder of a lake: what an index removes, who may read it, how it is mended, and several indexes at once.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::support::{Fleet, Ran, files, resource};
use crate::trouble::told;

const STATES: &str = "states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n";

/// The states of a fleet: each object mentions the one of the stack before.
fn write_states(fleet: &Fleet, stacks: usize, objects: usize) {
    for number in 0..stacks {
        let object = |it: usize| {
            let of = format!("thing-{:04}-{it}", number.saturating_sub(1));
            let values = json!({"id": format!("thing-{number:04}-{it}"), "of": of});
            resource("test_thing", &format!("t{it}"), values)
        };
        let objects: Vec<Json> = (0..objects).map(object).collect();
        fleet.state(&format!("s/n{number:02}.tfstate"), &format!("l{number}"), &objects);
    }
}

fn fleet() -> Fleet {
    let fleet = Fleet::new(STATES);
    write_states(&fleet, 3, 2);
    fleet
}

/// The files that the catalogue names, and those that are there.
fn tables(fleet: &Fleet) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let text = std::fs::read_to_string(fleet.path("lake/catalogue.json")).expect("a catalogue");
    let catalogue: Json = serde_json::from_str(&text).expect("JSON");
    let mut named = BTreeSet::new();
    for table in catalogue["files"].as_object().expect("tables").values() {
        for file in table.as_object().expect("buckets").values() {
            named.insert(fleet.path("lake").join(file["path"].as_str().expect("a path")));
        }
    }
    (named, files(&fleet.path("lake/tables")).into_iter().collect())
}

/// What is known of all objects.
fn asked(fleet: &Fleet) -> [String; 3] {
    let ask = |body: &str| fleet.run(&["query", "-json", body]).ok();
    [ask("existing(n, t)"), ask("uses(n, m)"), ask("existing(n, _), n.of == v")]
}

#[test]
fn a_folder_that_is_no_lake_is_refused_and_keeps_its_files() {
    let fleet = fleet();
    fleet.write("mine/tables/precious.txt", "precious");
    fleet.write("notes/README.md", "precious");
    for (folder, part) in [("mine", "tables"), ("notes", "README.md"), (".", "fleet.hcl")] {
        let before = files(&fleet.root());
        let ran = fleet.run(&["index", &format!("-out={folder}")]);
        assert_eq!(ran.code, Some(1), "{folder}");
        let no_lake = format!("{folder} is no lake: it holds `{part}`");
        assert!(told(&ran).contains(&no_lake), "{}", ran.err);
        assert_eq!(files(&fleet.root()), before, "{folder}");
    }
    // An empty folder becomes a lake, also where only hidden files are in it.
    fleet.write("new/.gitignore", "*");
    fleet.run(&["index", "-out=new"]).ok();
    assert!(fleet.path("new/.gitignore").exists());
}

#[test]
fn an_index_removes_only_files_that_have_names_of_a_lake() {
    let fleet = fleet();
    fleet.run(&["index"]).ok();
    let foreign = [
        "lake/notes.txt",
        "lake/tables/precious.txt",
        "lake/tables/existing/precious.parquet",
        "lake/tables/mine/00000-1.parquet",
        "lake/exchange/old/0.parquet",
        "lake/exchange/0.parquet",
    ];
    let left = [
        "lake/catalogue.json#1",
        "lake/tables/existing/00000-99.parquet",
        "lake/tables/uses/00000-99.parquet#1",
        "lake/tables/hints/00000-99-0123456789abcdef.bin",
    ];
    let old = "lake/exchange/0123456789abcdef0123456789abcdef/0.parquet";
    let young = "lake/exchange/0123456789abcdef0123456789abcdee/0.parquet";
    let all = foreign.iter().chain(&left).chain([&old, &young]);
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 60 * 60);
    for name in all {
        fleet.write(name, "text");
        let file = File::options().write(true).open(fleet.path(name)).expect("it is there");
        if *name != young {
            file.set_modified(past).expect("it is set");
        }
    }
    fleet.run(&["index"]).ok();
    let is_there = |name: &str| fleet.path(name).exists();
    assert!(foreign.iter().all(|it| is_there(it)), "files of others stay");
    assert!(!left.iter().any(|it| is_there(it)), "what an index has left goes");
    assert!(!is_there(old) && is_there(young), "the exchange goes after a day");
}

#[test]
fn links_in_a_lake_are_not_followed() {
    let fleet = fleet();
    fleet.run(&["index"]).ok();
    let before = asked(&fleet);
    fleet.write("victim/00000-1.parquet", "precious");
    for part in ["tables", "tables/existing", "exchange", "catalogue.json"] {
        let (own, aside) = (fleet.path(&format!("lake/{part}")), fleet.path("aside"));
        let is_own = own.exists();
        if is_own {
            std::fs::rename(&own, &aside).expect("it is moved");
        }
        symlink(fleet.path("victim"), &own).expect("a link");
        let ran = fleet.run(&["index"]);
        assert_eq!(ran.code, Some(1), "{part}");
        assert!(told(&ran).contains(&format!("`{part}` in lake is a link")), "{}", ran.err);
        assert_eq!(files(&fleet.path("victim")), [fleet.path("victim/00000-1.parquet")], "{part}");
        std::fs::remove_file(&own).expect("a link");
        if is_own {
            std::fs::rename(&aside, &own).expect("it is moved");
        }
    }
    // A file that is a link is left alone.
    let link = fleet.path("lake/tables/existing/00000-99.parquet");
    symlink(fleet.path("victim/00000-1.parquet"), &link).expect("a link");
    fleet.run(&["index"]).ok();
    assert_eq!(asked(&fleet), before);
    let text = std::fs::read_to_string(fleet.path("victim/00000-1.parquet"));
    assert_eq!(text.expect("it is there"), "precious");
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is set");
}

#[test]
fn a_new_lake_is_for_its_owner_alone_and_one_that_is_shared_stays_so() {
    let fleet = fleet();
    std::fs::create_dir(fleet.path("there")).expect("it is made");
    set(&fleet.path("there"), 0o755);
    for lake in ["lake", "there"] {
        fleet.run(&["index", &format!("-out={lake}")]).ok();
        for file in files(&fleet.path(lake)) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        for folder in ["tables", "tables/existing"] {
            assert_eq!(mode(&fleet.path(lake).join(folder)), 0o700, "{lake}/{folder}");
        }
    }
    assert_eq!((mode(&fleet.path("lake")), mode(&fleet.path("there"))), (0o700, 0o755));
    // Who lets others read the catalogue shares the lake.
    set(&fleet.path("lake"), 0o750);
    set(&fleet.path("lake/catalogue.json"), 0o640);
    std::fs::remove_dir_all(fleet.path("lake/tables")).expect("it is there");
    fleet.run(&["index"]).ok();
    assert_eq!(mode(&fleet.path("lake/catalogue.json")), 0o640);
    assert_eq!(mode(&fleet.path("lake/tables/existing")), 0o750);
    let (named, _) = tables(&fleet);
    assert!(named.iter().all(|it| mode(it) == 0o640));
}

#[test]
fn files_that_are_gone_or_damaged_are_written_again() {
    let fleet = Fleet::new(STATES);
    write_states(&fleet, 40, 2);
    fleet.run(&["index"]).ok();
    let before = asked(&fleet);
    let of = |table: &str| {
        let (named, _) = tables(&fleet);
        let part = format!("/tables/{table}/");
        let found = named.into_iter().find(|it| it.to_string_lossy().contains(&part));
        found.unwrap_or_else(|| panic!("no {table}"))
    };
    for round in 0..7 {
        match round {
            0 => std::fs::remove_dir_all(fleet.path("lake/tables")).expect("it is there"),
            1 => std::fs::remove_file(of("attribute")).expect("it is there"),
            2 => std::fs::write(of("existing"), "").expect("it is written"),
            3 => {
                let (path, mut content) =
                    (of("attribute"), std::fs::read(of("attribute")).expect("it is read"));
                content.iter_mut().take(200).for_each(|it| *it ^= 0x55);
                std::fs::write(path, content).expect("it is written");
            }
            4 => std::fs::write(of("uses"), "PAR1").expect("it is written"),
            5 => std::fs::remove_file(of("used_by")).expect("it is there"),
            _ => std::fs::write(of("hints"), "x").expect("it is written"),
        }
        let json = fleet.run(&["index", "-json", "-strict"]).json();
        let changed = json["changed"].as_u64().expect("a number");
        assert!(round == 0 || changed < 40, "round {round}: {changed}");
        assert_eq!(asked(&fleet), before, "round {round}");
        let (named, there) = tables(&fleet);
        assert_eq!(named, there, "round {round}");
        assert_eq!(fleet.run(&["index", "-json"]).json()["changed"], 0, "round {round}");
    }
}

#[test]
fn a_catalogue_with_numbers_that_cannot_be_is_indexed_anew() {
    let fleet = fleet();
    fleet.run(&["index"]).ok();
    let before = asked(&fleet);
    let path = fleet.path("lake/catalogue.json");
    for (name, number) in [
        ("buckets", u64::from(u32::MAX)),
        ("buckets", 0),
        ("generation", u64::MAX),
        ("objects", u64::MAX),
    ] {
        let text = std::fs::read_to_string(&path).expect("a catalogue");
        let mut catalogue: Json = serde_json::from_str(&text).expect("JSON");
        match name {
            "objects" => {
                let stacks = catalogue["stacks"].as_object_mut().expect("stacks");
                stacks.values_mut().for_each(|it| it[name] = json!(number));
            }
            _ => catalogue[name] = json!(number),
        }
        std::fs::write(&path, catalogue.to_string()).expect("it is written");
        fleet.run(&["index"]).ok();
        assert_eq!(asked(&fleet), before, "{name} = {number}");
    }
}

#[test]
fn indexes_at_the_same_time_wait_for_each_other() {
    let fleet = fleet();
    for round in 1..8 {
        write_states(&fleet, 6, round);
        let begin = || {
            let mut command = fleet.command(&["index"], &[]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        let children = [begin(), begin(), begin()];
        write_states(&fleet, 6, round + 1);
        for child in children {
            Ran::of(&child.wait_with_output().expect("it ends")).ok();
        }
        let json = fleet.run(&["index", "-json", "-strict"]).json();
        assert_eq!(json["objects"], 6 * (round + 1), "round {round}");
        let (named, there) = tables(&fleet);
        assert_eq!(named, there, "round {round}");
    }
}

#[test]
fn an_index_that_waits_says_so() {
    let fleet = fleet();
    fleet.run(&["index"]).ok();
    let lock = File::open(fleet.path("lake/.entail-lake.lock")).expect("it is there");
    lock.lock().expect("it is free");
    let mut command = fleet.command(&["index", "-json"], &[]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut pipe = child.stderr.take().expect("a pipe");
    let (mut text, mut piece) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&text).contains("Another index is under way") {
        let length = pipe.read(&mut piece).expect("it is read");
        assert!(length > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..length]);
    }
    lock.unlock().expect("it is ours");
    pipe.read_to_end(&mut text).expect("it is read");
    Ran::of(&child.wait_with_output().expect("it ends")).ok();
}

#[test]
#[cfg(target_os = "linux")]
fn a_want_of_memory_is_an_error_and_no_crash() {
    let fleet = fleet();
    fleet.run(&["index"]).ok();
    for memory in ["600000", "700000", "1600000"] {
        let line =
            format!("ulimit -v {memory}; exec \"$0\" query 'existing(a, t), existing(b, u)'");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_entail-fleet")]).current_dir(fleet.root());
        let ran = Ran::of(&command.output().expect("a shell"));
        // With more, it depends on the allocator whether there is enough.
        let is_told = ran.code == Some(1) && ran.err.contains("Error: ");
        assert!(is_told || ran.code == Some(0), "{memory}: {:?} {}", ran.code, ran.err);
        assert!(!ran.err.contains("panicked"), "{memory}: {}", ran.err);
    }
}

#[test]
fn secrets_under_usual_names_stay_out_of_a_lake() {
    let fleet = Fleet::new(STATES);
    let names = "DB_PASSWORD clientSecret accessToken apiToken Password pwd apikey secret_value \
        private_key_base64 password_1 master_password_hash";
    let mut values = json!({
        "id": "thing-0001",
        "environment": [{"variables": {"DB_PASSWORD": "TAINT", "LEVEL": "debug"}}],
        "secrets": ["TAINT"], "tokens": ["TAINT"], "credentials": ["TAINT"],
        "address": "postgres://user:TAINT@host/db",
        "document": "{\"env\":[{\"name\":\"API_KEY\",\"value\":\"TAINT\"}]}",
        "key_name": "seen-1", "kms_key_id": "seen-2", "secret_name": "seen-3",
    });
    names.split_whitespace().for_each(|it| values[it] = json!("TAINT"));
    fleet.state("s/one.tfstate", "l", &[resource("test_thing", "a", values)]);
    fleet.run(&["index"]).ok();
    let mut seen = fleet.run(&["query", "-json", "existing(n, t), state(n)[x] == v"]).ok();
    for file in files(&fleet.path("lake")) {
        seen += &String::from_utf8_lossy(&std::fs::read(&file).expect("it is read"));
        seen += &crate::support::texts(&file);
    }
    assert!(!seen.contains("TAINT"), "a secret got out");
    assert!((1..4).all(|it| seen.contains(&format!("seen-{it}"))), "what is no secret is there");
}

#[test]
fn a_link_that_leads_back_names_no_stack_twice() {
    let fleet = Fleet::new("states \"all\" {\n  paths = [\"states/**/*.tfstate\"]\n}\n");
    fleet.state("states/d.tfstate", "ld", &[]);
    fleet.state("states/in/e.tfstate", "le", &[]);
    symlink(".", fleet.path("states/a-loop")).expect("a link");
    symlink("..", fleet.path("states/in/a-loop")).expect("a link");
    let json = fleet.run(&["list", "-json", "-strict"]).json();
    let stacks = json["stacks"].as_array().expect("stacks").iter().map(|it| it["stack"].clone());
    assert_eq!(stacks.collect::<Vec<_>>(), ["states/d", "states/in/e"]);
}
