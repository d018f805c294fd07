case "a vault that says next to nothing" {
  configuration = <<-HCL
    resource "azurerm_key_vault" "bare" {
      name                = "bare"
      soft_delete_enabled = false
    }

    resource "azurerm_monitor_diagnostic_setting" "bare" {
      target_resource_id = azurerm_key_vault.bare.id

      enabled_log {
        category = "AuditEvent"
      }
    }

    resource "azurerm_key_vault_key" "signing" {
      name         = "signing"
      key_vault_id = azurerm_key_vault.bare.id
      key_type     = "RSA"
    }

    resource "azurerm_key_vault_secret" "token" {
      name         = "token"
      key_vault_id = azurerm_key_vault.bare.id
    }
  HCL

  expect "keyvault.key-expiry" {
    on      = ["azurerm_key_vault_key.signing"]
    certain = true
  }
  expect "keyvault.key-in-software" {
    on      = ["azurerm_key_vault_key.signing"]
    certain = true
  }
  expect "keyvault.key-rotation" {
    on      = ["azurerm_key_vault_key.signing"]
    certain = true
  }
  expect "keyvault.no-private-endpoint" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
  expect "keyvault.open-network" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
  expect "keyvault.own-roles" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
  expect "keyvault.public-endpoint" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
  expect "keyvault.purge" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
  expect "keyvault.secret-expiry" {
    on      = ["azurerm_key_vault_secret.token"]
    certain = true
  }
  expect "keyvault.secret-kind" {
    on      = ["azurerm_key_vault_secret.token"]
    certain = true
  }
  expect "keyvault.soft-delete" {
    on      = ["azurerm_key_vault.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_key_vault" "guarded" {
      name                          = "guarded"
      purge_protection_enabled      = true
      public_network_access_enabled = false
      rbac_authorization_enabled    = true

      network_acls {
        default_action = "Deny"
        bypass         = "AzureServices"
      }
    }

    resource "azurerm_key_vault" "older" {
      name                      = "older"
      purge_protection_enabled  = true
      enable_rbac_authorization = true

      network_acls {
        default_action = "Deny"
        bypass         = "AzureServices"
        ip_rules       = ["192.0.2.0/24"]
      }
    }

    resource "azurerm_private_endpoint" "guarded" {
      private_service_connection {
        private_connection_resource_id = azurerm_key_vault.guarded.id
      }
    }

    resource "azurerm_private_endpoint" "older" {
      private_service_connection {
        private_connection_resource_id = azurerm_key_vault.older.id
      }
    }

    resource "azurerm_monitor_diagnostic_setting" "guarded" {
      target_resource_id = azurerm_key_vault.guarded.id

      enabled_log {
        category = "AuditEvent"
      }
    }

    resource "azurerm_monitor_diagnostic_setting" "older" {
      target_resource_id = azurerm_key_vault.older.id

      enabled_log {
        category = "AuditEvent"
      }
    }

    resource "azurerm_key_vault_key" "guarded" {
      name         = "guarded"
      key_vault_id = azurerm_key_vault.guarded.id
      key_type     = "EC-HSM"

      rotation_policy {
        expire_after = "P90D"

        automatic {
          time_before_expiry = "P30D"
        }
      }
    }

    resource "azurerm_key_vault_secret" "guarded" {
      name            = "guarded"
      key_vault_id    = azurerm_key_vault.guarded.id
      content_type    = "token of the billing service"
      expiration_date = "2030-01-31T00:00:00Z"
    }
  HCL

  expect_none = true
}
