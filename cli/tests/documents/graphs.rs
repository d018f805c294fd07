//! `graph -svg`: a drawing that needs nothing else.

use serde_json::{Value as Json, json};

use super::browser::Driver;
use super::folder::{Folder, elements};

const MAIN: &str = r#"
variable "size" {
  default = 2
}
resource "terraform_data" "base" {
  count = var.size
  input = "base ${count.index}"
}
resource "terraform_data" "one" {
  input = terraform_data.base[0].output
}
resource "terraform_data" "alone" {}
output "one" {
  value = terraform_data.one.id
}
"#;

/// The boxes of a drawing, by what they stand for.
fn boxes(drawing: &str) -> Vec<String> {
    let parts = drawing.split("data-address=\"").skip(1);
    parts.filter_map(|it| Some(it.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn a_drawing_has_a_box_for_each_and_needs_nothing() {
    let folder = Folder::new(&[("main.tf", MAIN)]);
    let said = folder.run(&["graph", "-instances", "-svg=graph.svg"]);
    assert_eq!(said, "The drawing is in graph.svg.\n");
    let drawing = folder.read("graph.svg");
    assert_eq!(
        boxes(&drawing),
        [
            "terraform_data.alone",
            "terraform_data.base[0]",
            "terraform_data.base[1]",
            "terraform_data.one"
        ]
    );
    let found = elements(&drawing);
    assert_eq!((found["svg"], found["style"]), (1, 1));
    // One line, and none of what is explained above.
    assert_eq!(drawing.matches("data-from=").count(), 1);
    for word in ["<script", "href", "@import", "url(", "<image", "<foreignObject"] {
        assert!(!drawing.contains(word), "{word}");
    }
    assert_eq!(folder.run(&["graph", "-instances", "-svg"]), drawing, "two drawings of one graph");
}

#[test]
fn a_drawing_of_a_plan_says_what_is_done() {
    let folder = Folder::new(&[("main.tf", MAIN)]);
    folder.run(&["apply", "-auto-approve"]);
    folder.run(&["plan", "-var=size=1", "-replace=terraform_data.one", "-out=p"]);
    let objects = folder.run(&["graph", "-plan=p", "-instances", "-svg"]);
    assert!(
        objects.contains("class=\"n delete\" data-address=\"terraform_data.base[1]\""),
        "{objects}"
    );
    assert!(objects.contains("class=\"n replace\" data-address=\"terraform_data.one\""));
    assert!(objects.contains("class=\"n object\" data-address=\"terraform_data.alone\""));
    let steps = folder.run(&["graph", "-plan=p", "-svg"]);
    assert!(steps.contains("data-address=\"terraform_data.one (destroy)\""), "{steps}");
    elements(&steps);
    let around =
        folder.run(&["graph", "-plan=p", "-instances", "-around=terraform_data.one", "-svg"]);
    assert_eq!(boxes(&around), ["terraform_data.base[0]", "terraform_data.one"]);
}

#[test]
fn a_drawing_of_blocks_leaves_out_what_only_orders() {
    let folder = Folder::new(&[("main.tf", MAIN)]);
    let drawing = folder.run(&["graph", "-svg"]);
    assert_eq!(
        boxes(&drawing),
        [
            "output.one",
            "provider[&quot;terraform.io/builtin/terraform&quot;]",
            "terraform_data.alone",
            "terraform_data.base",
            "terraform_data.one",
            "var.size"
        ]
    );
}

#[test]
fn names_with_markup_are_text() {
    let main = r#"
resource "terraform_data" "a" {
  for_each = toset(["</text><script>hacked=1</script>", "]]><svg onload=hacked=2>", "\u202egnirts", "\u0001", "a\nb"])
}
"#;
    let folder = Folder::new(&[("main.tf", main)]);
    let drawing = folder.run(&["graph", "-instances", "-svg"]);
    let found = elements(&drawing);
    assert_eq!(found.get("script"), None, "{drawing}");
    assert_eq!(found["svg"], 1);
    assert_eq!(found["g"], 1 + 5 + 1, "the drawing, its boxes, and one that is explained");
    assert!(!drawing.contains('\u{202e}') && !drawing.contains('\u{1}'), "{drawing:?}");
    let document: Json =
        serde_json::from_str(&folder.run(&["graph", "-instances", "-json"])).expect("JSON");
    assert_eq!(document["nodes"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_large_graph_is_drawn_by_block() {
    let main = "resource \"terraform_data\" \"a\" {\n  count = 900\n}\nresource \"terraform_data\" \"b\" {\n  count = 900\n  input = terraform_data.a[count.index].id\n}\n";
    let folder = Folder::new(&[("main.tf", main)]);
    let drawing = folder.run(&["graph", "-instances", "-svg"]);
    assert_eq!(boxes(&drawing), ["terraform_data.a", "terraform_data.b"]);
    assert!(drawing.contains(">terraform_data.b × 900<"), "{drawing}");
    let document: Json =
        serde_json::from_str(&folder.run(&["graph", "-instances", "-json"])).expect("JSON");
    assert_eq!(document["edges"].as_array().map(Vec::len), Some(900));
}

#[test]
fn a_browser_shows_the_drawing() {
    let folder = Folder::new(&[("main.tf", MAIN)]);
    folder.run(&["graph", "-instances", "-svg=graph.svg"]);
    let Some(driver) = Driver::start() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let client = driver.client().await;
        let address = format!("file://{}", folder.path("graph.svg").display());
        client.goto(&address).await.expect("the drawing opens");
        let script = "return [document.documentElement.tagName, document.querySelectorAll('[data-address]').length, [...document.querySelectorAll('[data-address]')].every(it => { const [outer, inner] = [it.querySelector('rect'), it.querySelector('text')].map(it => it.getBoundingClientRect()); return inner.left >= outer.left && inner.right <= outer.right + 1 })]";
        let found = client.execute(script, Vec::new()).await.expect("it has a value");
        assert_eq!(found, json!(["svg", 4, true]), "labels lie within their boxes");
        client.close().await.expect("the browser ends");
    });
}
