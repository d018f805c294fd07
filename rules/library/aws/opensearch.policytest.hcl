# Cases of opensearch.rules: what is denied, and what is not.

case "aws_elasticsearch_domain: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticsearch_domain" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_elasticsearch_domain: said wrongly" {
  configuration = <<-HCL
    resource "aws_elasticsearch_domain" "r" {
      domain_endpoint_options {
        enforce_https = false
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_elasticsearch_domain: as it should be" {
  configuration = <<-HCL
    resource "aws_elasticsearch_domain" "r" {
      encrypt_at_rest {
        enabled    = true
        kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
      domain_endpoint_options {
        tls_security_policy = "Policy-Min-TLS-1-2-2019-07"
      }
      vpc_options {
        subnet_ids         = ["subnet-1"]
        security_group_ids = ["sg-1"]
      }
      log_publishing_options {
        cloudwatch_log_group_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:search"
        log_type                 = "AUDIT_LOGS"
      }
      cluster_config {
        dedicated_master_enabled = true
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_opensearch_domain: nothing said" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_opensearch_domain: said wrongly" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "r" {
      domain_endpoint_options {
        enforce_https = false
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_opensearch_domain: as it should be" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "r" {
      encrypt_at_rest {
        enabled    = true
        kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
      domain_endpoint_options {
        tls_security_policy = "Policy-Min-TLS-1-2-2019-07"
      }
      vpc_options {
        subnet_ids         = ["subnet-1"]
        security_group_ids = ["sg-1"]
      }
      log_publishing_options {
        cloudwatch_log_group_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:search"
        log_type                 = "AUDIT_LOGS"
      }
      cluster_config {
        dedicated_master_enabled = true
      }
    }
  HCL
  expect = "RECORD"
}
