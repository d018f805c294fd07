//! Finding one's way: definitions, references, symbols, hovers, links, the shape of a text.

use serde_json::{Value as Json, json};

use super::client::Client;

const MAIN: &str = r#"variable "name" {
  type        = string
  description = "What it is called."
  default     = "web"
}

locals {
  full = "${var.name}-1"
}

module "net" {
  source = "./net"
  cidr   = local.full
}

resource "random_pet" "a" {
  for_each = { x = 1, y = 2 }
  prefix   = module.net.id
}

output "pets" {
  value = [for it in random_pet.a : upper(it.id)]
}
"#;
const NET: &str = "variable \"cidr\" {\n  type = string\n}\n\noutput \"id\" {\n  description = \"The network.\"\n  value       = var.cidr\n}\n";
const FILES: &[(&str, &str)] =
    &[("main.tf", MAIN), ("net/main.tf", NET), ("terraform.tfvars", "name = \"db\"\n")];

fn places(client: &Client, found: &Json) -> Vec<String> {
    let root = format!("{}/", client.uri(""));
    let each = found.as_array().expect("places").iter().map(|it| {
        let start = &it["range"]["start"];
        let name = it["uri"].as_str().expect("a file").replace(&root, "");
        format!("{name}:{}:{}", start["line"], start["character"])
    });
    each.collect()
}

#[test]
fn a_name_leads_to_its_declaration() {
    let mut client = Client::new(FILES);
    for (word, expected) in [
        ("${var.na", "main.tf:0:10"),
        ("local.fu", "main.tf:7:2"),
        ("module.ne", "main.tf:10:8"),
        ("module.net.i", "net/main.tf:4:8"),
        ("  cid", "net/main.tf:0:10"),
        ("in random_pe", "main.tf:15:23"),
        ("\"./ne", "net/main.tf:0:0"),
    ] {
        let place = client.at("main.tf", word);
        let found = client.ask("textDocument/definition", place);
        assert_eq!(places(&client, &found), [expected], "{word}");
    }
    let place = client.at("terraform.tfvars", "na");
    let found = client.ask("textDocument/definition", place);
    assert_eq!(places(&client, &found), ["main.tf:0:10"]);
}

#[test]
fn all_who_use_a_name_are_found_through_calls_and_values() {
    let mut client = Client::new(FILES);
    let references = |client: &mut Client, file: &str, word: &str| {
        let mut place = client.at(file, word);
        place["context"] = json!({ "includeDeclaration": false });
        let found = client.ask("textDocument/references", place);
        places(client, &found)
    };
    assert_eq!(
        references(&mut client, "main.tf", "variable \"na"),
        ["main.tf:7:16", "terraform.tfvars:0:0"]
    );
    assert_eq!(references(&mut client, "net/main.tf", "output \"i"), ["main.tf:17:24"]);
    assert_eq!(
        references(&mut client, "net/main.tf", "variable \"ci"),
        ["main.tf:12:2", "net/main.tf:6:20"]
    );
}

fn hover(client: &mut Client, file: &str, word: &str) -> String {
    let place = client.at(file, word);
    let found = client.ask("textDocument/hover", place);
    found["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_hover_says_what_something_is_and_what_its_value_is() {
    let mut client = Client::new(FILES);
    let text = hover(&mut client, "main.tf", "${var.na");
    assert!(text.contains("What it is called.") && text.contains("\"db\""), "{text}");
    assert!(hover(&mut client, "main.tf", "local.fu").contains("\"db-1\""));
    assert!(hover(&mut client, "main.tf", "module.net.i").contains("The network."));
    assert!(hover(&mut client, "main.tf", "uppe").contains("upper("));
    assert!(hover(&mut client, "main.tf", "  prefi").contains("string, optional"));
    assert!(hover(&mut client, "main.tf", "resource \"random_pe").contains("random_pet"));
}

#[test]
fn a_hover_shows_values_of_the_state_and_no_secret() {
    let state = r#"{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "8fbf07a9-2b7e-4a7d-9e3b-3f2d3a6f2a11",
        "outputs": {}, "resources": [
          {"mode": "managed", "type": "random_pet", "name": "a", "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]",
           "instances": [{"schema_version": 0, "attributes": {"id": "brave-cat", "keepers": null, "length": 2, "prefix": null, "separator": "-"}}]},
          {"mode": "managed", "type": "random_password", "name": "p", "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]",
           "instances": [{"schema_version": 3, "attributes": {"id": "none", "length": 8, "result": "hunter22", "bcrypt_hash": "$2a$secret", "keepers": null, "lower": true, "min_lower": 0, "min_numeric": 0, "min_special": 0, "min_upper": 0, "number": true, "numeric": true, "override_special": null, "special": true, "upper": true}, "sensitive_attributes": []}]}
        ]}"#;
    let text = "variable \"key\" {\n  default   = \"swordfish\"\n  sensitive = true\n}\nresource \"random_pet\" \"a\" {}\nresource \"random_password\" \"p\" {\n  length = 8\n}\nlocals {\n  pet  = random_pet.a.id\n  pass = random_password.p.result\n  key  = var.key\n}\n";
    let mut client = Client::new(&[("main.tf", text), ("terraform.tfstate", state)]);
    assert!(hover(&mut client, "main.tf", "  pe").contains("brave-cat"));
    let mut all = String::new();
    for word in [
        "  pas",
        "random_password.p.resul",
        "random_password.",
        "\"p",
        "  ke",
        "var.ke",
        "variable \"ke",
    ] {
        all.push_str(&hover(&mut client, "main.tf", word));
    }
    assert!(all.contains("(sensitive value)"), "{all}");
    assert!(
        !all.contains("hunter22") && !all.contains("swordfish") && !all.contains("$2a$"),
        "{all}"
    );
}

