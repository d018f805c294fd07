//! The AWS plugin against a simulated cloud: everything that can happen to an object, and states that pass between
//! programs.
//!
//! `ENTAIL_PLUGIN_MIRROR` names a filesystem mirror with the plugin; `moto_server` must be on `PATH`, and `terraform` for
//! the part with another program.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::binary;

const CONFIG: &str = r#"
terraform {
  required_providers {
    aws = {
      source  = "registry.terraform.io/hashicorp/aws"
      version = "5.100.0"
    }
  }
}
variable "name" {
  default = "first"
}
variable "tag" {
  default = "one"
}
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  s3_use_path_style           = true
  endpoints {
    dynamodb = "ENDPOINT"
    ec2      = "ENDPOINT"
    iam      = "ENDPOINT"
    s3       = "ENDPOINT"
    sqs      = "ENDPOINT"
    ssm      = "ENDPOINT"
    sts      = "ENDPOINT"
  }
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs-${var.name}"
  tags   = { Tag = var.tag }
}
resource "aws_sqs_queue" "jobs" {
  name                       = "jobs"
  visibility_timeout_seconds = var.tag == "one" ? 30 : 60
  tags                       = { Bucket = aws_s3_bucket.logs.id }
}
resource "aws_iam_role" "worker" {
  name = "worker"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Action = "sts:AssumeRole", Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" } }]
  })
}
resource "aws_iam_role_policy" "queue" {
  name   = "queue"
  role   = aws_iam_role.worker.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Action = ["sqs:*"], Effect = "Allow", Resource = aws_sqs_queue.jobs.arn }]
  })
}
resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
  tags       = { Tag = var.tag }
}
resource "aws_subnet" "each" {
  for_each   = { a = 1, b = 2 }
  vpc_id     = aws_vpc.main.id
  cidr_block = cidrsubnet(aws_vpc.main.cidr_block, 8, each.value)
}
resource "aws_security_group" "web" {
  name   = "web"
  vpc_id = aws_vpc.main.id
  ingress {
    from_port   = 80
    to_port     = 80
    protocol    = "tcp"
    cidr_blocks = [for it in aws_subnet.each : it.cidr_block]
  }
}
resource "aws_dynamodb_table" "items" {
  name         = "items"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
}
resource "aws_ssm_parameter" "table" {
  name  = "/app/table"
  type  = "String"
  value = "${aws_dynamodb_table.items.name} in ${aws_vpc.main.cidr_block}"
}
output "queue" {
  value = aws_sqs_queue.jobs.url
}
"#;

/// A simulated cloud on a port of its own; it ends with the test.
pub(super) struct Cloud {
    server: Child,
    /// Its host and port.
    pub(super) address: String,
}

impl Cloud {
    pub(super) fn start() -> Option<Cloud> {
        let mut server = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(server.stderr.take()?).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|it| {
            let address = it.split("http://").nth(1)?.split_whitespace().next()?;
            Some(address.to_owned())
        })?;
        // What it goes on to say is taken, so that it never waits for room.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Cloud { server, address })
    }

    /// Changes a parameter behind everybody's back.
    fn set_parameter(&self, name: &str, value: &str) {
        let body =
            format!(r#"{{"Name":"{name}","Value":"{value}","Type":"String","Overwrite":true}}"#);
        let scope = "Credential=test/20250101/us-east-1/ssm/aws4_request";
        let request = format!(
            "POST / HTTP/1.1\r\nHost: {}\r\nX-Amz-Target: AmazonSSM.PutParameter\r\nContent-Type: application/x-amz-json-1.1\r\n\
             Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).expect("the cloud answers");
        stream.write_all(request.as_bytes()).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is answered");
        assert!(answer.contains(" 200 "), "{answer}");
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(mirror: &Path, cloud: &Cloud) -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a folder") };
        let config = CONFIG.replace("ENDPOINT", &format!("http://{}", cloud.address));
        place.write("main.tf", &config);
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        place.write("cli.tfrc", &text);
        place
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("it is written");
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> (String, Option<i32>) {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("cli.tfrc"))
            .env("HOME", self.folder.path())
            .env("NO_COLOR", "1")
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (text, output.status.code())
    }

    /// Runs the binary, and looks for parts of what it says.
    fn entail(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let (text, found) = self.run(binary::path(), arguments);
        assert_eq!(found, Some(code), "{arguments:?}\n{text}");
        for part in parts {
            assert!(text.contains(part), "{arguments:?} does not say {part:?}:\n{text}");
        }
    }

    fn state(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("terraform.tfstate")).unwrap_or_default()
    }
}

