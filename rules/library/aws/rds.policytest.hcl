# Cases of rds.rules: what is denied, and what is not.

case "aws_db_instance: nothing said" {
  configuration = <<-HCL
    resource "aws_db_instance" "r" {
      engine = "postgres"
    }
  HCL
  expect "rds.backups" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.deletion" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.iam-login" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.insights" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.log-exports" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.multi-az" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.tags" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.unencrypted" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.unlogged-queries" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
}

case "aws_db_instance: said wrongly" {
  configuration = <<-HCL
    resource "aws_db_instance" "r" {
      engine                     = "postgres"
      publicly_accessible        = true
      backup_retention_period    = 0
      auto_minor_version_upgrade = false
      ca_cert_identifier         = "rds-ca-2019"
    }
  HCL
  expect "rds.backups" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.ca" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.deletion" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.iam-login" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.insights" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.log-exports" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.minor-upgrades" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.multi-az" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.public" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.tags" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.unencrypted" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
  expect "rds.unlogged-queries" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
}

case "aws_db_instance: as it should be" {
  configuration = <<-HCL
    resource "aws_db_instance" "r" {
      engine                              = "postgres"
      storage_encrypted                   = true
      backup_retention_period             = 7
      multi_az                            = true
      deletion_protection                 = true
      iam_database_authentication_enabled = true
      enabled_cloudwatch_logs_exports     = ["postgresql"]
      monitoring_interval                 = 30
      performance_insights_enabled        = true
      performance_insights_kms_key_id     = "arn:aws:kms:eu-west-1:111122223333:key/1"
      ca_cert_identifier                  = "rds-ca-rsa2048-g1"
      copy_tags_to_snapshot               = true
    }
  HCL
  expect "rds.unlogged-queries" {
    on      = ["aws_db_instance.r"]
    certain = true
  }
}

case "aws_rds_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_rds_cluster" "r" {}
  HCL
  expect "rds.cluster-backtrack" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-deletion" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-iam-login" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-key" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-log-exports" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-no-audit" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-tags" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-unencrypted" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.unplanned" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
}

case "aws_rds_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_rds_cluster" "r" {
      backup_retention_period = 0
    }
  HCL
  expect "rds.cluster-backtrack" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-backups" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-deletion" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-iam-login" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-key" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-log-exports" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-no-audit" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-tags" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.cluster-unencrypted" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
  expect "rds.unplanned" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
}

case "aws_rds_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_rds_cluster" "r" {
      storage_encrypted                   = true
      backup_retention_period             = 7
      deletion_protection                 = true
      iam_database_authentication_enabled = true
      enabled_cloudwatch_logs_exports     = ["audit"]
      copy_tags_to_snapshot               = true
      kms_key_id                          = "arn:aws:kms:eu-west-1:111122223333:key/1"
      backtrack_window                    = 3600
    }
  HCL
  expect "rds.unplanned" {
    on      = ["aws_rds_cluster.r"]
    certain = true
  }
}

case "aws_rds_cluster_instance: nothing said" {
  configuration = <<-HCL
    resource "aws_rds_cluster_instance" "r" {}
  HCL
  expect "rds.insights" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
}

case "aws_rds_cluster_instance: said wrongly" {
  configuration = <<-HCL
    resource "aws_rds_cluster_instance" "r" {
      publicly_accessible        = true
      auto_minor_version_upgrade = false
    }
  HCL
  expect "rds.insights" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
  expect "rds.minor-upgrades" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
  expect "rds.public" {
    on      = ["aws_rds_cluster_instance.r"]
    certain = true
  }
}

case "aws_rds_cluster_instance: as it should be" {
  configuration = <<-HCL
    resource "aws_rds_cluster_instance" "r" {
      monitoring_interval             = 30
      performance_insights_enabled    = true
      performance_insights_kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_db_cluster_snapshot: nothing said" {
  configuration = <<-HCL
    resource "aws_db_cluster_snapshot" "r" {}
  HCL
  expect "rds.snapshot-unencrypted" {
    on      = ["aws_db_cluster_snapshot.r"]
    certain = true
  }
}

case "aws_db_cluster_snapshot: as it should be" {
  configuration = <<-HCL
    resource "aws_db_cluster_snapshot" "r" {
      storage_encrypted = true
    }
  HCL
  expect_none = true
}

case "aws_db_snapshot: nothing said" {
  configuration = <<-HCL
    resource "aws_db_snapshot" "r" {}
  HCL
  expect_none = true
}

case "aws_db_snapshot: said wrongly" {
  configuration = <<-HCL
    resource "aws_db_snapshot" "r" {
      shared_accounts = ["all"]
    }
  HCL
  expect "rds.snapshot-public" {
    on      = ["aws_db_snapshot.r"]
    certain = true
  }
}

case "aws_db_snapshot: as it should be" {
  configuration = <<-HCL
    resource "aws_db_snapshot" "r" {
      shared_accounts = ["111122223333"]
    }
  HCL
  expect_none = true
}

case "aws_db_snapshot_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_db_snapshot_copy" "r" {}
  HCL
  expect "rds.snapshot-copy-key" {
    on      = ["aws_db_snapshot_copy.r"]
    certain = true
  }
}

