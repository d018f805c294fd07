//! Finds the program of a plugin on this machine: the one place that knows where plugins lie.

use std::path::{Path, PathBuf};

use crate::address::Provider;
use crate::config::version::Version;
use crate::diagnostic::{Diagnostics, Sources};
use crate::world::World;

/// A plugin on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The program.
    pub executable: PathBuf,
    /// Its version; unknown for one under development.
    pub version: Option<Version>,
}

/// Returns the plugin of a provider: under development, installed, or in a mirror. `allowed` says which versions fit.
pub fn locate(
    provider: &Provider,
    world: &World,
    allowed: &dyn Fn(&Version) -> bool,
) -> Option<Located> {
    let settings = Settings::read(world);
    if let Some((_, folder)) = settings.overrides.iter().find(|it| is_named(provider, &it.0)) {
        let executable = executable(folder, provider)?;
        return Some(Located { executable, version: None });
    }
    let data = world.variable("TF_DATA_DIR").unwrap_or(".terraform");
    let installed = world.root.join(data).join("providers");
    std::iter::once(installed)
        .chain(settings.mirrors)
        .find_map(|folder| newest(&folder, provider, allowed))
}

fn newest(
    folder: &Path,
    provider: &Provider,
    allowed: &dyn Fn(&Version) -> bool,
) -> Option<Located> {
    let of_provider = folder.join(&*provider.host).join(&*provider.namespace).join(&*provider.kind);
    let mut found: Vec<Located> = std::fs::read_dir(of_provider)
        .ok()?
        .filter_map(|it| {
            let it = it.ok()?;
            let version = Version::parse(&it.file_name().to_string_lossy())?;
            let folder = it.path().join(platform());
            let executable = executable(&folder, provider)?;
            Some(Located { executable, version: Some(version) })
        })
        .filter(|it| it.version.as_ref().is_some_and(allowed))
        .collect();
    found.sort_by(|a, b| a.version.cmp(&b.version));
    found.pop()
}

/// Returns the program in the folder of a package: the first whose name is the provider's.
fn executable(folder: &Path, provider: &Provider) -> Option<PathBuf> {
    let wanted = format!("terraform-provider-{}", provider.kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|it| Some(it.ok()?.path()))
        .filter(|it| {
            let name = it.file_name().unwrap_or_default().to_string_lossy();
            let rest = name.strip_prefix(&wanted);
            rest.is_some_and(|it| it.is_empty() || it.starts_with(['_', '.'])) && it.is_file()
        })
        .collect();
    files.sort();
    files.into_iter().next()
}

fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}_{processor}")
}

fn is_named(provider: &Provider, name: &str) -> bool {
    let short = format!("{}/{}", provider.namespace, provider.kind);
    name == provider.to_string() || name == short
}

/// What the CLI configuration says of plugins.
#[derive(Default)]
struct Settings {
    overrides: Vec<(String, PathBuf)>,
    mirrors: Vec<PathBuf>,
}

impl Settings {
    fn read(world: &World) -> Settings {
        let mut settings = Settings::default();
        let Some(path) = world.variable("TF_CLI_CONFIG_FILE") else { return settings };
        let Ok(text) = std::fs::read_to_string(path) else { return settings };
        let file = Sources::default().add(path, text.as_str().into());
        let (body, _): (_, Diagnostics) = crate::syntax::parse(file, &text);
        for block in body.blocks.iter().filter(|it| &*it.kind.text == "provider_installation") {
            for origin in &block.body.blocks {
                let attributes = origin.body.just_attributes().0;
                let texts = attributes.iter().filter_map(|it| {
                    let value = crate::expression::evaluate_constant(&it.value).ok()?;
                    Some((it.name.text.to_string(), PathBuf::from(value.as_str()?)))
                });
                match &*origin.kind.text {
                    "dev_overrides" => settings.overrides.extend(texts),
                    "filesystem_mirror" => {
                        settings.mirrors.extend(texts.filter(|it| it.0 == "path").map(|it| it.1));
                    }
                    _ => {}
                }
            }
        }
        settings
    }
}
