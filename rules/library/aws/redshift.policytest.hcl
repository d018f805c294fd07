# Cases of redshift.rules: what is denied, and what is not.

case "aws_redshift_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_redshift_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {
      allow_version_upgrade               = false
      automated_snapshot_retention_period = 0
    }
  HCL
  expect = "RECORD"
}

case "aws_redshift_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {
      encrypted                 = true
      kms_key_id                = "arn:aws:kms:eu-west-1:111122223333:key/1"
      publicly_accessible       = false
      cluster_subnet_group_name = "data"
      enhanced_vpc_routing      = true
      database_name             = "sales"
    }
  HCL
  expect = "RECORD"
}

case "aws_redshiftserverless_namespace: nothing said" {
  configuration = <<-HCL
    resource "aws_redshiftserverless_namespace" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_redshiftserverless_namespace: as it should be" {
  configuration = <<-HCL
    resource "aws_redshiftserverless_namespace" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_redshift_snapshot_copy_grant: nothing said" {
  configuration = <<-HCL
    resource "aws_redshift_snapshot_copy_grant" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_redshift_snapshot_copy_grant: as it should be" {
  configuration = <<-HCL
    resource "aws_redshift_snapshot_copy_grant" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}
