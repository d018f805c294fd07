//! Policies that shape plans: they say what flags say, and steps keep the order and the turns that they ask for.

use crate::support::place::Place;

const CONFIG: &str = r#"
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input    = each.key
}

resource "terraform_data" "b" {
  input = terraform_data.a["x"].id
}

module "m" {
  source = "./m"
}
"#;

/// What a plan does with each object, in a stable order.
fn changes(place: &Place, arguments: &[&str]) -> Vec<String> {
    let out = place.succeed(&[&["plan", "-json"], arguments].concat());
    let lines = out.lines().filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let changes = lines.filter(|it| it["type"] == "planned_change").map(|it| it["change"].clone());
    let mut found: Vec<String> =
        changes.map(|it| format!("{} {}", it["resource"]["addr"], it["action"])).collect();
    found.sort();
    assert!(!found.is_empty(), "{out}");
    found
}

#[test]
fn a_policy_says_what_a_flag_says() {
    let place = Place::new(CONFIG);
    place.write("m/main.tf", "resource \"terraform_data\" \"c\" {}\n");
    place.succeed(&["init"]);
    place.succeed(&["apply", "-auto-approve"]);
    place.write("main.tf", &CONFIG.replace("each.key\n", "\"${each.key}!\"\n"));
    let is_a = "resource(n, _), name(n, \"a\"), key(n, \"x\")";
    let is_m = "module_instance(n), address(n, \"module.m\")";
    let said = [
        ("-exclude=terraform_data.a[\"x\"]", format!("exclude(n) <-- {is_a};")),
        ("-target=terraform_data.a[\"x\"]", format!("target(n) <-- {is_a};")),
        ("-replace=terraform_data.a[\"x\"]", format!("replace(n) <-- {is_a};")),
        ("-target=module.m", format!("target(n) <-- {is_m};")),
        ("-exclude=module.m", format!("exclude(n) <-- {is_m};")),
    ];
    for (flag, rule) in said {
        for mode in ["-refresh=true", "-destroy"] {
            // What is only a target of the module has nothing to do but when it goes; what is replaced is not destroyed.
            let is_empty = flag == "-target=module.m" && mode != "-destroy";
            if is_empty || (flag.starts_with("-replace") && mode == "-destroy") {
                continue;
            }
            let by_flag = changes(&place, &[flag, mode]);
            place.write("said.rules", &format!("// @rule said: said\n{rule}\n"));
            assert_eq!(changes(&place, &["-policy=said.rules", mode]), by_flag, "{flag} {mode}");
        }
    }
}

/// What steps wrote when they began and ended.
fn log_of(rules: &str, is_saved: bool) -> Vec<String> {
    let place = Place::new(
        r#"
        resource "terraform_data" "a" {
          for_each = toset(["1", "2", "3", "4"])
          provisioner "local-exec" {
            command = "echo begin ${each.key} >> log; sleep 0.1; echo end ${each.key} >> log"
          }
        }
        "#,
    );
    place.write("policies/order.rules", rules);
    match is_saved {
        true => {
            place.succeed(&["plan", "-out=plan"]);
            place.succeed(&["apply", "plan"]);
        }
        false => {
            place.succeed(&["apply", "-auto-approve"]);
        }
    }
    place.text("log").lines().map(str::to_owned).collect()
}

#[test]
fn steps_of_a_group_run_one_at_a_time() {
    let rules = "// @rule alone: one at a time\none_at_a_time(n, \"g\") <-- resource(n, _);\n";
    for is_saved in [false, true] {
        let log = log_of(rules, is_saved);
        assert_eq!(log.len(), 8);
        for pair in log.chunks(2) {
            assert_eq!(pair[0].replace("begin", "end"), pair[1], "{log:?}");
        }
    }
}

#[test]
fn what_is_to_come_first_has_ended_when_the_other_begins() {
    let rules = r#"
// @rule first: `n` comes before `m`
before(n, m) <-- resource(n, _), resource(m, _), key(n, "4"), key(m, k), if k != "4";
"#;
    for is_saved in [false, true] {
        let log = log_of(rules, is_saved);
        assert_eq!(log[..2], ["begin 4", "end 4"], "{log:?}");
    }
}
