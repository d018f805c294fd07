//! What a saved plan holds of the root variables, and what applying it makes of them.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::place::Place;

const CONFIG: &str = r#"
variable "text" { type = string }
variable "numbers" { type = set(number) }
variable "unset" { default = "d" }
variable "passing" {
  type      = string
  ephemeral = true
  default   = "e"
}
output "all" { value = [var.text, var.numbers, var.unset] }
"#;

#[test]
fn the_document_of_a_plan_has_variables_as_they_were_given_and_apply_converts_them() {
    let place = Place::new(CONFIG);
    place.write("terraform.tfvars", "text = 5\nnumbers = [\"3\", 1, 3]\npassing = \"secret\"\n");
    place.succeed(&["plan", "-out=saved"]);
    let document: Value =
        serde_json::from_str(&place.succeed(&["show", "-json", "saved"])).expect("it is JSON");
    assert_eq!(
        document["variables"],
        json!({
            "numbers": { "value": ["3", 1, 3] },
            "passing": { "value": "e" },
            "text": { "value": 5 },
            "unset": { "value": "d" },
        })
    );
    // Neither another way of writing a value nor what is ephemeral makes it another plan.
    place.succeed(&["apply", "-var=text=5", "-var=passing=other", "saved"]);
    assert_eq!(place.succeed(&["output", "-json", "all"]), "[\"5\",[1,3],\"d\"]\n");
}

/// An object whose creation leaves a file behind.
const TRACE: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch begun"
  }
}
"#;

/// Says that no state may be written as plain text.
const ENFORCED: &str = r#"
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "a passphrase of the test"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
  }
}
"#;

#[test]
fn a_saved_plan_is_refused_beside_a_configuration_that_cannot_be_read() {
    let place = Place::new(TRACE);
    place.succeed(&["plan", "-out=saved"]);
    // The configuration may ask for encryption since, and what cannot be read may as well.
    let beside = [("encryption.tf", ENFORCED), ("more.tf", "locals {}\n")];
    for (name, text) in beside {
        place.write(name, text);
        for broken in ["resource \"terraform_data\" {", "terraform {\n  encryption {\n", "]"] {
            place.write("broken.tf", broken);
            let (text, code) = place.run(&["apply", "saved"]);
            assert_eq!(code, Some(1), "{broken}: {text}");
            assert!(text.contains("Failed to load \"saved\" as a plan file"), "{broken}: {text}");
            assert!(!place.path().join("begun").exists(), "{broken}: {text}");
            assert_eq!(place.text("terraform.tfstate"), "", "{broken}: {text}");
            // To look at the plan is allowed.
            assert!(place.succeed(&["show", "saved"]).contains("terraform_data.a"), "{broken}");
        }
        for name in [name, "broken.tf"] {
            std::fs::remove_file(place.path().join(name)).expect("it is there");
        }
    }
    place.succeed(&["apply", "saved"]);
    assert!(place.path().join("begun").exists() && !place.text("terraform.tfstate").is_empty());
}
