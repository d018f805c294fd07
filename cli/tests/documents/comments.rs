//! `plan -markdown` and `plan -junit`: what a review and a build server read.

use super::folder::{Folder, elements, text};

const MAIN: &str = r#"
variable "size" {
  default = "small"
}
variable "password" {
  default   = "canary-one"
  sensitive = true
}
resource "terraform_data" "base" {
  input = var.size
}
resource "terraform_data" "many" {
  count = var.size == "large" ? 5 : 0
  input = "the same"
}
resource "terraform_data" "secret" {
  input = { password = var.password, base = terraform_data.base.output }
}
resource "local_sensitive_file" "kept" {
  filename = "${path.module}/kept.txt"
  content  = nonsensitive(var.password)
}
resource "terraform_data" "out" {
  input = local_sensitive_file.kept.content_md5
}
check "size" {
  assert {
    condition     = var.size == "small"
    error_message = "It is <large>."
  }
}
output "size" {
  value = var.size
}
output "password" {
  value     = var.password
  sensitive = true
}
"#;

const RULES: &str = r#"
// @rule house.told: `n` holds what is told
// @help ask <b>the team</b>
warn(n, "it holds {n.content}") <-- resource(n, "local_sensitive_file"), n.content;
// @rule house.quiet: nothing is said of `n`
deny(n, "never") <-- resource(n, "no_such_type");
"#;

const CHANGED: [&str; 3] =
    ["-var=size=large", "-var=password=canary-two", "-exclude=terraform_data.out"];

/// One that was applied.
fn applied() -> Folder {
    let folder = Folder::new(&[("main.tf", MAIN), ("policies/house.rules", RULES)]);
    folder.run(&["apply", "-auto-approve"]);
    folder
}

fn plan<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["plan"].iter().chain(&CHANGED).chain(more).copied().collect()
}

#[test]
fn a_comment_tells_the_plan_and_no_secret() {
    let folder = applied();
    let comment = folder.run(&plan(&["-markdown"]));
    assert!(comment.starts_with("### Plan: "), "{comment}");
    for part in ["#### Problems", "#### Policies", "#### Changes", "#### Left out"] {
        assert!(comment.contains(&format!("\n{part}\n")), "{part} in {comment}");
    }
    assert!(
        comment.contains("<b>create</b> 5 × <code>terraform_data.many&#91;0&#93;</code>"),
        "{comment}"
    );
    assert!(comment.contains("(sensitive value)"), "what is hidden is named");
    assert!(!comment.contains("canary"), "{comment}");
    assert!(comment.contains("ask &#60;b&#62;the team"), "{comment}");
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
    assert_eq!(comment, folder.run(&plan(&["-markdown"])), "two comments of one plan");
    let whole = folder.run(&["plan", "-var=size=large", "-markdown"]);
    let failed = "\n#### Checks\n\n- <b>fail</b> <code>check.size</code> It is &#60;large&#62;.\n";
    assert!(whole.contains(failed), "{whole}");
    assert!(whole.contains("\n#### Outputs\n"), "{whole}");
}

#[test]
fn a_comment_stands_alone_on_the_standard_output() {
    let folder = applied();
    let output = folder.output(&plan(&["-markdown"]));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.starts_with("### "), "{out}");
    assert!(err.contains("Warning: Resource targeting is in effect"), "{err}");
    for word in ["Refreshing state", "Reading...", "Left out, with", "Note: You didn't use"] {
        assert!(!out.contains(word) && !err.contains(word), "{word}: {out}{err}");
    }
    // A variable without a value is asked for at a terminal, and missing here.
    let folder = Folder::new(&[("main.tf", "variable \"needed\" {}\n")]);
    let (out, err) = folder.fails(&["plan", "-markdown"]);
    assert!(out.starts_with("### Planning failed\n") && out.contains("needed"), "{out}");
    assert!(err.contains("Error"), "{err}");
}

#[test]
fn beside_a_file_everything_is_told_as_ever() {
    let folder = applied();
    let usual = folder.run(&plan(&["-out=p"]));
    let told = folder.run(&plan(&["-out=p", "-markdown=plan.md", "-junit=plan.xml"]));
    assert_eq!(usual, told);
    let comment = folder.read("plan.md");
    assert!(comment.starts_with("### Plan: "), "{comment}");
    let of_saved = folder.run(&["show", "-markdown", "p"]);
    let part = |text: &str| text.split_once("#### Changes").expect("changes").1.to_owned();
    assert_eq!(part(&comment), part(&of_saved), "a saved plan is the same plan");
    assert!(!folder.read("plan.xml").contains("canary"));
}

