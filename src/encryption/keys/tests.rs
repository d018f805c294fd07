//! Key providers that are services against doubles of them: what is asked, what is kept, and what is told where it fails.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use pretty_assertions::assert_eq;
use serde_json::{Value as Json, json};

use super::{Key, Keyring, Metadata};
use crate::backend::cloud::double::{Asked, Double, Reply};
use crate::config::early::{EarlyContext, StaticModule};
use crate::config::load_module;
use crate::config::tests::{context, folder};
use crate::diagnostic::{Diagnostics, Sources, Span};
use crate::encryption::settings::{Named, Settings};
use crate::error::Error;
use crate::world::{Files, World};

/// The key that doubles make.
const PLAIN: [u8; 32] = [7; 32];
/// What no error and no log may hold: keys and tokens.
const SECRETS: &[&str] = &["BwcHBwcH", "token-of-the-tests", "secret-of-the-tests"];

/// What a double does instead of answering as the service.
type Instead = Arc<Mutex<Option<Reply>>>;

/// A key provider and the double that it asks.
struct Scene {
    double: Double,
    instead: Instead,
    keys: Keyring,
    world: World,
    named: Named,
}

/// Reads key providers from the text of blocks, of which the first is used.
fn keyring(
    named: &Named,
    blocks: &str,
    environment: &[(&str, &str)],
) -> Result<(Keyring, World), Diagnostics> {
    let folder = folder(&format!("-- main.tf --\nterraform {{\nencryption {{\n{blocks}\n}}\n}}\n"));
    let sources = Sources::default();
    let mut world = (*context(folder.path(), &sources).world).clone();
    for (name, value) in environment {
        world.environment.insert((*name).to_owned(), (*value).to_owned());
    }
    let context = EarlyContext::new(Arc::new(world.clone()), "default", sources.clone());
    let (root, problems) = load_module(&Files::default(), folder.path(), ".", &sources);
    assert!(!problems.has_errors(), "{problems:?}");
    let root = StaticModule::root(root.expect("a module"), Arc::new(context));
    let block = root.module().encryption.as_ref().expect("a block");
    let settings = Settings::read(&block.body)?;
    let mut keys = Keyring::default();
    keys.add(&settings, &root, (named, Span::default()), &mut Vec::new())?;
    Ok((keys, world))
}

/// Returns what is wrong with a key provider.
fn problems(kind: &str, arguments: &str) -> String {
    let block = format!("key_provider {kind:?} \"k\" {{\n{arguments}\n}}");
    let found = keyring(&(kind.into(), "k".into()), &block, &[]).err().unwrap_or_default();
    let texts: Vec<String> =
        found.into_iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
    texts.join("\n")
}

impl Scene {
    /// - `block`: `URL` and `PORT` stand in it and in the environment for those of the double.
    fn new(
        kind: &str,
        block: &str,
        environment: &[(&str, &str)],
        service: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Scene {
        let instead = Instead::default();
        let other = instead.clone();
        let double = Double::start(move |asked| match (is_login(asked), other.lock().clone()) {
            (false, Some(reply)) => reply,
            _ => service(asked),
        });
        let here =
            |it: &str| it.replace("URL", &double.url()).replace("PORT", &double.port.to_string());
        let block = here(&format!("key_provider {kind:?} \"k\" {{\n{block}\n}}"));
        let environment: Vec<(&str, String)> =
            environment.iter().map(|it| (it.0, here(it.1))).collect();
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|it| (it.0, it.1.as_str())).collect();
        let named: Named = (kind.into(), "k".into());
        let (keys, world) = keyring(&named, &block, &environment).expect("a key provider");
        Scene { double, instead, keys, world, named }
    }

    fn fresh(&self) -> Result<(Key, Metadata), Error> {
        let mut made = Metadata::new();
        let key = self.keys.fresh(&self.world, &self.named, &mut made);
        key.map(|it| (it, made))
    }

