case "a cluster that says next to nothing" {
  configuration = <<-HCL
    resource "google_container_cluster" "bare" {
      name = "bare"
    }

    resource "google_container_node_pool" "bare" {
      node_config {
        image_type = "UBUNTU_CONTAINERD"
      }
    }
  HCL

  expect "kubernetes.any-image" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.default-account" {
    on      = ["google_container_cluster.bare", "google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.invisible-traffic" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-alias" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-channel" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-groups" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-labels" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-network-policy" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.no-repair" {
    on      = ["google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.no-secure-boot" {
    on      = ["google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.no-upgrade" {
    on      = ["google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.node-metadata" {
    on      = ["google_container_cluster.bare", "google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.other-image" {
    on      = ["google_container_node_pool.bare"]
    certain = true
  }
  expect "kubernetes.public-nodes" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
  expect "kubernetes.unnamed-api" {
    on      = ["google_container_cluster.bare"]
    certain = true
  }
}

case "a cluster that says the wrong things" {
  configuration = <<-HCL
    resource "google_container_cluster" "open" {
      logging_service         = "none"
      monitoring_service      = "none"
      enable_legacy_abac      = true
      enable_shielded_nodes   = false
      enable_kubernetes_alpha = true
      deletion_protection     = false

      master_auth {
        password = "pw"

        client_certificate_config {
          issue_client_certificate = true
        }
      }

      master_authorized_networks_config {
        cidr_blocks {
          cidr_block = "0.0.0.0/0"
        }
      }

      node_pool {
        name = "inside"
      }
    }

    resource "google_container_node_pool" "open" {
      version = "1.29.1"

      management {
        auto_repair  = false
        auto_upgrade = false
      }

      node_config {
        service_account = "web@example.iam.gserviceaccount.com"
        metadata        = { disable-legacy-endpoints = "false" }

        workload_metadata_config {
          mode = "GCE_METADATA"
        }

        shielded_instance_config {
          enable_integrity_monitoring = false
        }
      }
    }
  HCL

  expect "kubernetes.alpha" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.any-image" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.basic-login" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.client-certificate" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.invisible-traffic" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.legacy-endpoints" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.legacy-rights" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-alias" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-channel" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-groups" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-integrity" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.no-labels" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-log" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-monitoring" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-network-policy" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.no-repair" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.no-secure-boot" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.no-upgrade" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.node-metadata" {
    on      = ["google_container_node_pool.open"]
    certain = true
  }
  expect "kubernetes.open-api" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.own-pool" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.public-nodes" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.unprotected" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
  expect "kubernetes.unshielded" {
    on      = ["google_container_cluster.open"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_container_cluster" "guarded" {
      remove_default_node_pool    = true
      enable_intranode_visibility = true
      datapath_provider           = "ADVANCED_DATAPATH"
      resource_labels             = { owner = "web" }

      master_authorized_networks_config {
        cidr_blocks {
          cidr_block = "192.0.2.0/24"
        }
      }

      ip_allocation_policy {
        stack_type = "IPV4"
      }

      private_cluster_config {
        enable_private_nodes = true
      }

      authenticator_groups_config {
        security_group = "gke-security-groups@example.com"
      }

      binary_authorization {
        evaluation_mode = "PROJECT_SINGLETON_POLICY_ENFORCE"
      }

      release_channel {
        channel = "STABLE"
      }
    }

    resource "google_container_node_pool" "guarded" {
      management {
        auto_repair  = true
        auto_upgrade = true
      }

      node_config {
        image_type      = "COS_CONTAINERD"
        service_account = "web@example.iam.gserviceaccount.com"

        workload_metadata_config {
          mode = "GKE_METADATA"
        }

        shielded_instance_config {
          enable_secure_boot          = true
          enable_integrity_monitoring = true
        }
      }
    }
  HCL

  expect_none = true
}