case "aws_db_snapshot_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_db_snapshot_copy" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "backup plans that name a cluster, and that select it by a tag" {
  configuration = <<-HCL
    resource "aws_rds_cluster" "none" {}
    resource "aws_rds_cluster" "named" {}
    resource "aws_rds_cluster" "tagged" {
      tags = { backup = "daily" }
    }
    resource "aws_backup_selection" "named" {
      plan_id   = "plan"
      resources = [aws_rds_cluster.named.arn]
    }
    resource "aws_backup_selection" "tagged" {
      plan_id = "plan"
      selection_tag {
        type  = "STRINGEQUALS"
        key   = "backup"
        value = "daily"
      }
    }
  HCL
  expect "rds.cluster-backtrack" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-deletion" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-iam-login" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-key" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-log-exports" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-no-audit" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-tags" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.cluster-unencrypted" {
    on      = ["aws_rds_cluster.named", "aws_rds_cluster.none", "aws_rds_cluster.tagged"]
    certain = true
  }
  expect "rds.unplanned" {
    on      = ["aws_rds_cluster.none"]
    certain = true
  }
}

case "a group of parameters" {
  configuration = <<-HCL
    resource "aws_db_parameter_group" "plain" {
      family = "postgres16"
      parameter {
        name  = "log_statement"
        value = "all"
      }
      parameter {
        name  = "log_min_duration_statement"
        value = "100"
      }
    }
    resource "aws_db_parameter_group" "tls" {
      family = "postgres16"
      parameter {
        name  = "rds.force_ssl"
        value = "1"
      }
    }
    resource "aws_db_instance" "plain" {
      engine               = "postgres"
      parameter_group_name = aws_db_parameter_group.plain.name
    }
    resource "aws_db_instance" "tls" {
      engine               = "postgres"
      parameter_group_name = aws_db_parameter_group.tls.name
    }
  HCL
  expect "rds.backups" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.deletion" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.iam-login" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.insights" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.log-exports" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.multi-az" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.plain" {
    on      = ["aws_db_instance.plain"]
    certain = true
  }
  expect "rds.tags" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.unencrypted" {
    on      = ["aws_db_instance.plain", "aws_db_instance.tls"]
    certain = true
  }
  expect "rds.unlogged-queries" {
    on      = ["aws_db_instance.tls"]
    certain = true
  }
}

case "queries of a cluster" {
  configuration = <<-HCL
    resource "aws_rds_cluster_parameter_group" "logs" {
      family = "aurora-postgresql16"
      parameter {
        name  = "log_statement"
        value = "all"
      }
      parameter {
        name  = "log_min_duration_statement"
        value = "100"
      }
    }
    resource "aws_rds_cluster" "silent" {
      engine = "aurora-postgresql"
    }
    resource "aws_rds_cluster" "logs" {
      engine                          = "aurora-postgresql"
      db_cluster_parameter_group_name = aws_rds_cluster_parameter_group.logs.name
    }
  HCL
  expect "rds.cluster-deletion" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-iam-login" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-key" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-log-exports" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-tags" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-unencrypted" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.cluster-unlogged-queries" {
    on      = ["aws_rds_cluster.silent"]
    certain = true
  }
  expect "rds.unplanned" {
    on      = ["aws_rds_cluster.logs", "aws_rds_cluster.silent"]
    certain = true
  }
}

case "Performance Insights under a key of AWS, and where there is none" {
  configuration = <<-HCL
    resource "aws_rds_cluster_instance" "insights" {
      performance_insights_enabled = true
      monitoring_interval          = 30
    }
    resource "aws_db_instance" "small" {
      engine         = "mariadb"
      instance_class = "db.t3.micro"
    }
  HCL
  expect "rds.backups" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.deletion" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.insights-key" {
    on      = ["aws_rds_cluster_instance.insights"]
    certain = true
  }
  expect "rds.log-exports" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.monitoring" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.multi-az" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.tags" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
  expect "rds.unencrypted" {
    on      = ["aws_db_instance.small"]
    certain = true
  }
}