    fn known(&self, metadata: &Metadata) -> Result<Key, Error> {
        self.keys.known(&self.world, &self.named, metadata)
    }

    /// What an envelope keeps.
    fn kept(&self, metadata: &Metadata) -> Json {
        let name = format!("key_provider.{}.k", self.named.0);
        serde_json::from_slice(&metadata[&name]).expect("JSON")
    }

    /// Makes a key, and has it again from what is kept.
    fn there_and_back(&self, expected: Json) -> Metadata {
        let (key, metadata) = self.fresh().expect("a key");
        assert_eq!(self.kept(&metadata), expected);
        let again = self.known(&metadata).expect("the key again");
        assert_eq!(key.bytes(), again.bytes());
        assert_eq!(key.bytes().len(), 32);
        metadata
    }

    /// Lets the double answer otherwise, and looks at what is told: these words, and no secret.
    #[track_caller]
    fn fails(&self, reply: Reply, metadata: &Metadata, words: &[&str]) {
        *self.instead.lock() = Some(reply);
        let made = self.fresh().expect_err("no key is made");
        // Another world forgets what was known.
        let mut other = metadata.clone();
        other.insert("other".into(), b"{}".to_vec());
        let opened = self.known(&other).expect_err("no key is opened");
        for told in [made.to_string(), opened.to_string()] {
            for word in words {
                assert!(told.contains(word), "{told}");
            }
            let is_told = SECRETS.iter().any(|it| told.contains(it));
            assert!(!is_told, "{told}");
        }
        *self.instead.lock() = None;
    }

    /// The usual ways in which a service is not there, or is another one.
    #[track_caller]
    fn is_not_there(&self, metadata: &Metadata) {
        let page = || Reply::text(200, "text/html", "<!doctype html><html>BwcHBwcH</html>");
        self.fails(page(), metadata, &["gives no key", "127.0.0.1"]);
        let nonsense = json!({ "plaintext": 7, "value": "BwcHBwcH" }).to_string();
        let nonsense = Reply::text(200, "application/json", nonsense);
        self.fails(nonsense, metadata, &["gives no key", "check the address"]);
        self.fails(Reply::Cut, metadata, &["gives no key", "does not answer"]);
        let debug = format!("{:?}", self.keys);
        assert!(SECRETS.iter().all(|it| !debug.contains(it)), "{debug}");
    }
}

/// Whether somebody asks for credentials.
fn is_login(asked: &Asked) -> bool {
    asked.path.contains("/identity/") || asked.path.starts_with("/metadata")
}

fn json_of(status: u16, body: Json) -> Reply {
    Reply::text(status, "application/json", body.to_string())
}

fn body(asked: &Asked) -> Json {
    serde_json::from_slice(&asked.body).unwrap_or_default()
}

/// Seals as doubles do: a mark and the bytes. Opens only what has the mark.
fn sealed(plain: &[u8]) -> Vec<u8> {
    [b"sealed:".as_slice(), plain].concat()
}

fn opened(sealed: &[u8]) -> Option<&[u8]> {
    sealed.strip_prefix(b"sealed:".as_slice())
}

fn kms(asked: &Asked) -> Reply {
    let body = body(asked);
    let target = asked.header("x-amz-target").unwrap_or_default();
    let authorization = asked.header("authorization").unwrap_or_default();
    let is_signed = authorization.contains("Credential=AKID/")
        && authorization.contains("/eu-west-3/kms/aws4_request");
    let is_asked = asked.header("content-type") == Some("application/x-amz-json-1.1");
    if !is_signed || !is_asked || body["KeyId"] != "alias/states" {
        return json_of(400, json!({ "__type": "NotFoundException", "message": "no" }));
    }
    let plain = STANDARD.encode(PLAIN);
    let sealed = STANDARD.encode(sealed(&PLAIN));
    match target {
        "TrentService.GenerateDataKey" if body["KeySpec"] == "AES_256" => {
            json_of(200, json!({ "CiphertextBlob": sealed, "KeyId": "arn", "Plaintext": plain }))
        }
        "TrentService.Decrypt" if body["CiphertextBlob"] == sealed.as_str() => {
            json_of(200, json!({ "KeyId": "arn", "Plaintext": plain }))
        }
        _ => json_of(400, json!({ "__type": "InvalidCiphertextException" })),
    }
}

