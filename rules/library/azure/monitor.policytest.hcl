case "little is watched" {
  configuration = <<-HCL
    resource "azurerm_security_center_subscription_pricing" "free" {
      tier          = "Free"
      resource_type = "VirtualMachines"
    }

    resource "azurerm_security_center_contact" "bare" {
      name = "bare"
    }

    resource "azurerm_monitor_log_profile" "short" {
      categories = ["Action", "Write"]

      retention_policy {
        enabled = true
        days    = 30
      }
    }

    resource "azurerm_application_gateway" "quiet" {
      waf_configuration {
        enabled = true
      }
    }

    resource "azurerm_firewall" "watched" {
      threat_intel_mode  = "Deny"
      firewall_policy_id = "policy"
    }

    resource "azurerm_monitor_diagnostic_setting" "empty" {
      target_resource_id = azurerm_firewall.watched.id
    }

    resource "azurerm_role_definition" "all" {
      permissions {
        actions = ["*"]
      }
    }

    resource "azurerm_role_assignment" "owner" {
      role_definition_name = "Owner"
      scope                = "/subscriptions/00000000-0000-0000-0000-000000000000"
    }

    resource "azurerm_automation_variable_string" "plain" {
      value = "text"
    }

    resource "azurerm_automation_account" "bare" {
      name = "bare"
    }

    resource "azurerm_recovery_services_vault" "bare" {
      name = "bare"
    }
  HCL

  expect "monitor.automation-no-identity" {
    on      = ["azurerm_automation_account.bare"]
    certain = true
  }
  expect "monitor.automation-plain" {
    on      = ["azurerm_automation_variable_string.plain"]
    certain = true
  }
  expect "monitor.automation-public" {
    on      = ["azurerm_automation_account.bare"]
    certain = true
  }
  expect "monitor.custom-owner" {
    on      = ["azurerm_role_definition.all"]
    certain = true
  }
  expect "monitor.empty-diagnostics" {
    on      = ["azurerm_monitor_diagnostic_setting.empty"]
    certain = true
  }
  expect "monitor.log-part" {
    on      = ["azurerm_monitor_log_profile.short"]
    certain = true
  }
  expect "monitor.log-short" {
    on      = ["azurerm_monitor_log_profile.short"]
    certain = true
  }
  expect "monitor.no-diagnostics" {
    on      = ["azurerm_application_gateway.quiet"]
    certain = true
  }
  expect "monitor.no-mail" {
    on      = ["azurerm_security_center_contact.bare"]
    certain = true
  }
  expect "monitor.no-phone" {
    on      = ["azurerm_security_center_contact.bare"]
    certain = true
  }
  expect "monitor.not-told" {
    on      = ["azurerm_security_center_contact.bare"]
    certain = true
  }
  expect "monitor.owner-everywhere" {
    on      = ["azurerm_role_assignment.owner"]
    certain = true
  }
  expect "monitor.owners-not-told" {
    on      = ["azurerm_security_center_contact.bare"]
    certain = true
  }
  expect "monitor.plan-free" {
    on      = ["azurerm_security_center_subscription_pricing.free"]
    certain = true
  }
  expect "monitor.vault-no-identity" {
    on      = ["azurerm_recovery_services_vault.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_security_center_subscription_pricing" "guarded" {
      tier          = "Standard"
      resource_type = "VirtualMachines"
    }

    resource "azurerm_security_center_contact" "guarded" {
      email               = "ops@example.com"
      phone               = "+49-30-0000000"
      alert_notifications = true
      alerts_to_admins    = true
    }

    resource "azurerm_monitor_log_profile" "guarded" {
      categories = ["Action", "Delete", "Write"]

      retention_policy {
        enabled = true
        days    = 365
      }
    }

    resource "azurerm_application_gateway" "guarded" {
      waf_configuration {
        enabled = true
      }
    }

    resource "azurerm_monitor_diagnostic_setting" "guarded" {
      target_resource_id = azurerm_application_gateway.guarded.id

      enabled_log {
        category_group = "allLogs"
      }
    }

    resource "azurerm_role_definition" "reader" {
      permissions {
        actions = ["Microsoft.Storage/*/read"]
      }
    }

    resource "azurerm_role_assignment" "owner" {
      role_definition_name = "Owner"
      scope                = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/web"
    }

    resource "azurerm_automation_variable_string" "guarded" {
      value     = "text"
      encrypted = true
    }

    resource "azurerm_automation_account" "guarded" {
      public_network_access_enabled = false

      identity {
        type = "SystemAssigned"
      }
    }

    resource "azurerm_recovery_services_vault" "guarded" {
      identity {
        type = "SystemAssigned"
      }
    }
  HCL

  expect_none = true
}
