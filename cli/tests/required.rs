//! Where policies come from, as a process sees it: sources that are installed, a CLI configuration that requires policies, plans that
//! were made without them, and bounds on what rules take.

use std::path::PathBuf;
use std::process::Command;

const MAIN: &str = r#"
# entail:allow org.small: it is an experiment
resource "terraform_data" "a" {
  input = 20
}
"#;

const RULES: &str = r#"
// @rule org.small: `b` is larger than ten
deny(b, "{b} is too large") <-- resource(b, "terraform_data"), if b.input > 10;
"#;

/// A folder with a root module, and a CLI configuration with its policies beside it. Gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("entail-{name}-{}", std::process::id()));
        let folder = Folder(path);
        folder.write("root/main.tf", MAIN);
        folder.write("org/org.rules", RULES);
        folder.write("none.rc", "");
        folder
            .write("org.rc", "policies \"org\" {\n  source   = \"./org\"\n  required = true\n}\n");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("the folder can be made");
        std::fs::write(path, text).expect("the folder takes files");
    }

    /// Exit code, and standard output with what went to standard error behind it, in one line.
    fn said(&self, settings: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_entail"))
            .args(arguments)
            .current_dir(self.0.join("root"))
            .env_clear()
            .env("TF_CLI_CONFIG_FILE", self.0.join(settings))
            .output()
            .expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), text)
    }

    #[track_caller]
    fn check(&self, settings: &str, arguments: &[&str], code: i32, says: &[&str]) {
        let (found, text) = self.said(settings, arguments);
        assert_eq!(found, Some(code), "{text}");
        for it in says {
            assert!(text.contains(it), "{it:?} is missing: {text}");
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn required_policies_hold_whoever_waives_and_overrules() {
    let folder = Folder::new("required");
    let denied = "terraform_data.a is too large";
    folder.check("none.rc", &["policy", "check"], 0, &["0 denials"]);
    folder.check("org.rc", &["policy", "check"], 1, &[denied, "cannot be waived"]);
    folder.check("org.rc", &["policy", "check", "-no-policies"], 1, &[denied]);
    folder.check("org.rc", &["plan", "-no-policies"], 1, &[denied]);
    let overruled = ["plan", "-override=org.small", "-because=it is small to me"];
    folder.check("org.rc", &overruled, 1, &[denied, "Rule that cannot be overruled"]);
    folder.check("org.rc", &["apply", "-auto-approve"], 1, &[denied]);

    // The same rule in a folder of the configuration can be waived.
    folder.write("root/policies/small.rules", RULES);
    folder.check("none.rc", &["policy", "check"], 0, &["0 denials", "waived: it is an experiment"]);
    folder.check("org.rc", &["policy", "check"], 1, &["policies.org:org.small"]);
}

#[test]
fn a_plan_made_without_a_required_policy_is_not_applied() {
    let folder = Folder::new("plans");
    folder.write("root/main.tf", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    folder.check("none.rc", &["plan", "-out=free.plan"], 0, &[]);
    folder.check("org.rc", &["plan", "-out=judged.plan"], 0, &[]);
    let without = ["Plan made without a required policy", "requires policies.org", "Plan again"];
    folder.check("org.rc", &["apply", "free.plan"], 1, &without);

    // A policy that may be left out is another thing than one that is required.
    folder.write("may.rc", "policies \"org\" {\n  source = \"./org\"\n}\n");
    folder.check("may.rc", &["plan", "-out=may.plan"], 0, &[]);
    folder.check("org.rc", &["apply", "may.plan"], 1, &without);
    let beside = ["apply", "-override=org.small", "-because=x", "judged.plan"];
    folder.check("org.rc", &beside, 1, &["A saved plan has its policies"]);

    folder.write(
        "org/more.rules",
        "// @rule org.more: `b` is\nnote(b, \"is\") <-- resource(b, _);\n",
    );
    let other = ["another text of a required policy", "org/more.rules differs"];
    folder.check("org.rc", &["apply", "judged.plan"], 1, &other);
    std::fs::remove_file(folder.0.join("org/more.rules")).expect("it was written");
    folder.write("org/org.rules", &RULES.replace("10", "11"));
    folder.check("org.rc", &["apply", "judged.plan"], 1, &["org/org.rules differs"]);

    // Where it lies does not matter, what it says does.
    folder.write("elsewhere/o.rules", RULES);
    folder.write(
        "moved.rc",
        "policies \"other\" {\n  source   = \"./elsewhere\"\n  required = true\n}\npolicies \"same\" {\n  source   = \"./elsewhere\"\n  required = true\n}\n",
    );
    folder.check("moved.rc", &["apply", "judged.plan"], 0, &["Apply complete!"]);
}

#[test]
fn what_has_a_source_is_installed_first() {
    let folder = Folder::new("installed");
    let source = format!("file://{}", folder.0.join("org").display());
    let flag = format!("-policy={source}");
    let hint = format!("Install it with \"entail init -policy={source}\"");
    folder.check("none.rc", &["policy", "check", &flag], 2, &[&hint]);
    folder.check("none.rc", &["plan", &flag], 1, &[&hint]);
    folder.check("none.rc", &["get", &flag], 0, &["Installed file://"]);
    folder.check("none.rc", &["policy", "check", &flag], 0, &["waived: it is an experiment"]);
    let (_, listed) = folder.said("none.rc", &["policy", "list", &flag]);
    assert!(listed.contains(&format!("installed from {source} (h1:")), "{listed}");
    let (_, listed) = folder.said("none.rc", &["policy", "list", "-json", &flag]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("a document");
    let origin = &listed["rules"][0]["origin"];
    assert_eq!((&origin["kind"], &origin["address"]), (&"source".into(), &source.into()));

    folder.write("root/.terraform/policies/x", "");
    folder.write(
        "org.rc",
        "policies \"org\" {\n  source   = \"ftp://nowhere/x\"\n  required = true\n}\n",
    );
    for command in [&["policy", "check"][..], &["plan"], &["apply", "-auto-approve"]] {
        let (code, text) = folder.said("org.rc", command);
        assert!(code != Some(0), "{text}");
        assert!(text.contains("Install it with \"entail init\""), "{text}");
    }
    folder.check("org.rc", &["init"], 1, &["Failed to install policies", "ftp"]);
}

#[test]
fn bounds_are_given_and_named() {
    let folder = Folder::new("bounds");
    let many: String =
        (0..100).map(|it| format!("resource \"terraform_data\" \"r{it}\" {{}}\n")).collect();
    folder.write("root/main.tf", &many);
    folder.write("root/policies/a.rules", "// @rule a.pairs: `a` and `b` are two\nnote(a, \"{a} {b}\") <-- resource(a, _), resource(b, _);\n");
    folder.check("none.rc", &["policy", "check"], 0, &["10000 notes"]);
    let names = |bound: &str| {
        ["rule `a.pairs`", "`resource(b, _)`"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("-policy-limit={bound}=NUMBER")])
            .collect::<Vec<_>>()
    };
    let query = &["query", "-config", "resource(a, _), resource(b, _)", "-policy-limit=steps=2000"];
    folder.check("none.rc", query, 1, &["more than 2000 steps"]);
    for command in [&["policy", "check"][..], &["plan"], &["apply", "-auto-approve"]] {
        for bound in ["rows", "steps"] {
            let given = format!("-policy-limit={bound}=5000");
            let (code, text) = folder.said("none.rc", &[command, &[&given]].concat());
            assert_eq!(code, Some(if command[0] == "policy" { 2 } else { 1 }), "{text}");
            for it in names(bound) {
                assert!(text.contains(&it), "{it:?} is missing: {text}");
            }
        }
    }
    let wrong = "Invalid -policy-limit";
    for given in ["rows", "rows=0", "rows=many", "lines=5", "time=-1"] {
        let given = format!("-policy-limit={given}");
        folder.check("none.rc", &["policy", "check", &given], 2, &[wrong]);
    }
    folder.check("none.rc", &["plan", "-policy-limit=time=30", "-policy-limit=rows=50000"], 0, &[]);
}

#[test]
fn the_library_says_that_its_tests_are_elsewhere() {
    let folder = Folder::new("library");
    let says = ["The library has no tests here", "-policy=library:aws"];
    folder.check("none.rc", &["policy", "test", "library:aws"], 2, &says);
}

#[test]
fn what_shapes_a_plan_is_named_bounded_and_required_as_well() {
    let folder = Folder::new("shapes");
    folder.write(
        "org/org.rules",
        "// @rule org.out: `n` is left out\nexclude(n) <-- resource(n, _), name(n, \"a\");\n",
    );
    let out = "Excluded: 1";
    folder.check("none.rc", &["whatif"], 0, &["Excluded: 0"]);
    folder.check("none.rc", &["whatif", "-policy=../org"], 0, &[out]);
    folder.check("none.rc", &["whatif", "-policy=../org", "-no-policies"], 0, &["Excluded: 0"]);
    folder.check("org.rc", &["whatif", "-no-policies"], 0, &[out]);
    let bounded = ["whatif", "-policy=../org", "-policy-limit=steps=1"];
    folder.check("none.rc", &bounded, 1, &["more than 1 steps", "-policy-limit=steps=NUMBER"]);
}
