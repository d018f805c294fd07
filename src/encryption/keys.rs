//! Key providers: where keys come from, and what an envelope keeps so that a key can be had again.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use zeroize::Zeroizing;

use crate::config::early::StaticModule;
use crate::diagnostic::{Diagnostics, Span};
use crate::error::Error;
use crate::world::World;

use super::arguments::Arguments;
use super::problems;
use super::settings::{Named, Settings};

#[cfg(feature = "backend-s3")]
mod aws_kms;
#[cfg(feature = "backend-azurerm")]
mod azure_vault;
mod external;
#[cfg(feature = "backend-gcs")]
mod gcp_kms;
mod openbao;
mod pbkdf2;
#[cfg(feature = "cloud")]
mod sealed;
mod kinds;
mod service;
#[cfg(all(test, feature = "backend-azurerm", feature = "backend-gcs", feature = "backend-s3"))]
mod tests;

/// A key, which is wiped from memory when it is dropped and never printed.
#[derive(Clone)]
pub(super) struct Key(Arc<Zeroizing<Vec<u8>>>);

impl Key {
    pub fn new(bytes: Vec<u8>) -> Key {
        Key(Arc::new(Zeroizing::new(bytes)))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key of {} bytes", self.0.len())
    }
}

/// What envelopes keep of key providers: JSON by name.
pub(super) type Metadata = BTreeMap<String, Vec<u8>>;

/// A kind of key provider with its arguments.
pub(super) trait KeySource: fmt::Debug + Send + Sync {
    /// Returns how many bytes its keys have, where its arguments say so.
    fn length(&self) -> Option<usize> {
        None
    }

    /// Makes a key, and what it can be had again from.
    ///
    /// - `chain`: the key of the provider that this one rests on.
    fn fresh(&self, world: &World, chain: Option<&Key>) -> Result<(Key, Vec<u8>), Error>;

    /// Returns the key that was made once; nothing where the metadata tells of none.
    fn known(&self, world: &World, kept: &[u8], chain: Option<&Key>) -> Result<Option<Key>, Error>;
}

/// One key provider.
#[derive(Debug)]
struct Provider {
    source: Box<dyn KeySource>,
    chain: Option<Named>,
    /// What its metadata is called in envelopes.
    name: String,
}

/// The key providers that something is sealed with.
#[derive(Debug, Default)]
pub(super) struct Keyring {
    providers: HashMap<Named, Provider>,
    /// Keys that were had again, by provider and metadata.
    known: Mutex<HashMap<(Named, Vec<u8>), Key>>,
}

/// Makes a key provider of its arguments.
type Make = fn(&Arguments) -> Result<Box<dyn KeySource>, Error>;

/// The kinds that there are, for messages.
const KINDS: &str = "aws_kms, azure_vault, external, gcp_kms, openbao and pbkdf2";

impl Keyring {
    /// Evaluates a key provider and those that it rests on.
    pub fn add(
        &mut self,
        settings: &Settings,
        place: &StaticModule,
        (named, at): (&Named, Span),
        stack: &mut Vec<Named>,
    ) -> Result<(), Diagnostics> {
        if stack.contains(named) {
            stack.push(named.clone());
            return Err(problems::circle(stack).into());
        }
        if self.providers.contains_key(named) {
            return Ok(());
        }
        let part = settings.keys.iter().find(|it| it.named == *named);
        let part = part.ok_or_else(|| problems::undeclared_key(named, at))?;
        let address = format!("key_provider.{}.{}", named.0, named.1);
        if let Some(service) = kinds::named(&named.0) {
            let source = service.source(place, part, &format!("encryption.{address}"))?;
            let name = part.alias.clone().unwrap_or(address);
            self.providers.insert(named.clone(), Provider { source, chain: None, name });
            return Ok(());
        }
        let read = |known| Arguments::read(place, part, &format!("encryption.{address}"), known);
        let (arguments, make): (_, Make) = match named.0.as_str() {
            "pbkdf2" => (read(pbkdf2::ARGUMENTS)?, pbkdf2::source),
            "external" => (read(external::ARGUMENTS)?, external::source),
            kind => {
                let without = kinds::feature(kind);
                return Err(match without {
                    Some(feature) => problems::left_out(kind, feature, part.declared),
                    None => problems::unknown_key_kind(kind, KINDS, part.declared),
                }
                .into());
            }
        };
        stack.push(named.clone());
        if let Some((chained, at)) = &arguments.keys {
            self.add(settings, place, (chained, *at), stack)?;
        }
        stack.pop();
        let source = make(&arguments)
            .map_err(|why| problems::no_key_data(&address, why.words(), part.declared))?;
        let name = part.alias.clone().unwrap_or(address);
        let chain = arguments.keys.map(|it| it.0);
        self.providers.insert(named.clone(), Provider { source, chain, name });
        Ok(())
    }

    /// Returns how many bytes the keys of a provider have, where that can be told.
    ///
    /// # Errors
    ///
    /// If the metadata of it and of those that it rests on would have one name.
    pub fn check(&self, named: &Named) -> Result<Option<usize>, Diagnostics> {
        let mut names = std::collections::BTreeSet::new();
        let mut at = Some(named);
        while let Some(provider) = at.map(|it| &self.providers[it]) {
            if !names.insert(&provider.name) {
                return Err(problems::duplicate_metadata(&provider.name).into());
            }
            at = provider.chain.as_ref();
        }
        Ok(self.providers[named].source.length())
    }

    /// Makes a key, and adds what it can be had again from.
    pub fn fresh(&self, world: &World, named: &Named, made: &mut Metadata) -> Result<Key, Error> {
        let provider = &self.providers[named];
        let chain = provider.chain.as_ref();
        let chain = chain.map(|it| self.fresh(world, it, made)).transpose()?;
        let (key, metadata) = provider
            .source
            .fresh(world, chain.as_ref())
            .map_err(|why| why.context(format_args!("{} gives no key", provider.name)))?;
        made.insert(provider.name.clone(), metadata);
        Ok(key)
    }

    /// Returns the key that metadata stands for.
    pub fn known(&self, world: &World, named: &Named, metadata: &Metadata) -> Result<Key, Error> {
        let provider = &self.providers[named];
        let own = metadata.get(&provider.name).map_or(&[][..], Vec::as_slice);
        // With a chain, the metadata of all decide.
        let of_all: Vec<u8> =
            metadata.iter().flat_map(|it| [it.0.as_bytes(), it.1].concat()).collect();
        let asked = (named.clone(), of_all);
        if let Some(key) = self.known.lock().get(&asked) {
            return Ok(key.clone());
        }
        let chain = provider.chain.as_ref();
        let chain = chain.map(|it| self.known(world, it, metadata)).transpose()?;
        let found = match own.is_empty() {
            true => Ok(None),
            false => provider.source.known(world, own, chain.as_ref()),
        };
        let found =
            found.map_err(|why| why.context(format_args!("{} gives no key", provider.name)))?;
        let key = found.ok_or_else(|| {
            format!("there is no decryption key: nothing was encrypted with {}", provider.name)
        })?;
        self.known.lock().insert(asked, key.clone());
        Ok(key)
    }
}
