//! What the program tells of its own steps: in a log, and to a collector of OpenTelemetry.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const CONFIG: &str = r#"
variable "secret" {
  sensitive = true
  default   = "canary-of-the-log"
}
resource "terraform_data" "one" {
  input = var.secret
}
"#;

fn run(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in ["TF_LOG", "TF_LOG_CORE", "TF_LOG_PATH", "TF_LOG_PROVIDER", "OTEL_TRACES_EXPORTER"]
    {
        command.env_remove(name);
    }
    command.env("TF_CLI_CONFIG_FILE", "/dev/null").envs(environment.iter().copied());
    command.output().expect("it runs")
}

#[test]
fn steps_are_told_where_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("main.tf"), CONFIG).expect("a file");
    let apply = ["apply", "-auto-approve", "-no-color"];
    let told = run(at, &apply, &[("TF_LOG", "info")]);
    let log = String::from_utf8_lossy(&told.stderr);
    for wanted in
        ["lock taken", "terraform_data.one", "is done elapsed=", "state written", "lock given back"]
    {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    assert!(!log.contains("canary") && !log.contains("DEBUG"), "{log}");

    let quiet = run(at, &["plan"], &[("TF_LOG", "info"), ("TF_LOG_CORE", "off")]);
    assert!(quiet.stderr.is_empty(), "{}", String::from_utf8_lossy(&quiet.stderr));

    let kept = [("TF_LOG", "json"), ("TF_LOG_PATH", "own.log")];
    let quiet = run(at, &["plan"], &kept);
    assert!(quiet.stderr.is_empty(), "{}", String::from_utf8_lossy(&quiet.stderr));
    let log = std::fs::read_to_string(at.join("own.log")).expect("it is written");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
    }
    assert!(log.contains("state read") && !log.contains("canary"), "{log}");
}

#[cfg(feature = "otel")]
mod collected {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn steps_are_sent_to_a_collector() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        std::fs::write(at.join("main.tf"), CONFIG).expect("a file");
        let collector = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", collector.local_addr().expect("an address"));
        let collecting = std::thread::spawn(move || {
            let (stream, _) = collector.accept().expect("somebody comes");
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a line");
                if let Some(it) = line.to_lowercase().strip_prefix("content-length:") {
                    length = it.trim().parse().expect("a number");
                }
                if line.trim().is_empty() {
                    break;
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            reader.get_mut().write_all(answer).expect("it is heard");
            (head, String::from_utf8_lossy(&body).into_owned())
        });
        let trace = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
        let environment = [
            ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
            ("OTEL_SERVICE_NAME", "a-name-of-mine"),
            ("TRACEPARENT", trace),
        ];
        let told = run(at, &["apply", "-auto-approve", "-no-color"], &environment);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let (head, body) = collecting.join().expect("it collects");
        assert!(head.starts_with("POST /v1/traces"), "{head}");
        for wanted in ["a-name-of-mine", "terraform_data.one", "command", "step", "plan"] {
            assert!(body.contains(wanted), "{wanted}: {body}");
        }
        assert!(!body.contains("canary"), "{body}");

        // A collector that is not there is no failure of the command.
        let told = run(at, &["plan", "-no-color"], &environment);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let protocol = [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        for other in [&protocol[..], &[("OTEL_TRACES_EXPORTER", "console")]] {
            let told = run(at, &["plan", "-no-color"], other);
            let words =
                String::from_utf8_lossy(&told.stderr) + String::from_utf8_lossy(&told.stdout);
            assert!(told.status.success() && words.contains("No traces are sent"), "{words}");
        }
    }
}
