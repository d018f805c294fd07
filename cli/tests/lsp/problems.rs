//! What is told to be wrong, while it is being written.

use serde_json::{Value as Json, json};

use super::client::Client;

fn words(problems: &[Json]) -> String {
    let each = problems.iter().map(|it| {
        let place = &it["range"]["start"];
        format!(
            "{}:{} {} {}",
            place["line"],
            it["severity"],
            it["code"].as_str().unwrap_or_default(),
            it["message"].as_str().unwrap_or_default()
        )
    });
    each.collect::<Vec<_>>().join("\n")
}

fn has(problems: &[Json], code: &str) -> bool {
    problems.iter().any(|it| it["code"] == code)
}

#[test]
fn unsaved_texts_are_what_is_checked() {
    let mut client = Client::new(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n  size   = 1\n}\n"),
        ("m/main.tf", "variable \"size\" {\n  type = number\n}\n"),
    ]);
    client.open("main.tf");
    client.open("m/main.tf");
    client.replace("m/main.tf", 2, "variable \"width\" {\n  type = number\n}\n");
    let found = client.problems_until("main.tf", |it| has(it, "unsupported-argument"));
    assert!(found.iter().all(|it| it["source"] == "entail validate"), "{}", words(&found));
    client.replace("m/main.tf", 3, "variable \"size\" {\n  type = number\n}\n");
    client.problems_until("main.tf", <[Json]>::is_empty);
}

#[test]
fn a_broken_file_does_not_stop_the_rest() {
    let broken = "resource \"terraform_data\" \"a\" {\n  input = \n  triggers_replace = 1\n}\n";
    let rest = "locals {\n  x = terraform_data.a.id\n  y = terraform_data.b.id\n}\nresource \"terraform_data\" \"c\" {\n  inputt = 1\n}\n";
    let mut client = Client::new(&[("broken.tf", broken), ("rest.tf", rest)]);
    let found = client.problems_until("rest.tf", |it| it.len() > 1);
    let told = words(&found);
    assert!(told.contains("terraform_data\" \"b\"") && told.contains("\"inputt\""), "{told}");
    assert!(!told.contains("terraform_data\" \"a\""), "{told}");
    let found = client.problems_until("broken.tf", |it| !it.is_empty());
    assert_eq!(
        (found.len(), &found[0]["source"]),
        (1, &json!("entail syntax")),
        "{}",
        words(&found)
    );
}

#[test]
fn each_sort_of_problem_has_a_code_and_a_place() {
    let text = r#"variable "n" {
  type    = number
  default = "x"
}

resource "random_pet" "a" {
  length = "many"
  nope   = 1
}

resource "random_pet" "b" {}

output "o" {
  value = random_pet.b.nothing
}

check "c" {
  assert {
    condition = var.none
  }
}
"#;
    let mut client = Client::new(&[("main.tf", "")]);
    client.open_as("main.tf", text);
    let found = client.problems_until("main.tf", |it| !it.is_empty());
    assert!(
        has(&found, "invalid-default-value-for-variable")
            || has(&found, "missing-required-argument"),
        "{}",
        words(&found)
    );
    client.replace(
        "main.tf",
        2,
        &text.replace("\"x\"", "1").replace("var.none\n", "var.none\n    error_message = \"!\"\n"),
    );
    let found = client.problems_until("main.tf", |it| has(it, "unsupported-attribute"));
    for code in
        ["unsupported-argument", "unsupported-attribute", "reference-to-undeclared-input-variable"]
    {
        assert!(has(&found, code), "{code}: {}", words(&found));
    }
    assert!(found.iter().all(|it| it["severity"] == 1), "{}", words(&found));
}

#[test]
fn a_duplicate_leads_to_the_first_one() {
    let mut client = Client::new(&[
        ("a.tf", "resource \"terraform_data\" \"x\" {}\n"),
        ("b.tf", "\nresource \"terraform_data\" \"x\" {}\n"),
    ]);
    let found = client.problems_until("b.tf", |it| !it.is_empty());
    let related = &found[0]["relatedInformation"][0]["location"];
    assert_eq!(related["uri"], client.uri("a.tf"), "{found:#?}");
    assert_eq!(related["range"]["start"], json!({ "line": 0, "character": 0 }));
}

#[test]
fn tests_and_values_are_checked_too() {
    let mut client = Client::new(&[
        ("main.tf", "variable \"n\" {\n  type = number\n}\n"),
        ("terraform.tfvars", "n = \"many\"\n"),
        ("other.tfvars", "n = 1\nm = 2\n"),
        ("tests/a.tftest.hcl", "run \"one\" {\n  command = guess\n}\n"),
    ]);
    let values = client.problems_until("terraform.tfvars", |it| !it.is_empty());
    assert!(words(&values).contains("number"), "{}", words(&values));
    let values = client.problems_until("other.tfvars", |it| !it.is_empty());
    assert!(words(&values).contains("undeclared"), "{}", words(&values));
    let tests = client.problems_until("tests/a.tftest.hcl", |it| !it.is_empty());
    assert_eq!(tests[0]["range"]["start"]["line"], 1, "{}", words(&tests));
}

const RULES: &str = "// @rule named: `r` has no purpose\n// @severity high\ndeny(r, \"say what it is for\") <--\n    resource(r, \"terraform_data\"),\n    !r.input;\n";

#[test]
fn policies_say_their_verdicts_where_the_block_is() {
    let mut client = Client::new(&[
        ("main.tf", "resource \"terraform_data\" \"a\" {\n}\n"),
        ("policies/named.rules", RULES),
    ]);
    let found =
        client.problems_until("main.tf", |it| it.iter().any(|it| it["source"] == "entail policy"));
    assert_eq!(found[0]["code"], "named", "{}", words(&found));
    assert_eq!(
        found[0]["message"].as_str().map(|it| it.contains("say what it is for")),
        Some(true)
    );
    assert_eq!(
        found[0]["relatedInformation"][0]["location"]["uri"],
        client.uri("policies/named.rules")
    );
}

#[test]
fn rules_are_checked_as_they_are_written() {
    let mut client = Client::new(&[("policies/named.rules", RULES)]);
    client.open_as("policies/named.rules", &RULES.replace("resource(r,", "resorce(r,"));
    let found = client.problems_until("policies/named.rules", |it| !it.is_empty());
    assert!(words(&found).contains("resorce"), "{}", words(&found));
    client.replace("policies/named.rules", 2, RULES);
    client.problems_until("policies/named.rules", <[Json]>::is_empty);
}
