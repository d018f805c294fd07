case "a cluster that says next to nothing" {
  configuration = <<-HCL
    resource "azurerm_kubernetes_cluster" "bare" {
      name = "bare"
    }

    resource "azurerm_monitor_diagnostic_setting" "bare" {
      target_resource_id = azurerm_kubernetes_cluster.bare.id

      enabled_log {
        category = "kube-audit"
      }
    }
  HCL

  expect "kubernetes.disk-key" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.few-pods" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.free-tier" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.host-encryption" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.kept-disks" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.local-accounts" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.mixed-nodes" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-cni" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-log" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-network-policy" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-policy-addon" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-upgrades" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.open-api" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.public" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
  expect "kubernetes.secrets-stay" {
    on      = ["azurerm_kubernetes_cluster.bare"]
    certain = true
  }
}

case "a cluster that says the wrong things" {
  configuration = <<-HCL
    resource "azurerm_kubernetes_cluster" "open" {
      role_based_access_control_enabled = false
      http_application_routing_enabled  = true
      automatic_upgrade_channel         = "none"
      sku_tier                          = "Free"

      addon_profile {
        kube_dashboard {
          enabled = true
        }
      }

      default_node_pool {
        node_public_ip_enabled = true
        max_pods               = 30
      }

      network_profile {
        network_plugin = "kubenet"
      }
    }

    resource "azurerm_monitor_diagnostic_setting" "open" {
      target_resource_id = azurerm_kubernetes_cluster.open.id

      enabled_log {
        category = "kube-audit"
      }
    }

    resource "azurerm_kubernetes_cluster_node_pool" "open" {
      max_pods = 20
    }
  HCL

  expect "kubernetes.dashboard" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.disk-key" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.few-pods" {
    on      = ["azurerm_kubernetes_cluster.open", "azurerm_kubernetes_cluster_node_pool.open"]
    certain = true
  }
  expect "kubernetes.free-tier" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.host-encryption" {
    on      = ["azurerm_kubernetes_cluster.open", "azurerm_kubernetes_cluster_node_pool.open"]
    certain = true
  }
  expect "kubernetes.http-routing" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.kept-disks" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.local-accounts" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.mixed-nodes" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-cni" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-log" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-network-policy" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-policy-addon" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-rbac" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-upgrades" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.open-api" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.public" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.public-nodes" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
  expect "kubernetes.secrets-stay" {
    on      = ["azurerm_kubernetes_cluster.open"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_log_analytics_workspace" "guarded" {
      name = "guarded"
    }

    resource "azurerm_disk_encryption_set" "guarded" {
      name = "guarded"
    }

    resource "azurerm_kubernetes_cluster" "guarded" {
      private_cluster_enabled   = true
      azure_policy_enabled      = true
      local_account_disabled    = true
      disk_encryption_set_id    = azurerm_disk_encryption_set.guarded.id
      sku_tier                  = "Standard"
      automatic_upgrade_channel = "stable"

      oms_agent {
        log_analytics_workspace_id = azurerm_log_analytics_workspace.guarded.id
      }

      key_vault_secrets_provider {
        secret_rotation_enabled = true
      }

      default_node_pool {
        os_disk_type                 = "Ephemeral"
        host_encryption_enabled      = true
        only_critical_addons_enabled = true
        max_pods                     = 60
      }

      network_profile {
        network_plugin = "azure"
        network_policy = "cilium"
      }
    }

    resource "azurerm_kubernetes_cluster_node_pool" "guarded" {
      max_pods                = 60
      host_encryption_enabled = true
    }

    resource "azurerm_monitor_diagnostic_setting" "guarded" {
      target_resource_id = azurerm_kubernetes_cluster.guarded.id

      enabled_log {
        category = "kube-audit"
      }
    }
  HCL

  expect_none = true
}
