case "rights for everyone" {
  configuration = <<-HCL
    resource "google_bigquery_table_iam_member" "all" {
      member = "allUsers"
    }

    resource "google_kms_key_ring" "main" {
      name = "main"
    }

    resource "google_kms_key_ring_iam_binding" "all" {
      key_ring_id = google_kms_key_ring.main.id
      members     = ["allAuthenticatedUsers"]
    }

    data "google_iam_policy" "open" {
      binding {
        members = ["allUsers"]
      }
    }

    resource "google_kms_crypto_key_iam_policy" "open" {
      policy_data = data.google_iam_policy.open.policy_data
    }

    resource "google_cloud_run_service_iam_member" "all" {
      member = "allUsers"
    }

    resource "google_cloudfunctions_function_iam_member" "all" {
      member = "allUsers"
    }

    resource "google_project_iam_member" "all" {
      member = "allUsers"
      role   = "roles/browser"
    }
  HCL

  expect "iam.key-for-everyone" {
    on      = ["google_kms_key_ring.main"]
    certain = true
  }
  expect "iam.public-data" {
    on      = ["google_bigquery_table_iam_member.all"]
    certain = true
  }
  expect "iam.public-function" {
    on      = ["google_cloudfunctions_function_iam_member.all"]
    certain = true
  }
  expect "iam.public-key" {
    on      = ["google_kms_crypto_key_iam_policy.open", "google_kms_key_ring_iam_binding.all"]
    certain = true
  }
  expect "iam.public-project" {
    on      = ["google_project_iam_member.all"]
    certain = true
  }
  expect "iam.public-service" {
    on      = ["google_cloud_run_service_iam_member.all"]
    certain = true
  }
}

case "roles that allow too much" {
  configuration = <<-HCL
    resource "google_project_iam_member" "default" {
      member = "serviceAccount:1234-compute@developer.gserviceaccount.com"
      role   = "roles/editor"
    }

    resource "google_folder_iam_member" "default" {
      member = "serviceAccount:web@appspot.gserviceaccount.com"
      role   = "roles/iam.serviceAccountTokenCreator"
    }

    resource "google_organization_iam_binding" "default" {
      members = ["serviceAccount:1234-compute@developer.gserviceaccount.com"]
      role    = "roles/owner"
    }

    resource "google_folder_iam_binding" "basic" {
      members = ["group:ops@example.com"]
      role    = "roles/viewer"
    }

    resource "google_project_iam_binding" "act" {
      members = ["user:ann@example.com"]
      role    = "roles/iam.serviceAccountUser"
    }

    resource "google_project_iam_member" "admin" {
      member = "serviceAccount:web@example.iam.gserviceaccount.com"
      role   = "roles/compute.admin"
    }

    resource "google_service_account_key" "own" {
      public_key_data = "AAAA"
    }

    resource "google_project" "bare" {
      name = "bare"
    }

    resource "google_compute_network" "bare" {
      project                 = google_project.bare.project_id
      auto_create_subnetworks = true
    }

    resource "google_compute_firewall" "bare" {
      network       = google_compute_network.bare.name
      source_ranges = ["10.0.0.0/8"]

      allow {
        protocol = "tcp"
        ports    = ["443"]
      }
    }

    resource "google_iam_workload_identity_pool_provider" "any" {
      oidc {
        issuer_uri = "https://example.com"
      }
    }
  HCL

  expect "iam.account-key" {
    on      = ["google_service_account_key.own"]
    certain = true
  }
  expect "iam.act-as-folder" {
    on      = ["google_folder_iam_member.default"]
    certain = true
  }
  expect "iam.act-as-organisation" {
    on      = ["google_organization_iam_binding.default"]
    certain = true
  }
  expect "iam.act-as-project" {
    on      = ["google_project_iam_binding.act", "google_project_iam_member.default"]
    certain = true
  }
  expect "iam.any-workload" {
    on      = ["google_iam_workload_identity_pool_provider.any"]
    certain = true
  }
  expect "iam.audit-exempted" {
    on      = ["google_project.bare"]
    certain = true
  }
  expect "iam.basic-role-folder" {
    on      = ["google_folder_iam_binding.basic"]
    certain = true
  }
  expect "iam.basic-role-organisation" {
    on      = ["google_organization_iam_binding.default"]
    certain = true
  }
  expect "iam.basic-role-project" {
    on      = ["google_project_iam_member.default"]
    certain = true
  }
  expect "iam.default-account-folder" {
    on      = ["google_folder_iam_member.default"]
    certain = true
  }
  expect "iam.default-account-organisation" {
    on      = ["google_organization_iam_binding.default"]
    certain = true
  }
  expect "iam.default-account-project" {
    on      = ["google_project_iam_member.default"]
    certain = true
  }
  expect "iam.default-network" {
    on      = ["google_project.bare"]
    certain = true
  }
  expect "iam.legacy-network" {
    on      = ["google_project.bare"]
    certain = true
  }
  expect "iam.privileged-account" {
    on      = ["google_project_iam_member.admin"]
    certain = true
  }
  expect "iam.single-person" {
    on      = ["google_project_iam_binding.act"]
    certain = true
  }
  expect "iam.user-act-as" {
    on      = ["google_project_iam_binding.act"]
    certain = true
  }
  expect "network.automatic-subnets" {
    on      = ["google_compute_network.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_bigquery_table_iam_member" "group" {
      member = "group:ops@example.com"
    }

    resource "google_kms_key_ring" "main" {
      name = "main"
    }

    resource "google_kms_key_ring_iam_binding" "group" {
      key_ring_id = google_kms_key_ring.main.id
      members     = ["group:ops@example.com"]
    }

    resource "google_cloud_run_service_iam_member" "group" {
      member = "group:ops@example.com"
    }

    resource "google_cloudfunctions_function_iam_member" "group" {
      member = "group:ops@example.com"
    }

    resource "google_project_iam_member" "group" {
      member = "group:ops@example.com"
      role   = "roles/storage.objectViewer"
    }

    resource "google_folder_iam_member" "group" {
      member = "group:ops@example.com"
      role   = "roles/browser"
    }

    resource "google_organization_iam_member" "group" {
      member = "group:ops@example.com"
      role   = "roles/browser"
    }

    resource "google_service_account_key" "rotated" {
      service_account_id = "web"
    }

    resource "google_project" "guarded" {
      auto_create_network = false
    }

    resource "google_project_iam_audit_config" "guarded" {
      project = google_project.guarded.project_id
      service = "allServices"

      audit_log_config {
        log_type = "DATA_READ"
      }
    }

    resource "google_iam_workload_identity_pool_provider" "ours" {
      attribute_condition = "assertion.repository_owner == 'example'"

      oidc {
        issuer_uri = "https://example.com"
      }
    }
  HCL

  expect_none = true
}
