# Cases of opensearch.rules: what is denied, and what is not.

case "aws_elasticsearch_domain: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticsearch_domain" "r" {}
  HCL
  expect "opensearch.coarse" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.default-group" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.key" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.logs" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.masters" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.no-audit" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.public" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.tls" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.unencrypted" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
}

case "aws_elasticsearch_domain: said wrongly" {
  configuration = <<-HCL
    resource "aws_elasticsearch_domain" "r" {
      domain_endpoint_options {
        enforce_https = false
      }
    }
  HCL
  expect "opensearch.coarse" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.default-group" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.http" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.key" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.logs" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.masters" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.no-audit" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.public" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.tls" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.unencrypted" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
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
  expect "opensearch.coarse" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_elasticsearch_domain.r"]
    certain = true
  }
}

case "aws_opensearch_domain: nothing said" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "r" {}
  HCL
  expect "opensearch.coarse" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.default-group" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.key" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.logs" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.masters" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.no-audit" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.public" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.tls" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.unencrypted" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
}

case "aws_opensearch_domain: said wrongly" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "r" {
      domain_endpoint_options {
        enforce_https = false
      }
    }
  HCL
  expect "opensearch.coarse" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.default-group" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.http" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.key" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.logs" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.masters" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.no-audit" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.public" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.tls" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.unencrypted" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
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
  expect "opensearch.coarse" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
  expect "opensearch.one-leader" {
    on      = ["aws_opensearch_domain.r"]
    certain = true
  }
}

case "a domain of several nodes" {
  configuration = <<-HCL
    resource "aws_opensearch_domain" "plain" {
      cluster_config {
        instance_count           = 3
        dedicated_master_enabled = true
        dedicated_master_count   = 3
        zone_awareness_enabled   = true
      }
      advanced_security_options {
        enabled = true
      }
    }
    resource "aws_opensearch_domain" "sealed" {
      cluster_config {
        instance_count           = 3
        dedicated_master_enabled = true
        dedicated_master_count   = 3
        zone_awareness_enabled   = true
      }
      advanced_security_options {
        enabled = true
      }
      node_to_node_encryption {
        enabled = true
      }
    }
  HCL
  expect "opensearch.default-group" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.key" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.logs" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.no-audit" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.nodes-plain" {
    on      = ["aws_opensearch_domain.plain"]
    certain = true
  }
  expect "opensearch.public" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.tls" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
  expect "opensearch.unencrypted" {
    on      = ["aws_opensearch_domain.plain", "aws_opensearch_domain.sealed"]
    certain = true
  }
}
