case "two tags are required, and one has a list of values" {
  configuration = <<-HCL
    variable "policy_required_tags" {
      default = ["owner", "env"]
    }

    variable "policy_tag_values" {
      default = { env = ["dev", "prod"] }
    }

    resource "aws_s3_bucket" "bare" {
      bucket = "bare"
    }

    resource "google_storage_bucket" "half" {
      labels = { owner = "web", env = "production" }
    }

    resource "aws_cloudwatch_dashboard" "untaggable" {
      dashboard_name = "web"
    }

    resource "aws_config_rule" "odd" {
      tags = { owner = " ", env = "dev" }
    }
  HCL

  expect "tags.empty" {
    on      = ["aws_config_rule.odd"]
    certain = true
  }
  expect "tags.missing" {
    on      = ["aws_s3_bucket.bare"]
    certain = true
  }
  expect "tags.value" {
    on      = ["google_storage_bucket.half"]
    certain = true
  }
}

case "the provider adds what is missing" {
  configuration = <<-HCL
    variable "policy_required_tags" {
      default = ["owner"]
    }

    provider "aws" {
      default_tags {
        tags = { owner = "web" }
      }
    }

    provider "google" {
      default_labels = { owner = "web" }
    }

    resource "aws_s3_bucket" "bare" {
      bucket = "bare"
    }

    resource "google_storage_bucket" "bare" {
      name = "bare"
    }
  HCL

  expect_none = true
}

case "nothing is required where nobody says so" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "bare" {
      bucket = "bare"
    }
  HCL

  expect_none = true
}

case "the value is not known yet" {
  configuration = <<-HCL
    variable "policy_tag_values" {
      default = { env = ["dev", "prod"] }
    }

    variable "env" {}

    resource "aws_s3_bucket" "later" {
      tags = { env = var.env }
    }
  HCL

  expect "tags.empty" {
    on      = ["aws_s3_bucket.later"]
    certain = false
  }
  expect "tags.value" {
    on      = ["aws_s3_bucket.later"]
    certain = false
  }
}
