case "rules that let everyone in" {
  configuration = <<-HCL
    resource "azurerm_network_security_group" "web" {
      name = "web"

      security_rule {
        name                   = "login"
        access                 = "Allow"
        direction              = "Inbound"
        protocol               = "Tcp"
        source_address_prefix  = "*"
        destination_port_range = "22"
      }

      security_rule {
        name                    = "names"
        access                  = "allow"
        direction               = "inbound"
        protocol                = "Udp"
        source_address_prefixes = ["10.0.0.0/8", "0.0.0.0/0"]
        destination_port_ranges = ["53", "123"]
      }
    }

    resource "azurerm_network_security_rule" "desktop" {
      network_security_group_name = azurerm_network_security_group.web.name
      access                      = "Allow"
      direction                   = "Inbound"
      protocol                    = "*"
      source_address_prefix       = "Internet"
      destination_port_ranges     = ["443", "3000-4000"]
    }

    resource "azurerm_network_security_rule" "all" {
      network_security_group_name = azurerm_network_security_group.web.name
      access                      = "Allow"
      direction                   = "Inbound"
      protocol                    = "*"
      source_address_prefixes     = ["Internet"]
      destination_port_range      = "*"
    }

    resource "azurerm_network_security_group" "nothing" {
      name = "nothing"
    }
  HCL

  expect "network.any-port" {
    on      = ["azurerm_network_security_rule.all"]
    certain = true
  }
  expect "network.http" {
    on      = ["azurerm_network_security_rule.all"]
    certain = true
  }
  expect "network.idle-group" {
    on      = ["azurerm_network_security_group.nothing", "azurerm_network_security_group.web"]
    certain = true
  }
  expect "network.no-flow-log" {
    on      = ["azurerm_network_security_group.nothing", "azurerm_network_security_group.web"]
    certain = true
  }
  expect "network.rdp" {
    on      = ["azurerm_network_security_rule.all", "azurerm_network_security_rule.desktop"]
    certain = true
  }
  expect "network.ssh" {
    on      = ["azurerm_network_security_group.web", "azurerm_network_security_rule.all"]
    certain = true
  }
  expect "network.udp" {
    on      = ["azurerm_network_security_group.web"]
    certain = true
  }
}

case "a machine that everyone may log in to" {
  configuration = <<-HCL
    resource "azurerm_network_security_group" "open" {
      name = "open"
    }

    resource "azurerm_network_security_rule" "login" {
      network_security_group_name = azurerm_network_security_group.open.name
      access                      = "Allow"
      direction                   = "Inbound"
      protocol                    = "Tcp"
      source_address_prefix       = "0.0.0.0/0"
      destination_port_range      = "20-25"
    }

    resource "azurerm_subnet" "front" {
      name = "front"
    }

    resource "azurerm_subnet_network_security_group_association" "front" {
      subnet_id                 = azurerm_subnet.front.id
      network_security_group_id = azurerm_network_security_group.open.id
    }

    resource "azurerm_public_ip" "front" {
      name = "front"
    }

    resource "azurerm_network_interface" "front" {
      ip_configuration {
        subnet_id            = azurerm_subnet.front.id
        public_ip_address_id = azurerm_public_ip.front.id
      }
    }

    resource "azurerm_linux_virtual_machine" "front" {
      network_interface_ids      = [azurerm_network_interface.front.id]
      allow_extension_operations = false
      encryption_at_host_enabled = true

      admin_ssh_key {
        public_key = "ssh-ed25519 AAAA"
      }
      boot_diagnostics {
        storage_account_uri = null
      }
    }

    resource "azurerm_backup_protected_vm" "front" {
      source_vm_id = azurerm_linux_virtual_machine.front.id
    }
  HCL

  expect "network.no-flow-log" {
    on      = ["azurerm_network_security_group.open"]
    certain = true
  }
  expect "network.public-interface" {
    on      = ["azurerm_network_interface.front"]
    certain = true
  }
  expect "network.reachable-login" {
    on      = ["azurerm_linux_virtual_machine.front"]
    certain = true
  }
  expect "network.serial-console" {
    on      = ["azurerm_network_interface.front"]
    certain = true
  }
  expect "network.ssh" {
    on      = ["azurerm_network_security_rule.login"]
    certain = true
  }
}

