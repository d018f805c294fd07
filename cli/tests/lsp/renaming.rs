//! Other names, everywhere they stand.

use serde_json::{Value as Json, json};

use super::client::{Client, applied};

const FILES: &[(&str, &str)] = &[
    (
        "main.tf",
        "variable \"size\" {\n  type = number\n}\n\nresource \"random_pet\" \"a\" {\n  length = var.size\n}\n\nmodule \"net\" {\n  source = \"./net\"\n  width  = var.size\n  pet    = random_pet.a.id\n}\n",
    ),
    (
        "out.tf",
        "output \"o\" {\n  value      = \"${random_pet.a.id} ${module.net.got}\"\n  depends_on = [random_pet.a]\n}\n",
    ),
    ("terraform.tfvars", "size = 2\n"),
    (
        "net/main.tf",
        "variable \"width\" {}\nvariable \"pet\" {}\noutput \"got\" {\n  value = var.width\n}\n",
    ),
    (
        "tests/a.tftest.hcl",
        "variables {\n  size = 3\n}\nrun \"one\" {\n  command = plan\n  assert {\n    condition     = random_pet.a.length == var.size\n    error_message = \"\"\n  }\n}\n",
    ),
];

fn rename(client: &mut Client, (file, word): (&str, &str), to: &str) -> Json {
    let mut params = client.at(file, word);
    params["newName"] = json!(to);
    client.ask_whole("textDocument/rename", params)
}

fn renamed(client: &mut Client, place: (&str, &str), to: &str) -> Vec<(String, String)> {
    let answer = rename(client, place, to);
    assert!(answer.get("error").is_none(), "{answer:#}");
    applied(client, &answer["result"])
}

fn text<'a>(new: &'a [(String, String)], name: &str) -> &'a str {
    let found = new.iter().find(|it| it.0 == name);
    found.map_or_else(|| panic!("{name} is not changed"), |it| &it.1)
}

#[test]
fn a_resource_keeps_its_objects() {
    let mut client = Client::new(FILES);
    let new = renamed(&mut client, ("out.tf", "${random_pet.a"), "pet");
    let main = text(&new, "main.tf");
    assert!(main.contains("resource \"random_pet\" \"pet\" {"), "{main}");
    assert!(
        main.contains("}\n\nmoved {\n  from = random_pet.a\n  to   = random_pet.pet\n}\n\nmodule"),
        "{main}"
    );
    assert!(main.contains("pet    = random_pet.pet.id"), "{main}");
    assert_eq!(text(&new, "out.tf"), FILES[1].1.replace("random_pet.a", "random_pet.pet"));
    assert!(text(&new, "tests/a.tftest.hcl").contains("random_pet.pet.length"));
}

#[test]
fn a_variable_has_its_new_name_in_values_and_calls() {
    let mut client = Client::new(FILES);
    let new = renamed(&mut client, ("main.tf", "variable \"si"), "count_of");
    assert_eq!(text(&new, "terraform.tfvars"), "count_of = 2\n");
    assert!(text(&new, "tests/a.tftest.hcl").starts_with("variables {\n  count_of = 3\n"));
    assert_eq!(
        text(&new, "main.tf"),
        FILES[0].1.replace("var.size", "var.count_of").replace("\"size\"", "\"count_of\"")
    );
    let new = renamed(&mut client, ("net/main.tf", "variable \"wi"), "breadth");
    assert!(text(&new, "main.tf").contains("  breadth  = var.size\n"));
    let new = renamed(&mut client, ("net/main.tf", "output \"go"), "had");
    assert!(text(&new, "out.tf").contains("module.net.had"));
    assert_eq!(new.len(), 2);
}

#[test]
fn a_call_keeps_what_is_in_it_and_a_way_back_is_no_circle() {
    let mut client = Client::new(FILES);
    let new = renamed(&mut client, ("main.tf", "module \"ne"), "network");
    let main = text(&new, "main.tf");
    assert!(main.ends_with("moved {\n  from = module.net\n  to   = module.network\n}\n"), "{main}");
    let moved = "resource \"random_pet\" \"b\" {}\n\nmoved {\n  from = random_pet.a\n  to   = random_pet.b\n}\n";
    let mut client = Client::new(&[("main.tf", moved)]);
    let new = renamed(&mut client, ("main.tf", "\"b"), "a");
    assert_eq!(text(&new, "main.tf"), "resource \"random_pet\" \"a\" {}\n\n");
    let new = renamed(&mut client, ("main.tf", "\"b"), "c");
    assert!(text(&new, "main.tf").contains("from = random_pet.a\n  to   = random_pet.b"));
    assert!(text(&new, "main.tf").contains("from = random_pet.b\n  to   = random_pet.c"));
}

#[test]
fn a_name_that_is_taken_or_none_is_refused() {
    let mut client = Client::new(&[(
        "main.tf",
        "variable \"a\" {}\nvariable \"b\" {}\nlocals {\n  x = var.a\n}\n",
    )]);
    let taken = rename(&mut client, ("main.tf", "var.a"), "b");
    assert!(
        taken["error"]["message"].as_str().expect("words").contains("var.b already"),
        "{taken}"
    );
    let none = rename(&mut client, ("main.tf", "var.a"), "1 x");
    assert!(none["error"]["message"].as_str().expect("words").contains("is no name"), "{none}");
    let place = client.at("main.tf", "variabl");
    assert!(client.ask_whole("textDocument/prepareRename", place)["error"].is_object());
    let place = client.at("main.tf", "var.a");
    assert_eq!(client.ask("textDocument/prepareRename", place)["placeholder"], "a");
}
