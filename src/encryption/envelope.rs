//! What sealed bytes are written in: JSON with what keys can be had again from.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::Error;

use super::keys::Metadata;

/// The version of envelopes.
const VERSION: &str = "v0";

/// Sealed bytes with what is needed to open them. The fields stand in this order in files.
#[derive(Serialize, Deserialize)]
pub(super) struct Envelope {
    /// The serial of the state inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// The lineage of the state inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<String>,
    #[serde(default)]
    meta: BTreeMap<String, String>,
    #[serde(default)]
    encrypted_data: String,
    #[serde(default)]
    encryption_version: String,
}

/// What a state says of itself.
#[derive(Deserialize)]
pub(super) struct Passing {
    #[serde(default)]
    pub serial: Option<u64>,
    #[serde(default)]
    pub lineage: Option<String>,
    #[serde(default)]
    pub terraform_version: Option<String>,
}

impl Envelope {
    pub fn new(metadata: &Metadata, sealed: &[u8]) -> Envelope {
        let meta = metadata.iter().map(|it| (it.0.clone(), STANDARD.encode(it.1))).collect();
        Envelope {
            serial: None,
            lineage: None,
            meta,
            encrypted_data: STANDARD.encode(sealed),
            encryption_version: VERSION.into(),
        }
    }

    /// Reads an envelope; nothing where the bytes are none.
    pub fn read(bytes: &[u8]) -> Option<Envelope> {
        let envelope: Envelope = serde_json::from_slice(bytes).ok()?;
        (!envelope.encryption_version.is_empty()).then_some(envelope)
    }

    /// Returns the metadata and the sealed bytes.
    pub fn parts(&self) -> Result<(Metadata, Vec<u8>), Error> {
        if self.encryption_version != VERSION {
            return Err(format!(
                "invalid encrypted payload version: {} != {VERSION}",
                self.encryption_version
            )
            .into());
        }
        let mut metadata = Metadata::new();
        for (name, text) in &self.meta {
            metadata.insert(name.clone(), STANDARD.decode(text).map_err(Error::of)?);
        }
        let sealed = STANDARD.decode(&self.encrypted_data);
        Ok((
            metadata,
            sealed.map_err(|why| Error::of(why).context("the encrypted data is broken"))?,
        ))
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(serde_json::to_vec(self)?)
    }
}
