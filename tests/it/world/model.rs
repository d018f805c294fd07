//! Random configurations whose objects are files: providers, modules and blocks, and what changes in them.

use std::collections::BTreeSet;

use crate::support::dice::Dice;

/// The keys of blocks and modules with `for_each`, and of provider instances.
pub const KEYS: [&str; 3] = ["a", "b", "c"];

/// The names of features that a configuration or a change of it may have, but those of [`Kind`].
pub const FEATURES: [&str; 18] = [
    "provider: passed into a module",
    "provider: unknown in plan",
    "gone: block removed",
    "gone: count reduced",
    "gone: for_each reduced",
    "gone: by a constant",
    "gone: by a variable",
    "gone: by a local",
    "gone: by the keys of a resource",
    "gone: by an argument of a module",
    "gone: enabled = false",
    "gone: module removed",
    "gone: module instance",
    "gone: nested module",
    "gone: removed, destroyed",
    "gone: removed, kept",
    "gone: moved",
    "gone: all blocks of a provider",
];

/// How the argument `dir` of a provider is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Constant,
    Variable,
    Local,
    Resource,
    /// A resource whose output is an object.
    Part,
    /// A resource that reads another one.
    Chain,
    Data,
    /// A data source that reads a resource.
    DataOfResource,
    ModuleOutput,
    /// The output of a module that reads a resource.
    ModuleChain,
    Ephemeral,
    /// An ephemeral resource that reads a resource.
    EphemeralOfResource,
    /// A provider with `for_each`.
    Instances,
    /// The same, with arguments that read a resource.
    InstancesOfResource,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::Constant,
        Kind::Variable,
        Kind::Local,
        Kind::Resource,
        Kind::Part,
        Kind::Chain,
        Kind::Data,
        Kind::DataOfResource,
        Kind::ModuleOutput,
        Kind::ModuleChain,
        Kind::Ephemeral,
        Kind::EphemeralOfResource,
        Kind::Instances,
        Kind::InstancesOfResource,
    ];

    /// Returns whether the provider has an instance for each of [`KEYS`].
    pub fn has_instances(self) -> bool {
        matches!(self, Kind::Instances | Kind::InstancesOfResource)
    }

    /// Returns whether a change of a resource may make the argument unknown until apply.
    pub fn can_become_unknown(self) -> bool {
        !matches!(
            self,
            Kind::Constant
                | Kind::Variable
                | Kind::Local
                | Kind::Data
                | Kind::Ephemeral
                | Kind::Instances
        )
    }

    /// The name of the feature in the report.
    pub fn feature(self) -> &'static str {
        match self {
            Kind::Constant => "provider: constant",
            Kind::Variable => "provider: variable",
            Kind::Local => "provider: local",
            Kind::Resource | Kind::Part => "provider: resource",
            Kind::Chain => "provider: chain of resources",
            Kind::Data | Kind::DataOfResource => "provider: data source",
            Kind::ModuleOutput | Kind::ModuleChain => "provider: module output",
            Kind::Ephemeral | Kind::EphemeralOfResource => "provider: ephemeral resource",
            Kind::Instances | Kind::InstancesOfResource => "provider: one of several instances",
        }
    }
}

/// How a block or a module repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    Once,
    Count(usize),
    Keys(Vec<&'static str>),
    /// `enabled` in `lifecycle`.
    Enabled(bool),
}

impl Repetition {
    fn random(dice: &mut Dice) -> Repetition {
        match dice.below(6) {
            0 | 1 => Repetition::Once,
            2 => Repetition::Count(1 + dice.below(2)),
            3 | 4 => Repetition::Keys(KEYS[dice.below(2)..].to_vec()),
            _ => Repetition::Enabled(true),
        }
    }

    /// Returns the keys of all instances as they stand in addresses.
    pub fn keys(&self) -> Vec<String> {
        match self {
            Repetition::Once | Repetition::Enabled(true) => vec![String::new()],
            Repetition::Enabled(false) => Vec::new(),
            Repetition::Count(count) => (0..*count).map(|it| format!("[{it}]")).collect(),
            Repetition::Keys(keys) => keys.iter().map(|it| format!("[{it:?}]")).collect(),
        }
    }

    /// Takes one instance or more away. Returns whether there was one.
    pub fn reduce(&mut self, dice: &mut Dice) -> bool {
        match self {
            Repetition::Count(count) if *count > 0 => *count = dice.below(*count),
            Repetition::Keys(keys) if !keys.is_empty() => {
                keys.remove(dice.below(keys.len()));
            }
            Repetition::Enabled(is_on) if *is_on => *is_on = false,
            _ => return false,
        }
        true
    }

    pub fn grow(&mut self) {
        match self {
            Repetition::Once => {}
            Repetition::Count(count) => *count += 1,
            Repetition::Keys(keys) => *keys = KEYS.to_vec(),
            Repetition::Enabled(is_on) => *is_on = true,
        }
    }
}

