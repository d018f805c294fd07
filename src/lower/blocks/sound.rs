//! What the checks of a configuration need not look at again, because its references were followed when edges were drawn.

use std::ops::Range;
use std::sync::Arc;

use super::BlockGraph;
use crate::address::Module;
use crate::config::check::{self, Sound, Suspects};
use crate::config::{self, Config, Variant};
use crate::diagnostic::{Diagnostics, Sources};

impl BlockGraph {
    /// Checks every reference and provider name of a configuration, and that nothing depends on itself.
    ///
    /// - `suspects`: what may depend on itself.
    pub fn check(&self, config: &Config, suspects: &Suspects, sources: &Sources) -> Diagnostics {
        let served = self.blocks_served();
        let sound = |path: &_, module: &_| self.sound_in(path, module);
        check::check(config, &served, &sound, suspects, sources)
    }

    /// Checks that resources name a key of a provider block that repeats without an alias.
    pub fn check_keys(&self, config: &Config, sources: &Sources) -> Diagnostics {
        check::keyless::check_resources(config, &self.blocks_served(), sources)
    }

    /// Returns what is known to be right in a module.
    pub fn sound_in(&self, path: &Module, module: &Arc<config::Module>) -> Sound<'_> {
        let first = Variant { path: path.clone(), number: 0 };
        let code = self.modules.number(&first).map(|it| &self.modules[it]);
        let Some(code) = code.filter(|it| Arc::ptr_eq(&it.config, module)) else {
            return Sound::default();
        };
        let blocks = |it: Range<usize>| self.sound.get(it).unwrap_or_default();
        Sound {
            resources: blocks(code.first_resource()..code.first_call()),
            calls: blocks(code.calls()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::{drawn, with_config};

    /// References of every kind from resources and calls, in places that are looked at in different ways.
    const CONFIGURATION: &str = r#"
        -- main.tf --
        variable "v" { default = 1 }
        locals { l = 1 }
        resource "terraform_data" "single" { input = 1 }
        resource "terraform_data" "counted" {
          count = 2
          input = <any>
        }
        resource "terraform_data" "each" {
          for_each = { k = <any> }
          input    = <any>
        }
        check "c" {
          data "terraform_remote_state" "scoped" {
            backend = "local"
            config  = { path = <any> }
          }
          assert {
            condition     = data.terraform_remote_state.scoped.outputs != <any>
            error_message = "x"
          }
        }
        resource "terraform_data" "a" { input = <any> }
        resource "terraform_data" "b" { input = [for it in [<any>] : it] }
        resource "terraform_data" "c" { input = "${<any>} and ${<any>}" }
        resource "terraform_data" "d" {
          input = 1
          lifecycle {
            <lifecycle>
          }
        }
        module "m" {
          source = "./m"
          i      = <any>
          j      = <any>
        }
        module "n" {
          source = "./m"
          i      = [<any>]
          <call>
        }
        -- m/main.tf --
        variable "i" {}
        variable "j" { default = 1 }
        resource "terraform_data" "x" { input = <inner> }
        output "x" { value = 1 }
        "#;

    /// What may stand in a place; the first half of them is right nearly everywhere.
    fn choices(place: &str) -> &'static str {
        match place {
            "any" => {
                "var.v;local.l;terraform_data.single.output;terraform_data.single;module.m.x;module.m;\
                 terraform_data.counted[0].id;terraform_data.each[\"k\"].id;path.module;string;\
                 var.w;local.k;terraform_data.none.id;terraform_data.single.count;module.o.x;\
                 terraform_data.counted.id;terraform_data.each.id;terraform_data.single[0].id;path.other;\
                 each.key;count.index;self.id;terraform.other;provider::none::f(1);var;a;\
                 data.terraform_remote_state.scoped.outputs;data.terraform_data.single.id;\
                 terraform_data.single.0.id;terraform_data.single.output.count;terraform_data"
            }
            "inner" => "var.i;var.none;terraform_data.x.id;terraform_data.y.id",
            "lifecycle" => {
                ";prevent_destroy = var.w;replace_triggered_by = [terraform_data.none];\
                 precondition {\n condition = var.w\n error_message = self.id\n }"
            }
            _ => ";count = local.k;depends_on = [module.o];j = var.w;for_each = each.key",
        }
    }

    #[test]
    fn what_is_sound_has_nothing_to_be_told_of() {
        let (mut vouched, mut told, mut seed) = (0, 0, 1);
        for _ in 0..400 {
            let text = drawn(CONFIGURATION, &mut seed, 3, choices);
            with_config(&text, |config| {
                let graph = BlockGraph::of(crate::reason::ENGINES[0], config);
                let served = graph.blocks_served();
                let whole = check::check_names(config, &served, &|_, _| Sound::default());
                let sound = |path: &_, module: &_| graph.sound_in(path, module);
                let left = check::check_names(config, &served, &sound);
                assert_eq!(whole.0, left.0, "{text}");
                let of_all =
                    |it: Sound<'_>| it.resources.iter().chain(it.calls).filter(|it| **it).count();
                vouched += config.all().map(|(path, it)| of_all(sound(path, it))).sum::<usize>();
                told += whole.0.len();
            });
        }
        assert!(vouched > 500 && told > 500, "{vouched} {told}");
    }
}
