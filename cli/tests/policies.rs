//! `policy …` as a process: exit codes, and documents that others read.

use std::path::PathBuf;
use std::process::Command;

const MAIN: &str = r#"
resource "aws_s3_bucket" "a" {
  acl = "public-read" # a & b
}
"#;

const RULES: &str = r#"
// @rule s3.public: everyone may read the bucket `b`
// @severity high
// @id X_1
// @help make it "private" <now>
// @see https://example.com/s3
deny(b, "{b} | is <public>") <-- resource(b, "aws_s3_bucket"), b.acl == "public-read";
// @rule s3.tags: `b` has no tags
warn(b, "no tags") <-- resource(b, "aws_s3_bucket"), !b.tags;
// @rule s3.name: `b` is a database
deny(b, "a database") <-- resource(b, "aws_db_instance");
"#;

const TESTS: &str = r#"
case "public" {
  configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"public-read\" }"
  expect "s3.public" { on = ["aws_s3_bucket.a"] }
  expect "s3.tags" {}
}
"#;

/// A folder of its own for each test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, rules: &str, tests: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("entail-policies-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("policies")).expect("the folder can be made");
        let write = |name: &str, text: &str| {
            std::fs::write(path.join(name), text).expect("the folder takes files");
        };
        write("main.tf", MAIN);
        write("policies/s3.rules", rules);
        write("policies/s3.policytest.hcl", tests);
        Folder(path)
    }

    /// Exit code and standard output.
    fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_entail"))
            .args(arguments)
            .current_dir(&self.0)
            .env_clear()
            .output()
            .expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn document(&self, arguments: &[&str]) -> (Option<i32>, serde_json::Value) {
        let (code, text) = self.said(arguments);
        (code, serde_json::from_str(&text).expect("the output is JSON"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn tests_exit_with_what_came_of_them() {
    let folder = Folder::new("test", RULES, TESTS);
    let (code, text) = folder.said(&["policy", "test", "-coverage", "-mutate"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 passed, 0 failed."), "{text}");
    assert!(text.contains("Coverage: 2 of 3 rules met, 4 of 5 premises."), "{text}");
    assert!(text.contains("no test misses, in s3.public:"), "{text}");

    let unknown = TESTS.replace("s3.tags", "s3.tag");
    let folder = Folder::new("test-unknown", RULES, &unknown);
    let (code, text) = folder.said(&["policy", "test"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("Did you mean s3.tags?"), "{text}");

    let wrong = TESTS.replace("s3.tags", "s3.name");
    let folder = Folder::new("test-wrong", RULES, &wrong);
    let (code, text) = folder.said(&["policy", "test"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("expected a verdict of s3.name on anything; came none"), "{text}");
    assert!(text.contains("expected no verdict of s3.tags on aws_s3_bucket.a"), "{text}");
    let (code, document) = folder.document(&["policy", "test", "-json", "policies"]);
    assert_eq!(code, Some(1));
    assert_eq!(document["summary"]["failed"], 1);
    assert_eq!(document["files"][0]["cases"][0]["failures"][0]["kind"], "missing");
    assert_eq!(document["files"][0]["cases"][0]["failures"][0]["line"], 5);

    let folder = Folder::new("test-faulty", "deny(b, \"x\") <-- resorce(b, _);", TESTS);
    assert_eq!(folder.said(&["policy", "test"]).0, Some(2));
    assert_eq!(folder.said(&["policy", "test", "nowhere"]).0, Some(2));
}

/// 1 says that something was judged, and found; a mistake on the command line never does.
#[test]
fn wrong_flags_are_no_verdict() {
    let folder = Folder::new("flags", RULES, TESTS);
    let code = |words: &str| folder.said(&words.split(' ').collect::<Vec<_>>()).0;
    for command in ["check", "test", "lint"] {
        assert_eq!(code(&format!("policy {command} -nothing")), Some(2), "{command}");
    }
    assert_eq!(code("policy check a b"), Some(2));
    assert_eq!(code("policy check -json -sarif"), Some(2));
    assert_eq!(code("policy check -policy-limit=x"), Some(2));
    assert_eq!(code("policy check -var x"), Some(2));
    assert_eq!(code("policy test -policy-limit=x"), Some(2));
    // Elsewhere as in OpenTofu.
    assert_eq!(code("policy list -nothing"), Some(1));
    assert_eq!(code("query -nothing"), Some(1));
    assert_eq!(code("query -config -plan=p resource(n,t)"), Some(1));
}

#[test]
fn sarif_holds_rules_results_and_places() {
    let folder = Folder::new("sarif", RULES, TESTS);
    let (code, document) = folder.document(&["policy", "check", "-sarif"]);
    assert_eq!(code, Some(1));
    let run = &document["runs"][0];
    assert_eq!(document["version"], "2.1.0");
    let rules = &run["tool"]["driver"]["rules"];
    assert_eq!(rules.as_array().map(Vec::len), Some(3));
    assert_eq!(rules[0]["helpUri"], "https://example.com/s3");
    assert_eq!(rules[0]["properties"]["tags"][0], "X_1");
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"s3.public".into(), &"error".into()));
    assert_eq!(result["ruleIndex"], 0);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "main.tf");
    assert_eq!(place["region"]["startLine"], 2);
    let rule = &result["relatedLocations"][0]["physicalLocation"];
    assert_eq!(rule["artifactLocation"]["uri"], "policies/s3.rules");
    assert_eq!(rule["region"]["startLine"], 7);

    // A fingerprint stays where lines move.
    let moved = format!("# one line\n# and another\n{MAIN}");
    std::fs::write(folder.0.join("main.tf"), moved).expect("the folder takes files");
    let (_, again) = folder.document(&["policy", "check", "-sarif"]);
    let again = &again["runs"][0]["results"][0];
    assert_eq!(again["partialFingerprints"], result["partialFingerprints"]);
    assert_ne!(again["locations"], result["locations"]);
}

#[test]
fn junit_and_markdown_escape_what_they_hold() {
    let folder = Folder::new("forms", RULES, TESTS);
    let (code, xml) = folder.said(&["policy", "check", "-junit"]);
    assert_eq!(code, Some(1));
    assert!(xml.contains("<testsuites name=\"policies\" tests=\"3\" failures=\"1\""), "{xml}");
    assert!(xml.contains("message=\"aws_s3_bucket.a | is &lt;public&gt;\""), "{xml}");
    assert!(xml.contains("make it &#34;private&#34; &lt;now&gt;"), "{xml}");
    assert!(xml.contains("<system-out>warn: no tags</system-out>"), "{xml}");
    let (code, text) = folder.said(&["policy", "check", "-markdown"]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("### Policies: denied\n"), "{text}");
    let row = "| `s3.public` | high | `aws_s3_bucket.a` (main.tf:2) | aws\\_s3\\_bucket.a \\| is &lt;public&gt;<br>";
    assert!(text.contains(row), "{text}");
    assert_eq!(folder.said(&["policy", "check", "-markdown", "-junit"]).0, Some(2));
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = Folder::new("list", RULES, TESTS);
    let (code, document) = folder.document(&["policy", "list", "-json"]);
    assert_eq!(code, Some(0));
    assert_eq!(document["rules"][0]["rule"], "s3.public");
    assert_eq!(document["rules"][0]["severity"], "high");
    let (_, text) = folder.said(&["policy", "list"]);
    assert!(
        text.starts_with("policies: beside the root module\n  s3.public (X_1): everyone may read"),
        "{text}"
    );
    let (code, text) = folder.said(&["policy", "docs"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("| `resource(n, t)` | Node, Value |"), "{text}");
    assert!(text.contains("| `deny(n, t)` | Node, Value |"), "{text}");
    assert!(!text.contains("core::") && !text.contains("model::"), "{text}");
    let (code, text) = folder.said(&["policy", "docs", "s3.public"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("  see: https://example.com/s3\n"), "{text}");
    assert_eq!(folder.said(&["policy", "docs", "s3.pubic"]).0, Some(1));
}

#[test]
fn lints_and_layout_have_exit_codes() {
    let folder = Folder::new("lint", RULES.trim_start(), TESTS);
    let (code, text) = folder.said(&["policy", "lint"]);
    assert_eq!((code, text.as_str()), (Some(0), "Nothing found in 1 file.\n"));
    let (code, text) = folder.said(&["policy", "fmt", "-check"]);
    assert_eq!((code, text.as_str()), (Some(0), ""));

    let folder = Folder::new("lint-found", "own( n )<--plan( n );\n", TESTS);
    let (code, document) = folder.document(&["policy", "lint", "-json"]);
    assert_eq!(code, Some(1));
    assert_eq!(document["findings"][0]["lint"], "unread-relation");
    let (code, text) = folder.said(&["policy", "fmt", "-check", "-diff"]);
    assert_eq!(code, Some(3));
    assert!(text.contains("+own(n) <-- plan(n);\n"), "{text}");
    let (code, text) = folder.said(&["policy", "fmt"]);
    assert_eq!((code, text.as_str()), (Some(0), "policies/s3.rules\n"));
    let written = std::fs::read_to_string(folder.0.join("policies/s3.rules"));
    assert_eq!(written.ok().as_deref(), Some("own(n) <-- plan(n);\n"));
    assert_eq!(folder.said(&["policy", "fmt"]), (Some(0), String::new()));
}
