# Cases of access.rules: what is denied, and what is not.

case "policies for everyone" {
  configuration = <<-HCL
    resource "aws_s3_bucket_policy" "n" {
      bucket = "example"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_sqs_queue_policy" "n" {
      queue_url = "q"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = "*" } }]
      })
    }
    resource "aws_sns_topic_policy" "n" {
      arn = "arn"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = ["arn:aws:iam::111122223333:root", "*"] } }]
      })
    }
    resource "aws_kms_key_policy" "n" {
      key_id = "k"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_ecr_repository_policy" "n" {
      repository = "r"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = "*" } }]
      })
    }
    resource "aws_glacier_vault" "n" {
      name = "v"
      access_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = ["arn:aws:iam::111122223333:root", "*"] } }]
      })
    }
    resource "aws_backup_vault_policy" "n" {
      backup_vault_name = "v"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_secretsmanager_secret_policy" "n" {
      secret_arn = "s"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = "*" } }]
      })
    }
    resource "aws_efs_file_system_policy" "n" {
      file_system_id = "f"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { AWS = ["arn:aws:iam::111122223333:root", "*"] } }]
      })
    }
  HCL
  expect "access.bucket" {
    on      = ["aws_s3_bucket_policy.n"]
    certain = true
  }
  expect "access.files" {
    on      = ["aws_efs_file_system_policy.n"]
    certain = true
  }
  expect "access.images" {
    on      = ["aws_ecr_repository_policy.n"]
    certain = true
  }
  expect "access.key" {
    on      = ["aws_kms_key_policy.n"]
    certain = true
  }
  expect "access.queue" {
    on      = ["aws_sqs_queue_policy.n"]
    certain = true
  }
  expect "access.secret" {
    on      = ["aws_secretsmanager_secret_policy.n"]
    certain = true
  }
  expect "access.topic" {
    on      = ["aws_sns_topic_policy.n"]
    certain = true
  }
  expect "access.topic-account" {
    on      = ["aws_sns_topic_policy.n"]
    certain = true
  }
  expect "access.vault" {
    on      = ["aws_backup_vault_policy.n", "aws_glacier_vault.n"]
    certain = true
  }
}

case "policies for some" {
  configuration = <<-HCL
    resource "aws_s3_bucket_policy" "n" {
      bucket = "example"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { Service = "x.amazonaws.com" } }]
      })
    }
    resource "aws_sqs_queue_policy" "n" {
      queue_url = "q"
      policy = jsonencode({
        Statement = [{ Effect = "Deny", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_sns_topic_policy" "n" {
      arn = "arn"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*", Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-1" } } }]
      })
    }
    resource "aws_kms_key_policy" "n" {
      key_id = "k"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { Service = "x.amazonaws.com" } }]
      })
    }
    resource "aws_ecr_repository_policy" "n" {
      repository = "r"
      policy = jsonencode({
        Statement = [{ Effect = "Deny", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_glacier_vault" "n" {
      name = "v"
      access_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*", Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-1" } } }]
      })
    }
    resource "aws_backup_vault_policy" "n" {
      backup_vault_name = "v"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = { Service = "x.amazonaws.com" } }]
      })
    }
    resource "aws_secretsmanager_secret_policy" "n" {
      secret_arn = "s"
      policy = jsonencode({
        Statement = [{ Effect = "Deny", Action = "x:Get", Principal = "*" }]
      })
    }
    resource "aws_efs_file_system_policy" "n" {
      file_system_id = "f"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "x:Get", Principal = "*", Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-1" } } }]
      })
    }
  HCL
  expect_none = true
}

case "a policy for everyone, made by a data source" {
  configuration = <<-HCL
    data "aws_iam_policy_document" "open" {
      statement {
        actions   = ["s3:GetObject"]
        resources = ["arn:aws:s3:::example/*"]
        principals {
          type        = "*"
          identifiers = ["*"]
        }
      }
    }
    data "aws_iam_policy_document" "narrow" {
      statement {
        actions   = ["s3:GetObject"]
        resources = ["arn:aws:s3:::example/*"]
        principals {
          type        = "AWS"
          identifiers = ["arn:aws:iam::111122223333:root"]
        }
      }
    }
    resource "aws_s3_bucket_policy" "open" {
      bucket = "example"
      policy = data.aws_iam_policy_document.open.json
    }
    resource "aws_s3_bucket_policy" "narrow" {
      bucket = "example"
      policy = data.aws_iam_policy_document.narrow.json
    }
  HCL
  expect "access.bucket" {
    on      = ["aws_s3_bucket_policy.open"]
    certain = false
  }
}

case "another account, every action, and a lockout" {
  configuration = <<-HCL
    resource "aws_sns_topic_policy" "account" {
      arn = "arn"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "sns:Publish", Principal = { AWS = "arn:aws:iam::111122223333:root" } }]
      })
    }
    resource "aws_sqs_queue_policy" "every" {
      queue_url = "q"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "*", Principal = { AWS = "arn:aws:iam::111122223333:root" } }]
      })
    }
    resource "aws_s3_bucket_policy" "locked" {
      bucket = "example"
      policy = jsonencode({
        Statement = [{ Effect = "Deny", Action = ["s3:*"], Principal = "*" }]
      })
    }
  HCL
  expect "access.lockout" {
    on      = ["aws_s3_bucket_policy.locked"]
    certain = true
  }
  expect "access.queue-actions" {
    on      = ["aws_sqs_queue_policy.every"]
    certain = true
  }
  expect "access.topic-account" {
    on      = ["aws_sns_topic_policy.account"]
    certain = true
  }
}


case "conditions that do not say who" {
  configuration = <<-HCL
    resource "aws_ecr_repository_policy" "anyone" {
      repository = "r"
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "ecr:*", Principal = "*", Condition = { StringEquals = { "aws:username" = "x" } } }]
      })
    }
    resource "aws_s3_bucket_policy" "any-account" {
      bucket = "example"
      policy = jsonencode({
        Statement = [{
          Effect    = "Allow"
          Action    = "s3:GetObject"
          Principal = "*"
          Condition = { ArnEquals = { "aws:PrincipalArn" = "arn:aws:iam::*" } }
        }]
      })
    }
    resource "aws_glacier_vault" "any-account" {
      access_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "glacier:InitiateJob", Principal = { AWS = "arn:aws:iam::*:role/reader" } }]
      })
    }
  HCL
  expect "access.bucket" {
    on      = ["aws_s3_bucket_policy.any-account"]
    certain = true
  }
  expect "access.images" {
    on      = ["aws_ecr_repository_policy.anyone"]
    certain = true
  }
  expect "access.vault" {
    on      = ["aws_glacier_vault.any-account"]
    certain = true
  }
}

case "a policy for somebody who is not known yet" {
  configuration = <<-HCL
    variable "reader" {
      type = string
    }
    resource "aws_sqs_queue_policy" "waits" {
      queue_url = "q"
      policy    = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:SendMessage", Principal = { AWS = var.reader } }] })
    }
  HCL
  expect "access.queue" {
    on      = ["aws_sqs_queue_policy.waits"]
    certain = false
  }
  expect "access.queue-actions" {
    on      = ["aws_sqs_queue_policy.waits"]
    certain = false
  }
}
