//! `rsadecrypt`: the forms a key can have, and what is refused. The keys were made for this test and open nothing.

use pretty_assertions::assert_eq;

use super::super::functions::find;
use super::support::Known;
use crate::value::Value;

const PKCS1: &str = include_str!("keys/pkcs1.pem");
const PKCS8: &str = include_str!("keys/pkcs8.pem");
const OPENSSH: &str = include_str!("keys/openssh.pem");
const SMALL: &str = include_str!("keys/small.pem");
const ELLIPTIC: &str = include_str!("keys/elliptic.pem");

const HELLO: &str = "i5uNhZlI/XUlxs5J2OSs7Ibk1xW6/yD/DCdFyx/h9W+/bdJ2iLyfqI5epGMKOPe9uZSSZE6x/HzSMlGkHSmB9YNxXovfQ9zL9taYQYIZGNiJZDY6hdwsdnLRkbCAPjoRXDugiL+fxRCtRfqpfIwNcsvbqngBaH48vSKDPH/rFPk=";
const EMPTY: &str = "HSXHsSl52uzaRtCeLCzlhgkQw9/PiRYjrVpDmwoxfMQEw11Qelo1xH1PaER0VM5jd1cSC3iliARe2sCetZOGlOuuHyHgTgi+eI1xVS9es7fQ1Z8XOStoXtAZYjfz1OQf0r4HsFP6LqLRcMSy23/SvfHLbC4XxRMkQJN0VkkVJo4=";
/// Its first byte is zero, and left out.
const SHORT: &str = "tWkVqcQS1LjJE7Pv2SpopEjLNynUyUk2pauqRHXOg9IongLV45Y28CCqd2W+UXywJ7h84SkOK949O9JxRrV8t7ErTOi/i1f/ldQNXF5A7+Vi7aD50NjQAqtO6Wr0S94ndAjpiNsGTDH1u/pxpYEefkc/2xFR4kdqEnW3e5XJGw==";
/// Seven bytes of padding, where eight are the fewest.
const LITTLE_PADDING: &str = "f2SVFuQ/Qoje31s8BRf1fDm4JRvJRVisnSQV/UynEtdH4SsB1IgBYF+6G5ceFmLDecuDPoOj8scUo/2uwJ6ErcLxPYS+vQwYHJhA2nbSLudlTlThI9kPc8xrO+fhjpfup2jVLhJya2X+BdsQ33THt5zacMohY1eCw4AQk/W9j1A=";
/// The padding of a signature.
const SIGNED: &str = "ppIiEyNkbN/pAB7p9Mb7RzNyP/Spvmv0UkRZFGP0ccMzW8+PddoKjGOFhArKsYWNN8gC+CQXBfIK22Ur2UQvSj1hsn92TsqjN6Lgw7U/xND9LXWpKCjLaE/7ti+W7gdjN3aug88wRp71EY5VgZgP8jNtTcs/IpIA7fbmKnzINg4=";
/// Padding to its end.
const NO_TEXT: &str = "AeWWG0MFIv/tasTMNlCgfXibQVEQ+a5w1u8QPaGtQOzn3BksW117yhM5W/QOB5ISjL3NQkeIAwy7+4/hfuumXqdU3o9XSgQHZ2b0DGaWXGKVqeQOPm4MBofZrXAeH0JZqkPBKkvRcB7RSzoNV0WtoGJPt2kp+Du+7nAzaLXeamM=";
const FOR_SMALL: &str =
    "byJ2UobHY9oGVW2kMyDq8zwhsuNGa5JQKUy7ehAt8nw4R1IYgyJXvmHpVKvVv4gDUsDPd7vx9YMW3niw1XmSvw==";

/// What decryption gives, or what is wrong.
fn decrypted(text: &str, key: &str) -> String {
    let arguments = [Value::string(text), Value::string(key)];
    let function = find("rsadecrypt").expect("it is there");
    match function.invoke(&arguments, &Known::usual(), 0) {
        Ok(value) => value.as_str().unwrap_or_default().to_owned(),
        Err(failure) => format!("{failure:?}").replace('\\', ""),
    }
}

#[track_caller]
fn check_refusal(text: &str, key: &str, words: &str) {
    let told = decrypted(text, key);
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_key_is_read_in_each_of_its_forms() {
    for key in [PKCS1, PKCS8, OPENSSH] {
        assert_eq!(decrypted(HELLO, key), "hello wörld");
    }
    let framed = format!("some words\n{PKCS1}more words\n");
    assert_eq!(decrypted(HELLO, &framed), "hello wörld");
    assert_eq!(decrypted(HELLO, &PKCS1.replace('\n', "\r\n")), "hello wörld");
    let wrapped = format!("{}\n{}", &HELLO[..76], &HELLO[76..]);
    assert_eq!(decrypted(&wrapped, PKCS1), "hello wörld");
    assert_eq!(decrypted(EMPTY, PKCS1), "");
    assert_eq!(decrypted(SHORT, PKCS1), "z".repeat(55));
}

#[test]
fn what_was_not_made_with_the_key_is_not_decrypted() {
    let one_more = format!("AAAA{HELLO}");
    for text in [LITTLE_PADDING, SIGNED, NO_TEXT, FOR_SMALL, &one_more, ""] {
        check_refusal(text, PKCS1, "failed to decrypt: crypto/rsa: decryption error");
    }
    check_refusal("?", PKCS1, "failed to decode input \"?\": cipher text must be base64-encoded");
    check_refusal(FOR_SMALL, SMALL, "crypto/rsa: 512-bit keys are insecure");
}

#[test]
fn a_key_that_cannot_be_used_says_why() {
    let refused = |key: &str, words: &str| check_refusal(HELLO, key, words);
    refused("", "invalid private key: ssh: no key found");
    refused("-----BEGIN RSA PRIVATE KEY-----\nMII=\n", "ssh: no key found");
    refused(&PKCS1.replacen("END RSA", "END EC", 1), "ssh: no key found");
    refused(&PKCS1.replace("RSA PRIVATE", "PUBLIC"), "unsupported key type \"PUBLIC KEY\"");
    refused(ELLIPTIC, "key is not an RSA key");
    let protected = PKCS1.replacen("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1);
    refused(&protected, "ssh: this private key is passphrase protected");
    // Cut off, with something behind it, and with a modulus of which the primes are not factors.
    let lines: Vec<&str> = PKCS1.lines().collect();
    let without = |line: usize| [&lines[..line], &lines[line + 1..]].concat().join("\n");
    refused(
        &without(lines.len() - 2),
        "invalid ASN1 data in the given private key: data truncated",
    );
    let more = PKCS1.replace("-----END", "AAAA\n-----END");
    refused(&more, "invalid ASN1 data in the given private key");
    let other = PKCS1.replacen(&lines[2][..8], "AAAAAAAA", 1);
    refused(&other, "crypto/rsa: the parts of the key contradict each other");
    refused(&OPENSSH.replace(&lines_of(OPENSSH, 1..9), ""), "invalid openssh private key format");
}

fn lines_of(text: &str, range: std::ops::Range<usize>) -> String {
    text.lines().collect::<Vec<_>>()[range].iter().map(|it| format!("{it}\n")).collect()
}
