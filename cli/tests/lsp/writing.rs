//! What is written for the user: completions, signatures, formatted texts, what mends something.

use serde_json::{Value as Json, json};

use super::client::{Client, applied, with};

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

fn actions(client: &mut Client, file: &str, word: &str) -> Vec<Json> {
    let mut params = client.at(file, word);
    params["range"] = json!({ "start": params["position"], "end": params["position"] });
    params["context"] = json!({ "diagnostics": [] });
    client.ask("textDocument/codeAction", params).as_array().cloned().expect("actions")
}

#[track_caller]
fn done(client: &mut Client, (file, word): (&str, &str), title: &str) -> Vec<(String, String)> {
    let all = actions(client, file, word);
    let action = all.iter().find(|it| it["title"] == title);
    let action = action.unwrap_or_else(|| panic!("{title} is not offered: {all:#?}"));
    applied(client, &action["edit"])
}

#[test]
fn what_is_missing_can_be_written() {
    let text = "resource \"random_integer\" \"i\" {\n  max = var.most\n}\n";
    let mut client = Client::new(&[("main.tf", text)]);
    let new = done(&mut client, ("main.tf", "random_int"), "Add min");
    assert_eq!(new[0].1, "resource \"random_integer\" \"i\" {\n  max = var.most\n  min = 0\n}\n");
    let new = done(&mut client, ("main.tf", "var.mo"), "Declare the variable most");
    assert_eq!(new[0].1, format!("{text}\nvariable \"most\" {{\n  description = \"\"\n}}\n"));
    let new = done(&mut client, ("main.tf", "random_int"), "Import an object as random_integer.i");
    assert!(
        new[0].1.starts_with("import {\n  to = random_integer.i\n  id = \"\"\n}\n\nresource"),
        "{}",
        new[0].1
    );
}

#[test]
fn a_rename_that_was_done_by_hand_can_be_recorded() {
    let state = r#"{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "8fbf07a9-2b7e-4a7d-9e3b-3f2d3a6f2a11", "outputs": {}, "resources": [
        {"mode": "managed", "type": "random_pet", "name": "old", "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]", "instances": [{"schema_version": 0, "attributes": {"id": "x"}}]}]}"#;
    let mut client = Client::new(&[
        ("main.tf", "resource \"random_pet\" \"new\" {\n}\n"),
        ("terraform.tfstate", state),
    ]);
    let new = done(
        &mut client,
        ("main.tf", "random_p"),
        "Record that random_pet.old is random_pet.new now",
    );
    assert_eq!(
        new[0].1,
        "resource \"random_pet\" \"new\" {\n}\n\nmoved {\n  from = random_pet.old\n  to   = random_pet.new\n}\n"
    );
}

#[test]
fn a_verdict_can_be_waived() {
    let rules = "// @rule named: `r` has no purpose\ndeny(r, \"say what it is for\") <-- resource(r, \"terraform_data\"), !r.input;\n";
    let mut client = Client::new(&[
        ("main.tf", "resource \"terraform_data\" \"a\" {\n}\n"),
        ("policies/a.rules", rules),
    ]);
    client.problems_until("main.tf", |it| it.iter().any(|it| it["code"] == "named"));
    let new = done(&mut client, ("main.tf", "terraform_d"), "Waive named here");
    client.open_as("main.tf", &new[0].1);
    client.problems_until("main.tf", <[Json]>::is_empty);
}
