//! What a node is called, and its number in a saved plan, are the same in each run, in whatever order the blocks stand.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use pretty_assertions::assert_eq;
use zip::ZipArchive;

use crate::support::place::Place;

/// Blocks that need no plugin: values, instances, module instances, and those whose keys the walk finds.
const BLOCKS: &[&str] = &[
    "variable \"v\" {\n  default = \"x\"\n}\n",
    "locals {\n  a = var.v\n  b = \"${local.a}-b\"\n}\n",
    "resource \"terraform_data\" \"one\" {\n  input = local.b\n}\n",
    "resource \"terraform_data\" \"many\" {\n  for_each = toset([\"z\", \"a\", local.a])\n  input    = terraform_data.one.id\n}\n",
    "resource \"local_file\" \"made\" {\n  filename = \"made.txt\"\n  content  = \"k\"\n}\n",
    "data \"local_file\" \"read\" {\n  filename = \"keys.txt\"\n}\n",
    "resource \"terraform_data\" \"late\" {\n  for_each = toset([\"k\", data.local_file.read.content])\n  input    = each.key\n}\n",
    "module \"m\" {\n  source   = \"./m\"\n  for_each = toset([\"p\", \"q\"])\n  in       = terraform_data.one.output\n}\n",
    "module \"l\" {\n  source   = \"./m\"\n  for_each = toset([data.local_file.read.content])\n  in       = each.key\n}\n",
    "output \"o\" {\n  value = module.m[\"p\"].out\n}\n",
    "output \"p\" {\n  value = terraform_data.late\n}\n",
    "check \"c\" {\n  assert {\n    condition     = local.b != \"\"\n    error_message = \"no\"\n  }\n}\n",
];

const MODULE: &[&str] = &[
    "variable \"in\" {}\n",
    "resource \"terraform_data\" \"inner\" {\n  input = var.in\n}\n",
    "output \"out\" {\n  value = terraform_data.inner.output\n}\n",
];

/// A folder in which the blocks stand in an order of their own, in several files.
fn shuffled(seed: usize) -> Place {
    let place = Place::new("");
    std::fs::create_dir(place.path().join("m")).expect("a folder");
    place.write("keys.txt", "z");
    for (folder, blocks) in [("", BLOCKS), ("m/", MODULE)] {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        // Steps of 5 and 7 visit every block of twelve, those of 1 and 2 every block of three.
        let step = [1, 5, 7, 11][seed % 4];
        for at in 0..blocks.len() {
            let block = blocks[(at * step + seed) % blocks.len()];
            let file = if (at + seed).is_multiple_of(2) { "main.tf" } else { "again.tf" };
            files.entry(format!("{folder}{file}")).or_default().push_str(block);
        }
        files.iter().for_each(|(name, text)| place.write(name, text));
    }
    place.succeed(&["init"]);
    place
}

/// What a saved plan holds of nodes and facts: all but the places where things stand.
fn kept(place: &Place) -> BTreeMap<String, String> {
    place.succeed(&["plan", "-out=saved"]);
    let file = File::open(place.path().join("saved")).expect("it is there");
    let mut archive = ZipArchive::new(file).expect("it is an archive");
    let entries = ["facts/facts", "facts/structure", "facts/order", "facts/spread"];
    let mut read = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).expect(name).read_to_string(&mut text).expect("it is text");
        text
    };
    entries.iter().map(|it| ((*it).to_owned(), read(it))).collect()
}

#[test]
fn the_order_of_blocks_and_files_changes_no_name_and_no_number() {
    let first = shuffled(0);
    let (facts, saved) = (first.succeed(&["facts"]), kept(&first));
    let excluding = ["facts", "-json", "-exclude=terraform_data.one"];
    let excluded = first.succeed(&excluding);
    assert!(facts.contains("object(terraform_data.late[\"z\"])"), "{facts}");
    for seed in 1..4 {
        let other = shuffled(seed);
        assert_eq!(other.succeed(&["facts"]), facts, "seed {seed}");
        assert_eq!(other.succeed(&excluding), excluded, "seed {seed}");
        assert_eq!(kept(&other), saved, "seed {seed}");
    }
}
