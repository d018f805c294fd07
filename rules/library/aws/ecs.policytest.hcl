# Cases of ecs.rules: what is denied, and what is not.

case "aws_ecs_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_ecs_cluster" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ecs_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_ecs_cluster" "r" {
      configuration {
        execute_command_configuration {
          logging = "NONE"
        }
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_ecs_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_ecs_cluster" "r" {
      setting {
        name  = "containerInsights"
        value = "enabled"
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_ecs_service: nothing said" {
  configuration = <<-HCL
    resource "aws_ecs_service" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ecs_service: said wrongly" {
  configuration = <<-HCL
    resource "aws_ecs_service" "r" {
      launch_type      = "FARGATE"
      platform_version = "1.4.0"
      network_configuration {
        assign_public_ip = true
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_ecs_service: as it should be" {
  configuration = <<-HCL
    resource "aws_ecs_service" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ecr_repository: nothing said" {
  configuration = <<-HCL
    resource "aws_ecr_repository" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ecr_repository: as it should be" {
  configuration = <<-HCL
    resource "aws_ecr_repository" "r" {
      image_tag_mutability = "IMMUTABLE"
      image_scanning_configuration {
        scan_on_push = true
      }
      encryption_configuration {
        encryption_type = "KMS"
      }
    }
  HCL
  expect = "RECORD"
}
