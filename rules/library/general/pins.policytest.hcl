case "nothing says which version of a registry's module" {
  configuration = <<-HCL
    module "vpc" {
      source = "terraform-aws-modules/vpc/aws"
    }
    module "part" {
      source = "example.com/corp/vpc/aws//part"
    }
    module "pinned" {
      source  = "terraform-aws-modules/vpc/aws"
      version = "5.1.0"
    }
    module "range" {
      source  = "example.com/corp/vpc/aws"
      version = "~> 2.0"
    }
  HCL
  expect "pins.module" {
    on      = [""]
    certain = true
  }
}

case "nothing says which commit of a repository" {
  configuration = <<-HCL
    module "git" {
      source = "git::https://example.com/dns.git//zone"
    }
  HCL
  expect "pins.module" {
    on      = [""]
    certain = true
  }
}

case "a repository of a host that everybody knows, without its commit" {
  configuration = <<-HCL
    module "hub" {
      source = "github.com/example/dns"
    }
  HCL
  expect "pins.module" {}
}

case "a branch moves" {
  configuration = <<-HCL
    module "branch" {
      source = "git::https://example.com/dns.git?ref=main"
    }
  HCL
  expect "pins.module-branch" {
    on      = [""]
    certain = true
  }
}

case "versions, tags, commits, folders and archives" {
  configuration = <<-HCL
    module "tag" {
      source = "git::ssh://git@example.com/dns.git?ref=v1.2.0"
    }
    module "prefixed" {
      source = "git::https://example.com/dns.git?depth=1&ref=dns-1.2"
    }
    module "commit" {
      source = "github.com/example/dns?ref=4f2a9c1d"
    }
    module "archive" {
      source = "https://example.com/dns.zip"
    }
    module "registry" {
      source  = "terraform-aws-modules/vpc/aws"
      version = "5.1.0"
    }
    module "own" {
      source = "./modules/dns/aws"
    }
    module "beside" {
      source = "../modules/dns"
    }
  HCL
  expect_none = true
}

case "a provider in any version" {
  configuration = <<-HCL
    variable "policy_pin_providers" {
      default = true
    }
    terraform {
      required_providers {
        aws = {
          source  = "hashicorp/aws"
          version = "~> 5.0"
        }
      }
    }
    resource "aws_sqs_queue" "a" {}
    resource "google_pubsub_topic" "a" {}
    resource "google_pubsub_topic" "b" {}
    resource "terraform_data" "c" {}
  HCL
  expect "pins.provider" {
    on      = [""]
    certain = true
  }
}

case "all providers have versions" {
  configuration = <<-HCL
    variable "policy_pin_providers" {
      default = true
    }
    terraform {
      required_providers {
        aws = {
          source  = "hashicorp/aws"
          version = "~> 5.0"
        }
      }
    }
    resource "aws_sqs_queue" "a" {}
    resource "terraform_data" "c" {}
  HCL
  expect_none = true
}

case "nobody wants versions of providers" {
  configuration = <<-HCL
    variable "policy_pin_providers" {
      default = false
    }
    resource "google_pubsub_topic" "a" {}
    module "inner" {
      source = "./fixtures/pins"
    }
  HCL
  expect_none = true
}
