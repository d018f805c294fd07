//! Keys that have expired, are revoked, or carry signatures of other keys, and what a signature by them is worth.

use chrono::DateTime;
use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedPublicKey,
    SignedSecretKey, SubkeyParamsBuilder,
};
use pgp::packet::{
    KeyFlags, RevocationCode, Signature, SignatureConfig, SignatureType, Subpacket, SubpacketData,
};
use pgp::ser::Serialize;
use pgp::types::{Duration, Password, SigningKey, Tag, Timestamp};
use rand::rngs::OsRng;

use super::super::signature;

/// Day 0: when keys are made.
const BORN: u32 = 1_700_000_000;
const DAY: u32 = 86_400;
const DOCUMENT: &[u8] = b"sum  file\n";

/// Makes a key with a subkey for signing. Only its secrets and its name are used; tests say what it carries.
fn secret() -> SignedSecretKey {
    let mut subkey = SubkeyParamsBuilder::default();
    subkey.key_type(KeyType::Ed25519Legacy).can_sign(true);
    subkey.created_at(Timestamp::from_secs(BORN));
    let mut parameters = SecretKeyParamsBuilder::default();
    parameters.key_type(KeyType::Ed25519Legacy).can_certify(true).can_sign(true);
    parameters.created_at(Timestamp::from_secs(BORN));
    parameters.primary_user_id("Tester <test@example.com>".into());
    parameters.subkey(subkey.build().expect("parameters"));
    parameters.build().expect("parameters").generate(OsRng).expect("a key")
}

/// Prepares a signature of a day.
fn prepared(
    signer: &impl SigningKey,
    kind: SignatureType,
    day: u32,
    more: Vec<SubpacketData>,
) -> SignatureConfig {
    let mut config = SignatureConfig::from_key(OsRng, signer, kind).expect("a known version");
    let mut all = vec![
        SubpacketData::SignatureCreationTime(Timestamp::from_secs(BORN + day * DAY)),
        SubpacketData::IssuerFingerprint(signer.fingerprint()),
    ];
    all.extend(more);
    let all = all.into_iter().map(|it| Subpacket::regular(it).expect("a subpacket"));
    config.hashed_subpackets = all.collect();
    config
}

/// A certification of a key's name, or the revocation of one, by the key itself or another.
fn certified(
    key: &SignedSecretKey,
    signer: &SignedSecretKey,
    (kind, day): (SignatureType, u32),
    more: Vec<SubpacketData>,
) -> Signature {
    let (name, public) = (&key.details.users[0].id, key.primary_key.public_key());
    let signer = &signer.primary_key;
    let signed = prepared(signer, kind, day, more).sign_certification(
        signer,
        public,
        &Password::empty(),
        Tag::UserId,
        name,
    );
    signed.expect("a signature")
}

/// The key's own claim of its name.
fn claim(key: &SignedSecretKey, day: u32, more: Vec<SubpacketData>) -> Signature {
    certified(key, key, (SignatureType::CertPositive, day), more)
}

/// What makes the subkey part of the key.
fn binding(key: &SignedSecretKey, day: u32, more: Vec<SubpacketData>) -> Signature {
    let (primary, subkey) = (&key.primary_key, &key.secret_subkeys[0].key);
    let back = prepared(subkey, SignatureType::KeyBinding, day, Vec::new())
        .sign_primary_key_binding(
            subkey,
            subkey.public_key(),
            &Password::empty(),
            primary.public_key(),
        )
        .expect("a signature");
    let mut flags = KeyFlags::default();
    flags.set_sign(true);
    let mut all =
        vec![SubpacketData::KeyFlags(flags), SubpacketData::EmbeddedSignature(Box::new(back))];
    all.extend(more);
    of_subkey(key, SignatureType::SubkeyBinding, day, all)
}

fn of_subkey(
    key: &SignedSecretKey,
    kind: SignatureType,
    day: u32,
    more: Vec<SubpacketData>,
) -> Signature {
    let (primary, subkey) = (&key.primary_key, &key.secret_subkeys[0].key);
    let signed = prepared(primary, kind, day, more).sign_subkey_binding(
        primary,
        primary.public_key(),
        &Password::empty(),
        subkey.public_key(),
    );
    signed.expect("a signature")
}

