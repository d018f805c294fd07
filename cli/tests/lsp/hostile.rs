//! Texts that are broken in any way, and places that are not there: every request has an answer, and none is a fault of the program.

use serde_json::{Value as Json, json};

use super::client::Client;

const CONFIG: &str = r#"terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
variable "name" {
  type        = object({ a = string, b = optional(list(number)) })
  description = "näme 𝄞"
  validation {
    condition     = var.name.a != ""
    error_message = "x ${var.name.a}"
  }
}
locals { a = { x = 1, "y" = [for k, v in var.name : k => v if v != null] } }
module "net" {
  source    = "./net"
  cidr      = local.a.x
  providers = { random = random.west }
}
provider "random" { alias = "west" }
resource "random_pet" "a" {
  for_each = toset(["a"])
  prefix   = <<-EOT
    hello ${each.key} %{ if true }x%{ endif }
  EOT
  lifecycle { ignore_changes = [prefix] }
}
moved {
  from = random_pet.b
  to   = random_pet.a
}
output "o" { value = random_pet.a[*].id }
"#;
const RULES: &str = "// @rule own.idle: `r` is idle\nidle(r) <-- resource(r, \"terraform_data\"), !r.input, agg n = count() in reads(r, _), if n > 2;\ndeny(r, \"x ${r.type}\") <-- idle(r);\n";
const TEST: &str = "run \"one\" {\n  command = plan\n  variables {\n    name = { a = \"x\" }\n  }\n  assert {\n    condition     = output.o == run.one.o\n    error_message = \"\"\n  }\n}\n";
const FILES: [(&str, &str); 5] = [
    ("main.tf", CONFIG),
    ("policies/a.rules", RULES),
    ("tests/a.tftest.hcl", TEST),
    (
        "x.tf.json",
        "{\"resource\": {\"random_pet\": {\"b\": {\"prefix\": \"${var.name.a}\", \"count\": 2}}}}",
    ),
    ("terraform.tfvars", "name = { a = \"x\" }\n"),
];
const PIECES: [&str; 20] = [
    "", "\"", "{", "}", "${", "\n", ".", "(", "[", "é", "𝄞", "<<EOT\n", "/*", "#", "%{", "\r\n",
    "var.", "=", "\\", "// @",
];
const METHODS: [&str; 17] = [
    "hover",
    "completion",
    "definition",
    "references",
    "signatureHelp",
    "prepareRename",
    "rename",
    "documentSymbol",
    "foldingRange",
    "selectionRange",
    "documentLink",
    "semanticTokens/full",
    "inlayHint",
    "formatting",
    "codeAction",
    "codeLens",
    "documentHighlight",
];

/// Numbers that look like chance, and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn mutated(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..self.below(4) {
            let boundary = |text: &str, at: usize| {
                (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
            };
            let start = boundary(&text, self.below(text.len() + 1));
            let end = boundary(&text, (start + self.below(40)).min(text.len())).max(start);
            text.replace_range(start..end, PIECES[self.below(PIECES.len())]);
        }
        text
    }
}

#[test]
fn no_text_and_no_place_is_a_fault_of_the_program() {
    let mut client = Client::new(&[(
        "net/main.tf",
        "variable \"cidr\" {}\noutput \"id\" {\n  value = var.cidr\n}\n",
    )]);
    let mut dice = Dice(7);
    for (name, _) in FILES {
        client.open_as(name, "");
    }
    for version in 2..62 {
        let (name, text) = FILES[dice.below(FILES.len())];
        let text = dice.mutated(text);
        client.replace(name, version, &text);
        for method in METHODS {
            let at = json!({ "line": dice.below(text.lines().count() + 2), "character": dice.below(60) });
            let end = json!({ "line": dice.below(40), "character": dice.below(60) });
            let params = json!({
                "textDocument": { "uri": client.uri(name) },
                "position": at,
                "positions": [at],
                "range": { "start": at, "end": end },
                "context": { "includeDeclaration": true, "diagnostics": [] },
                "newName": "other",
                "options": { "tabSize": 2, "insertSpaces": true },
            });
            let answer = client.ask_whole(&format!("textDocument/{method}"), params);
            assert_ne!(
                answer["error"]["code"], -32603,
                "{method} at {at} of {name}: {answer}\n{text}"
            );
        }
    }
    assert_eq!(
        client.ask("workspace/symbol", json!({ "query": "cidr" }))[0]["name"],
        Json::from("var.cidr")
    );
    // What was read of texts that are gone is gone, too.
    assert!(client.memory() < 500 << 10, "{} KiB", client.memory());
}