case "subnets, flow logs, gateways and firewalls without care" {
  configuration = <<-HCL
    resource "azurerm_subnet" "bare" {
      name = "bare"
    }

    resource "azurerm_virtual_network" "one" {
      dns_servers = ["10.0.0.4"]
    }

    resource "azurerm_network_watcher_flow_log" "short" {
      enabled = false

      retention_policy {
        enabled = true
        days    = 7
      }
    }

    resource "azurerm_network_interface" "router" {
      ip_forwarding_enabled = true
    }

    resource "azurerm_application_gateway" "plain" {
      http_listener {
        protocol = "Http"
      }
    }

    resource "azurerm_monitor_diagnostic_setting" "plain" {
      target_resource_id = azurerm_application_gateway.plain.id

      enabled_log {
        category = "ApplicationGatewayAccessLog"
      }
    }

    resource "azurerm_web_application_firewall_policy" "off" {
      policy_settings {
        enabled = false
      }
    }

    resource "azurerm_frontdoor" "bare" {
      frontend_endpoint {
        name = "web"
      }
    }

    resource "azurerm_frontdoor_firewall_policy" "off" {
      enabled = false
    }

    resource "azurerm_firewall" "bare" {
      name = "bare"
    }

    resource "azurerm_monitor_diagnostic_setting" "bare" {
      target_resource_id = azurerm_firewall.bare.id

      enabled_log {
        category = "AZFWNetworkRule"
      }
    }

    resource "azurerm_firewall_policy" "bare" {
      name = "bare"
    }
  HCL

  expect "network.bare-subnet" {
    on      = ["azurerm_subnet.bare"]
    certain = true
  }
  expect "network.firewall-alerts-only" {
    on      = ["azurerm_firewall.bare"]
    certain = true
  }
  expect "network.firewall-no-idps" {
    on      = ["azurerm_firewall_policy.bare"]
    certain = true
  }
  expect "network.firewall-no-policy" {
    on      = ["azurerm_firewall.bare"]
    certain = true
  }
  expect "network.flow-log-off" {
    on      = ["azurerm_network_watcher_flow_log.short"]
    certain = true
  }
  expect "network.flow-log-short" {
    on      = ["azurerm_network_watcher_flow_log.short"]
    certain = true
  }
  expect "network.forwarding" {
    on      = ["azurerm_network_interface.router"]
    certain = true
  }
  expect "network.front-door-waf" {
    on      = ["azurerm_frontdoor.bare"]
    certain = true
  }
  expect "network.front-door-waf-off" {
    on      = ["azurerm_frontdoor_firewall_policy.off"]
    certain = true
  }
  expect "network.no-waf" {
    on      = ["azurerm_application_gateway.plain"]
    certain = true
  }
  expect "network.one-dns" {
    on      = ["azurerm_virtual_network.one"]
    certain = true
  }
  expect "network.plain-listener" {
    on      = ["azurerm_application_gateway.plain"]
    certain = true
  }
  expect "network.waf-off" {
    on      = ["azurerm_web_application_firewall_policy.off"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_network_security_group" "inside" {
      name = "inside"

      security_rule {
        name                   = "login"
        access                 = "Allow"
        direction              = "Inbound"
        protocol               = "Tcp"
        source_address_prefix  = "10.1.0.0/16"
        destination_port_range = "22"
      }

      security_rule {
        name                   = "web"
        access                 = "Allow"
        direction              = "Inbound"
        protocol               = "Tcp"
        source_address_prefix  = "Internet"
        destination_port_range = "443"
      }

      security_rule {
        name                   = "rest"
        access                 = "Deny"
        direction              = "Inbound"
        protocol               = "*"
        source_address_prefix  = "*"
        destination_port_range = "*"
      }
    }

    resource "azurerm_virtual_network" "main" {
      dns_servers = ["10.0.0.4", "10.0.0.5"]
    }

    resource "azurerm_subnet" "inside" {
      name                 = "inside"
      virtual_network_name = azurerm_virtual_network.main.name
    }

    resource "azurerm_subnet" "gateway" {
      name                 = "GatewaySubnet"
      virtual_network_name = azurerm_virtual_network.main.name
    }

    resource "azurerm_subnet_network_security_group_association" "inside" {
      subnet_id                 = azurerm_subnet.inside.id
      network_security_group_id = azurerm_network_security_group.inside.id
    }

    resource "azurerm_network_watcher_flow_log" "main" {
      target_resource_id = azurerm_virtual_network.main.id
      enabled            = true

      retention_policy {
        enabled = true
        days    = 90
      }
    }

    resource "azurerm_network_interface" "inside" {
      ip_configuration {
        subnet_id = azurerm_subnet.inside.id
      }
    }

    resource "azurerm_web_application_firewall_policy" "on" {
      policy_settings {
        enabled = true
      }
    }

    resource "azurerm_application_gateway" "front" {
      firewall_policy_id = azurerm_web_application_firewall_policy.on.id

      http_listener {
        protocol = "Https"
      }
    }

    resource "azurerm_firewall_policy" "strict" {
      intrusion_detection {
        mode = "Deny"
      }
    }

    resource "azurerm_firewall" "strict" {
      threat_intel_mode  = "Deny"
      firewall_policy_id = "policy"
    }

    resource "azurerm_monitor_diagnostic_setting" "both" {
      for_each           = { a = azurerm_firewall.strict.id, b = azurerm_application_gateway.front.id }
      target_resource_id = each.value

      enabled_log {
        category_group = "allLogs"
      }
    }

    resource "azurerm_frontdoor" "front" {
      frontend_endpoint {
        name                                    = "web"
        web_application_firewall_policy_link_id = "policy"
      }
    }

    resource "azurerm_frontdoor_firewall_policy" "on" {
      enabled = true
    }
  HCL

  expect_none = true
}
