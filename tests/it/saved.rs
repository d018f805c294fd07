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
