case "buckets that say next to nothing" {
  configuration = <<-HCL
    resource "google_storage_bucket" "bare" {
      name          = "bare"
      force_destroy = true

      logging {
        log_bucket = "bare"
      }

      soft_delete_policy {
        retention_duration_seconds = 0
      }
    }

    resource "google_storage_bucket" "quiet" {
      name                        = "quiet"
      public_access_prevention    = "enforced"
      uniform_bucket_level_access = true

      versioning {
        enabled = true
      }

      encryption {
        default_kms_key_name = "key"
      }
    }

    resource "google_storage_bucket_iam_member" "all" {
      bucket = google_storage_bucket.bare.name
      member = "allUsers"
    }

    resource "google_storage_bucket_iam_binding" "all" {
      bucket  = google_storage_bucket.bare.name
      members = ["user:ann@example.com", "allAuthenticatedUsers"]
    }

    data "google_iam_policy" "open" {
      binding {
        role    = "roles/storage.objectViewer"
        members = ["allUsers"]
      }
    }

    resource "google_storage_bucket_iam_policy" "open" {
      bucket      = google_storage_bucket.bare.name
      policy_data = data.google_iam_policy.open.policy_data
    }

    resource "google_logging_project_sink" "audit" {
      destination = "storage.googleapis.com/${google_storage_bucket.bare.name}"
    }

    resource "google_logging_project_bucket_config" "audit" {
      locked = false
    }
  HCL

  expect "storage.destroyed-full" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.log-bucket-unlocked" {
    on      = ["google_logging_project_bucket_config.audit"]
    certain = true
  }
  expect "storage.log-unlocked" {
    on      = ["google_logging_project_sink.audit"]
    certain = true
  }
  expect "storage.logs-to-itself" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.no-log" {
    on      = ["google_storage_bucket.quiet"]
    certain = true
  }
  expect "storage.no-prevention" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.no-versions" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.object-rights" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.own-key" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
  expect "storage.public" {
    on      = [
      "google_storage_bucket_iam_binding.all",
      "google_storage_bucket_iam_member.all",
      "google_storage_bucket_iam_policy.open",
    ]
    certain = true
  }
  expect "storage.short-mercy" {
    on      = ["google_storage_bucket.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_storage_bucket" "logs" {
      name                        = "logs"
      public_access_prevention    = "enforced"
      uniform_bucket_level_access = true

      versioning {
        enabled = true
      }

      encryption {
        default_kms_key_name = "key"
      }

      logging {
        log_bucket = "others"
      }

      retention_policy {
        is_locked        = true
        retention_period = 2678400
      }
    }

    resource "google_storage_bucket_iam_member" "group" {
      bucket = google_storage_bucket.logs.name
      member = "group:ops@example.com"
    }

    resource "google_logging_project_sink" "audit" {
      destination = "storage.googleapis.com/${google_storage_bucket.logs.name}"
    }

    resource "google_logging_project_bucket_config" "audit" {
      locked = true
    }
  HCL

  expect_none = true
}
