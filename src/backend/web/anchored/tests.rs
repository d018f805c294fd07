//! What counts where the certificate of an authority is shown.

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::crypto::aws_lc_rs;

use super::*;

/// A moment in 2026.
const NOW: u64 = 1_780_000_000;

/// Returns a certificate of an authority for `here.test`, valid from and until the first days of these years, as
/// `openssl req -x509` makes one.
fn authority((from, until): (i32, i32)) -> CertificateDer<'static> {
    let mut asked = CertificateParams::new(vec!["here.test".to_owned()]).expect("a name");
    asked.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (asked.not_before, asked.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
    asked.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate").into()
}

/// Says how a certificate is judged that a server of this name shows.
fn judged(trusted: &CertificateDer<'static>, shown: &CertificateDer<'_>, name: &str) -> String {
    let mut store = RootCertStore::empty();
    store.add(trusted.clone()).expect("it can be trusted");
    let provider = Arc::new(aws_lc_rs::default_provider());
    let usual = WebPkiServerVerifier::builder_with_provider(store.into(), provider);
    let judge = Anchored::new(usual.build().expect("a verifier"), vec![trusted.clone()]);
    let name = ServerName::try_from(name).expect("a name");
    let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(NOW));
    match judge.verify_server_cert(shown, &[], &name, &[], now) {
        Ok(_) => "accepted".to_owned(),
        Err(it) => format!("{it:?}"),
    }
}

#[test]
fn an_authority_that_is_trusted_itself_may_be_the_server() {
    let own = authority((2025, 2035));
    assert_eq!(judged(&own, &own, "here.test"), "accepted");
}

#[test]
fn its_name_its_dates_and_every_byte_count() {
    let own = authority((2025, 2035));
    let has = |told: String, part: &str| assert!(told.contains(part), "{told}");
    has(judged(&own, &own, "there.test"), "NotValidForName");
    has(judged(&own, &authority((2025, 2035)), "here.test"), "InvalidCertificate");
    let (past, future) = (authority((2015, 2020)), authority((2035, 2040)));
    has(judged(&past, &past, "here.test"), "Expired");
    has(judged(&future, &future, "here.test"), "NotValidYet");
}
