case "registries and groups without care" {
  configuration = <<-HCL
    resource "azurerm_container_registry" "bare" {
      sku = "Basic"
    }

    resource "azurerm_container_registry" "open" {
      sku                    = "Standard"
      admin_enabled          = true
      anonymous_pull_enabled = true
    }

    resource "azurerm_container_registry_webhook" "plain" {
      service_uri = "http://example.com/push"
    }

    resource "azurerm_container_group" "bare" {
      name = "bare"
    }
  HCL

  expect "registry.admin" {
    on      = ["azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.anonymous" {
    on      = ["azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.group-no-identity" {
    on      = ["azurerm_container_group.bare"]
    certain = true
  }
  expect "registry.group-no-subnet" {
    on      = ["azurerm_container_group.bare"]
    certain = true
  }
  expect "registry.group-public" {
    on      = ["azurerm_container_group.bare"]
    certain = true
  }
  expect "registry.no-cleanup" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.no-quarantine" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.no-scan" {
    on      = ["azurerm_container_registry.bare"]
    certain = true
  }
  expect "registry.one-region" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.one-zone" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.plain-webhook" {
    on      = ["azurerm_container_registry_webhook.plain"]
    certain = true
  }
  expect "registry.public" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.shared-endpoint" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
  expect "registry.unsigned" {
    on      = ["azurerm_container_registry.bare", "azurerm_container_registry.open"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_container_registry" "guarded" {
      sku                           = "Premium"
      public_network_access_enabled = false
      trust_policy_enabled          = true
      quarantine_policy_enabled     = true
      retention_policy_in_days      = 7
      zone_redundancy_enabled       = true
      data_endpoint_enabled         = true

      georeplications {
        location                = "westeurope"
        zone_redundancy_enabled = true
      }
    }

    resource "azurerm_container_registry_webhook" "guarded" {
      service_uri = "https://example.com/push"
    }

    resource "azurerm_container_group" "guarded" {
      ip_address_type = "Private"
      subnet_ids      = ["subnet"]

      identity {
        type = "SystemAssigned"
      }
    }
  HCL

  expect_none = true
}
