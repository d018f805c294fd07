//! Encryption, through whole settings.
