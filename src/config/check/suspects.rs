//! What may wait for itself, as the graph of all blocks tells: the rest need not be looked at again.

use rustc_hash::FxHashSet;

use crate::address::ResourceName;
use crate::config::{Config, Variant};

/// Blocks that may wait for themselves.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// Whether some blocks wait for each other, or for themselves.
    pub is_circular: bool,
    /// The resource blocks that refer to themselves.
    pub selves: FxHashSet<(Variant, ResourceName)>,
}

impl Suspects {
    /// Returns whether there may be a circle. The graph of blocks has every link but those of the keys of the provider
    /// configurations that a call passes: all of the called module waits for these.
    pub(super) fn may_be_circular(&self, config: &Config) -> bool {
        let mut calls = config.modules.values().flat_map(|it| it.calls.values());
        self.is_circular || calls.any(|it| it.besides.providers.iter().any(|it| it.1.key.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cycles;
    use crate::config::tests::{drawn, with_config};
    use crate::lower::BlockGraph;

    /// A module that refers to itself, its child and its parts in many ways, here and there in a circle.
    const CONFIGURATION: &str = r#"
        -- main.tf --
        variable "v" { default = 1 }
        locals {
          a = [<outer>]
          b = [<outer>]
        }
        provider "null" {
          alias    = "by"
          for_each = { k = 1 }
        }
        resource "null_resource" "p" {
          provider = null.by["k"]
        }
        resource "terraform_data" "a" {
          input      = <outer>
          depends_on = [<whole>]
          lifecycle {
            replace_triggered_by = [<trigger>]
            postcondition {
              condition     = self.id != <outer>
              error_message = "x"
            }
          }
        }
        resource "terraform_data" "b" {
          count = length([<outer>])
          input = 1
          provisioner "local-exec" {
            command = "echo ${jsonencode(<outer>)}"
          }
        }
        module "m" {
          source     = "./m"
          i          = <outer>
          j          = <outer>
          depends_on = [<whole>]
          <passed>
        }
        -- m/main.tf --
        terraform {
          required_providers {
            null = { source = "hashicorp/null" }
          }
        }
        variable "i" {}
        variable "j" {}
        locals { l = <inner> }
        resource "terraform_data" "x" { input = <inner> }
        resource "null_resource" "n" {}
        output "x" { value = <inner> }
        output "y" { value = <inner> }
        "#;

    /// What may stand in a place; the first refers to nothing.
    fn choices(place: &str) -> &'static str {
        match place {
            "outer" => {
                "1;local.a;local.b;terraform_data.a.id;terraform_data.b.output;module.m.x;module.m;\
                 var.v;null_resource.p.id"
            }
            "inner" => "1;var.i;var.j;terraform_data.x.id;local.l",
            "whole" => ";terraform_data.a;terraform_data.b;module.m",
            "trigger" => ";terraform_data.b",
            _ => ";providers={null=null.by[\"k\"]};providers={null=null.by[module.m.y]}",
        }
    }

    #[test]
    fn every_circle_is_suspected() {
        let (mut circular, mut straight, mut seed) = (0, 0, 1);
        for _ in 0..300 {
            let text = drawn(CONFIGURATION, &mut seed, 4, choices);
            with_config(&text, |config| {
                let graph = BlockGraph::of(crate::reason::ENGINES[0], config);
                let found = cycles::find(config, &graph.blocks_served());
                match graph.suspects().may_be_circular(config) {
                    true => circular += usize::from(!found.is_empty()),
                    false => {
                        straight += 1;
                        assert!(found.is_empty(), "{text}\n{found:?}");
                    }
                }
            });
        }
        assert!(circular > 20 && straight > 20, "{circular} {straight}");
    }
}
