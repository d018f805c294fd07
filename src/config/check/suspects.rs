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
        self.is_circular || calls.any(|it| it.providers.iter().any(|it| it.1.key.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cycles;
    use crate::config::tests::{folder, load_folder};
    use crate::diagnostic::Sources;
    use crate::lower::BlockGraph;

    /// A choice that a seed repeats: three times of four the first, which refers to nothing.
    fn pick<'a>(seed: &mut u64, among: &[&'a str]) -> &'a str {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let drawn = (*seed >> 33) as usize;
        if drawn % 4 > 0 { among[0] } else { among[drawn / 4 % among.len()] }
    }

    /// A module that refers to itself, its child and its parts in many ways, here and there in a circle.
    fn configuration(seed: &mut u64) -> String {
        let outer = [
            "1",
            "1",
            "local.a",
            "local.b",
            "terraform_data.a.id",
            "terraform_data.b.output",
            "module.m.x",
            "module.m",
            "var.v",
            "null_resource.p.id",
        ];
        let inner = ["1", "var.i", "var.j", "terraform_data.x.id", "local.l"];
        let whole = ["", "terraform_data.a", "terraform_data.b", "module.m"];
        let passed = [
            "",
            "",
            "providers = { null = null.by[\"k\"] }",
            "providers = { null = null.by[module.m.y] }",
        ];
        let mut one = |among: &[&'static str]| pick(seed, among);
        format!(
            r#"
            -- main.tf --
            variable "v" {{ default = 1 }}
            locals {{
              a = [{}]
              b = [{}]
            }}
            provider "null" {{
              alias    = "by"
              for_each = {{ k = 1 }}
            }}
            resource "null_resource" "p" {{
              provider = null.by["k"]
            }}
            resource "terraform_data" "a" {{
              input      = {}
              depends_on = [{}]
              lifecycle {{
                replace_triggered_by = [{}]
                postcondition {{
                  condition     = self.id != {}
                  error_message = "x"
                }}
              }}
            }}
            resource "terraform_data" "b" {{
              count = length([{}])
              input = 1
              provisioner "local-exec" {{
                command = "echo ${{jsonencode({})}}"
              }}
            }}
            module "m" {{
              source     = "./m"
              i          = {}
              j          = {}
              depends_on = [{}]
              {}
            }}
            -- m/main.tf --
            terraform {{
              required_providers {{
                null = {{ source = "hashicorp/null" }}
              }}
            }}
            variable "i" {{}}
            variable "j" {{}}
            locals {{ l = {} }}
            resource "terraform_data" "x" {{ input = {} }}
            resource "null_resource" "n" {{}}
            output "x" {{ value = {} }}
            output "y" {{ value = {} }}
            "#,
            one(&outer),
            one(&outer),
            one(&outer),
            one(&whole),
            one(&["", "terraform_data.b"]),
            one(&outer),
            one(&outer),
            one(&outer),
            one(&outer),
            one(&outer),
            one(&["", "terraform_data.a", "terraform_data.b"]),
            one(&passed),
            one(&inner),
            one(&inner),
            one(&inner),
            one(&inner),
        )
    }

    #[test]
    fn every_circle_is_suspected() {
        let (mut circular, mut straight, mut seed) = (0, 0, 1);
        for _ in 0..300 {
            let text = configuration(&mut seed);
            let folder = folder(&text);
            let sources = Sources::default();
            let (config, problems) = load_folder(folder.path(), &sources);
            let Some(config) = config.filter(|_| !problems.has_errors()) else { continue };
            let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
            let found = cycles::find(&config, &graph.blocks_served());
            match graph.suspects().may_be_circular(&config) {
                true => circular += usize::from(!found.is_empty()),
                false => {
                    straight += 1;
                    assert!(found.is_empty(), "{text}\n{found:?}");
                }
            }
        }
        assert!(circular > 20 && straight > 20, "{circular} {straight}");
    }
}
