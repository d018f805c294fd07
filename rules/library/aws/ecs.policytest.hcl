# Cases of ecs.rules: what is denied, and what is not.

case "aws_ecs_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_ecs_cluster" "r" {}
  HCL
  expect "ecs.insights" {
    on      = ["aws_ecs_cluster.r"]
    certain = true
  }
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
  expect "ecs.exec-unlogged" {
    on      = ["aws_ecs_cluster.r"]
    certain = true
  }
  expect "ecs.insights" {
    on      = ["aws_ecs_cluster.r"]
    certain = true
  }
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
  expect_none = true
}

case "aws_ecs_service: nothing said" {
  configuration = <<-HCL
    resource "aws_ecs_service" "r" {}
  HCL
  expect_none = true
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
  expect "ecs.old-fargate" {
    on      = ["aws_ecs_service.r"]
    certain = true
  }
  expect "ecs.public-address" {
    on      = ["aws_ecs_service.r"]
    certain = true
  }
}

case "aws_ecs_service: as it should be" {
  configuration = <<-HCL
    resource "aws_ecs_service" "r" {}
  HCL
  expect_none = true
}

case "aws_ecr_repository: nothing said" {
  configuration = <<-HCL
    resource "aws_ecr_repository" "r" {}
  HCL
  expect "ecs.image-key" {
    on      = ["aws_ecr_repository.r"]
    certain = true
  }
  expect "ecs.mutable-tags" {
    on      = ["aws_ecr_repository.r"]
    certain = true
  }
  expect "ecs.unscanned" {
    on      = ["aws_ecr_repository.r"]
    certain = true
  }
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
  expect_none = true
}

case "tasks" {
  configuration = <<-HCL
    resource "aws_iam_role" "start" {
      name = "start"
    }
    resource "aws_iam_role" "run" {
      name = "run"
    }
    resource "aws_ecs_task_definition" "bad" {
      pid_mode           = "host"
      execution_role_arn = aws_iam_role.start.arn
      task_role_arn      = aws_iam_role.start.arn
      container_definitions = jsonencode([
        { name = "web", privileged = true },
      ])
      volume {
        name = "data"
        efs_volume_configuration {
          file_system_id = "fs-1"
        }
      }
    }
    resource "aws_ecs_task_definition" "good" {
      execution_role_arn = aws_iam_role.start.arn
      task_role_arn      = aws_iam_role.run.arn
      container_definitions = jsonencode([
        { name = "web", readonlyRootFilesystem = true },
      ])
      volume {
        name = "data"
        efs_volume_configuration {
          file_system_id     = "fs-1"
          transit_encryption = "ENABLED"
        }
      }
    }
    resource "aws_ecs_task_definition" "same" {
      execution_role_arn = "arn:aws:iam::111122223333:role/start"
      task_role_arn      = "arn:aws:iam::111122223333:role/start"
    }
  HCL
  expect "ecs.files-plain" {
    on      = ["aws_ecs_task_definition.bad"]
    certain = true
  }
  expect "ecs.host-processes" {
    on      = ["aws_ecs_task_definition.bad"]
    certain = true
  }
  expect "ecs.one-role" {
    on      = ["aws_ecs_task_definition.bad", "aws_ecs_task_definition.good"]
    certain = false
  }
  expect "ecs.one-role" {
    on      = ["aws_ecs_task_definition.same"]
    certain = true
  }
  expect "ecs.privileged" {
    on      = ["aws_ecs_task_definition.bad"]
    certain = true
  }
  expect "ecs.writable-root" {
    on      = ["aws_ecs_task_definition.bad"]
    certain = true
  }
}

case "what is run inside containers" {
  configuration = <<-HCL
    resource "aws_ecs_cluster" "plain" {
      setting {
        name  = "containerInsights"
        value = "enabled"
      }
      configuration {
        execute_command_configuration {
          logging = "DEFAULT"
        }
      }
    }
    resource "aws_ecs_cluster" "sealed" {
      setting {
        name  = "containerInsights"
        value = "enabled"
      }
      configuration {
        execute_command_configuration {
          kms_key_id = "alias/exec"
          logging    = "OVERRIDE"
          log_configuration {
            cloud_watch_encryption_enabled = true
          }
        }
      }
    }
  HCL
  expect "ecs.exec-key" {
    on      = ["aws_ecs_cluster.plain"]
    certain = true
  }
}