#[test]
fn a_hover_on_a_relation_says_who_concludes_it() {
    let rules = "// @rule own.idle: `r` is idle\nidle(r) <-- resource(r, \"terraform_data\"), !r.input;\n// @rule named: `r` is idle\nwarn(r, \"idle\") <-- idle(r);\n";
    let mut client = Client::new(&[("policies/a.rules", rules)]);
    let text = hover(&mut client, "policies/a.rules", "<-- resourc");
    assert!(text.contains("resource("), "{text}");
    let place = client.at("policies/a.rules", "<-- idl");
    let found = client.ask("textDocument/definition", place);
    assert_eq!(places(&client, &found), ["policies/a.rules:1:0"]);
}

#[test]
fn the_shape_of_a_text_is_told() {
    let mut client = Client::new(FILES);
    client.open("main.tf");
    let document = json!({ "textDocument": { "uri": client.uri("main.tf") } });
    let symbols = client.ask("textDocument/documentSymbol", document.clone());
    let names: Vec<_> = symbols
        .as_array()
        .expect("symbols")
        .iter()
        .map(|it| it["name"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        names,
        [
            "variable \"name\"",
            "locals",
            "module \"net\"",
            "resource \"random_pet\" \"a\"",
            "output \"pets\""
        ]
    );
    let folds = client.ask("textDocument/foldingRange", document.clone());
    assert!(
        folds
            .as_array()
            .expect("folds")
            .iter()
            .any(|it| (&it["startLine"], &it["endLine"]) == (&json!(15), &json!(18))),
        "{folds}"
    );
    let links = client.ask("textDocument/documentLink", document.clone());
    assert_eq!(links[0]["target"], client.uri("net/main.tf"));
    let tokens = client.ask("textDocument/semanticTokens/full", document.clone());
    let first: Vec<_> =
        tokens["data"].as_array().expect("tokens").iter().take(5).cloned().collect();
    assert_eq!(first, [0, 0, 8, 0, 0].map(|it| json!(it)));
    let mut place = client.at("main.tf", "${var.na");
    place["positions"] = json!([place["position"]]);
    let ranges = client.ask("textDocument/selectionRange", place);
    let mut depth = 0;
    let mut at = &ranges[0];
    while at.is_object() {
        (depth, at) = (depth + 1, &at["parent"]);
    }
    assert!(depth >= 5, "{ranges}");
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.ask(
        "textDocument/inlayHint",
        json!({ "textDocument": document["textDocument"], "range": whole }),
    );
    let labels: Vec<_> = hints
        .as_array()
        .expect("hints")
        .iter()
        .map(|it| it["label"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(labels, [": string", "[\"x\"], [\"y\"]"]);
    let found = client.ask("workspace/symbol", json!({ "query": "CIDR" }));
    assert_eq!(found[0]["name"], "var.cidr");
}

#[test]
fn json_is_read_like_native_syntax() {
    let json_text =
        "{\n  \"variable\": {\"n\": {}},\n  \"output\": {\"o\": {\"value\": \"${var.n}\"}}\n}\n";
    let mut client = Client::new(&[("main.tf.json", json_text)]);
    let place = client.at("main.tf.json", "${var.");
    let found = client.ask("textDocument/definition", place);
    assert_eq!(places(&client, &found), ["main.tf.json:1:16"]);
}

#[test]
fn a_saved_plan_says_above_each_block_what_it_does() {
    let text = "resource \"terraform_data\" \"a\" {\n  count = 2\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a[0].id\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = 3\n}\n";
    let inner = "resource \"terraform_data\" \"c\" {\n}\n";
    let mut client = Client::new(&[("main.tf", text), ("m/main.tf", inner)]);
    client.run(&["get"]);
    client.run(&["plan", "-out=tfplan"]);
    let document = json!({ "textDocument": { "uri": client.uri("main.tf") } });
    let lenses = client.ask("textDocument/codeLens", document);
    let titles: Vec<_> = lenses
        .as_array()
        .expect("lenses")
        .iter()
        .map(|it| it["command"]["title"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(titles, ["tfplan: create 2", "tfplan: create", "tfplan: create 3"]);
    let command = lenses[1]["command"].clone();
    let asked = json!({ "command": command["command"], "arguments": command["arguments"] });
    let proof = client.ask("workspace/executeCommand", asked);
    assert!(
        proof["text"].as_str().expect("a proof").starts_with("terraform_data.b will be created"),
        "{proof}"
    );
    let command = lenses[2]["command"].clone();
    let asked = json!({ "command": command["command"], "arguments": command["arguments"] });
    let proof = client.ask("workspace/executeCommand", asked);
    assert!(
        proof["text"].as_str().expect("a proof").starts_with("module.m has 3 instances"),
        "{proof}"
    );
    let unknown = json!({ "command": "entail.why", "arguments": [{ "folder": client.uri(""), "address": "terraform_data.none" }] });
    assert!(client.ask_whole("workspace/executeCommand", unknown)["error"].is_object());
}
