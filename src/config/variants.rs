//! Modules whose instances come from different places: one face for all of them, and each for itself.

use std::sync::Arc;

use crate::address::{InstanceKey, Module as ModuleAddr, ModuleInstance};

use super::early::StaticModule;
use super::{ByPath, Config, Module, ModuleCall};
use crate::value::Str;

/// A module of the configuration: its path and, where instances come from different places, which of the modules there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variant {
    /// The names of the calls that lead to it.
    pub path: ModuleAddr,
    /// Its place among the modules of that path; zero where there is one.
    pub number: u32,
}

/// One of the modules of a path inside calls that are expanded before planning: what all instances of one source have in
/// common that one and the same module calls.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The module.
    pub module: Arc<Module>,
    /// The number of the calling module among those of its path.
    pub caller: u32,
    /// The instances, by the keys of calls that are expanded before planning alone.
    pub instances: Vec<ModuleInstance>,
}

impl Config {
    /// Adds a module where it stands, behind the one that calls it. What is inside a call that is expanded before planning is
    /// one of several.
    pub(super) fn add(&mut self, place: Arc<StaticModule>) {
        let address = place.address().clone();
        if place.is_variant() || address == ModuleAddr::default() {
            self.static_modules.entry(address.clone()).or_insert_with(|| place.clone());
        }
        if !place.is_variant() {
            self.modules.insert(address, place.module().clone());
            return;
        }
        let at = place.at().clone();
        let above = at.parent().and_then(|it| self.variants.get(&it.0));
        let caller = above.map_or(0, |it| it.1);
        let kinds = self.kinds.entry(address.clone()).or_default();
        let is_same = |it: &Kind| it.caller == caller && Arc::ptr_eq(&it.module, place.module());
        let number = kinds.iter().position(is_same).unwrap_or(kinds.len());
        if number == kinds.len() {
            let module = place.module().clone();
            kinds.push(Kind { module, caller, instances: Vec::new() });
            let face = self.modules.entry(address).or_insert_with(|| place.module().clone());
            if !Arc::ptr_eq(face, place.module()) {
                absorb(Arc::make_mut(face), place.module());
            }
        }
        kinds[number].instances.push(at.clone());
        self.variants.insert(at, (place, number as u32));
    }

    /// Makes room for so many more modules.
    pub(super) fn reserve(&mut self, more: usize) {
        self.modules.reserve(more);
    }

    /// Brings the modules into the order of their paths.
    pub(super) fn sort(&mut self) {
        self.modules.sort_unstable_keys();
        self.static_modules.sort_unstable_keys();
    }

    /// Returns every module with its path: those that share a path one after the other, each once.
    pub fn all(&self) -> impl Iterator<Item = (&ModuleAddr, &Arc<Module>)> {
        self.modules.iter().flat_map(|(path, face)| {
            let kinds = self.kinds.get(path).map_or(&[][..], |it| it);
            let is_first = |at: usize| {
                !kinds[..at].iter().any(|it| Arc::ptr_eq(&it.module, &kinds[at].module))
            };
            let several = (0..kinds.len()).filter(move |it| is_first(*it));
            let one = Some(face).filter(|_| kinds.is_empty());
            several.map(|it| &kinds[it].module).chain(one).map(move |it| (path, it))
        })
    }

    /// Returns what is written in the modules: nearly always once where many calls lead to one folder.
    pub fn written(&self) -> impl Iterator<Item = &Module> {
        let mut last = std::ptr::null();
        let mut is_other = move |it: &&Arc<Module>| {
            std::mem::replace(&mut last, Arc::as_ptr(it)) != Arc::as_ptr(it)
        };
        let kinds = self.kinds.values().flatten().map(|it| &it.module);
        self.modules.values().chain(kinds).filter(move |it| is_other(it)).map(|it| &**it)
    }

    /// Returns every variant with its module, those that share a path one after the other.
    pub fn all_variants(&self) -> impl Iterator<Item = (Variant, &Arc<Module>)> {
        self.modules.iter().flat_map(|(path, one)| self.of_path(path, Some(one)))
    }