#[test]
fn a_comment_tells_what_policies_ask_for() {
    let rules =
        "// @rule house.frozen: `n` is frozen\nexclude(n) <-- resource(n, _), name(n, \"b\");\n";
    let main = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n";
    let folder = Folder::new(&[("main.tf", main), ("policies/house.rules", rules)]);
    let comment = folder.run(&["plan", "-markdown"]);
    let asked = "Shaped by house.frozen (policies/house.rules:2)\n  terraform_data.b is left out\n";
    assert!(comment.contains(asked), "{comment}");
    assert!(comment.contains("#### Left out\n\n- <code>terraform_data.b</code>"), "{comment}");
}

#[test]
fn however_much_is_planned_a_comment_has_its_limit() {
    let main = "resource \"terraform_data\" \"a\" {\n  count = 3000\n  input = \"\u{1f600} ${count.index} ``` \"\n}\n";
    let folder = Folder::new(&[("main.tf", main)]);
    let comment = folder.run(&["plan", "-markdown"]);
    let length = comment.encode_utf16().count();
    assert!(length <= 65_536 && length > 60_000, "{length}");
    assert!(comment.contains("are missing: a comment has room for no more."), "{comment}");
    let main = main.replace("3000", "400");
    let folder = Folder::new(&[("main.tf", &main)]);
    let comment = folder.run(&["plan", "-markdown"]);
    let length = comment.encode_utf16().count();
    assert!(length <= 65_536 && length > 60_000, "{length}");
    for at in 0..400 {
        let name = format!("<code>terraform_data.a&#91;{at}&#93;</code>");
        assert!(comment.contains(&name), "{at} has a line at least");
    }
    assert!(comment.contains("\n````diff\n"), "a fence is longer than what it encloses");
    assert!(comment.contains("are told in a line: a comment has room for no more."), "{comment}");
}

#[test]
fn markup_in_names_stays_text() {
    let main = r#"
resource "terraform_data" "a" {
  for_each = toset(["</code></summary></details>\n\n# @team #1 <img src=x>", "`", "\u202egnirts"])
  input    = "</details>\n```\n# heading\n@team"
}
"#;
    let folder = Folder::new(&[("main.tf", main)]);
    let comment = folder.run(&["plan", "-markdown", "-full"]);
    assert_eq!(
        comment.matches("</details>").count(),
        3 + 3,
        "three of ours, three in fences: {comment}"
    );
    let outside: String = comment.split("````").step_by(2).collect();
    for sign in ["@team", "<img", "\n# ", "\u{202e}", "#1"] {
        assert!(!outside.contains(sign), "{sign} in {outside}");
    }
}

#[test]
fn a_report_has_planning_conditions_and_policies() {
    let folder = applied();
    folder.run(&["plan", "-var=size=large", "-var=password=canary-two", "-junit=plan.xml"]);
    let report = folder.read("plan.xml");
    let found = elements(&report);
    assert_eq!(found["testsuite"], 4, "{report}");
    for part in [
        "<testsuites name=\"plan\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"0\">",
        "<testcase name=\"plan\" classname=\"plan\">",
        "<failure message=\"It is &lt;large&gt;.\">",
        "<testcase name=\"house.quiet\" classname=\"house.quiet\"",
        "<system-out>warn: it holds (sensitive)</system-out>",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
    let broken = Folder::new(&[("main.tf", "output \"o\" {\n  value = local.none\n}\n")]);
    let (_, err) = broken.fails(&["plan", "-junit=plan.xml"]);
    assert!(err.contains("Error: "), "{err}");
    let report = broken.read("plan.xml");
    assert!(report.contains("errors=\"1\"") && report.contains("<error message="), "{report}");
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_done() {
    let folder = applied();
    for arguments in [
        &["plan", "-markdown=x.md", "-show-sensitive"] as &[&str],
        &["show", "-markdown", "-json"],
        &["show", "-markdown", "-html"],
        &["show", "-markdown", "-show-sensitive", "p"],
        &["show", "-markdown"],
    ] {
        let (out, err) = folder.fails(arguments);
        assert!(out.is_empty() && err.contains("Error"), "{arguments:?}: {out}{err}");
    }
    // Who asks for messages is told in one.
    let (out, err) = folder.fails(&["plan", "-markdown", "-json"]);
    assert!(err.is_empty() && out.contains("takes one of -json and -markdown"), "{out}{err}");
    let (_, err) = folder.fails(&["plan", "-markdown=no/such/folder/x.md"]);
    assert!(err.contains("The file that -markdown names"), "{err}");
    let (_, err) = folder.fails(&["plan", "-junit=no/such/folder/x.xml"]);
    assert!(err.contains("The file that -junit names"), "{err}");
}
