case "services that say next to nothing" {
  configuration = <<-HCL
    resource "azurerm_redis_cache" "bare" {
      non_ssl_port_enabled = true
    }

    resource "azurerm_cosmosdb_account" "bare" {
      kind = "GlobalDocumentDB"
    }

    resource "azurerm_iothub" "open" {
      public_network_access_enabled = true
    }

    resource "azurerm_data_factory" "bare" {
      name = "bare"
    }

    resource "azurerm_servicebus_namespace" "bare" {
      name = "bare"
    }

    resource "azurerm_eventhub_namespace" "old" {
      minimum_tls_version = "1.0"
    }

    resource "azurerm_cognitive_account" "bare" {
      kind = "OpenAI"
    }

    resource "azurerm_api_management" "bare" {
      security {
        enable_frontend_tls10 = true
      }
    }

    resource "azurerm_api_management_backend" "plain" {
      url = "http://example.com"
    }

    resource "azurerm_cdn_endpoint" "bare" {
      is_https_allowed = false
    }

    resource "azurerm_batch_account" "open" {
      network_profile {
        account_access {
          default_action = "Allow"
        }
      }
    }
  HCL

  expect "services.backend-plain" {
    on      = ["azurerm_api_management_backend.plain"]
    certain = true
  }
  expect "services.batch-open" {
    on      = ["azurerm_batch_account.open"]
    certain = true
  }
  expect "services.bus-encrypted-once" {
    on      = ["azurerm_servicebus_namespace.bare"]
    certain = true
  }
  expect "services.bus-local-login" {
    on      = ["azurerm_servicebus_namespace.bare"]
    certain = true
  }
  expect "services.bus-no-identity" {
    on      = ["azurerm_servicebus_namespace.bare"]
    certain = true
  }
  expect "services.bus-own-key" {
    on      = ["azurerm_servicebus_namespace.bare"]
    certain = true
  }
  expect "services.cdn-no-tls" {
    on      = ["azurerm_cdn_endpoint.bare"]
    certain = true
  }
  expect "services.cdn-plain" {
    on      = ["azurerm_cdn_endpoint.bare"]
    certain = true
  }
  expect "services.cosmos-keys" {
    on      = ["azurerm_cosmosdb_account.bare"]
    certain = true
  }
  expect "services.cosmos-local-login" {
    on      = ["azurerm_cosmosdb_account.bare"]
    certain = true
  }
  expect "services.cosmos-open" {
    on      = ["azurerm_cosmosdb_account.bare"]
    certain = true
  }
  expect "services.cosmos-own-key" {
    on      = ["azurerm_cosmosdb_account.bare"]
    certain = true
  }
  expect "services.factory-public" {
    on      = ["azurerm_data_factory.bare"]
    certain = true
  }
  expect "services.hub-opened" {
    on      = ["azurerm_iothub.open"]
    certain = true
  }
  expect "services.interface-no-network" {
    on      = ["azurerm_api_management.bare"]
    certain = true
  }
  expect "services.interface-old-tls" {
    on      = ["azurerm_api_management.bare"]
    certain = true
  }
  expect "services.interface-public" {
    on      = ["azurerm_api_management.bare"]
    certain = true
  }
  expect "services.model-local-login" {
    on      = ["azurerm_cognitive_account.bare"]
    certain = true
  }
  expect "services.model-own-key" {
    on      = ["azurerm_cognitive_account.bare"]
    certain = true
  }
  expect "services.model-talks" {
    on      = ["azurerm_cognitive_account.bare"]
    certain = true
  }
  expect "services.old-tls" {
    on      = ["azurerm_eventhub_namespace.old", "azurerm_redis_cache.bare", "azurerm_servicebus_namespace.bare"]
    certain = true
  }
  expect "services.plain-redis" {
    on      = ["azurerm_redis_cache.bare"]
    certain = true
  }
  expect "services.public" {
    on      = [
      "azurerm_cognitive_account.bare",
      "azurerm_cosmosdb_account.bare",
      "azurerm_redis_cache.bare",
      "azurerm_servicebus_namespace.bare",
    ]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_redis_cache" "guarded" {
      public_network_access_enabled = false
      minimum_tls_version           = "1.2"
    }

    resource "azurerm_cosmosdb_account" "guarded" {
      kind                               = "GlobalDocumentDB"
      public_network_access_enabled      = false
      key_vault_key_id                   = "key"
      access_key_metadata_writes_enabled = false
      local_authentication_disabled      = true
    }

    resource "azurerm_iothub" "guarded" {
      public_network_access_enabled = false
    }

    resource "azurerm_data_factory" "guarded" {
      public_network_enabled = false
    }

    resource "azurerm_servicebus_namespace" "guarded" {
      public_network_access_enabled = false
      minimum_tls_version           = "1.2"
      local_auth_enabled            = false

      identity {
        type = "SystemAssigned"
      }

      customer_managed_key {
        infrastructure_encryption_enabled = true
      }
    }

    resource "azurerm_eventhub_namespace" "guarded" {
      minimum_tls_version = "1.2"
    }

    resource "azurerm_cognitive_account" "guarded" {
      kind                               = "OpenAI"
      public_network_access_enabled      = false
      local_auth_enabled                 = false
      outbound_network_access_restricted = true
      fqdns                              = ["example.com"]
    }

    resource "azurerm_cognitive_account_customer_managed_key" "guarded" {
      cognitive_account_id = azurerm_cognitive_account.guarded.id
    }

    resource "azurerm_api_management" "guarded" {
      public_network_access_enabled = false

      security {
        enable_frontend_tls10 = false
      }

      virtual_network_configuration {
        subnet_id = "subnet"
      }
    }

    resource "azurerm_api_management_backend" "guarded" {
      url = "https://example.com"
    }

    resource "azurerm_cdn_endpoint" "guarded" {
      is_http_allowed = false
    }

    resource "azurerm_batch_account" "guarded" {
      network_profile {
        account_access {
          default_action = "Deny"
        }
      }
    }
  HCL

  expect_none = true
}
