//! State files that look like those of a platform team: many types, tags, policies as text, identities that others use.

use std::fmt::Write as _;
use std::io::{Result, Write};
use std::path::Path;

/// The types of objects, each with how it is told apart.
pub const TYPES: &[&str] = &[
    "aws_vpc",
    "aws_subnet",
    "aws_security_group",
    "aws_instance",
    "aws_s3_bucket",
    "aws_iam_role",
    "aws_iam_policy",
    "aws_route_table",
    "aws_lb",
    "aws_lb_target_group",
    "aws_db_instance",
    "aws_kms_key",
    "aws_sqs_queue",
    "aws_sns_topic",
    "aws_lambda_function",
    "aws_cloudwatch_log_group",
    "aws_ecs_service",
    "aws_ecs_task_definition",
    "aws_route53_record",
    "aws_ebs_volume",
];

/// Of so many stacks, one is a network that the others use.
const NETWORKS: usize = 10;

/// Writes `fleet.hcl` and so many states of so many objects each.
pub fn generate(folder: &Path, stacks: usize, objects: usize) -> Result<()> {
    std::fs::create_dir_all(folder.join("states"))?;
    let settings =
        "states \"all\" {\n  paths  = [\"states/*.tfstate\"]\n  labels = { tier = \"gold\" }\n}\n";
    std::fs::write(folder.join("fleet.hcl"), settings)?;
    for stack in 0..stacks {
        state(folder, stack, objects, 1)?;
    }
    Ok(())
}

/// Writes so many of the states again, spread over all, each with an object more.
pub fn change(folder: &Path, stacks: usize) -> Result<()> {
    let all = std::fs::read_dir(folder.join("states"))?.count();
    for number in 0..stacks.min(all) {
        let (from, to) = (number * all / stacks, (number + 1) * all / stacks);
        let stack = from + mixed(number as u64) as usize % (to - from);
        let path = folder.join(format!("states/s{stack:05}.tfstate"));
        let text = std::fs::read_to_string(path)?;
        let serial: u64 = between(&text, "\"serial\": ", ",").parse().unwrap_or(1);
        let objects = text.matches("\"mode\":").count();
        state(folder, stack, objects + 1, serial + 1)?;
    }
    Ok(())
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).map_or("", |it| it.1);
    rest.split_once(after).map_or(rest, |it| it.0)
}

fn state(folder: &Path, stack: usize, objects: usize, serial: u64) -> Result<()> {
    let mut text = String::with_capacity(objects * 900);
    let _ = write!(
        text,
        "{{\n  \"version\": 4,\n  \"terraform_version\": \"1.9.5\",\n  \"serial\": {serial},\n  \"lineage\": \"00000000-0000-4000-8000-{stack:012}\",\n  \"outputs\": {{}},\n  \"resources\": ["
    );
    for number in 0..objects {
        object(&mut text, stack, number, number == 0);
    }
    text.push_str("\n  ],\n  \"check_results\": null\n}\n");
    let mut file = std::fs::File::create(folder.join(format!("states/s{stack:05}.tfstate")))?;
    file.write_all(text.as_bytes())
}

fn id(stack: usize, number: usize) -> String {
    let kind = TYPES[number % TYPES.len()].trim_start_matches("aws_").replace('_', "-");
    let short: String = kind.chars().take(4).collect();
    format!("{short}-{:016x}", mixed((stack * 1_000_003 + number) as u64))
}

/// A number that looks like no other.
fn mixed(number: u64) -> u64 {
    let mut it = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    it ^ (it >> 31)
}

fn object(text: &mut String, stack: usize, number: usize, is_first: bool) {
    let kind = TYPES[number % TYPES.len()];
    let own = id(stack, number);
    let network = stack - stack % NETWORKS;
    // Every second object is in the network of its own stack, the others in that of their team.
    let (of, subnet) =
        if number.is_multiple_of(2) { (stack, number - number % 20) } else { (network, 0) };
    let comma = if is_first { "" } else { "," };
    let acl = if mixed((stack * 31 + number) as u64).is_multiple_of(50) {
        "public-read"
    } else {
        "private"
    };
    let before = match number {
        0 => String::new(),
        _ => {
            let before = (number - 1) / 2;
            format!("\"{}.r{before}\"", TYPES[before % TYPES.len()])
        }
    };
    let extra = extra(kind, mixed((stack * 37 + number) as u64).is_multiple_of(50));
    let _ = write!(
        text,
        "{comma}\n    {{\n      \"mode\": \"managed\",\n      \"type\": \"{kind}\",\n      \"name\": \"r{number}\",\n      \"provider\": \"provider[\\\"registry.opentofu.org/hashicorp/aws\\\"]\",\n      \"instances\": [\n        {{\n          \"schema_version\": 1,\n          \"attributes\": {{\n            \"acl\": \"{acl}\",\n            \"arn\": \"arn:aws:{kind}:eu-central-1:{account:012}:thing/{own}\",\n            \"description\": null,\n            \"enabled\": true,\n            \"id\": \"{own}\",\n            \"name\": \"team-{team}-{kind}-{number}\",\n            \"policy\": \"{{\\\"Version\\\":\\\"2012-10-17\\\",\\\"Statement\\\":[{{\\\"Effect\\\":\\\"Allow\\\",\\\"Action\\\":\\\"s3:Get*\\\"}}]}}\",\n            \"region\": \"eu-central-1\",\n            \"rules\": [{{\"from_port\": 443, \"to_port\": 443, \"protocol\": \"tcp\", \"cidr_blocks\": [\"10.{team}.0.0/16\"]}}],\n            \"size\": {size},\n            \"tags\": {{\"team\": \"team-{team}\", \"environment\": \"prod\", \"cost-center\": \"cc-{team}\"}},\n            \"timeouts\": null,\n            \"vpc_id\": \"{vpc}\"{extra}\n          }},\n          \"sensitive_attributes\": [],\n          \"dependencies\": [{before}]\n        }}\n      ]\n    }}",
        account = stack % 100,
        team = stack / NETWORKS % 250,
        size = 8 + number % 64,
        vpc = id(of, subnet),
    );
}

/// What only objects of some types have; few are as rules want none to be.
fn extra(kind: &str, is_wrong: bool) -> &'static str {
    match (kind, is_wrong) {
        ("aws_kms_key", false) => ",\n            \"enable_key_rotation\": true",
        ("aws_kms_key", true) => ",\n            \"enable_key_rotation\": false",
        ("aws_sqs_queue" | "aws_sns_topic", false) => {
            ",\n            \"kms_master_key_id\": \"alias/queues\""
        }
        ("aws_sqs_queue" | "aws_sns_topic", true) => ",\n            \"kms_master_key_id\": \"\"",
        _ => "",
    }
}