fn mirror() -> Option<PathBuf> {
    let mirror = PathBuf::from(std::env::var_os("ENTAIL_PLUGIN_MIRROR")?);
    let plugin = mirror.join("registry.terraform.io/hashicorp/aws/5.100.0");
    plugin.is_dir().then_some(mirror)
}

#[test]
fn the_aws_plugin_makes_changes_replaces_adopts_and_destroys() {
    let Some(mirror) = mirror() else {
        eprintln!(
            "LEFT OUT: no test with the AWS plugin; ENTAIL_PLUGIN_MIRROR names no mirror that has it"
        );
        return;
    };
    let Some(cloud) = Cloud::start() else {
        eprintln!("LEFT OUT: no test with the AWS plugin; moto_server is not on PATH");
        return;
    };
    let place = Place::new(&mirror, &cloud);
    let unchanged = ["plan", "-detailed-exitcode"];
    place.entail(&["init"], 0, &[]);
    place.entail(&["apply", "-auto-approve"], 0, &["Resources: 10 added, 0 changed, 0 destroyed."]);
    place.entail(&unchanged, 0, &["No changes."]);

    let other_tag = ["-var=tag=two"];
    place.entail(
        &["apply", "-auto-approve", "-var=tag=two"],
        0,
        &["0 added, 3 changed, 0 destroyed."],
    );
    place.entail(&[&unchanged[..], &other_tag].concat(), 0, &["No changes."]);

    let replaced = ["aws_s3_bucket.logs must be replaced", "forces replacement"];
    place.entail(&["plan", "-var=tag=two", "-var=name=second"], 0, &replaced);
    place.entail(
        &["apply", "-auto-approve", "-var=tag=two", "-var=name=second"],
        0,
        &["1 added, 1 changed, 1 destroyed."],
    );

    cloud.set_parameter("/app/table", "drifted");
    let both = ["-var=tag=two", "-var=name=second"];
    let drifted = ["aws_ssm_parameter.table will be updated in-place", "(sensitive value)"];
    place.entail(&[&["plan"][..], &both].concat(), 0, &drifted);
    place.entail(&[&["apply", "-auto-approve"][..], &both].concat(), 0, &["1 changed"]);

    place.entail(&["state", "rm", "aws_sqs_queue.jobs"], 0, &[]);
    let url = format!("http://{}/123456789012/jobs", cloud.address);
    place
        .write("import.tf", &format!("import {{\n  to = aws_sqs_queue.jobs\n  id = {url:?}\n}}\n"));
    place.entail(&[&["apply", "-auto-approve"][..], &both].concat(), 0, &["1 imported, 0 added"]);
    place.entail(&[&unchanged[..], &both].concat(), 0, &["No changes."]);
    std::fs::remove_file(place.folder.path().join("import.tf")).expect("it was there");

    passes_to_another_program_and_back(&place, &both);

    place.entail(&[&["destroy", "-auto-approve"][..], &both].concat(), 0, &["10 destroyed."]);
    assert!(!place.state().contains("aws_"), "{}", place.state());
}

fn passes_to_another_program_and_back(place: &Place, variables: &[&str]) {
    let terraform = Path::new("terraform");
    if Command::new(terraform).arg("version").output().is_err() {
        eprintln!("LEFT OUT: no state is handed to terraform; it is not on PATH");
        return;
    }
    for arguments in [&["init"][..], &["plan", "-detailed-exitcode"], &["apply", "-auto-approve"]] {
        let variables = if arguments[0] == "init" { &[] } else { variables };
        let (text, code) = place.run(terraform, &[arguments, variables].concat());
        assert_eq!(code, Some(0), "terraform {arguments:?}\n{text}");
    }
    place.entail(&[&["plan", "-detailed-exitcode"][..], variables].concat(), 0, &["No changes."]);
}
