//! What is written for the user: completions, signatures, formatted texts.

use serde_json::json;

use super::client::{Client, with};

const MAIN: &str = "variable \"name\" {}\nlocals {\n  zone = \"a\"\n}\nmodule \"net\" {\n  source = \"./net\"\n  cidr   = \"\"\n}\nprovider \"random\" {\n  alias = \"west\"\n}\nresource \"random_pet\" \"a\" {}\n";
const NET: &str = "variable \"cidr\" {\n  type = string\n}\nvariable \"size\" {\n  type    = number\n  default = 1\n}\noutput \"id\" {\n  value = 1\n}\n";
const FILES: &[(&str, &str)] = &[("base.tf", MAIN), ("net/main.tf", NET)];

fn labels(client: &mut Client, file: &str, marked: &str) -> Vec<String> {
    let place = client.cursor(file, marked);
    let found = client.ask("textDocument/completion", place);
    let items = found["items"].as_array().expect("items");
    items.iter().map(|it| it["label"].as_str().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn offers(client: &mut Client, marked: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = labels(client, "main.tf", marked);
    for it in wanted {
        assert!(found.iter().any(|label| label == it), "{it} is missing at {marked:?}: {found:?}");
    }
    for it in unwanted {
        assert!(!found.iter().any(|label| label == it), "{it} is offered at {marked:?}");
    }
}

#[test]
fn blocks_and_arguments_are_offered_by_schema() {
    let mut client = Client::new(FILES);
    offers(&mut client, "res|", &["resource", "variable", "module"], &["count"]);
    offers(
        &mut client,
        "resource \"|",
        &["random_pet", "null_resource", "terraform_data", "local_file"],
        &[],
    );
    offers(&mut client, "data \"|\" \"x\" {}", &["terraform_remote_state"], &["random_pet"]);
    offers(
        &mut client,
        "resource \"random_pet\" \"b\" {\n  length = 2\n  |\n}\n",
        &["prefix", "keepers", "count", "for_each", "lifecycle"],
        &["length", "id", "resource"],
    );
    offers(
        &mut client,
        "resource \"random_pet\" \"b\" {\n  lifecycle {\n    |\n  }\n}\n",
        &["prevent_destroy", "precondition"],
        &["prefix"],
    );
    offers(&mut client, "terraform {\n  backend \"|\"\n}\n", &["local", "s3"], &[]);
    offers(&mut client, "variable \"x\" {\n  type = |\n}\n", &["string", "object"], &["var.name"]);
    offers(&mut client, "module \"n\" {\n  source = \"|\"\n}\n", &["./net"], &[]);
    offers(
        &mut client,
        "module \"n\" {\n  source = \"./net\"\n  |\n}\n",
        &["cidr", "size", "providers"],
        &["source"],
    );
}

#[test]
fn references_are_offered_with_their_attributes() {
    let mut client = Client::new(FILES);
    let value = |text: &str| format!("output \"o\" {{\n  value = {text}\n}}\n");
    offers(
        &mut client,
        &value("|"),
        &["var.name", "local.zone", "module.net", "random_pet.a", "upper", "try"],
        &["resource"],
    );
    offers(&mut client, &value("var.|"), &["name"], &["zone"]);
    offers(&mut client, &value("module.net.|"), &["id"], &["cidr"]);
    offers(&mut client, &value("random_pet.|"), &["a"], &[]);
    offers(&mut client, &value("\"x-${random_pet.a.|}\""), &["id", "separator"], &["a"]);
    offers(
        &mut client,
        "resource \"random_pet\" \"b\" {\n  provider = |\n}\n",
        &["random.west"],
        &["var.name"],
    );
    offers(
        &mut client,
        "resource \"random_pet\" \"b\" {\n  for_each = {}\n  prefix = each.|\n}\n",
        &["key", "value"],
        &[],
    );
    // Nothing of the block at hand can be read yet.
    offers(&mut client, "resource \"random_pet\" \"b\" {\n  prefix = var.|\n", &["name"], &[]);
}

#[test]
fn keys_of_instances_are_offered_as_far_as_they_are_written_out() {
    let main = "locals {\n  zones = { a = 1, b = 2 }\n}\nresource \"terraform_data\" \"each\" {\n  for_each = toset([\"x\", \"y z\"])\n}\nresource \"terraform_data\" \"many\" {\n  count = 2\n}\nprovider \"random\" {\n  alias    = \"by\"\n  for_each = local.zones\n}\n";
    let mut client = Client::new(&[("base.tf", main)]);
    let value = |text: &str| format!("output \"o\" {{\n  value = {text}\n}}\n");
    offers(&mut client, &value("terraform_data.each[|]"), &["\"x\"", "\"y z\""], &["local.zones"]);
    offers(&mut client, &value("terraform_data.each[\"|\"]"), &["x", "y z"], &["\"x\""]);
    offers(&mut client, &value("terraform_data.many[|]"), &["0", "1"], &["2"]);
    offers(&mut client, &value("local.zones[\"|"), &["a", "b"], &[]);
    let text = "resource \"random_pet\" \"p\" {\n  provider = random.by[\"|\"]\n}\n";
    offers(&mut client, text, &["a", "b"], &["x"]);
}

#[test]
fn values_of_variables_are_offered_by_name() {
    let mut client = Client::new(FILES);
    let found = labels(&mut client, "a.auto.tfvars", "|");
    assert_eq!(found, ["name"]);
}

#[test]
fn rules_offer_the_vocabulary() {
    let mut client =
        Client::new(&[("policies/a.rules", "// @rule x: y\nown(r) <-- resource(r, _);\n")]);
    let found = labels(&mut client, "policies/b.rules", "deny(r, \"x\") <-- |");
    for it in ["resource", "own", "agg"] {
        assert!(found.iter().any(|label| label == it), "{it}: {found:?}");
    }
}

#[test]
fn json_offers_keys_by_schema_and_references_in_strings() {
    let mut client = Client::new(FILES);
    let mut offers = |marked: &str, wanted: &[&str], unwanted: &[&str]| {
        let found = labels(&mut client, "main.tf.json", marked);
        let has = |it: &&str| found.iter().any(|label| label == it);
        assert!(wanted.iter().all(&has), "{wanted:?} at {marked}: {found:?}");
        assert!(!unwanted.iter().any(has), "{unwanted:?} at {marked}: {found:?}");
    };
    offers("{\"re|", &["resource", "variable", "module"], &["count"]);
    offers("{\"resource\": {\"|\"}}", &["random_pet", "terraform_data"], &["resource"]);
    let block = "{\"resource\": {\"random_pet\": {\"b\": {";
    offers(
        &format!("{block}\"length\": 2, \"|\"}}}}}}}}"),
        &["prefix", "count", "lifecycle"],
        &["id"],
    );
    offers(&format!("{block}\"lifecycle\": {{\"|"), &["prevent_destroy"], &["prefix"]);
    offers(
        &format!("{block}\"prefix\": \"x-${{|"),
        &["var.name", "local.zone", "upper"],
        &["resource"],
    );
    offers(&format!("{block}\"prefix\": \"x-${{var.n|}}\"}}}}}}}}"), &["name"], &["zone"]);
    offers(&format!("{block}\"prefix\": \"${{module.net.|"), &["id"], &["cidr"]);
    offers(&format!("{block}\"provider\": \"|"), &["random.west"], &["var.name"]);
    offers(
        "{\"module\": {\"n\": {\"source\": \"./net\", \"|\": \"\"}}}",
        &["providers"],
        &["zone"],
    );
    let place = client.cursor("b.tf.json", &format!("{block}\"pre|\""));
    let found = client.ask("textDocument/completion", place);
    let items = found["items"].as_array().expect("items");
    let prefix = items.iter().find(|it| it["label"] == "prefix").expect("prefix");
    assert_eq!(prefix["textEdit"]["newText"], "prefix", "{prefix}");
    let start = &prefix["textEdit"]["range"]["start"];
    assert_eq!(start["character"], block.len() + 1);
    assert_eq!(labels(&mut client, "a.auto.tfvars.json", "{\"|"), ["name"]);
}

#[test]
fn a_relation_shows_its_columns() {
    let mut client = Client::new(&[("main.tf", "")]);
    let text = "// @rule x: y\ndeny(n, \"(, {n}\") <-- resource(n, |";
    let place = client.cursor("policies/a.rules", text);
    let found = client.ask("textDocument/signatureHelp", place);
    assert_eq!(found["activeParameter"], 1, "{found}");
    let label = found["signatures"][0]["label"].as_str().expect("a label");
    assert!(label.starts_with("resource("), "{label}");
    let place = client.cursor("policies/b.rules", "a(n) <-- b(n), let x = join(\",\", |");
    let found = client.ask("textDocument/signatureHelp", place);
    assert_eq!(found["activeParameter"], 1, "{found}");
}

#[test]
fn a_completion_replaces_what_is_begun() {
    let mut client = Client::new(FILES);
    let place = client.cursor("main.tf", "resource \"random_pet\" \"b\" {\n  pre|\n}\n");
    let found = client.ask("textDocument/completion", place);
    let item = found["items"]
        .as_array()
        .expect("items")
        .iter()
        .find(|it| it["label"] == "prefix")
        .expect("prefix")
        .clone();
    assert_eq!(item["textEdit"]["range"]["start"], json!({ "line": 1, "character": 2 }));
    assert_eq!(item["textEdit"]["newText"], "prefix = \"$1\"$0");
    assert!(item["detail"].as_str().is_some_and(|it| it.contains("optional")), "{item}");
}

#[test]
fn a_call_shows_what_the_function_takes() {
    let mut client = Client::new(FILES);
    let place = client.cursor("main.tf", "locals {\n  x = join(\",\", [1, 2], |\n}\n");
    let found = client.ask("textDocument/signatureHelp", place);
    assert_eq!(found["activeParameter"], 1);
    assert!(
        found["signatures"][0]["label"]
            .as_str()
            .expect("a label")
            .starts_with("join(separator: string, "),
        "{found}"
    );
}

#[test]
fn a_text_is_formatted_as_fmt_does() {
    let mut client = Client::new(FILES);
    let text = "locals {\n a = 1\n   bcd = 2\n}\n";
    client.open_as("main.tf", text);
    let document = json!({ "uri": client.uri("main.tf") });
    let options = json!({ "tabSize": 8, "insertSpaces": false });
    let edits = client
        .ask("textDocument/formatting", json!({ "textDocument": document, "options": options }));
    assert_eq!(with(text, edits.as_array().expect("edits")), "locals {\n  a   = 1\n  bcd = 2\n}\n");
    let rules = "// @rule a: b\ndeny(r,\"x\")<--resource(r,_);\n";
    client.open_as("policies/a.rules", rules);
    let document = json!({ "uri": client.uri("policies/a.rules") });
    let edits = client
        .ask("textDocument/formatting", json!({ "textDocument": document, "options": options }));
    assert!(with(rules, edits.as_array().expect("edits")).contains("deny(r, \"x\") <--"));
}
