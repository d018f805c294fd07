case "apps that say next to nothing" {
  configuration = <<-HCL
    resource "azurerm_linux_web_app" "bare" {
      name = "bare"
    }

    resource "azurerm_function_app" "bare" {
      name = "bare"
    }

    resource "azurerm_linux_function_app" "bare" {
      name = "bare"
    }

    resource "azurerm_service_plan" "bare" {
      sku_name = "B1"
    }
  HCL

  expect "webapps.client-certificate" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.function-plain-http" {
    on      = ["azurerm_function_app.bare", "azurerm_linux_function_app.bare"]
    certain = true
  }
  expect "webapps.function-public" {
    on      = ["azurerm_linux_function_app.bare"]
    certain = true
  }
  expect "webapps.http-1" {
    on      = ["azurerm_function_app.bare", "azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-error-log" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-failure-trace" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-health-check" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-http-log" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-identity" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.no-login" {
    on      = ["azurerm_function_app.bare", "azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.one-worker" {
    on      = ["azurerm_service_plan.bare"]
    certain = true
  }
  expect "webapps.one-zone" {
    on      = ["azurerm_service_plan.bare"]
    certain = true
  }
  expect "webapps.plain-ftp" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.plain-http" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.public" {
    on      = ["azurerm_linux_web_app.bare"]
    certain = true
  }
  expect "webapps.small-plan" {
    on      = ["azurerm_service_plan.bare"]
    certain = true
  }
}

case "apps that say the wrong things" {
  configuration = <<-HCL
    resource "azurerm_windows_web_app" "open" {
      https_only                    = true
      client_certificate_enabled    = true
      public_network_access_enabled = false

      identity {
        type = "SystemAssigned"
      }

      auth_settings {
        enabled = true
      }

      logs {
        detailed_error_messages = true
        failed_request_tracing  = true

        http_logs {
          retention = 7
        }
      }

      site_config {
        minimum_tls_version      = "1.1"
        http2_enabled            = true
        remote_debugging_enabled = true
        ftps_state               = "AllAllowed"
        always_on                = false
        health_check_path        = "/health"

        cors {
          allowed_origins = ["https://example.com", "*"]
        }
      }
    }

    resource "azurerm_linux_function_app" "open" {
      https_only                    = true
      public_network_access_enabled = false

      auth_settings_v2 {
        require_https = false
      }
    }
  HCL

  expect "webapps.any-origin" {
    on      = ["azurerm_windows_web_app.open"]
    certain = true
  }
  expect "webapps.debugger" {
    on      = ["azurerm_windows_web_app.open"]
    certain = true
  }
  expect "webapps.function-plain-http" {
    on      = ["azurerm_linux_function_app.open"]
    certain = true
  }
  expect "webapps.old-tls" {
    on      = ["azurerm_windows_web_app.open"]
    certain = true
  }
  expect "webapps.plain-ftp" {
    on      = ["azurerm_windows_web_app.open"]
    certain = true
  }
  expect "webapps.sleeps" {
    on      = ["azurerm_windows_web_app.open"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_linux_web_app" "guarded" {
      https_only                    = true
      client_certificate_enabled    = true
      public_network_access_enabled = false

      identity {
        type = "SystemAssigned"
      }

      auth_settings_v2 {
        auth_enabled = true
      }

      logs {
        detailed_error_messages = true
        failed_request_tracing  = true

        http_logs {
          retention = 7
        }
      }

      site_config {
        minimum_tls_version = "1.2"
        http2_enabled       = true
        ftps_state          = "Disabled"
        health_check_path   = "/health"

        cors {
          allowed_origins = ["https://example.com"]
        }
      }
    }

    resource "azurerm_linux_function_app" "guarded" {
      https_only                    = true
      public_network_access_enabled = false

      site_config {
        minimum_tls_version = "1.3"
      }
    }

    resource "azurerm_service_plan" "guarded" {
      sku_name               = "P1v3"
      worker_count           = 3
      zone_balancing_enabled = true
    }
  HCL

  expect_none = true
}