const KMS: &str = "kms_key_id = \"alias/states\"
key_spec = \"AES_256\"
region = \"eu-west-3\"
access_key = \"AKID\"
secret_key = \"secret-of-the-tests\"
max_retries = 1
skip_credentials_validation = true";

const KMS_THERE: &[(&str, &str)] = &[("AWS_ENDPOINT_URL_KMS", "URL")];

#[test]
fn aws_kms_makes_keys_and_opens_them_again() {
    let it = Scene::new("aws_kms", KMS, KMS_THERE, kms);
    let blob = STANDARD.encode(sealed(&PLAIN));
    let metadata = it.there_and_back(json!({ "ciphertext_blob": blob }));
    it.is_not_there(&metadata);
    let denied = json!({ "__type": "x#AccessDeniedException", "message": "not you" });
    it.fails(json_of(400, denied), &metadata, &["not you", "kms:GenerateDataKey and kms:Decrypt"]);
    let disabled = json!({ "__type": "DisabledException", "message": "disabled" });
    it.fails(json_of(400, disabled), &metadata, &["enable it", "alias/states"]);
    let wrong = json!({ "__type": "IncorrectKeyException", "message": "no" });
    it.fails(json_of(400, wrong), &metadata, &["with another key than \"alias/states\""]);
}

