# Cases of cloudfront.rules: what is denied, and what is not.

case "aws_cloudfront_distribution: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudfront_distribution" "r" {}
  HCL
  expect "cloudfront.default-certificate" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.failover" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.headers" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.logs" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.old-tls" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.root-object" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.waf" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
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
  expect "cloudfront.default-certificate" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.disabled" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.failover" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.headers" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.logs" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.no-geo" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.old-tls" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.root-object" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.waf" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
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
  expect "cloudfront.default-certificate" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.headers" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
  expect "cloudfront.old-tls" {
    on      = ["aws_cloudfront_distribution.r"]
    certain = true
  }
}

case "how a distribution is reached, and what it reaches" {
  configuration = <<-HCL
    resource "aws_lb" "web" {
      name = "web"
    }
    resource "aws_s3_bucket" "pages" {
      bucket = "pages"
    }
    resource "aws_cloudfront_distribution" "bad" {
      enabled             = true
      web_acl_id          = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/1"
      default_root_object = "index.html"
      logging_config {
        bucket = "logs.s3.amazonaws.com"
      }
      origin_group {
        failover_criteria {
          status_codes = [500]
        }
        member {
          origin_id = "a"
        }
      }
      origin {
        domain_name = aws_lb.web.dns_name
        custom_origin_config {
          origin_protocol_policy = "http-only"
          origin_ssl_protocols   = ["SSLv3", "TLSv1.2"]
        }
      }
      origin {
        domain_name = aws_s3_bucket.pages.bucket_regional_domain_name
      }
      default_cache_behavior {
        viewer_protocol_policy = "allow-all"
      }
    }
    resource "aws_cloudfront_distribution" "good" {
      enabled             = true
      web_acl_id          = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/1"
      default_root_object = "index.html"
      logging_config {
        bucket = "logs.s3.amazonaws.com"
      }
      origin_group {
        failover_criteria {
          status_codes = [500]
        }
        member {
          origin_id = "a"
        }
      }
      origin {
        domain_name              = aws_s3_bucket.pages.bucket_regional_domain_name
        origin_access_control_id = "E1"
      }
      default_cache_behavior {
        viewer_protocol_policy     = "https-only"
        response_headers_policy_id = "p1"
      }
      viewer_certificate {
        acm_certificate_arn      = "arn:aws:acm:us-east-1:111122223333:certificate/1"
        minimum_protocol_version = "TLSv1.2_2021"
      }
    }
  HCL

  expect "balancers.deletion" {
    on      = ["aws_lb.web"]
    certain = true
  }

  expect "balancers.exposed" {
    on      = ["aws_lb.web"]
    certain = true
  }

  expect "balancers.headers" {
    on      = ["aws_lb.web"]
    certain = true
  }

  expect "balancers.logs" {
    on      = ["aws_lb.web"]
    certain = true
  }

  expect "balancers.no-firewall" {
    on      = ["aws_lb.web"]
    certain = true
  }

  expect "cloudfront.default-certificate" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.headers" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.old-origin" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.old-tls" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.open-bucket" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.plain" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "cloudfront.plain-origin" {
    on      = ["aws_cloudfront_distribution.bad"]
    certain = true
  }

  expect "s3.alone" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.no-events" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }

  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.pages"]
    certain = true
  }
}
