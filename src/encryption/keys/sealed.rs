//! Keys that services seal: how they are made, sent and kept. Each is there for the kinds that need it.

#[cfg(any(feature = "backend-azurerm", feature = "backend-gcs"))]
use zeroize::Zeroizing;

#[cfg(any(feature = "backend-azurerm", feature = "backend-gcs"))]
use super::Key;
#[cfg(any(feature = "backend-gcs", feature = "backend-s3"))]
use crate::error::Error;
#[cfg(any(feature = "backend-azurerm", feature = "backend-gcs"))]
use crate::world::World;

/// Makes a key of so many bytes.
#[cfg(any(feature = "backend-azurerm", feature = "backend-gcs"))]
pub(super) fn random(world: &World, length: usize) -> Key {
    let mut bytes = vec![0; length];
    world.random(&mut bytes);
    Key::new(bytes)
}

/// Returns a key in base64, which is wiped from memory when it is dropped.
#[cfg(any(feature = "backend-azurerm", feature = "backend-gcs"))]
pub(super) fn encoded(key: &Key, engine: &impl base64::Engine) -> Zeroizing<String> {
    Zeroizing::new(engine.encode(key.bytes()))
}

/// Reads what an envelope keeps; nothing where it is empty.
#[cfg(any(feature = "backend-gcs", feature = "backend-s3"))]
pub(super) fn kept(text: Option<String>) -> Result<Option<String>, Error> {
    let Some(text) = text.filter(|it| !it.is_empty()) else { return Ok(None) };
    use base64::Engine as _;
    let checked = base64::engine::general_purpose::STANDARD.decode(&text);
    checked.map_err(|why| Error::of(why).context("the sealed key in the envelope is broken"))?;
    Ok(Some(text))
}
