# Cases of kms.rules: what is denied, and what is not.

case "aws_kms_key: nothing said" {
  configuration = <<-HCL
    resource "aws_kms_key" "r" {}
  HCL
  expect "kms.no-policy" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
  expect "kms.rotation" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
}

case "aws_kms_key: said wrongly" {
  configuration = <<-HCL
    resource "aws_kms_key" "r" {
      is_enabled = false
    }
  HCL
  expect "kms.disabled" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
  expect "kms.no-policy" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
  expect "kms.rotation" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
}

case "aws_kms_key: as it should be" {
  configuration = <<-HCL
    resource "aws_kms_key" "r" {
      enable_key_rotation = true
    }
  HCL
  expect "kms.no-policy" {
    on      = ["aws_kms_key.r"]
    certain = true
  }
}

case "policies beside keys" {
  configuration = <<-HCL
    resource "aws_kms_key" "bare" {
      enable_key_rotation = true
    }
    resource "aws_kms_key" "described" {
      enable_key_rotation = true
    }
    resource "aws_kms_key_policy" "described" {
      key_id = aws_kms_key.described.id
      policy = jsonencode({ Version = "2012-10-17" })
    }
    resource "aws_kms_key" "pair" {
      customer_master_key_spec = "RSA_2048"
      policy                   = jsonencode({ Version = "2012-10-17" })
    }
  HCL
  expect "kms.no-policy" {
    on      = ["aws_kms_key.bare"]
    certain = true
  }
}
