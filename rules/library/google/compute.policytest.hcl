case "machines and disks without care" {
  configuration = <<-HCL
    resource "google_compute_instance" "bare" {
      can_ip_forward = true

      attached_disk {
        disk_encryption_key_raw = "c2VjcmV0"
      }

      network_interface {
        network = "default"

        access_config {
          network_tier = "PREMIUM"
        }
      }
    }

    resource "google_compute_instance_template" "full" {
      metadata = { enable-oslogin = "FALSE", serial-port-enable = true, block-project-ssh-keys = "no" }

      service_account {
        email  = "1234-compute@developer.gserviceaccount.com"
        scopes = ["cloud-platform"]
      }

      shielded_instance_config {
        enable_vtpm = false
      }
    }

    resource "google_compute_project_metadata" "bare" {
      metadata = { owner = "web" }
    }

    resource "google_compute_disk" "bare" {
      name = "bare"
    }

    resource "google_notebooks_instance" "bare" {
      shielded_instance_config {
        enable_vtpm                 = false
        enable_integrity_monitoring = false
      }
    }
  HCL

  expect "compute.boot-own-key" {
    on      = ["google_compute_instance.bare"]
    certain = true
  }
  expect "compute.default-account" {
    on      = ["google_compute_instance.bare", "google_compute_instance_template.full"]
    certain = true
  }
  expect "compute.disk-own-key" {
    on      = ["google_compute_disk.bare"]
    certain = true
  }
  expect "compute.forwarding" {
    on      = ["google_compute_instance.bare"]
    certain = true
  }
  expect "compute.full-access" {
    on      = ["google_compute_instance_template.full"]
    certain = true
  }
  expect "compute.no-oslogin" {
    on      = ["google_compute_project_metadata.bare"]
    certain = true
  }
  expect "compute.no-snapshots" {
    on      = ["google_compute_disk.bare"]
    certain = true
  }
  expect "compute.notebook-no-integrity" {
    on      = ["google_notebooks_instance.bare"]
    certain = true
  }
  expect "compute.notebook-no-vtpm" {
    on      = ["google_notebooks_instance.bare"]
    certain = true
  }
  expect "compute.notebook-public" {
    on      = ["google_notebooks_instance.bare"]
    certain = true
  }
  expect "compute.oslogin-off" {
    on      = ["google_compute_instance_template.full"]
    certain = true
  }
  expect "compute.project-keys" {
    on      = ["google_compute_instance.bare", "google_compute_instance_template.full"]
    certain = true
  }
  expect "compute.public" {
    on      = ["google_compute_instance.bare"]
    certain = true
  }
  expect "compute.raw-key" {
    on      = ["google_compute_instance.bare"]
    certain = true
  }
  expect "compute.serial-port" {
    on      = ["google_compute_instance_template.full"]
    certain = true
  }
  expect "compute.unprotected" {
    on      = ["google_compute_instance.bare"]
    certain = true
  }
  expect "compute.unshielded" {
    on      = ["google_compute_instance.bare", "google_compute_instance_template.full"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_service_account" "web" {
      account_id = "web"
    }

    resource "google_compute_instance" "guarded" {
      deletion_protection = true
      metadata            = { block-project-ssh-keys = "TRUE" }

      service_account {
        email  = "web@example.iam.gserviceaccount.com"
        scopes = ["cloud-platform"]
      }

      boot_disk {
        kms_key_self_link = "key"
      }

      attached_disk {
        source = "data"
      }

      shielded_instance_config {
        enable_secure_boot = true
      }

      network_interface {
        subnetwork = "inside"
      }
    }

    resource "google_compute_instance_from_template" "guarded" {
      source_instance_template = "web"
    }

    resource "google_compute_project_metadata" "guarded" {
      metadata = { enable-oslogin = "TRUE" }
    }

    resource "google_compute_disk" "guarded" {
      name = "guarded"

      disk_encryption_key {
        kms_key_self_link = "key"
      }
    }

    resource "google_compute_disk_resource_policy_attachment" "guarded" {
      disk = google_compute_disk.guarded.name
      name = "daily"
    }

    resource "google_notebooks_instance" "guarded" {
      no_public_ip = true
    }
  HCL

  expect_none = true
}
