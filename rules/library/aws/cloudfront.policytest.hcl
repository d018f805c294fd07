# Cases of cloudfront.rules: what is denied, and what is not.

case "aws_cloudfront_distribution: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudfront_distribution" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_cloudfront_distribution: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudfront_distribution" "r" {
      enabled = false
      restrictions {
        geo_restriction {
          restriction_type = "none"
        }
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_cloudfront_distribution: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudfront_distribution" "r" {
      web_acl_id          = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/1"
      default_root_object = "index.html"
      logging_config {
        bucket = "logs.s3.amazonaws.com"
      }
      restrictions {
        geo_restriction {
          restriction_type = "whitelist"
        }
      }
      origin_group {
        failover_criteria {
          status_codes = [500]
        }
        member {
          origin_id = "a"
        }
      }
    }
  HCL
  expect = "RECORD"
}
