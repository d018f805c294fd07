# Cases of backup.rules: what is denied, and what is not.

case "aws_backup_vault: nothing said" {
  configuration = <<-HCL
    resource "aws_backup_vault" "r" {}
  HCL
  expect "backup.key" {
    on      = ["aws_backup_vault.r"]
    certain = true
  }
}

case "aws_backup_vault: as it should be" {
  configuration = <<-HCL
    resource "aws_backup_vault" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "volumes, file systems and tables, covered in several ways" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "none" {}
    resource "aws_ebs_volume" "named" {}
    resource "aws_efs_file_system" "none" {}
    resource "aws_efs_file_system" "tagged" {
      tags = { backup = "daily" }
    }
    resource "aws_efs_file_system" "own" {}
    resource "aws_efs_backup_policy" "own" {
      file_system_id = aws_efs_file_system.own.id
      backup_policy {
        status = "ENABLED"
      }
    }
    resource "aws_dynamodb_table" "none" {}
    resource "aws_dynamodb_table" "restorable" {
      point_in_time_recovery {
        enabled = true
      }
    }
    resource "aws_backup_selection" "named" {
      plan_id   = "plan"
      resources = [aws_ebs_volume.named.arn]
    }
    resource "aws_backup_selection" "tagged" {
      plan_id = "plan"
      selection_tag {
        type  = "STRINGEQUALS"
        key   = "backup"
        value = "daily"
      }
    }
  HCL

  expect "backup.files" {
    on      = ["aws_efs_file_system.none"]
    certain = true
  }

  expect "backup.table" {
    on      = ["aws_dynamodb_table.none"]
    certain = true
  }

  expect "backup.volume" {
    on      = ["aws_ebs_volume.none"]
    certain = true
  }

  expect "dynamodb.fixed" {
    on      = ["aws_dynamodb_table.none", "aws_dynamodb_table.restorable"]
    certain = true
  }

  expect "dynamodb.key" {
    on      = ["aws_dynamodb_table.none", "aws_dynamodb_table.restorable"]
    certain = true
  }

  expect "dynamodb.recovery" {
    on      = ["aws_dynamodb_table.none"]
    certain = true
  }

  expect "ec2.volume-key" {
    on      = ["aws_ebs_volume.named", "aws_ebs_volume.none"]
    certain = true
  }

  expect "ec2.volume-unencrypted" {
    on      = ["aws_ebs_volume.named", "aws_ebs_volume.none"]
    certain = true
  }

  expect "efs.key" {
    on      = ["aws_efs_file_system.none", "aws_efs_file_system.own", "aws_efs_file_system.tagged"]
    certain = true
  }

  expect "efs.unencrypted" {
    on      = ["aws_efs_file_system.none", "aws_efs_file_system.own", "aws_efs_file_system.tagged"]
    certain = true
  }
}

case "a selection of everything" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "any" {}
    resource "aws_backup_selection" "all" {
      plan_id   = "plan"
      resources = ["*"]
    }
  HCL

  expect "ec2.volume-key" {
    on      = ["aws_ebs_volume.any"]
    certain = true
  }

  expect "ec2.volume-unencrypted" {
    on      = ["aws_ebs_volume.any"]
    certain = true
  }
}
