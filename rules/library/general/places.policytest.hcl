case "regions and providers that nobody agreed on" {
  configuration = <<-HCL
    variable "policy_regions" {
      default = ["eu-central-1", "West Europe", "europe-west1"]
    }

    variable "policy_providers" {
      default = ["hashicorp"]
    }

    terraform {
      required_providers {
        acme = {
          source = "acme/vault"
        }
      }
    }

    provider "aws" {
      region = "us-east-1"
    }

    resource "aws_sns_topic_policy" "here" {}

    resource "azurerm_dns_zone" "far" {
      location = "East US"
    }

    resource "google_compute_address" "far" {
      region = "us-central1"
    }

    resource "google_compute_network_endpoint" "far" {
      zone = "us-central1-a"
    }

    resource "acme_secret" "one" {}
  HCL

  expect "places.provider" {
    on      = ["acme_secret.one"]
    certain = true
  }
  expect "places.region" {
    on      = [
      "aws_sns_topic_policy.here",
      "azurerm_dns_zone.far",
      "google_compute_address.far",
      "google_compute_network_endpoint.far",
    ]
    certain = true
  }
}

case "regions and providers that are agreed on" {
  configuration = <<-HCL
    variable "policy_regions" {
      default = ["eu-central-1", "West Europe", "europe-west1"]
    }

    variable "policy_providers" {
      default = ["hashicorp", "registry.opentofu.org/acme/vault"]
    }

    terraform {
      required_providers {
        acme = {
          source = "acme/vault"
        }
      }
    }

    provider "aws" {
      region = "eu-central-1"
    }

    resource "aws_sns_topic_policy" "here" {}

    resource "azurerm_dns_zone" "near" {
      location = "westeurope"
    }

    resource "google_compute_network_endpoint" "near" {
      zone = "europe-west1-b"
    }

    resource "acme_secret" "one" {}

    resource "terraform_data" "one" {}
  HCL

  expect_none = true
}

case "one stands far from what it depends on" {
  configuration = <<-HCL
    resource "google_compute_address" "far" {
      region = "us-central1"
    }

    resource "google_compute_route" "near" {
      region  = "europe-west1"
      gateway = google_compute_address.far.name
    }
  HCL

  expect "places.two-regions" {
    on      = ["google_compute_route.near"]
    certain = true
  }
}

case "one stands beside what it depends on" {
  configuration = <<-HCL
    resource "google_compute_address" "near" {
      region = "europe-west1"
    }

    resource "google_compute_route" "near" {
      region  = "europe-west1"
      gateway = google_compute_address.near.name
    }
  HCL

  expect_none = true
}
