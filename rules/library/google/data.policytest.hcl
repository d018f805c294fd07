case "what holds data says next to nothing" {
  configuration = <<-HCL
    resource "google_bigquery_dataset" "open" {
      access {
        role          = "READER"
        special_group = "allAuthenticatedUsers"
      }
    }

    resource "google_bigquery_table" "bare" {
      table_id = "bare"
    }

    resource "google_pubsub_topic" "bare" {
      name = "bare"
    }

    resource "google_artifact_registry_repository" "bare" {
      format = "DOCKER"
    }

    resource "google_bigtable_instance" "bare" {
      name = "bare"
    }

    resource "google_spanner_database" "bare" {
      deletion_protection = false
    }

    resource "google_dataflow_job" "bare" {
      name = "bare"
    }

    resource "google_dataproc_cluster" "bare" {
      name = "bare"
    }

    resource "google_data_fusion_instance" "bare" {
      name = "bare"
    }

    resource "google_vertex_ai_dataset" "bare" {
      display_name = "bare"
    }

    resource "google_vertex_ai_metadata_store" "bare" {
      name = "bare"
    }

    resource "google_redis_instance" "bare" {
      name = "bare"
    }

    resource "google_kms_crypto_key" "bare" {
      destroy_scheduled_duration = "86400s"
    }

    resource "google_cloudfunctions_function" "bare" {
      trigger_http = true
    }

    resource "google_cloud_run_v2_service" "bare" {
      name = "bare"
    }

    resource "google_cloudbuild_worker_pool" "bare" {
      name = "bare"
    }
  HCL

  expect "data.bigtable-own-key" {
    on      = ["google_bigtable_instance.bare"]
    certain = true
  }
  expect "data.bigtable-unprotected" {
    on      = ["google_bigtable_instance.bare"]
    certain = true
  }
  expect "data.build-public" {
    on      = ["google_cloudbuild_worker_pool.bare"]
    certain = true
  }
  expect "data.cache-no-login" {
    on      = ["google_redis_instance.bare"]
    certain = true
  }
  expect "data.cache-plain" {
    on      = ["google_redis_instance.bare"]
    certain = true
  }
  expect "data.dataflow-own-key" {
    on      = ["google_dataflow_job.bare"]
    certain = true
  }
  expect "data.dataflow-public" {
    on      = ["google_dataflow_job.bare"]
    certain = true
  }
  expect "data.dataproc-own-key" {
    on      = ["google_dataproc_cluster.bare"]
    certain = true
  }
  expect "data.dataproc-public" {
    on      = ["google_dataproc_cluster.bare"]
    certain = true
  }
  expect "data.dataset-own-key" {
    on      = ["google_bigquery_dataset.open"]
    certain = true
  }
  expect "data.dataset-public" {
    on      = ["google_bigquery_dataset.open"]
    certain = true
  }
  expect "data.function-ingress" {
    on      = ["google_cloudfunctions_function.bare"]
    certain = true
  }
  expect "data.function-plain" {
    on      = ["google_cloudfunctions_function.bare"]
    certain = true
  }
  expect "data.fusion-no-log" {
    on      = ["google_data_fusion_instance.bare"]
    certain = true
  }
  expect "data.fusion-no-monitoring" {
    on      = ["google_data_fusion_instance.bare"]
    certain = true
  }
  expect "data.fusion-public" {
    on      = ["google_data_fusion_instance.bare"]
    certain = true
  }
  expect "data.key-gone-soon" {
    on      = ["google_kms_crypto_key.bare"]
    certain = true
  }
  expect "data.key-rotation" {
    on      = ["google_kms_crypto_key.bare"]
    certain = true
  }
  expect "data.metadata-own-key" {
    on      = ["google_vertex_ai_metadata_store.bare"]
    certain = true
  }
  expect "data.model-data-own-key" {
    on      = ["google_vertex_ai_dataset.bare"]
    certain = true
  }
  expect "data.repository-own-key" {
    on      = ["google_artifact_registry_repository.bare"]
    certain = true
  }
  expect "data.run-default-account" {
    on      = ["google_cloud_run_v2_service.bare"]
    certain = true
  }
  expect "data.run-ingress" {
    on      = ["google_cloud_run_v2_service.bare"]
    certain = true
  }
  expect "data.spanner-droppable" {
    on      = ["google_spanner_database.bare"]
    certain = true
  }
  expect "data.spanner-own-key" {
    on      = ["google_spanner_database.bare"]
    certain = true
  }
  expect "data.spanner-unprotected" {
    on      = ["google_spanner_database.bare"]
    certain = true
  }
  expect "data.table-own-key" {
    on      = ["google_bigquery_table.bare"]
    certain = true
  }
  expect "data.table-unprotected" {
    on      = ["google_bigquery_table.bare"]
    certain = true
  }
  expect "data.topic-own-key" {
    on      = ["google_pubsub_topic.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_kms_crypto_key" "guarded" {
      rotation_period = "7776000s"
    }

    resource "google_kms_crypto_key" "signing" {
      purpose = "ASYMMETRIC_SIGN"
    }

    resource "google_bigquery_dataset" "guarded" {
      access {
        role           = "READER"
        group_by_email = "ops@example.com"
      }

      default_encryption_configuration {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_bigquery_table" "guarded" {
      deletion_protection = true

      encryption_configuration {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_pubsub_topic" "guarded" {
      kms_key_name = google_kms_crypto_key.guarded.id
    }

    resource "google_artifact_registry_repository" "guarded" {
      kms_key_name = google_kms_crypto_key.guarded.id
    }

    resource "google_bigtable_instance" "guarded" {
      deletion_protection = true

      cluster {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_spanner_database" "guarded" {
      enable_drop_protection = true

      encryption_config {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_dataflow_job" "guarded" {
      kms_key_name     = google_kms_crypto_key.guarded.id
      ip_configuration = "WORKER_IP_PRIVATE"
    }

    resource "google_dataproc_cluster" "guarded" {
      cluster_config {
        encryption_config {
          kms_key_name = google_kms_crypto_key.guarded.id
        }

        gce_cluster_config {
          internal_ip_only = true
        }
      }
    }

    resource "google_data_fusion_instance" "guarded" {
      private_instance              = true
      enable_stackdriver_logging    = true
      enable_stackdriver_monitoring = true
    }

    resource "google_vertex_ai_dataset" "guarded" {
      encryption_spec {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_vertex_ai_metadata_store" "guarded" {
      encryption_spec {
        kms_key_name = google_kms_crypto_key.guarded.id
      }
    }

    resource "google_redis_instance" "guarded" {
      auth_enabled            = true
      transit_encryption_mode = "SERVER_AUTHENTICATION"
    }

    resource "google_cloudfunctions_function" "guarded" {
      trigger_http                 = true
      https_trigger_security_level = "SECURE_ALWAYS"
      ingress_settings             = "ALLOW_INTERNAL_ONLY"
    }

    resource "google_cloudfunctions2_function" "guarded" {
      service_config {
        ingress_settings = "ALLOW_INTERNAL_AND_GCLB"
      }
    }

    resource "google_cloud_run_v2_service" "guarded" {
      ingress = "INGRESS_TRAFFIC_INTERNAL_ONLY"

      template {
        service_account = "web@example.iam.gserviceaccount.com"
      }
    }

    resource "google_cloudbuild_worker_pool" "guarded" {
      worker_config {
        no_external_ip = true
      }
    }
  HCL

  expect_none = true
}
