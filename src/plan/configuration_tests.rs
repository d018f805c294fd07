//! The configuration's part of a plan's document.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use serde_json::Value as Json;

use super::configuration::document;
use crate::config::tests::{folder, load, load_folder};
use crate::diagnostic::Sources;
use crate::schema::{AttributeSchema, BlockSchema, ProviderSchema, Schema};
use crate::value::Type;

#[test]
fn blocks_for_an_attribute_stand_for_its_value() {
    let element = Type::object(vec![("from".into(), Type::NUMBER), ("to".into(), Type::STRING)]);
    let rules = AttributeSchema::of(Type::list(element));
    let attributes = BTreeMap::from([("rule".into(), rules)]);
    let block = BlockSchema { attributes, ..BlockSchema::default() };
    let resource = Arc::new(Schema { block, ..Schema::default() });
    let resources = [("t_a".into(), resource)].into_iter().collect();
    let all = Arc::new(ProviderSchema { resources, ..ProviderSchema::default() });
    let config = load(
        r#"-- main.tf --
terraform {
  required_providers {
    t = {
      source  = "a/t"
      version = "~> 1.2, >= 1"
    }
  }
}
provider "t" {}
resource "t_a" "known" {
  rule { from = 1 }
}
resource "t_a" "later" {
  rule { from = 1 }
  rule { to = t_a.known.id }
}
"#,
    );
    let text = document(&config, &|_| Some(all.clone()), &Sources::default());
    let json: Json = serde_json::from_str(&text).expect("it is JSON");
    let of = |at: usize| json["root_module"]["resources"][at]["expressions"].to_string();
    expect![[r#"{"rule":{"constant_value":[{"from":1,"to":null}]}}"#]].assert_eq(&of(0));
    expect![[r#"{"rule":{"references":["t_a.known.id","t_a.known"]}}"#]].assert_eq(&of(1));
    expect![[r#"">= 1.0.0, ~> 1.2""#]]
        .assert_eq(&json["provider_config"]["t"]["version_constraint"].to_string());
}

#[test]
fn every_provider_that_a_module_needs_is_listed() {
    let all = Arc::new(ProviderSchema::default());
    let config = load(
        r#"-- main.tf --
terraform {
  required_providers {
    random = { source = "hashicorp/null" }
    other = {
      source  = "hashicorp/random"
      version = ">= 3"
    }
  }
}
provider "tls" {
  alias = "only"
}
provider "other" {
  alias = "one"
}
resource "null_resource" "a" {}
resource "random_id" "b" { provider = other.one }
import {
  to = time_static.c
  id = "x"
}
"#,
    );
    let json: Json =
        serde_json::from_str(&document(&config, &|_| Some(all.clone()), &Sources::default()))
            .expect("JSON");
    let listed = json["provider_config"].as_object().expect("providers").iter().map(|(key, it)| {
        let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        format!("{key}: {} {}", text("full_name"), text("version_constraint")).trim_end().to_owned()
    });
    expect![[r#"
        null: registry.opentofu.org/hashicorp/null
        other: registry.opentofu.org/hashicorp/random >= 3.0.0
        other.one: registry.opentofu.org/hashicorp/random >= 3.0.0
        random: registry.opentofu.org/hashicorp/null
        time: registry.opentofu.org/hashicorp/time
        tls: registry.opentofu.org/hashicorp/tls
        tls.only: registry.opentofu.org/hashicorp/tls"#]]
    .assert_eq(&listed.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_workspace_is_named_as_it_is_written() {
    let config = load(
        r#"-- main.tf --
output "a" { value = "${tofu.workspace} ${terraform.workspace}" }
"#,
    );
    let json: Json =
        serde_json::from_str(&document(&config, &|_| None, &Sources::default())).expect("JSON");
    expect![[r#"["tofu.workspace","terraform.workspace"]"#]]
        .assert_eq(&json["root_module"]["outputs"]["a"]["expression"]["references"].to_string());
}

#[test]
fn expressions_of_json_files_are_shown_as_they_are_written() {
    let folder = folder(
        r#"-- main.tf.json --
{
  "locals": { "a": "x" },
  "output": {
    "later": { "value": "${local.a}" },
    "sum": { "value": "n = ${1 + 2}" },
    "list": { "value": ["$${b}", "\u00e9", { "${local.a}": null }, 1.50] }
  }
}
"#,
    );
    let sources = Sources::default();
    let config = load_folder(folder.path(), &sources).0.expect("a configuration");
    let json: Json =
        serde_json::from_str(&document(&config, &|_| None, &sources)).expect("it is JSON");
    let of = |name: &str| json["root_module"]["outputs"][name]["expression"].to_string();
    expect![[r#"{"constant_value":"${local.a}","references":["local.a"]}"#]]
        .assert_eq(&of("later"));
    expect![[r#"{"constant_value":"n = ${1 + 2}"}"#]].assert_eq(&of("sum"));
    expect![[
        r#"{"constant_value":["$${b}","é",{"${local.a}":null},1.5],"references":["local.a"]}"#
    ]]
    .assert_eq(&of("list"));
}
