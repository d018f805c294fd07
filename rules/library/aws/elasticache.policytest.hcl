# Cases of elasticache.rules: what is denied, and what is not.

case "aws_elasticache_replication_group: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticache_replication_group" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_elasticache_replication_group: as it should be" {
  configuration = <<-HCL
    resource "aws_elasticache_replication_group" "r" {
      at_rest_encryption_enabled = true
      transit_encryption_enabled = true
      kms_key_id                 = "arn:aws:kms:eu-west-1:111122223333:key/1"
      automatic_failover_enabled = true
    }
  HCL
  expect = "RECORD"
}

case "aws_elasticache_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_elasticache_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {
      auto_minor_version_upgrade = false
    }
  HCL
  expect = "RECORD"
}

case "aws_elasticache_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {
      snapshot_retention_limit = 5
      subnet_group_name        = "caches"
    }
  HCL
  expect = "RECORD"
}

case "aws_memorydb_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_memorydb_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {
      tls_enabled = false
    }
  HCL
  expect = "RECORD"
}

case "aws_memorydb_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_memorydb_snapshot: nothing said" {
  configuration = <<-HCL
    resource "aws_memorydb_snapshot" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_memorydb_snapshot: as it should be" {
  configuration = <<-HCL
    resource "aws_memorydb_snapshot" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}
