//! A lake, read by a program that knows nothing of us: DuckDB, where Python has it.

use serde_json::json;

use crate::support::{Fleet, resource};

/// Reads the files that the catalogue names, and counts objects by type and values by attribute.
const SCRIPT: &str = r#"
import json, duckdb
catalogue = json.load(open("lake/catalogue.json"))
def table(name):
    files = [ "lake/" + it["path"] for it in catalogue["files"][name].values() ]
    return f"read_parquet({files})"
rows = duckdb.sql(f"""
    SELECT e.stack, e.node, e.type, json_extract_string(a.value, '$') AS acl
    FROM {table('existing')} e JOIN {table('attribute')} a USING (stack, node)
    WHERE a.attribute = 'acl' ORDER BY ALL
""").fetchall()
print(json.dumps({ "rows": rows, "uses": duckdb.sql(f"SELECT * FROM {table('uses')} ORDER BY ALL").fetchall() }))
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
fn another_program_reads_the_files_that_the_catalogue_names() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = std::process::Command::new(&python).args(["-c", "import duckdb"]).output();
    if !has.is_ok_and(|it| it.status.success()) {
        eprintln!(
            "SKIPPED: {python} has no DuckDB (`pip install duckdb`, or PYTHON names another)"
        );
        return;
    }
    let fleet = Fleet::new("states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n");
    for number in 0..20 {
        let bucket = resource(
            "aws_s3_bucket",
            "b",
            json!({"id": format!("bucket-{number:04}"), "acl": "private"}),
        );
        let user = resource(
            "test_user",
            "u",
            json!({"id": format!("user-{number:06}"), "of": format!("bucket-{:04}", number / 2)}),
        );
        fleet.state(&format!("s/n{number:02}.tfstate"), &format!("l{number}"), &[bucket, user]);
    }
    fleet.run(&["index"]).ok();
    let output = std::process::Command::new(python)
        .args(["-c", SCRIPT])
        .current_dir(fleet.root())
        .output()
        .expect("it starts");
    let json = crate::support::Ran::of(&output).json();
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 20, "{json}");
    assert_eq!(rows[3], json!(["s/n03", "aws_s3_bucket.b", "aws_s3_bucket", "private"]));
    let uses = json["uses"].as_array().expect("rows");
    assert_eq!(uses.len(), 20, "{json}");
    assert_eq!(uses[5], json!(["s/n05", "test_user.u", "s/n02", "aws_s3_bucket.b"]));
}
