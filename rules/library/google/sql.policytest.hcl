case "instances that say next to nothing" {
  configuration = <<-HCL
    resource "google_sql_database_instance" "postgres" {
      database_version = "POSTGRES_16"
    }

    resource "google_sql_database_instance" "mysql" {
      database_version = "MYSQL_8_4"
    }

    resource "google_sql_user" "root" {
      instance = google_sql_database_instance.mysql.name
      name     = "root"
    }
  HCL

  expect "sql.errors-not-logged" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-backup" {
    on      = ["google_sql_database_instance.mysql", "google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-checkpoint-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-connection-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-disconnection-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-durations" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-host-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-moment" {
    on      = ["google_sql_database_instance.mysql"]
    certain = true
  }
  expect "sql.no-wait-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.not-audited" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.one-zone" {
    on      = ["google_sql_database_instance.mysql", "google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.plain" {
    on      = ["google_sql_database_instance.mysql", "google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.root-without-password" {
    on      = ["google_sql_database_instance.mysql"]
    certain = true
  }
  expect "sql.statements-not-logged" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
}

case "instances that say the wrong things" {
  configuration = <<-HCL
    resource "google_sql_database_instance" "postgres" {
      database_version    = "POSTGRES_16"
      deletion_protection = false

      settings {
        ip_configuration {
          ipv4_enabled = true
          ssl_mode     = "ALLOW_UNENCRYPTED_AND_ENCRYPTED"

          authorized_networks {
            value = "0.0.0.0/0"
          }
        }

        database_flags {
          name  = "log_min_messages"
          value = "loud"
        }

        database_flags {
          name  = "log_temp_files"
          value = "1024"
        }

        database_flags {
          name  = "log_min_duration_statement"
          value = "250"
        }

        database_flags {
          name  = "log_executor_stats"
          value = "on"
        }

        database_flags {
          name  = "log_parser_stats"
          value = "on"
        }

        database_flags {
          name  = "log_planner_stats"
          value = "on"
        }

        database_flags {
          name  = "log_statement_stats"
          value = "on"
        }
      }
    }

    resource "google_sql_database_instance" "mysql" {
      database_version = "MYSQL_8_4"

      settings {
        database_flags {
          name  = "local_infile"
          value = "on"
        }
      }
    }

    resource "google_sql_database_instance" "sqlserver" {
      database_version = "SQLSERVER_2022_WEB"

      settings {
        database_flags {
          name  = "cross db ownership chaining"
          value = "on"
        }

        database_flags {
          name  = "contained database authentication"
          value = "on"
        }
      }
    }
  HCL

  expect "sql.contained-login" {
    on      = ["google_sql_database_instance.sqlserver"]
    certain = true
  }
  expect "sql.cross-ownership" {
    on      = ["google_sql_database_instance.sqlserver"]
    certain = true
  }
  expect "sql.errors-not-logged" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.executor-statistics" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.local-infile" {
    on      = ["google_sql_database_instance.mysql"]
    certain = true
  }
  expect "sql.no-backup" {
    on      = [
      "google_sql_database_instance.mysql",
      "google_sql_database_instance.postgres",
      "google_sql_database_instance.sqlserver",
    ]
    certain = true
  }
  expect "sql.no-checkpoint-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-connection-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-disconnection-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-durations" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-host-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.no-moment" {
    on      = ["google_sql_database_instance.mysql"]
    certain = true
  }
  expect "sql.no-wait-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.not-audited" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.one-zone" {
    on      = [
      "google_sql_database_instance.mysql",
      "google_sql_database_instance.postgres",
      "google_sql_database_instance.sqlserver",
    ]
    certain = true
  }
  expect "sql.open" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.parser-statistics" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.part-of-temporary" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.plain" {
    on      = [
      "google_sql_database_instance.mysql",
      "google_sql_database_instance.postgres",
      "google_sql_database_instance.sqlserver",
    ]
    certain = true
  }
  expect "sql.planner-statistics" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.public" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.statement-statistics" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.statements-in-log" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.statements-not-logged" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.unprotected" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
  expect "sql.wrong-message-level" {
    on      = ["google_sql_database_instance.postgres"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_sql_database_instance" "postgres" {
      database_version = "POSTGRES_16"

      settings {
        availability_type = "REGIONAL"

        backup_configuration {
          enabled = true
        }

        ip_configuration {
          ipv4_enabled = false
          ssl_mode     = "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"

          authorized_networks {
            value = "192.0.2.0/24"
          }
        }

        database_flags {
          name  = "log_checkpoints"
          value = "on"
        }

        database_flags {
          name  = "log_connections"
          value = "on"
        }

        database_flags {
          name  = "log_disconnections"
          value = "on"
        }

        database_flags {
          name  = "log_lock_waits"
          value = "on"
        }

        database_flags {
          name  = "log_hostname"
          value = "on"
        }

        database_flags {
          name  = "log_duration"
          value = "on"
        }

        database_flags {
          name  = "log_statement"
          value = "ddl"
        }

        database_flags {
          name  = "log_min_error_statement"
          value = "error"
        }

        database_flags {
          name  = "log_min_messages"
          value = "warning"
        }

        database_flags {
          name  = "log_temp_files"
          value = "0"
        }

        database_flags {
          name  = "log_min_duration_statement"
          value = "-1"
        }

        database_flags {
          name  = "cloudsql.enable_pgaudit"
          value = "on"
        }
      }
    }

    resource "google_sql_database_instance" "mysql" {
      database_version = "MYSQL_8_4"

      settings {
        availability_type = "REGIONAL"

        backup_configuration {
          enabled            = true
          binary_log_enabled = true
        }

        ip_configuration {
          ssl_mode = "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
        }

        database_flags {
          name  = "local_infile"
          value = "off"
        }
      }
    }

    resource "google_sql_user" "root" {
      instance = google_sql_database_instance.mysql.name
      name     = "root"
      password = "from-elsewhere"
    }

    resource "google_sql_database_instance" "replica" {
      database_version     = "MYSQL_8_4"
      master_instance_name = "mysql"

      settings {
        ip_configuration {
          require_ssl = true
        }
      }
    }

    resource "google_sql_database_instance" "sqlserver" {
      database_version = "SQLSERVER_2022_WEB"

      settings {
        availability_type = "REGIONAL"

        backup_configuration {
          enabled = true
        }

        ip_configuration {
          ssl_mode = "ENCRYPTED_ONLY"
        }

        database_flags {
          name  = "cross db ownership chaining"
          value = "off"
        }
      }
    }
  HCL

  expect_none = true
}
