//! The configuration's part of a plan's document.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use serde_json::Value as Json;

use super::configuration::document;
use crate::config::tests::load;
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
    let text = document(&config, &|_| Some(all.clone()));
    let json: Json = serde_json::from_str(&text).expect("it is JSON");
    let of = |at: usize| json["root_module"]["resources"][at]["expressions"].to_string();
    expect![[r#"{"rule":{"constant_value":[{"from":1,"to":null}]}}"#]].assert_eq(&of(0));
    expect![[r#"{"rule":{"references":["t_a.known.id","t_a.known"]}}"#]].assert_eq(&of(1));
    expect![[r#"">= 1.0.0, ~> 1.2""#]]
        .assert_eq(&json["provider_config"]["t"]["version_constraint"].to_string());
}
