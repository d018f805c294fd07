//! Commands that need neither state nor keys reach for neither: the backend cannot be reached, and no key has a value.

use crate::support::place::Place;

/// A backend where nobody listens, and a key whose passphrase has no value.
const CONFIG: &str = r#"
variable "passphrase" {
  type = string
}
terraform {
  backend "http" {
    address   = "http://127.0.0.1:1/state"
    retry_max = 0
  }
  encryption {
    key_provider "pbkdf2" "key" {
      passphrase = var.passphrase
    }
    method "aes_gcm" "sealed" {
      keys = key_provider.pbkdf2.key
    }
    state {
      method   = method.aes_gcm.sealed
      enforced = true
    }
  }
}
resource "terraform_data" "one" {
  input = 1
}
module "inner" {
  source = "./inner"
}
"#;

const TEST: &str = "run \"one\" {\n  variables {\n    passphrase = \"sixteen letters!\"\n  }\n}\n";

fn place() -> Place {
    let place = Place::new(CONFIG);
    place.write("inner/main.tf", "resource \"terraform_data\" \"two\" {}\n");
    place.write("tests/one.tftest.hcl", TEST);
    place
}

#[test]
fn commands_that_need_no_state_reach_for_no_backend_and_no_key() {
    let place = place();
    for command in [
        "init -backend=false -input=false",
        "validate",
        "init -backend=false -input=false -upgrade",
        "get",
        "fmt -check",
        "workspace show",
        "providers lock",
        "providers mirror inner",
        "test",
        "version",
    ] {
        place.succeed(&command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn commands_that_need_the_state_say_what_is_missing() {
    let place = place();
    for command in ["init -input=false", "providers", "state list", "output", "plan -input=false"] {
        let (text, code) = place.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(code, Some(1), "{command}: {text}");
    }
}
