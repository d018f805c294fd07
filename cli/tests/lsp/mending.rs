//! What mends something, or does what is tedious: actions.

use serde_json::{Value as Json, json};

use super::client::{Client, applied};

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

#[test]
fn a_name_that_is_misspelt_is_mended() {
    let variable = "variable \"name\" {\n  sensitve = true\n}\n";
    let output = "variable \"name\" {}\noutput \"o\" {\n  value = var.nmae\n}\n";
    for (text, old, new) in [(variable, "sensitve", "sensitive"), (output, "nmae", "name")] {
        let mut client = Client::new(&[("main.tf", text)]);
        client.open("main.tf");
        client.problems_until("main.tf", |it| it.len() == 1);
        let title = format!("Change {old} to {new}");
        let mended = done(&mut client, ("main.tf", old), &title);
        assert_eq!(mended[0].1, text.replace(old, new));
        // Elsewhere nothing of it is offered.
        let all = actions(&mut client, "main.tf", "variable");
        assert!(!all.iter().any(|it| it["title"] == title), "{all:#?}");
    }
}

#[test]
fn what_leaves_something_out_is_at_hand() {
    let text = "resource \"terraform_data\" \"a\" {\n  count = 2\n}\nmodule \"net\" {\n  source = \"./net\"\n}\n";
    let mut client = Client::new(&[
        ("main.tf", text),
        ("net/main.tf", "resource \"terraform_data\" \"b\" {}\n"),
    ]);
    for (file, word, flag) in [
        ("main.tf", "terraform_d", "-exclude=terraform_data.a"),
        ("main.tf", "module", "-exclude=module.net"),
    ] {
        let all = actions(&mut client, file, word);
        let action = all.iter().find(|it| it["title"] == format!("Copy {flag}"));
        let action = action.unwrap_or_else(|| panic!("{flag} is not offered: {all:#?}"));
        assert!(action.get("edit").is_none(), "{action}");
        let command = &action["command"];
        assert_eq!(command["command"], "entail.copy");
        let params = json!({ "command": "entail.copy", "arguments": command["arguments"] });
        assert_eq!(client.ask("workspace/executeCommand", params), json!({ "text": flag }));
        let shown = client.wait_for(|it| it["method"] == "window/showMessage");
        assert_eq!(shown["params"]["message"], flag);
    }
    // Of a module that others call, the address is not known here.
    let all = actions(&mut client, "net/main.tf", "terraform_d");
    assert!(!all.iter().any(|it| it["title"].as_str().is_some_and(|it| it.starts_with("Copy"))));
    let nothing = client.ask_whole(
        "workspace/executeCommand",
        json!({ "command": "entail.copy", "arguments": [{}] }),
    );
    assert_eq!(nothing["error"]["code"], -32602, "{nothing}");
}
