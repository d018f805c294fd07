//! Roles and profiles, with a double of STS: whose credentials sign in the end.

use pretty_assertions::assert_eq;

use super::*;

/// Answers as STS does; credentials are named for what they were asked with.
fn tokens(asked: &Asked) -> Option<Reply> {
    let form = String::from_utf8_lossy(&asked.body).into_owned();
    let with = asked.header("authorization").unwrap_or("nobody").to_owned();
    let with =
        with.split("Credential=").nth(1).and_then(|it| it.split('/').next()).unwrap_or("nobody");
    let action = form.split('&').find_map(|it| it.strip_prefix("Action="))?;
    let role = form.split('&').find_map(|it| it.strip_prefix("RoleArn=")).unwrap_or_default();
    let result = match action {
        "GetCallerIdentity" => "<Account>111122223333</Account>".to_owned(),
        _ => format!(
            "<Credentials><AccessKeyId>{}-by-{with}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
             <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>",
            role.rsplit("%2F").next().unwrap_or_default()
        ),
    };
    let body =
        format!("<{action}Response><{action}Result>{result}</{action}Result></{action}Response>");
    Some(Reply::text(200, "text/xml", body))
}

/// Reads a state, and returns who signed the request, or what is told instead.
fn signer(settings: &[(&str, Value)], variables: &[(&str, &str)]) -> Result<String, Error> {
    let kept: Shared = Arc::default();
    let double = Double::start(move |asked| match asked.header("x-amz-target") {
        None if asked.method == "POST" => tokens(asked).unwrap_or(Reply::status(400)),
        _ => answer(&kept, asked),
    });
    let sts = [("sts_endpoint", Value::string(double.url()))];
    let store = open_in(&double.url(), &[&sts[..], settings].concat(), variables)?;
    wait(&*store, store.read("default")).map_err(|it| Error::from(it.to_string()))?;
    let log = double.log.lock();
    let get = log.iter().find(|it| it.method == "GET").expect("the state is asked for");
    let authorization = get.header("authorization").unwrap_or_default();
    let key = authorization.split("Credential=").nth(1).and_then(|it| it.split('/').next());
    Ok(key.unwrap_or_default().to_owned())
}

fn object(members: &[(&str, &str)]) -> Value {
    Value::object(members.iter().map(|(name, it)| ((*name).into(), Value::string(it))))
}

const ARN: &str = "arn:aws:iam::111122223333:role/deploy";

#[test]
fn a_role_is_assumed_with_what_was_found() {
    let role =
        ("assume_role", object(&[("role_arn", ARN), ("duration", "1h"), ("external_id", "e")]));
    assert_eq!(signer(&[role], &[]), Ok("deploy-by-AKIAOPEN".into()));
    let old = [("role_arn", Value::string(ARN)), ("session_name", Value::string("s"))];
    assert_eq!(signer(&old, &[]), Ok("deploy-by-AKIAOPEN".into()));
}

#[test]
fn a_token_is_exchanged_for_a_role_and_that_assumes_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "token\n").expect("it is written");
    let file = file.to_str().expect("text");
    let web = || {
        (
            "assume_role_with_web_identity",
            object(&[("role_arn", ARN), ("web_identity_token_file", file)]),
        )
    };
    assert_eq!(signer(&[web()], &[]), Ok("deploy-by-nobody".into()));
    let then = ("assume_role", object(&[("role_arn", "arn:aws:iam::1:role/second")]));
    assert_eq!(signer(&[web(), then], &[]), Ok("second-by-deploy-by-nobody".into()));
    let none = [("access_key", Value::NULL), ("secret_key", Value::NULL)];
    let variables = [("AWS_WEB_IDENTITY_TOKEN_FILE", file), ("AWS_ROLE_ARN", ARN)];
    assert_eq!(signer(&none, &variables), Ok("deploy-by-nobody".into()));
}

#[test]
fn profiles_lead_to_keys_programs_and_roles() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, credentials) = (folder.path().join("config"), folder.path().join("credentials"));
    let program = r#"echo '{"Version": 1, "AccessKeyId": "PRINTED", "SecretAccessKey": "s"}'"#;
    let text = format!(
        "[profile role]\nrole_arn = {ARN}\nsource_profile = keys\n[profile program]\ncredential_process = {program}\n[profile empty]\n"
    );
    std::fs::write(&config, text).expect("it is written");
    let text = "[keys]\naws_access_key_id = KEPT\naws_secret_access_key = s\n[default]\naws_access_key_id = USUAL\naws_secret_access_key = s\n";
    std::fs::write(&credentials, text).expect("it is written");
    let set = |it: &std::path::Path| Value::tuple(vec![Value::string(it.to_str().expect("text"))]);
    let files = || {
        vec![
            ("access_key", Value::NULL),
            ("secret_key", Value::NULL),
            ("skip_metadata_api_check", Value::Bool(true)),
            ("shared_config_files", set(&config)),
            ("shared_credentials_files", set(&credentials)),
        ]
    };
    let with = |profile: &str| {
        let mut settings = files();
        settings.push(("profile", Value::string(profile)));
        // What the environment says comes after a profile that is named.
        signer(&settings, &[("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "s")])
    };
    assert_eq!(with("keys"), Ok("KEPT".into()));
    assert_eq!(with("role"), Ok("deploy-by-KEPT".into()));
    assert_eq!(with("program"), Ok("PRINTED".into()));
    assert!(with("empty").expect_err("no keys").words().contains("\"empty\" names no credentials"));
    assert!(with("nobody").expect_err("no profile").words().contains("no such profile"));
    assert_eq!(signer(&files(), &[]), Ok("USUAL".into()));
    assert_eq!(signer(&files(), &[("AWS_PROFILE", "role")]), Ok("deploy-by-KEPT".into()));
}

#[test]
fn an_account_that_is_not_wanted_is_told() {
    let list = |it: &str| Value::tuple(vec![Value::string(it)]);
    assert!(signer(&[("allowed_account_ids", list("111122223333"))], &[]).is_ok());
    for setting in
        [("allowed_account_ids", list("9")), ("forbidden_account_ids", list("111122223333"))]
    {
        let told = signer(&[setting], &[]).expect_err("another account");
        assert!(told.words().contains("AWS account 111122223333"), "{told}");
    }
}