#[test]
fn aws_kms_asks_whose_the_credentials_are_and_assumes_roles() {
    let sts = |asked: &Asked| {
        let form = String::from_utf8_lossy(&asked.body).into_owned();
        if !form.contains("Action=") {
            return kms(asked);
        }
        let answer = match form.contains("Action=AssumeRole") {
            true => {
                assert!(form.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"), "{form}");
                assert!(form.contains("DurationSeconds=5400&ExternalId=x"), "{form}");
                "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKID</AccessKeyId><SecretAccessKey>secret-of-the-tests\
                 </SecretAccessKey><SessionToken>token-of-the-tests</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>\
                 </AssumeRoleResult></AssumeRoleResponse>"
            }
            false => {
                "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>42</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
            }
        };
        Reply::text(200, "text/xml", answer)
    };
    let block = KMS.replace("skip_credentials_validation = true", "").replace("AKID", "OTHER")
        + "\nassume_role = {\nrole_arn = \"arn:aws:iam::1:role/r\"\nduration = \"1h30m\"\nexternal_id = \"x\"\n}\n"
        + "endpoints {\nsts = \"URL\"\n}\nallowed_account_ids = [\"ID\"]\n";
    let it = Scene::new("aws_kms", &block.replace("ID\"]", "42\"]"), KMS_THERE, sts);
    assert_eq!(it.fresh().map(|it| it.0.bytes().to_vec()), Ok(PLAIN.to_vec()));
    let it = Scene::new("aws_kms", &block.replace("ID\"]", "43\"]"), KMS_THERE, sts);
    let told = it.fresh().err().map(|it| it.to_string()).unwrap_or_default();
    assert!(told.contains("the AWS account 42"), "{told}");
}

#[test]
fn a_passphrase_may_rest_on_a_key_of_aws_kms() {
    let double = Double::start(kms);
    let blocks = format!(
        "key_provider \"aws_kms\" \"k\" {{\n{KMS}\n}}\nkey_provider \"pbkdf2\" \"p\" {{\nchain = key_provider.aws_kms.k\niterations = 200000\n}}"
    );
    let named: Named = ("pbkdf2".into(), "p".into());
    let there = [("AWS_ENDPOINT_URL_KMS", &*double.url())];
    let (keys, world) = keyring(&named, &blocks, &there).expect("key providers");
    let mut made = Metadata::new();
    let key = keys.fresh(&world, &named, &mut made).expect("a key");
    assert_ne!(key.bytes(), PLAIN);
    let names: Vec<&str> = made.keys().map(String::as_str).collect();
    assert_eq!(names, ["key_provider.aws_kms.k", "key_provider.pbkdf2.p"]);
    let again = keys.known(&world, &named, &made).expect("the key again");
    assert_eq!(key.bytes(), again.bytes());
}

#[test]
fn arguments_that_make_no_sense_are_told() {
    let told = problems("aws_kms", "kms_key_id = \"\"\nkey_spec = 7\nnonsense = 1");
    for word in ["\"kms_key_id\": the value must not be empty", "\"nonsense\" is not expected"] {
        assert!(told.contains(word), "{told}");
    }
    let told = problems("aws_kms", "kms_key_id = \"a\"\nkey_spec = \"AES_256\"");
    assert!(told.contains("The argument \"region\" is required"), "{told}");
    let usual = "kms_key_id = \"a\"\nregion = \"r\"\n";
    for (more, word) in [
        ("key_spec = \"RSA\"", "neither \"AES_256\" nor \"AES_128\""),
        ("key_spec = \"AES_128\"\naccess_key = \"a\"", "together with \"secret_key\""),
        ("key_spec = \"AES_128\"\nendpoints {}\nendpoints {}", "Duplicate endpoints"),
        ("key_spec = \"AES_128\"\nassume_role = {}", "\"role_arn\" is required"),
        ("key_spec = \"AES_128\"\nretry_mode = \"x\"", "the key provider \"aws_kms\""),
    ] {
        let told = problems("aws_kms", &format!("{usual}{more}"));
        assert!(told.contains(word), "{told}");
    }
    let told = problems("gcp_kms", "kms_encryption_key = \"k/../x\"\nkey_length = 1025");
    for word in ["is no name of a key", "from 1 to 1024"] {
        assert!(told.contains(word), "{told}");
    }
    let vault = "key_length = 32\nuse_cli = false\nuse_msi = true\nvault_key_name = \"k\"\n";
    for (more, word) in [
        ("vault_uri = \"http://states.vault.azure.net\"", "is no address"),
        ("vault_uri = \"https://a--b.vault.azure.net\"", "names no vault"),
        ("vault_uri = \"https://abc.vault.azure.net/x\"", "names no vault"),
        ("vault_uri = \"https://abc.vault.azure.net\"\nsymmetric = true", "128, 192 or 256"),
        ("vault_uri = \"https://abc.vault.azure.net\"\nenvironment = \"x\"", "there is no cloud"),
    ] {
        let told = problems("azure_vault", &format!("{vault}{more}"));
        assert!(told.contains(word), "{told}");
    }
    for (arguments, word) in [
        ("key_name = \"k\"\nkey_length = 24", "16, 32 or 64"),
        ("key_name = \"..\"", "are no names"),
        ("key_name = \"k\"\naddress = \"bao\"", "https://HOST:8200"),
        ("key_name = \"k\"\ntoken = \"a b\"", "characters that no token has"),
    ] {
        let told = problems("openbao", arguments);
        assert!(told.contains(word), "{told}");
    }
}

const RING: &str = "projects/p/locations/eu/keyRings/r/cryptoKeys/k";

#[test]
fn gcp_kms_seals_keys_and_opens_them_again() {
    let service = |asked: &Asked| {
        let body = body(asked);
        let is_known = asked.header("authorization") == Some("Bearer token-of-the-tests");
        let action = asked.path.strip_prefix(&format!("/v1/{RING}:"));
        let text = |name: &str| STANDARD.decode(body[name].as_str().unwrap_or_default());
        match action.filter(|_| is_known && asked.method == "POST") {
            Some("encrypt") => {
                let sealed = STANDARD.encode(sealed(&text("plaintext").expect("base64")));
                json_of(
                    200,
                    json!({ "name": format!("{RING}/cryptoKeyVersions/1"), "ciphertext": sealed }),
                )
            }
            Some("decrypt") => match opened(&text("ciphertext").expect("base64")) {
                Some(plain) => json_of(200, json!({ "plaintext": STANDARD.encode(plain) })),
                None => json_of(400, json!({ "error": { "message": "broken" } })),
            },
            _ => json_of(404, json!({ "error": { "message": "not found" } })),
        }
    };
    let block = format!(
        "kms_encryption_key = {RING:?}\nkey_length = 32\naccess_token = \"token-of-the-tests\""
    );
    let there = [("GOOGLE_KMS_CUSTOM_ENDPOINT", "URL/v1")];
    let it = Scene::new("gcp_kms", &block, &there, service);
    let (key, metadata) = it.fresh().expect("a key");
    let ciphertext = STANDARD.encode(sealed(key.bytes()));
    assert_eq!(it.kept(&metadata), json!({ "ciphertext": ciphertext }));
    assert_eq!(it.known(&metadata).expect("the key again").bytes(), key.bytes());
    it.is_not_there(&metadata);
    let denied = json!({ "error": { "message": "no", "status": "PERMISSION_DENIED" } });
    it.fails(json_of(403, denied), &metadata, &["useToDecrypt"]);
    let wrong =
        json!({ "error": { "message": "Decryption failed", "status": "INVALID_ARGUMENT" } });
    it.fails(json_of(400, wrong), &metadata, &["with another key than"]);
}

#[test]
fn azure_vault_seals_keys_and_opens_them_with_the_version_that_has_sealed() {
    let service = |asked: &Asked| {
        if is_login(asked) {
            let wanted = asked.argument("resource");
            assert_eq!(wanted.as_deref(), Some("https://vault.azure.net/"));
            let token = json!({ "access_token": "token-of-the-tests", "expires_in": "3600", "expires_on": "4102444800" });
            return json_of(200, token);
        }
        let body = body(asked);
        let is_known = asked.header("authorization") == Some("Bearer token-of-the-tests")
            && asked.query == "api-version=7.6"
            && body["alg"] == "A256GCM";
        let text = |name: &str| URL_SAFE_NO_PAD.decode(body[name].as_str().unwrap_or_default());
        match (is_known, &*asked.path) {
            (true, "/keys/states//encrypt") => {
                let value = URL_SAFE_NO_PAD.encode(sealed(&text("value").expect("base64")));
                let kid = "https://localhost/keys/states/0a1b";
                let (iv, tag) = (URL_SAFE_NO_PAD.encode([255; 12]), URL_SAFE_NO_PAD.encode("tag"));
                json_of(200, json!({ "kid": kid, "value": value, "iv": iv, "tag": tag }))
            }
            (true, "/keys/states/0a1b/decrypt") => {
                let with = (text("iv"), text("tag"), &body["aad"]);
                assert_eq!(with, (Ok(vec![255; 12]), Ok(b"tag".to_vec()), &Json::Null));
                let plain = text("value").expect("base64");
                let plain = opened(&plain).map(|it| URL_SAFE_NO_PAD.encode(it));
                json_of(200, json!({ "kid": "k", "value": plain }))
            }
            _ => json_of(404, json!({ "error": { "code": "KeyNotFound", "message": "no" } })),
        }
    };
    let block = "vault_uri = \"http://localhost:PORT/\"\nvault_key_name = \"states\"\nkey_length = 32\nsymmetric = true\nsymmetric_key_size = 256\n\
                 use_cli = false\nuse_msi = true\nmsi_endpoint = \"URL/identity/token\"";
    let it = Scene::new("azure_vault", block, &[], service);
    let (key, metadata) = it.fresh().expect("a key");
    let expected = json!({
        "ciphertext": STANDARD.encode(sealed(key.bytes())),
        "iv": STANDARD.encode([255; 12]),
        "authentication_tag": STANDARD.encode("tag"),
        "additional_authenticated_data": null,
        "key_version": "0a1b",
        "algo": "A256GCM",
    });
    assert_eq!(it.kept(&metadata), expected);
    assert_eq!(it.known(&metadata).expect("the key again").bytes(), key.bytes());
    let page = Reply::text(200, "text/html", "<!doctype html><html>BwcHBwcH</html>");
    it.fails(page, &metadata, &["gives no key", "localhost"]);
    it.fails(Reply::Cut, &metadata, &["does not answer"]);
    let denied = json!({ "error": { "code": "Forbidden", "message": "no\nmore" } });
    it.fails(json_of(403, denied), &metadata, &["Forbidden: no.", "Key Vault Crypto User"]);
    let wrong = json!({ "error": { "code": "BadParameter", "message": "no" } });
    it.fails(json_of(400, wrong), &metadata, &["with another key than \"states\""]);
}

fn bao(asked: &Asked) -> Reply {
    let is_known = asked.header("x-vault-token") == Some("token-of-the-tests")
        && asked.header("x-vault-namespace") == Some("team")
        && asked.method == "PUT";
    let body = body(asked);
    let plain = STANDARD.encode(PLAIN);
    match (is_known, &*asked.path) {
        (true, "/v1/a/transit/datakey/plaintext/the key") if body["bits"] == 256 => {
            json_of(200, json!({ "data": { "ciphertext": "vault:v1:x", "plaintext": plain } }))
        }
        (true, "/v1/a/transit/decrypt/the key") if body["ciphertext"] == "vault:v1:x" => {
            json_of(200, json!({ "data": { "plaintext": plain } }))
        }
        (false, _) => json_of(403, json!({ "errors": ["permission denied"] })),
        _ => json_of(404, json!({ "errors": [] })),
    }
}

const BAO: &str = "key_name = \"the key\"\ntransit_engine_path = \"/a/transit/\"";

#[test]
fn openbao_makes_keys_and_opens_them_again() {
    let there = [
        ("BAO_ADDR", "URL/"),
        ("VAULT_ADDR", "http://127.0.0.1:1"),
        ("VAULT_TOKEN", "token-of-the-tests"),
        ("BAO_NAMESPACE", "team"),
        ("BAO_MAX_RETRIES", "0"),
    ];
    let it = Scene::new("openbao", BAO, &there, bao);
    let metadata = it.there_and_back(json!({ "ciphertext": STANDARD.encode("vault:v1:x") }));
    it.is_not_there(&metadata);
    let denied = json!({ "errors": ["permission denied"] });
    it.fails(json_of(403, denied), &metadata, &["permission denied", "a/transit/decrypt/the key"]);
    let wrong = json!({ "errors": ["cipher: message authentication failed"] });
    it.fails(json_of(400, wrong), &metadata, &["with another key than \"the key\""]);
    it.fails(json_of(503, json!({ "errors": ["Vault is sealed"] })), &metadata, &["unseal it"]);
    it.fails(json_of(404, json!({ "errors": [] })), &metadata, &["no transit engine at"]);
}

#[test]
fn openbao_goes_on_to_the_node_that_is_active_and_no_further() {
    let active = Double::start(bao);
    let target = active.url();
    let block = format!("{BAO}\naddress = \"URL\"\ntoken = \"token-of-the-tests\"");
    let there = [("VAULT_NAMESPACE", "team"), ("BAO_TOKEN", "other")];
    let standby = move |asked: &Asked| {
        let escaped = asked.path.replace(' ', "%20");
        Reply::status(307).with("location", &format!("{target}{escaped}"))
    };
    let it = Scene::new("openbao", &block, &there, standby);
    assert_eq!(it.fresh().map(|it| it.0.bytes().to_vec()), Ok(PLAIN.to_vec()));
    let own = it.double.url();
    *it.instead.lock() = Some(Reply::status(307).with("location", &format!("{own}/v1/round")));
    assert!(it.fresh().is_err());
    assert_eq!(it.double.log.lock().len(), 3, "one request, then one and the one that it leads to");
}
