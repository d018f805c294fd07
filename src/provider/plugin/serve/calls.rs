//! The calls of both versions of the protocol, each led to the one answer.

use tonic::{Request, Response, Status};

use super::answers::Answers;
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::plugin::wire::tfplugin5::provider_server::Provider as Provider5;
use crate::provider::plugin::wire::tfplugin6::provider_server::Provider as Provider6;

/// Declares the calls of one version: the protocol's name, its messages, our name, the name that faults are told by.
macro_rules! serve {
    ($service:ident: $($name:ident ($message:ident) = $ours:ident $told:literal;)*) => {
        #[tonic::async_trait]
        impl $service for Answers {
            $(async fn $name(
                &self,
                request: Request<msg::$message::Request>,
            ) -> Result<Response<msg::$message::Response>, Status> {
                let request = request.into_inner();
                self.faults.before($told).await?;
                let mut answer = self.$ours(request).await?;
                self.faults.after($told, &mut answer)?;
                Ok(Response::new(answer))
            })*
        }
    };
}

serve! { Provider5:
    get_schema (get_provider_schema) = schema "schema";
    get_resource_identity_schemas (get_resource_identity_schemas) = identity_schemas "identity_schemas";
    get_functions (get_functions) = functions "functions";
    prepare_provider_config (validate_provider_config) = validate_provider "validate_provider";
    configure (configure_provider) = configure "configure";
    stop (stop_provider) = stop "stop";
    validate_resource_type_config (validate_config) = validate_resource "validate_resource";
    validate_data_source_config (validate_config) = validate_data "validate_data";
    validate_ephemeral_resource_config (validate_config) = validate_ephemeral "validate_ephemeral";
    upgrade_resource_state (upgrade_resource_state) = upgrade "upgrade";
    upgrade_resource_identity (upgrade_resource_identity) = upgrade_identity "upgrade_identity";
    read_resource (read_resource) = read "read";
    plan_resource_change (plan_resource_change) = plan "plan";
    apply_resource_change (apply_resource_change) = apply "apply";
    import_resource_state (import_resource_state) = import "import";
    move_resource_state (move_resource_state) = move_state "move";
    read_data_source (read_data_source) = read_data "read_data";
    open_ephemeral_resource (open_ephemeral_resource) = open "open";
    renew_ephemeral_resource (renew_ephemeral_resource) = renew "renew";
    close_ephemeral_resource (close_ephemeral_resource) = close "close";
    call_function (call_function) = call "call";
}

serve! { Provider6:
    get_provider_schema (get_provider_schema) = schema "schema";
    get_resource_identity_schemas (get_resource_identity_schemas) = identity_schemas "identity_schemas";
    get_functions (get_functions) = functions "functions";
    validate_provider_config (validate_provider_config) = validate_provider "validate_provider";
    configure_provider (configure_provider) = configure "configure";
    stop_provider (stop_provider) = stop "stop";
    validate_resource_config (validate_config) = validate_resource "validate_resource";
    validate_data_resource_config (validate_config) = validate_data "validate_data";
    validate_ephemeral_resource_config (validate_config) = validate_ephemeral "validate_ephemeral";
    upgrade_resource_state (upgrade_resource_state) = upgrade "upgrade";
    upgrade_resource_identity (upgrade_resource_identity) = upgrade_identity "upgrade_identity";
    read_resource (read_resource) = read "read";
    plan_resource_change (plan_resource_change) = plan "plan";
    apply_resource_change (apply_resource_change) = apply "apply";
    import_resource_state (import_resource_state) = import "import";
    move_resource_state (move_resource_state) = move_state "move";
    read_data_source (read_data_source) = read_data "read_data";
    open_ephemeral_resource (open_ephemeral_resource) = open "open";
    renew_ephemeral_resource (renew_ephemeral_resource) = renew "renew";
    close_ephemeral_resource (close_ephemeral_resource) = close "close";
    call_function (call_function) = call "call";
}
