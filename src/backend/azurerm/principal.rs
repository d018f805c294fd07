//! What the configuration says of the identity that Azure is asked with, for states and for keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::identity::{Identity, Proof};
use crate::backend::opening::Opening;
use crate::diagnostic::Diagnostic;
use crate::world::read_regular;

/// The first identity that is wholly configured, in the order in which the real program looks.
///
/// # Errors
///
/// If there is none.
pub fn identity(it: &Opening) -> Result<Identity, Diagnostic> {
    let is_on = |name: &str| it.flag(name).map(|it| it == Some(true));
    let tenant = it.text("tenant_id");
    let client = either(it, "client_id", "client_id_file_path")?;
    let known = client.clone().filter(|_| tenant.is_some());
    if let Some(client) = known.clone() {
        if let Some(pem) = certificate(it)? {
            return Ok(Identity::Certificate { client, pem });
        }
        if let Some(secret) = either(it, "client_secret", "client_secret_file_path")? {
            return Ok(Identity::Secret { client, secret });
        }
    }
    if is_on("use_oidc")? {
        let needed = |name: &str| it.invalid("use_oidc", &format!("it needs {name}"));
        let client = client.clone().ok_or_else(|| needed("\"client_id\""))?;
        tenant.ok_or_else(|| needed("\"tenant_id\""))?;
        let shown = it.text("oidc_request_token");
        let service = it.world.variable("SYSTEM_OIDCREQUESTURI");
        let connection = "ado_service_connection_id";
        let connection = it.has(connection).then(|| it.text(connection)).flatten();
        if let (Some(connection), Some(token), Some(_)) = (connection, shown.clone(), service) {
            return Ok(Identity::Pipelines { client, connection, token });
        }
        let text = it.text("oidc_token").map(Proof::Text);
        let text = text.or_else(|| it.text("oidc_token_file_path").map(Proof::File));
        let asked = || Some(Proof::Asked(it.text("oidc_request_url")?, shown?));
        let token = text.or_else(asked).ok_or_else(|| {
            needed("\"oidc_token\", \"oidc_token_file_path\", or \"oidc_request_url\" with \"oidc_request_token\"")
        })?;
        return Ok(Identity::Token { client, token });
    }
    if is_on("use_msi")? {
        return Ok(Identity::Machine { client, endpoint: it.text("msi_endpoint") });
    }
    if is_on("use_aks_workload_identity")? {
        return Ok(Identity::Workload);
    }
    if it.flag("use_cli")? != Some(false) {
        return Ok(Identity::Cli { subscription: it.text("subscription_id") });
    }
    let keys = if it.has("access_key") { "\"access_key\" or \"sas_token\"; or " } else { "" };
    let why = format!(
        "nothing says as whom Azure is asked. Set {keys}\"tenant_id\", \"client_id\" and \"client_secret\"; or \"use_oidc\", \"use_msi\", \
         \"use_aks_workload_identity\" or \"use_cli\""
    );
    Err(it.invalid("use_cli", &why))
}

/// A value that stands in the configuration or in a file.
fn either(it: &Opening, name: &str, file: &str) -> Result<Option<String>, Diagnostic> {
    let direct = it.text(name);
    let Some(path) = it.text(file) else { return Ok(direct) };
    let path = it.world.root.join(path);
    let read = read_regular(&path)
        .map_err(|why| it.invalid(file, &format!("{} cannot be read: {why}", path.display())))?;
    let read = String::from_utf8_lossy(&read).trim().to_owned();
    match direct {
        Some(direct) if !read.is_empty() && direct != read => {
            let why = format!(
                "the file holds another value than {name:?} is set to: set only one of the two"
            );
            Err(it.invalid(file, &why))
        }
        direct => Ok(direct.or(Some(read).filter(|it| !it.is_empty()))),
    }
}

/// The certificate of a service principal, with its key.
fn certificate(it: &Opening) -> Result<Option<String>, Diagnostic> {
    let (name, bytes) = match (it.text("client_certificate"), it.text("client_certificate_path")) {
        (Some(text), _) => match BASE64.decode(text.trim()) {
            Ok(bytes) => ("client_certificate", bytes),
            Err(_) => {
                return Err(it.invalid("client_certificate", "a certificate in base64 is required"));
            }
        },
        (None, Some(path)) => {
            let path = it.world.root.join(path);
            let read = read_regular(&path).map_err(|why| {
                let why = format!("{} cannot be read: {why}", path.display());
                it.invalid("client_certificate_path", &why)
            })?;
            ("client_certificate_path", read)
        }
        (None, None) => return Ok(None),
    };
    match String::from_utf8(bytes) {
        Ok(pem) if pem.contains("-----BEGIN") => Ok(Some(pem)),
        _ => {
            let why = "only PEM is read here, the certificate and its key (PKCS #8, without password) one after the other: \"openssl pkcs12 -in \
                       FILE.pfx -nodes -out FILE.pem\" makes that of PKCS #12";
            Err(it.invalid(name, why))
        }
    }
}
