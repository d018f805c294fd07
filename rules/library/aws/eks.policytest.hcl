# Cases of eks.rules: what is denied, and what is not.

case "aws_eks_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_eks_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {
      version = "1.21"
    }
  HCL
  expect = "RECORD"
}

case "aws_eks_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {
      version = "1.29"
      vpc_config {
        endpoint_public_access = false
      }
      encryption_config {
        resources = ["secrets"]
      }
    }
  HCL
  expect = "RECORD"
}