    /// Returns every variant of a path with its module.
    pub fn variants_at<'c>(
        &'c self,
        path: &ModuleAddr,
    ) -> impl Iterator<Item = (Variant, &'c Arc<Module>)> + use<'c> {
        self.of_path(path, self.modules.get(path))
    }

    /// - `one`: the module of the path, which counts where there is but one.
    fn of_path<'c>(
        &'c self,
        path: &ModuleAddr,
        one: Option<&'c Arc<Module>>,
    ) -> impl Iterator<Item = (Variant, &'c Arc<Module>)> + use<'c> {
        let kinds = self.kinds.get(path).map_or(&[][..], |it| it);
        let one = one.filter(|_| kinds.is_empty());
        let all = kinds.iter().map(|it| &it.module).chain(one);
        let path = path.clone();
        (0..).zip(all).map(move |(number, it)| (Variant { path: path.clone(), number }, it))
    }

    /// Returns a module of the configuration.
    pub fn variant(&self, variant: &Variant) -> Option<&Arc<Module>> {
        match self.kinds.get(&variant.path) {
            Some(kinds) => kinds.get(variant.number as usize).map(|it| &it.module),
            None => self.modules.get(&variant.path),
        }
    }

    /// Returns which module calls a module, and the name of the call, unless it is the root.
    pub fn caller(&self, variant: &Variant) -> Option<(Variant, Str)> {
        let (path, call) = variant.path.parent()?;
        let kind = self.kinds.get(&variant.path).and_then(|it| it.get(variant.number as usize));
        Some((Variant { path, number: kind.map_or(0, |it| it.caller) }, call))
    }

    /// Returns the modules that a call leads to: several where its instances come from different places.
    pub fn called<'c>(
        &'c self,
        caller: &Variant,
        call: &str,
    ) -> impl Iterator<Item = (Variant, &'c Arc<Module>)> + use<'c> {
        let path = caller.path.child(call);
        let kinds = self.kinds.get(&path);
        let number = caller.number;
        self.variants_at(&path)
            .filter(move |(it, _)| kinds.is_none_or(|all| all[it.number as usize].caller == number))
    }

    /// Returns the modules that a call leads to, for whoever goes through all calls in order.
    ///
    /// - `last`: the place of what was found last.
    pub(super) fn called_in_order<'c>(
        &'c self,
        caller: &Variant,
        call: &str,
        last: &mut usize,
    ) -> impl Iterator<Item = &'c Arc<Module>> + use<'c> {
        let is_it = |path: &ModuleAddr| {
            let parts = path.0.split_last();
            parts.is_some_and(|it| **it.0 == *call && *it.1 == *caller.path.0)
        };
        let one = self.kinds.is_empty().then(|| beside(&self.modules, last, is_it)).flatten();
        let others = one.is_none().then(|| {
            *last = self.modules.get_index_of(&caller.path.child(call)).unwrap_or(*last);
            self.called(caller, call).map(|it| it.1)
        });
        one.into_iter().chain(others.into_iter().flatten())
    }

    /// Returns the calls that pass provider configurations: who calls, the call, and each module that it leads to.
    pub fn passing_calls(
        &self,
    ) -> impl Iterator<Item = (Variant, &ModuleCall, (Variant, &Arc<Module>))> {
        self.all_variants().flat_map(move |(caller, module)| {
            let passing = module.calls.values().filter(|it| !it.besides.providers.is_empty());
            passing.flat_map(move |call| {
                let caller = caller.clone();
                let called = self.called(&caller, &call.name.text);
                called.map(move |it| (caller.clone(), &**call, it))
            })
        })
    }

    /// Returns whether a module is, or is inside of, another one.
    pub fn is_within(&self, variant: &Variant, outer: &Variant) -> bool {
        if !variant.path.0.starts_with(&outer.path.0) {
            return false;
        }
        if !self.kinds.contains_key(&outer.path) {
            return true;
        }
        let mut at = variant.clone();
        while at.path.0.len() > outer.path.0.len()
            && let Some((above, _)) = self.caller(&at)
        {
            at = above;
        }
        at == *outer
    }

    /// Returns whether no instance can be of both, be it that an instance of one is inside of what has the path of the other.
    pub fn are_apart(&self, one: &Variant, other: &Variant) -> bool {
        let leads_to = |outer: &Variant, inner: &Variant| inner.path.0.starts_with(&outer.path.0);
        (leads_to(one, other) && !self.is_within(other, one))
            || (leads_to(other, one) && !self.is_within(one, other))
    }

    /// Returns the modules that a path of calls, seen from a module, leads to.
    pub fn reached<'c>(
        &'c self,
        from: &Variant,
        path: &ModuleAddr,
    ) -> impl Iterator<Item = (Variant, &'c Arc<Module>)> {
        self.variants_at(path).filter(move |it| self.is_within(&it.0, from))
    }

    /// Returns the variant of an instance; nothing where no source is that instance's. Whether the path has a module at all is
    /// another question.
    pub fn variant_of(&self, instance: &ModuleInstance) -> Option<Variant> {
        let path = instance.module();
        if !self.kinds.contains_key(&path) {
            return Some(Variant { path, number: 0 });
        }
        let number = self.variants.get(&self.expanded_early(instance))?.1;
        Some(Variant { path, number })
    }

    /// Like [`Config::module_of`], where the path of the instance is at hand, for whoever goes through all instances in order.
    ///
    /// - `last`: the place of what was found last.
    pub fn module_in_order(
        &self,
        path: &ModuleAddr,
        instance: &ModuleInstance,
        last: &mut usize,
    ) -> Option<&Arc<Module>> {
        if !self.kinds.is_empty() {
            return self.module_of(instance);
        }
        beside(&self.modules, last, |it| it == path).or_else(|| {
            let (place, _, module) = self.modules.get_full(path)?;
            *last = place;
            Some(module)
        })
    }

    /// Returns the module of an instance. Keys that are not known lead to the face of all of them.
    pub fn module_of(&self, instance: &ModuleInstance) -> Option<&Arc<Module>> {
        match self.variant_of(instance) {
            Some(variant) => self.variant(&variant),
            None if instance.0.iter().any(|it| it.1 == InstanceKey::None) => {
                self.modules.get(&instance.module())
            }
            None => None,
        }
    }

    /// Takes the keys of all calls away that are not expanded before planning.
    fn expanded_early(&self, instance: &ModuleInstance) -> ModuleInstance {
        let mut at = ModuleInstance::default();
        for (name, key) in instance.0.iter() {
            let exact = at.child(name, key.clone());
            at = match self.variants.contains_key(&exact) {
                true => exact,
                false => at.child(name, InstanceKey::None),
            };
        }
        at
    }

    /// Returns the keys of a call that is expanded before planning; nothing for any other.
    pub fn keys_of_call(&self, caller: &ModuleInstance, call: &str) -> Option<Vec<InstanceKey>> {
        let path = caller.module().child(call);
        let kinds = self.kinds.get(&path)?;
        let above = self.expanded_early(caller);
        let all = kinds.iter().flat_map(|it| &it.instances).filter_map(|it| it.parent());
        let keys: Vec<InstanceKey> = all.filter(|it| it.0 == above).map(|it| it.2).collect();
        (!keys.contains(&InstanceKey::None) && !keys.is_empty()).then_some(keys)
    }

    /// Returns what tells a variant from the others of its path; nothing where there is one: `in my-mod-first`, and where one
    /// folder makes several, `in inner, called in my-mod-first`, or for which instances.
    pub fn source_text(&self, variant: &Variant) -> Option<String> {
        let kinds = self.kinds.get(&variant.path).filter(|it| it.len() > 1)?;
        let own = kinds.get(variant.number as usize)?;
        let directory = &own.module.directory;
        let same = || kinds.iter().filter(|it| it.module.directory == *directory);
        if same().count() == 1 {
            return Some(format!("in {directory}"));
        }
        if same().filter(|it| it.caller == own.caller).count() == 1 {
            let above = self.source_text(&self.caller(variant)?.0)?;
            return Some(format!("in {directory}, called {above}"));
        }
        let first = own.instances.first().map(ToString::to_string).unwrap_or_default();
        let further = match own.instances.len() {
            0 | 1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        Some(format!("in {directory} for {first}{further}"))
    }

    /// Returns how a module is named: by its path and, where that has several, by its source.
    pub fn variant_name(&self, variant: &Variant) -> String {
        match self.source_text(variant) {
            Some(source) => format!("{} ({source})", variant.path),
            None => variant.path.to_string(),
        }
    }
}