/// Where the count or the keys of a block are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Constant,
    Variable,
    Local,
    /// Another resource with the same repetition.
    Resource,
    /// An argument of the module call.
    Call,
}

/// A provider configuration with an alias.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub kind: Kind,
    /// A change of it replaces the resource that the argument reads.
    pub version: u32,
}

#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    /// The provider that is passed into it.
    pub source: String,
    pub repetition: Repetition,
    /// Whether the blocks are in a module inside it.
    pub is_nested: bool,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub name: String,
    /// The name of its files; the provider chooses one if there is none.
    pub file: Option<String>,
    pub source: String,
    pub module: Option<String>,
    pub repetition: Repetition,
    pub origin: Origin,
    pub is_created_first: bool,
    pub text: u32,
    /// The provider instance that serves it, where the keys of the block do not say.
    pub instance: &'static str,
}

/// A configuration.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub sources: Vec<Source>,
    pub modules: Vec<Module>,
    pub blocks: Vec<Block>,
    /// `removed` blocks: an address, and whether its objects are destroyed.
    pub removed: Vec<(String, bool)>,
    pub moved: Vec<(String, String)>,
    pub imports: Vec<(String, String)>,
    /// How many names of blocks are taken.
    pub made: usize,
}

impl Model {
    /// Returns a random configuration.
    pub fn random(dice: &mut Dice) -> Model {
        let mut model = Model::default();
        for number in 0..1 + dice.below(2) {
            let kind = *dice.pick(&Kind::ALL);
            model.sources.push(Source { name: format!("p{number}"), kind, version: 1 });
        }
        for number in 0..dice.below(3) {
            model.modules.push(Module {
                name: format!("m{number}"),
                source: dice.pick(&model.sources).name.clone(),
                repetition: Repetition::random(dice),
                is_nested: dice.one_in(3),
            });
        }
        for _ in 0..2 + dice.below(3) {
            model.add(dice);
        }
        model
    }

    /// Returns the provider of that name.
    pub fn source(&self, name: &str) -> &Source {
        self.sources.iter().find(|it| it.name == name).expect("sources stay")
    }

    fn module_of(&self, block: &Block) -> Option<&Module> {
        let name = block.module.as_ref()?;
        self.modules.iter().find(|it| it.name == *name)
    }

    /// Returns the provider that serves a block.
    pub fn source_of<'a>(&'a self, block: &'a Block) -> &'a str {
        self.module_of(block).map_or(&block.source, |it| &it.source)
    }

    /// Adds a block.
    pub fn add(&mut self, dice: &mut Dice) {
        self.made += 1;
        let name = format!("b{}", self.made);
        let module = match self.modules.is_empty() || dice.one_in(2) {
            true => None,
            false => Some(dice.pick(&self.modules).name.clone()),
        };
        let origins = match module {
            Some(_) => [Origin::Constant, Origin::Call, Origin::Call],
            None => *dice.pick(&[
                [Origin::Constant, Origin::Variable, Origin::Local],
                [Origin::Variable, Origin::Resource, Origin::Resource],
            ]),
        };
        self.blocks.push(Block {
            file: dice.one_in(2).then(|| name.clone()),
            name,
            source: dice.pick(&self.sources).name.clone(),
            module,
            repetition: Repetition::random(dice),
            origin: *dice.pick(&origins),
            is_created_first: dice.one_in(2),
            text: 1,
            instance: ["", "a", "b"][dice.below(3)],
        });
    }

    /// Returns the addresses of all objects that are to exist.
    pub fn addresses(&self) -> BTreeSet<String> {
        self.addresses_of(|_| true)
    }

    /// Returns the addresses of objects whose replacement is created before they are destroyed.
    pub fn addresses_created_first(&self) -> BTreeSet<String> {
        self.addresses_of(|it| it.is_created_first && it.file.is_none())
    }

    fn addresses_of(&self, fit: impl Fn(&Block) -> bool) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for block in self.blocks.iter().filter(|it| fit(it)) {
            let prefixes = match self.module_of(block) {
                None => vec![String::new()],
                Some(module) => {
                    let inner = if module.is_nested { "module.in." } else { "" };
                    let keys = module.repetition.keys().into_iter();
                    keys.map(|key| format!("module.{}{key}.{inner}", module.name)).collect()
                }
            };
            for prefix in prefixes {
                let keys = block.repetition.keys().into_iter();
                all.extend(keys.map(|key| format!("{prefix}folder_file.{}{key}", block.name)));
            }
        }
        all
    }

    /// Returns the names of the features that the configuration has.
    pub fn features(&self) -> BTreeSet<&'static str> {
        let mut features: BTreeSet<_> = self.sources.iter().map(|it| it.kind.feature()).collect();
        if !self.modules.is_empty() {
            features.insert("provider: passed into a module");
        }
        features
    }
}
