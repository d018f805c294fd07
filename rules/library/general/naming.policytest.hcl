case "names that are hard to read" {
  configuration = <<-HCL
    variable "instanceCount" {
      default = 1
    }

    resource "null_resource" "Web-Server" {}

    data "null_data_source" "ownerOf" {}

    resource "aws_instance" "aws_instance" {}

    resource "aws_vpc" "main_aws_vpc" {}

    output "Address" {
      value = 1
    }
  HCL

  expect "naming.object" {
    on      = ["data.null_data_source.ownerOf", "null_resource.Web-Server"]
    certain = true
  }
  expect "naming.output" {
    on      = ["output.Address"]
    certain = true
  }
  expect "naming.type-again" {
    on      = ["aws_instance.aws_instance", "aws_vpc.main_aws_vpc"]
    certain = true
  }
  expect "naming.variable" {
    on      = ["var.instanceCount"]
    certain = true
  }
}

case "names that read well" {
  configuration = <<-HCL
    variable "instance_count" {
      default = 1
    }

    resource "null_resource" "web_server" {}

    data "null_data_source" "owner" {}

    resource "aws_vpc" "main" {}

    output "address" {
      value = 1
    }
  HCL

  expect_none = true
}
