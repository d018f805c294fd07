# Cases of docdb.rules: what is denied, and what is not.

case "aws_docdb_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_docdb_cluster" "r" {}
  HCL
  expect "docdb.backups" {
    on      = ["aws_docdb_cluster.r"]
    certain = true
  }
  expect "docdb.key" {
    on      = ["aws_docdb_cluster.r"]
    certain = true
  }
  expect "docdb.logs" {
    on      = ["aws_docdb_cluster.r"]
    certain = true
  }
  expect "docdb.unencrypted" {
    on      = ["aws_docdb_cluster.r"]
    certain = true
  }
}

case "aws_docdb_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_docdb_cluster" "r" {
      storage_encrypted               = true
      kms_key_id                      = "arn:aws:kms:eu-west-1:111122223333:key/1"
      enabled_cloudwatch_logs_exports = ["audit", "profiler"]
      backup_retention_period         = 7
    }
  HCL
  expect_none = true
}

case "aws_docdb_cluster_parameter_group: nothing said" {
  configuration = <<-HCL
    resource "aws_docdb_cluster_parameter_group" "r" {}
  HCL
  expect "docdb.no-audit" {
    on      = ["aws_docdb_cluster_parameter_group.r"]
    certain = true
  }
}

case "aws_docdb_cluster_parameter_group: said wrongly" {
  configuration = <<-HCL
    resource "aws_docdb_cluster_parameter_group" "r" {
      parameter {
        name  = "tls"
        value = "disabled"
      }
    }
  HCL
  expect "docdb.no-audit" {
    on      = ["aws_docdb_cluster_parameter_group.r"]
    certain = true
  }
  expect "docdb.no-tls" {
    on      = ["aws_docdb_cluster_parameter_group.r"]
    certain = true
  }
}

case "aws_docdb_cluster_parameter_group: as it should be" {
  configuration = <<-HCL
    resource "aws_docdb_cluster_parameter_group" "r" {
      parameter {
        name  = "audit_logs"
        value = "enabled"
      }
    }
  HCL
  expect_none = true
}

case "aws_docdb_global_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_docdb_global_cluster" "r" {}
  HCL
  expect "docdb.global-unencrypted" {
    on      = ["aws_docdb_global_cluster.r"]
    certain = true
  }
}

case "aws_docdb_global_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_docdb_global_cluster" "r" {
      storage_encrypted = true
    }
  HCL
  expect_none = true
}
