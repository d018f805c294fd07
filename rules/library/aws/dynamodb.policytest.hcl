# Cases of dynamodb.rules: what is denied, and what is not.

case "aws_dynamodb_table: nothing said" {
  configuration = <<-HCL
    resource "aws_dynamodb_table" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_dynamodb_table: as it should be" {
  configuration = <<-HCL
    resource "aws_dynamodb_table" "r" {
      point_in_time_recovery {
        enabled = true
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_dynamodb_table_replica: nothing said" {
  configuration = <<-HCL
    resource "aws_dynamodb_table_replica" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_dynamodb_table_replica: as it should be" {
  configuration = <<-HCL
    resource "aws_dynamodb_table_replica" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_dax_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_dax_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_dax_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_dax_cluster" "r" {
      cluster_endpoint_encryption_type = "TLS"
      server_side_encryption {
        enabled = true
      }
    }
  HCL
  expect = "RECORD"
}
