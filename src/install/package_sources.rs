//! Where packages can be had from, in order: mirrors and registries, each for the providers it is meant for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::images::ImageMirror;
use super::network::NetworkMirror;
use super::offer::{Package, PackagePlace};
use super::requirement::is_same;
use super::search::{FoundPackage, search};
use super::settings::data_folders;
use super::settings::installation::{Installation, Location, Pattern};
use super::standing::Authentication;
use super::trouble::Trouble;
use super::web::{Remote, Web, shown};
use super::{Platform, Settings, registry};
use crate::address::Provider;
use crate::config::version::{Version, compare};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::{Error, ErrorContext};
use crate::world::World;

/// A folder of packages.
struct FolderMirror {
    path: PathBuf,
    packages: OnceLock<Result<BTreeMap<Provider, Vec<FoundPackage>>, Error>>,
}

impl FolderMirror {
    fn new(path: PathBuf) -> FolderMirror {
        FolderMirror { path, packages: OnceLock::new() }
    }

    fn packages(&self) -> Result<&BTreeMap<Provider, Vec<FoundPackage>>, Trouble> {
        let packages = self.packages.get_or_init(|| {
            search(&self.path).context(format_args!("cannot search {}", self.path.display()))
        });
        packages.as_ref().map_err(|it| Trouble::Other(it.to_string()))
    }

    fn of(&self, provider: &Provider) -> Result<&[FoundPackage], Trouble> {
        Ok(self.packages()?.get(provider).map_or(&[], Vec::as_slice))
    }
}

enum PackageSource {
    Folder(FolderMirror),
    Network(NetworkMirror),
    Images(ImageMirror),
    /// The registry that the provider's address names.
    Registry {
        retries: u32,
    },
}

struct Rule {
    origin: PackageSource,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Rule {
    fn serves(&self, provider: &Provider) -> bool {
        let matches = |all: &[Pattern]| all.iter().any(|it| it.matches(provider));
        !matches(&self.exclude) && (self.include.is_empty() || matches(&self.include))
    }
}

/// Which places may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Mirrors alone.
    Mirrors,
    /// Registries too.
    All,
}

/// The places to look in.
pub struct PackageSources {
    rules: Vec<Rule>,
    web: Web,
    /// Whether nothing but these places counts, so that no embedded provider does: `-plugin-dir`.
    is_exclusive: bool,
}

impl PackageSources {
    /// Returns the places that the CLI configuration names; without any, folders that are searched by themselves, and
    /// registries for what is in none of them.
    pub fn of(settings: &Settings, world: &World) -> (PackageSources, Diagnostics) {
        let web = Web::new(settings, world);
        match settings.installations.first() {
            Some(it) => explicit(it, world, web),
            None => (implied(world, web), Diagnostics::new()),
        }
    }

    /// Returns registries alone.
    pub fn registries(settings: &Settings, world: &World) -> PackageSources {
        let web = Web::new(settings, world);
        PackageSources {
            rules: vec![registry_rule(web.download_retries())],
            web,
            is_exclusive: false,
        }
    }

    /// Returns one mirror on a server alone.
    ///
    /// # Errors
    ///
    /// If the address is none of a mirror.
    pub fn network(
        url: &str,
        settings: &Settings,
        world: &World,
    ) -> Result<PackageSources, Diagnostic> {
        let web = Web::new(settings, world);
        let mirror = NetworkMirror::parse(url, web.download_retries(), false).map_err(bad_url)?;
        Ok(PackageSources::alone(PackageSource::Network(mirror), web))
    }

    /// Returns one registry of images alone. The error says what is wrong with its template.
    ///
    /// # Errors
    ///
    /// If the template is none.
    pub fn images(
        template: &str,
        settings: &Settings,
        world: &World,
    ) -> Result<PackageSources, Error> {
        let web = Web::new(settings, world);
        let mirror = ImageMirror::parse(template, &[], web.download_retries())?;
        Ok(PackageSources::alone(PackageSource::Images(mirror), web))
    }

    /// One source, for every provider.
    fn alone(origin: PackageSource, web: Web) -> PackageSources {
        let rule = Rule { origin, include: Vec::new(), exclude: Vec::new() };
        PackageSources { rules: vec![rule], web, is_exclusive: false }
    }

    /// Loads an archive into a file that goes when it is dropped.
    pub async fn download(&self, remote: &Remote) -> Result<tempfile::NamedTempFile, Error> {
        let mut file =
            tempfile::NamedTempFile::new().context("failed to open temporary file to download")?;
        self.web.download(remote, file.as_file_mut()).await?;
        Ok(file)
    }