/// The revocation of a key, by itself or another.
fn revoked(key: &SignedSecretKey, signer: &SignedSecretKey, day: u32) -> Signature {
    let signer = &signer.primary_key;
    let signed = prepared(signer, SignatureType::KeyRevocation, day, Vec::new()).sign_key(
        signer,
        &Password::empty(),
        key.primary_key.public_key(),
    );
    signed.expect("a signature")
}

/// How long a key is valid, from the day it was made.
fn key_for(days: u32) -> Vec<SubpacketData> {
    vec![SubpacketData::KeyExpirationTime(Duration::from_secs(days * DAY))]
}

/// How long a signature is valid.
fn signature_for(days: u32) -> Vec<SubpacketData> {
    vec![SubpacketData::SignatureExpirationTime(Duration::from_secs(days * DAY))]
}

/// The key as a registry shows it.
fn shown(
    key: &SignedSecretKey,
    claims: Vec<Signature>,
    bindings: Vec<Signature>,
) -> SignedPublicKey {
    let mut public = key.to_public_key();
    public.details.users[0].signatures = claims;
    public.public_subkeys[0].signatures = bindings;
    public
}

/// Returns what a signature of one day is worth on another: `good`, `expired`, or why it is refused.
fn judged(signer: &impl SigningKey, key: &SignedPublicKey, (signed, today): (u32, u32)) -> String {
    let config = prepared(signer, SignatureType::Binary, signed, Vec::new());
    let made = config.sign(signer, &Password::empty(), DOCUMENT).expect("a signature");
    let bytes = DetachedSignature::new(made).to_bytes().expect("bytes");
    let armor = [key.to_armored_string(ArmorOptions::default()).expect("text")];
    let now = DateTime::from_timestamp(i64::from(BORN + today * DAY), 0).expect("a time");
    let check =
        |allows_expired: bool| signature::check(DOCUMENT, &bytes, &armor, now, allows_expired);
    match (check(false), check(true)) {
        (Ok(_), _) => "good".to_owned(),
        (Err(_), Ok(_)) => "expired".to_owned(),
        (Err(_), Err(why)) => why.to_string(),
    }
}

#[test]
fn a_page_in_place_of_a_signature_is_named() {
    for page in ["<!DOCTYPE html>\n<p>Log in", "\n  <html><p>Log in", "\u{feff}<HTML lang=\"en\">"]
    {
        let now = DateTime::from_timestamp(i64::from(BORN), 0).expect("a time");
        let told = signature::check(DOCUMENT, page.as_bytes(), &[], now, false);
        let told = told.expect_err("refused").to_string();
        assert_eq!(told, "error checking signature: its file is an HTML page, not a signature");
    }
}

#[test]
fn a_subkey_is_valid_as_long_as_its_newest_binding_says() {
    let key = secret();
    let subkey = &key.secret_subkeys[0].key;
    let on = |today: u32, bindings: Vec<Signature>| {
        judged(subkey, &shown(&key, vec![claim(&key, 0, Vec::new())], bindings), (1, today))
    };
    let first = || binding(&key, 0, key_for(10));
    let longer = || binding(&key, 5, key_for(100));
    let shorter = || binding(&key, 6, key_for(7));
    assert_eq!(on(9, vec![first()]), "good");
    assert_eq!(on(11, vec![first()]), "expired");
    assert_eq!(on(11, vec![first(), longer()]), "good");
    assert_eq!(on(11, vec![longer(), first()]), "good");
    assert_eq!(on(11, vec![longer(), shorter(), first()]), "expired");
    assert_eq!(on(11, vec![binding(&key, 0, signature_for(10))]), "expired");
    assert_eq!(on(1, vec![binding(&key, 2, Vec::new())]), "expired", "it is not yet bound");
}

