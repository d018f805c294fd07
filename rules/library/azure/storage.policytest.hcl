case "an account that says next to nothing" {
  configuration = <<-HCL
    resource "azurerm_storage_account" "bare" {
      name                     = "Bare_Account"
      account_tier             = "Standard"
      account_replication_type = "LRS"
    }

    resource "azurerm_storage_table" "orders" {
      name                 = "orders"
      storage_account_name = azurerm_storage_account.bare.name
    }

    resource "azurerm_storage_sync" "files" {
      name = "files"
    }
  HCL

  expect "storage.encrypted-once" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.name" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.no-private-endpoint" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.old-tls" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.one-place" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.own-key" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.public-blobs" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.public-endpoint" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.queue-log" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.sas-expiry" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.shared-key" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.soft-delete" {
    on      = ["azurerm_storage_account.bare"]
    certain = true
  }
  expect "storage.sync-open" {
    on      = ["azurerm_storage_sync.files"]
    certain = true
  }
  expect "storage.table-log" {
    on      = ["azurerm_storage_table.orders"]
    certain = true
  }
}

case "an account that says the wrong things" {
  configuration = <<-HCL
    resource "azurerm_storage_account" "open" {
      name                            = "open"
      account_replication_type        = "GZRS"
      https_traffic_only_enabled      = false
      min_tls_version                 = "TLS1_0"
      allow_nested_items_to_be_public = true
      public_network_access_enabled   = true
      shared_access_key_enabled       = true
      is_hns_enabled                  = true

      network_rules {
        default_action = "Allow"
      }

      queue_properties {
        logging {
          delete = true
          read   = false
          write  = true
        }
      }

      blob_properties {
        versioning_enabled = true
      }
    }

    resource "azurerm_storage_container" "shared" {
      name                  = "shared"
      storage_account_name  = azurerm_storage_account.open.name
      container_access_type = "blob"
    }

    resource "azurerm_monitor_activity_log_alert" "changes" {
      name   = "changes"
      scopes = [azurerm_storage_account.open.id]
    }

    resource "azurerm_storage_account" "older" {
      name                      = "older"
      enable_https_traffic_only = false
      local_user_enabled        = true
    }

    resource "azurerm_storage_account_network_rules" "narrow" {
      storage_account_id = azurerm_storage_account.older.id
      default_action     = "Deny"
      bypass             = ["Logging"]
    }
  HCL

  expect "storage.activity-log-open" {
    on      = ["azurerm_storage_container.shared"]
    certain = true
  }
  expect "storage.blob-log" {
    on      = ["azurerm_storage_container.shared"]
    certain = true
  }
  expect "storage.encrypted-once" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.local-users" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.no-private-endpoint" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.old-tls" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.one-place" {
    on      = ["azurerm_storage_account.older"]
    certain = true
  }
  expect "storage.open-network" {
    on      = ["azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.own-key" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.plain-http" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.public-blobs" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.public-container" {
    on      = ["azurerm_storage_container.shared"]
    certain = true
  }
  expect "storage.public-endpoint" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.queue-log" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.sas-expiry" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.shared-key" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.soft-delete" {
    on      = ["azurerm_storage_account.older", "azurerm_storage_account.open"]
    certain = true
  }
  expect "storage.trusted-services" {
    on      = ["azurerm_storage_account_network_rules.narrow"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_storage_account" "guarded" {
      name                              = "guarded01"
      account_tier                      = "Standard"
      account_replication_type          = "GRS"
      https_traffic_only_enabled        = true
      min_tls_version                   = "TLS1_2"
      allow_nested_items_to_be_public   = false
      public_network_access_enabled     = false
      shared_access_key_enabled         = false
      infrastructure_encryption_enabled = true
      local_user_enabled                = false

      network_rules {
        default_action = "Deny"
        bypass         = ["AzureServices", "Metrics"]
      }

      blob_properties {
        delete_retention_policy {
          days = 14
        }
      }
    }

    resource "azurerm_storage_account_queue_properties" "guarded" {
      storage_account_id = azurerm_storage_account.guarded.id

      logging {
        delete = true
        read   = true
        write  = true
      }
    }

    resource "azurerm_storage_account_customer_managed_key" "guarded" {
      storage_account_id = azurerm_storage_account.guarded.id
      key_name           = "storage"
    }

    resource "azurerm_storage_account_network_rules" "guarded" {
      storage_account_id = azurerm_storage_account.guarded.id
      default_action     = "Deny"
      bypass             = ["AzureServices"]
    }

    resource "azurerm_private_endpoint" "guarded" {
      private_service_connection {
        private_connection_resource_id = azurerm_storage_account.guarded.id
      }
    }

    resource "azurerm_storage_container" "guarded" {
      name                 = "guarded"
      storage_account_name = azurerm_storage_account.guarded.name
    }

    resource "azurerm_storage_table" "guarded" {
      name                 = "guarded"
      storage_account_name = azurerm_storage_account.guarded.name
    }

    resource "azurerm_log_analytics_storage_insights" "guarded" {
      storage_account_id   = azurerm_storage_account.guarded.id
      blob_container_names = ["guarded"]
      table_names          = ["guarded"]
    }

    resource "azurerm_storage_sync" "guarded" {
      incoming_traffic_policy = "AllowVirtualNetworksOnly"
    }
  HCL

  expect_none = true
}

case "the version of TLS is not decided here" {
  configuration = <<-HCL
    variable "tls" {}

    resource "azurerm_storage_account" "later" {
      name                              = "later"
      account_replication_type          = "GRS"
      min_tls_version                   = var.tls
      allow_nested_items_to_be_public   = false
      public_network_access_enabled     = false
      shared_access_key_enabled         = false
      infrastructure_encryption_enabled = true
      account_kind                      = "FileStorage"

      customer_managed_key {
        key_vault_key_id = "key"
      }
    }

    resource "azurerm_private_endpoint" "later" {
      private_service_connection {
        private_connection_resource_id = azurerm_storage_account.later.id
      }
    }
  HCL

  expect "storage.old-tls" {
    on      = ["azurerm_storage_account.later"]
    certain = false
  }
}