    /// Checks an archive as the package's origin demands; nothing where it demands nothing.
    pub fn check(
        &self,
        package: &Package,
        archive: &Path,
    ) -> Option<Result<Authentication, Error>> {
        package.checks.as_ref().map(|it| it.run(archive, &self.web))
    }

    /// Returns the way to other hosts.
    pub(super) fn web(&self) -> &Web {
        &self.web
    }

    /// Returns folders alone: `-plugin-dir`.
    pub fn folders(
        paths: impl IntoIterator<Item = PathBuf>,
        settings: &Settings,
        world: &World,
    ) -> PackageSources {
        let rules = paths.into_iter().map(folder_rule);
        PackageSources {
            rules: rules.collect(),
            web: Web::new(settings, world),
            is_exclusive: true,
        }
    }

    /// Returns whether packages may come from nowhere else, not even from this program.
    pub fn is_exclusive(&self) -> bool {
        self.is_exclusive
    }

    fn asked<'a>(
        &'a self,
        provider: &'a Provider,
        reach: Reach,
    ) -> impl Iterator<Item = &'a Rule> + 'a {
        let is_open = move |it: &&Rule| {
            reach == Reach::All || !matches!(it.origin, PackageSource::Registry { .. })
        };
        self.rules.iter().filter(move |it| it.serves(provider)).filter(is_open)
    }

    /// Returns the names of the places that are asked for a provider.
    pub fn tried(&self, provider: &Provider, reach: Reach) -> Vec<String> {
        self.asked(provider, reach)
            .map(|it| match &it.origin {
                PackageSource::Folder(it) => it.path.display().to_string(),
                PackageSource::Network(it) => format!("provider mirror at {}", shown(&it.url)),
                PackageSource::Images(it) => it.shown(),
                PackageSource::Registry { .. } => format!("registry {}", provider.host),
            })
            .collect()
    }

    /// Returns the versions that all places together have, lowest first, and what they warn of.
    pub async fn versions(
        &self,
        provider: &Provider,
        reach: Reach,
    ) -> Result<(Vec<Version>, Vec<String>), Trouble> {
        let mut all: Vec<Version> = Vec::new();
        let mut warnings = Vec::new();
        let mut is_unknown = false;
        for rule in self.asked(provider, reach) {
            let found = match &rule.origin {
                PackageSource::Folder(mirror) => folder_versions(mirror, provider),
                PackageSource::Network(mirror) => {
                    mirror.versions(&self.web, provider).await.map(|it| (it, Vec::new()))
                }
                PackageSource::Images(mirror) => {
                    mirror.versions(&self.web, provider).await.map(|it| (it, Vec::new()))
                }
                PackageSource::Registry { .. } => registry::versions(&self.web, provider).await,
            };
            match found {
                Ok((versions, more)) => {
                    all.extend(versions);
                    warnings.extend(more);
                }
                Err(Trouble::NotKnown(_)) => is_unknown = true,
                Err(trouble) if trouble.is_absence() => {}
                Err(trouble) => return Err(trouble),
            }
        }
        all.sort_by(compare);
        all.dedup_by(|a, b| is_same(a, b));
        match (all.is_empty(), is_unknown) {
            (false, _) => Ok((all, warnings)),
            (true, true) => Err(Trouble::NotKnown(provider.clone())),
            // Where there is no place at all, there are no versions: OpenTofu's words are those for that.
            (true, false) if self.rules.is_empty() => Ok((all, warnings)),
            (true, false) => {
                let tried = self.tried(provider, reach);
                Err(Trouble::NotFound { provider: provider.clone(), tried })
            }
        }
    }

    /// Returns the package of the first place that has it.
    pub async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<Package, Trouble> {
        for rule in self.asked(provider, Reach::All) {
            let found = match &rule.origin {
                PackageSource::Folder(mirror) => {
                    folder_package(mirror, provider, version, platform)
                }
                PackageSource::Network(mirror) => {
                    mirror.package(&self.web, provider, version, platform).await.map(Some)
                }
                PackageSource::Images(mirror) => {
                    mirror.package(&self.web, provider, version, platform).await.map(Some)
                }
                PackageSource::Registry { retries } => {
                    registry::package(&self.web, provider, version, platform, *retries)
                        .await
                        .map(Some)
                }
            };
            match found {
                Ok(Some(package)) => return Ok(package),
                Ok(None) => {}
                Err(trouble) if trouble.is_absence() => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Err(Trouble::NoPackage {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            mirror: None,
        })
    }
}

fn folder_versions(
    mirror: &FolderMirror,
    provider: &Provider,
) -> Result<(Vec<Version>, Vec<String>), Trouble> {
    let versions: Vec<Version> = mirror.of(provider)?.iter().map(|it| it.version.clone()).collect();
    let is_unspecified = versions.iter().any(|it| it.to_string() == "0.0.0");
    let warning = is_unspecified.then(|| {
        format!(
            "Provider {provider} has an unspecified (0.0.0) version available in the filesystem mirror, source at {}. It will not be used. \nIf the version 0.0.0 is intended to represent a non-published provider, consider using dev_overrides - https://opentofu.org/docs/cli/config/config-file/#development-overrides-for-provider-developers",
            mirror.path.display()
        )
    });
    Ok((versions, warning.into_iter().collect()))
}

fn folder_package(
    mirror: &FolderMirror,
    provider: &Provider,
    version: &Version,
    platform: &Platform,
) -> Result<Option<Package>, Trouble> {
    let fits = |it: &&FoundPackage| is_same(&it.version, version) && it.platform == *platform;
    let found = mirror.of(provider)?.iter().find(fits);
    Ok(found.map(|it| Package {
        place: match it.is_packed {
            true => PackagePlace::Archive(it.path.clone()),
            false => PackagePlace::Folder(it.path.clone()),
        },
        checks: None,
    }))
}

fn folder_rule(path: PathBuf) -> Rule {
    Rule {
        origin: PackageSource::Folder(FolderMirror::new(path)),
        include: Vec::new(),
        exclude: Vec::new(),
    }
}

fn registry_rule(retries: u32) -> Rule {
    Rule { origin: PackageSource::Registry { retries }, include: Vec::new(), exclude: Vec::new() }
}

fn implied(world: &World, web: Web) -> PackageSources {
    let own = world.cwd.join("terraform.d");
    let folders = std::iter::once(own).chain(data_folders(world)).map(|it| it.join("plugins"));
    let mut rules: Vec<Rule> =
        folders.filter(|it| world.files.is_folder(it)).map(folder_rule).collect();
    // What is in a folder is not asked for elsewhere: it may be somebody's own.
    let mut exclude = Vec::new();
    for rule in &rules {
        if let PackageSource::Folder(mirror) = &rule.origin
            && let Ok(packages) = mirror.packages()
        {
            exclude.extend(packages.keys().map(Pattern::exactly));
        }
    }
    rules.push(Rule { exclude, ..registry_rule(web.download_retries()) });
    PackageSources { rules, web, is_exclusive: false }
}

fn explicit(installation: &Installation, world: &World, web: Web) -> (PackageSources, Diagnostics) {
    let mut problems = Diagnostics::new();
    let mut rules = Vec::new();
    for method in &installation.methods {
        let mut patterns = |given: &[String], kind: &str| {
            let all: Result<Vec<Pattern>, Error> =
                given.iter().map(|it| Pattern::parse(it)).collect();
            all.map_err(|why| problems.push(bad_patterns(kind, &why))).ok()
        };
        let (include, exclude) =
            (patterns(&method.include, "inclusion"), patterns(&method.exclude, "exclusion"));
        let (Some(include), Some(exclude)) = (include, exclude) else { continue };
        let retries = method.retries.unwrap_or_else(|| web.download_retries());
        let origin = match &method.location {
            Location::Direct => PackageSource::Registry { retries },
            Location::Filesystem(path) => {
                PackageSource::Folder(FolderMirror::new(relative(&world.root, path)))
            }
            Location::Network(url) => {
                match NetworkMirror::parse(url, retries, method.trusts_hashes) {
                    Ok(mirror) => PackageSource::Network(mirror),
                    Err(why) => {
                        problems.push(bad_url(why));
                        continue;
                    }
                }
            }
            Location::Images(template) => match ImageMirror::parse(template, &include, retries) {
                Ok(mirror) => PackageSource::Images(mirror),
                Err(why) => {
                    problems.push(bad_template(&why));
                    continue;
                }
            },
        };
        rules.push(Rule { origin, include, exclude });
    }
    (PackageSources { rules, web, is_exclusive: false }, problems)
}

/// A relative path stays as short as it is written where the working directory is the root.
fn relative(root: &Path, path: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(current) if current == root => path.to_owned(),
        _ => root.join(path),
    }
}

fn bad_url(why: Error) -> Diagnostic {
    Diagnostic::error("Invalid URL for provider installation source").detail(why)
}

fn bad_patterns(kind: &str, why: &Error) -> Diagnostic {
    Diagnostic::error(format!("Invalid provider source {kind} patterns"))
        .detail(format!("CLI config specifies invalid provider {kind} patterns: {why}."))
}

fn bad_template(why: &Error) -> Diagnostic {
    Diagnostic::error("Invalid oci_mirror repository template")
        .detail(format!("Invalid oci_mirror block in the CLI configuration: {why}"))
}