#[test]
fn a_revoked_subkey_signs_nothing() {
    let key = secret();
    let subkey = &key.secret_subkeys[0].key;
    let revocation = |day: u32, more: Vec<SubpacketData>| {
        of_subkey(&key, SignatureType::SubkeyRevocation, day, more)
    };
    let key_with = |more: Vec<Signature>| {
        let mut bindings = vec![binding(&key, 0, Vec::new())];
        bindings.extend(more);
        shown(&key, vec![claim(&key, 0, Vec::new())], bindings)
    };
    let told = "error checking signature: the signing subkey is revoked";
    let on = |today: u32, more: Vec<Signature>| judged(subkey, &key_with(more), (1, today));
    assert_eq!(on(9, vec![revocation(5, Vec::new())]), told);
    assert_eq!(on(9, vec![revocation(5, Vec::new()), binding(&key, 7, Vec::new())]), told);
    assert_eq!(on(9, vec![revocation(5, signature_for(2))]), "good", "it was revoked for a while");
    let reason =
        SubpacketData::RevocationReason(RevocationCode::KeyCompromised, Default::default());
    assert_eq!(on(3, vec![revocation(5, vec![reason])]), told, "it was stolen before");
    let revoked = key_with(vec![revocation(5, Vec::new())]);
    assert_eq!(judged(&key.primary_key, &revoked, (1, 9)), "good", "the key itself is not");
}

#[test]
fn signatures_of_other_keys_on_a_key_do_not_count() {
    let (key, other) = (secret(), secret());
    let foreign = |more| certified(&key, &other, (SignatureType::CertGeneric, 8), more);
    let bindings = || vec![binding(&key, 0, Vec::new())];
    let on = |today: u32, claims: Vec<Signature>| {
        judged(&key.primary_key, &shown(&key, claims, bindings()), (1, today))
    };
    assert_eq!(on(9, vec![claim(&key, 0, Vec::new()), foreign(Vec::new())]), "good");
    assert_eq!(on(11, vec![claim(&key, 0, key_for(10)), foreign(key_for(100))]), "expired");
    let revocation = certified(&key, &other, (SignatureType::CertRevocation, 8), Vec::new());
    assert_eq!(on(9, vec![claim(&key, 0, Vec::new()), revocation]), "good");
    let told = "error checking signature: the signing key has no signature of its own about itself";
    assert_eq!(on(9, vec![foreign(Vec::new())]), told);
    // A name of another key that this key would have claimed.
    let moved = claim(&other, 0, Vec::new());
    assert_eq!(on(9, vec![moved]), told);
}

#[test]
fn a_key_is_valid_as_long_as_it_says_and_not_revoked() {
    let (key, other) = (secret(), secret());
    let key_with = |claims: Vec<Signature>| shown(&key, claims, vec![binding(&key, 0, Vec::new())]);
    let on = |days: (u32, u32), claims: Vec<Signature>| {
        judged(&key.primary_key, &key_with(claims), days)
    };
    assert_eq!(on((1, 11), vec![claim(&key, 0, key_for(10))]), "expired");
    assert_eq!(on((1, 11), vec![claim(&key, 5, key_for(20)), claim(&key, 0, key_for(10))]), "good");
    assert_eq!(on((1, 11), vec![claim(&key, 0, signature_for(10))]), "expired");
    assert_eq!(on((12, 11), vec![claim(&key, 0, Vec::new())]), "expired", "not yet signed");

    let told = "error checking signature: the signing key is revoked";
    let name = certified(&key, &key, (SignatureType::CertRevocation, 5), Vec::new());
    assert_eq!(on((1, 11), vec![claim(&key, 0, Vec::new()), name]), told);
    let mut public = key_with(vec![claim(&key, 0, Vec::new())]);
    public.details.revocation_signatures = vec![revoked(&key, &key, 5)];
    assert_eq!(judged(&key.primary_key, &public, (1, 11)), told);
    let subkey = &key.secret_subkeys[0].key;
    assert_eq!(judged(subkey, &public, (1, 11)), told, "the subkeys go with it");
    public.details.revocation_signatures = vec![revoked(&key, &other, 5)];
    let told = judged(&key.primary_key, &public, (1, 11));
    assert!(told.starts_with("error checking signature: "), "{told}");
}