/// Returns the module that stands beside the last one that was found, if that is the one.
fn beside<'c>(
    modules: &'c ByPath<Arc<Module>>,
    last: &mut usize,
    is_it: impl Fn(&ModuleAddr) -> bool,
) -> Option<&'c Arc<Module>> {
    let sides = [last.checked_add(1), last.checked_sub(1)].into_iter().flatten();
    let at = |place| modules.get_index(place).filter(|it| is_it(it.0)).map(|it| (place, it.1));
    let (place, module) = sides.filter_map(at).next()?;
    *last = place;
    Some(module)
}

/// Adds what another module has and this one has not: names that somebody may ask for.
fn absorb(face: &mut Module, other: &Module) {
    fn add<K: Ord + Clone, V: Clone>(
        to: &mut std::collections::BTreeMap<K, V>,
        from: &std::collections::BTreeMap<K, V>,
    ) {
        for (key, value) in from {
            to.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    add(&mut face.variables, &other.variables);
    add(&mut face.locals, &other.locals);
    add(&mut face.outputs, &other.outputs);
    face.resources.extend(other.resources.values().cloned());
    face.calls.extend(other.calls.values().cloned());
    add(&mut face.required_providers, &other.required_providers);
    add(&mut face.checks, &other.checks);
    let known = |it: &super::ProviderBlock| {
        face.providers.iter().any(|own| own.local_name() == it.local_name())
    };
    let more: Vec<_> = other.providers.iter().filter(|it| !known(it)).cloned().collect();
    face.providers.extend(more);
    face.moved.extend(other.moved.iter().cloned());
    face.removed.extend(other.removed.iter().cloned());
}
