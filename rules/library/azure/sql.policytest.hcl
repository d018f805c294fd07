case "servers that say next to nothing" {
  configuration = <<-HCL
    resource "azurerm_mssql_server" "bare" {
      version = "12.0"
    }

    resource "azurerm_mysql_server" "bare" {
      sku_name = "GP_Gen5_2"
    }

    resource "azurerm_mysql_flexible_server" "bare" {
      sku_name = "GP_Standard_D2ds_v4"
    }

    resource "azurerm_mssql_database" "bare" {
      transparent_data_encryption_enabled = false
    }

    resource "azurerm_monitor_diagnostic_setting" "bare" {
      target_resource_id = azurerm_mssql_database.bare.id

      enabled_log {
        category = "Errors"
      }
    }

    resource "azurerm_mssql_database_extended_auditing_policy" "bare" {
      log_monitoring_enabled = false
    }

    resource "azurerm_mssql_server_vulnerability_assessment" "bare" {
      recurring_scans {
        enabled = false
      }
    }
  HCL

  expect "sql.audit-not-sent" {
    on      = ["azurerm_mssql_database_extended_auditing_policy.bare"]
    certain = true
  }
  expect "sql.audit-short" {
    on      = ["azurerm_mssql_server.bare"]
    certain = true
  }
  expect "sql.encrypted-once" {
    on      = ["azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.flexible-no-private-way" {
    on      = ["azurerm_mysql_flexible_server.bare"]
    certain = true
  }
  expect "sql.no-alerts" {
    on      = ["azurerm_mssql_server.bare"]
    certain = true
  }
  expect "sql.no-entra-admin" {
    on      = ["azurerm_mssql_server.bare"]
    certain = true
  }
  expect "sql.no-ledger" {
    on      = ["azurerm_mssql_database.bare"]
    certain = true
  }
  expect "sql.no-private-endpoint" {
    on      = ["azurerm_mssql_server.bare", "azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.no-scans" {
    on      = ["azurerm_mssql_server_vulnerability_assessment.bare"]
    certain = true
  }
  expect "sql.no-threat-detection" {
    on      = ["azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.not-audited" {
    on      = ["azurerm_mssql_server.bare"]
    certain = true
  }
  expect "sql.not-encrypted" {
    on      = ["azurerm_mssql_database.bare"]
    certain = true
  }
  expect "sql.old-tls" {
    on      = ["azurerm_mssql_server.bare", "azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.one-region-backup" {
    on      = ["azurerm_mysql_flexible_server.bare", "azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.one-zone" {
    on      = ["azurerm_mssql_database.bare"]
    certain = true
  }
  expect "sql.own-key" {
    on      = ["azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.plain" {
    on      = ["azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.public" {
    on      = ["azurerm_mssql_server.bare", "azurerm_mysql_server.bare"]
    certain = true
  }
  expect "sql.scans-not-to-owners" {
    on      = ["azurerm_mssql_server_vulnerability_assessment.bare"]
    certain = true
  }
  expect "sql.scans-to-nobody" {
    on      = ["azurerm_mssql_server_vulnerability_assessment.bare"]
    certain = true
  }
}

case "servers that say the wrong things" {
  configuration = <<-HCL
    resource "azurerm_mssql_server" "open" {
      public_network_access_enabled = true
      minimum_tls_version           = "1.0"
    }

    resource "azurerm_mssql_server_extended_auditing_policy" "open" {
      server_id         = azurerm_mssql_server.open.id
      retention_in_days = 30
    }

    resource "azurerm_mssql_server_security_alert_policy" "open" {
      server_name     = azurerm_mssql_server.open.name
      state           = "Disabled"
      disabled_alerts = ["Sql_Injection"]
    }

    resource "azurerm_mssql_firewall_rule" "azure" {
      server_id        = azurerm_mssql_server.open.id
      start_ip_address = "0.0.0.0"
      end_ip_address   = "0.0.0.0"
    }

    resource "azurerm_postgresql_flexible_server_firewall_rule" "all" {
      start_ip_address = "0.0.0.0"
      end_ip_address   = "255.255.255.255"
    }

    resource "azurerm_postgresql_configuration" "quiet" {
      name  = "log_connections"
      value = "OFF"
    }
  HCL

  expect "sql.alerts-left-out" {
    on      = ["azurerm_mssql_server_security_alert_policy.open"]
    certain = true
  }
  expect "sql.alerts-not-to-owners" {
    on      = ["azurerm_mssql_server_security_alert_policy.open"]
    certain = true
  }
  expect "sql.alerts-off" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.alerts-to-nobody" {
    on      = ["azurerm_mssql_server_security_alert_policy.open"]
    certain = true
  }
  expect "sql.all-of-azure" {
    on      = ["azurerm_mssql_firewall_rule.azure"]
    certain = true
  }
  expect "sql.audit-short" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.no-alerts" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.no-entra-admin" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.no-private-endpoint" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.old-tls" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.open-firewall" {
    on      = ["azurerm_postgresql_flexible_server_firewall_rule.all"]
    certain = true
  }
  expect "sql.parameter-off" {
    on      = ["azurerm_postgresql_configuration.quiet"]
    certain = true
  }
  expect "sql.public" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
  expect "sql.server-open-to-azure" {
    on      = ["azurerm_mssql_server.open"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_mssql_server" "guarded" {
      public_network_access_enabled = false
      minimum_tls_version           = "1.2"

      azuread_administrator {
        login_username = "admins"
      }
    }

    resource "azurerm_private_endpoint" "guarded" {
      private_service_connection {
        private_connection_resource_id = azurerm_mssql_server.guarded.id
      }
    }

    resource "azurerm_mssql_server_extended_auditing_policy" "guarded" {
      server_id         = azurerm_mssql_server.guarded.id
      retention_in_days = 120
    }

    resource "azurerm_mssql_server_security_alert_policy" "guarded" {
      server_name          = azurerm_mssql_server.guarded.name
      state                = "Enabled"
      email_addresses      = ["ops@example.com"]
      email_account_admins = true
    }

    resource "azurerm_mssql_server_vulnerability_assessment" "guarded" {
      server_security_alert_policy_id = azurerm_mssql_server_security_alert_policy.guarded.id

      recurring_scans {
        enabled                   = true
        email_subscription_admins = true
      }
    }

    resource "azurerm_mssql_database" "guarded" {
      zone_redundant = true
      ledger_enabled = true
    }

    resource "azurerm_monitor_diagnostic_setting" "guarded" {
      target_resource_id = azurerm_mssql_database.guarded.id

      enabled_log {
        category = "Errors"
      }
    }

    resource "azurerm_mssql_database_extended_auditing_policy" "guarded" {
      log_monitoring_enabled = true
    }

    resource "azurerm_mssql_firewall_rule" "office" {
      start_ip_address = "192.0.2.1"
      end_ip_address   = "192.0.2.9"
    }

    resource "azurerm_postgresql_server" "guarded" {
      public_network_access_enabled     = false
      ssl_enforcement_enabled           = true
      ssl_minimal_tls_version_enforced  = "TLS1_2"
      geo_redundant_backup_enabled      = true
      infrastructure_encryption_enabled = true

      threat_detection_policy {
        enabled = true
      }
    }

    resource "azurerm_private_endpoint" "postgres" {
      private_service_connection {
        private_connection_resource_id = azurerm_postgresql_server.guarded.id
      }
    }

    resource "azurerm_key_vault_key" "guarded" {
      expiration_date = "2030-01-31T00:00:00Z"
      key_type        = "RSA-HSM"

      rotation_policy {
        automatic {
          time_before_expiry = "P30D"
        }
      }
    }

    resource "azurerm_postgresql_server_key" "guarded" {
      server_id        = azurerm_postgresql_server.guarded.id
      key_vault_key_id = azurerm_key_vault_key.guarded.id
    }

    resource "azurerm_postgresql_configuration" "guarded" {
      name  = "log_connections"
      value = "on"
    }

    resource "azurerm_postgresql_flexible_server" "replica" {
      create_mode         = "Replica"
      delegated_subnet_id = "subnet"
    }
  HCL

  expect_none = true
}
