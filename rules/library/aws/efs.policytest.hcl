# Cases of efs.rules: what is denied, and what is not.

case "aws_efs_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_efs_file_system" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_efs_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_efs_file_system" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_efs_access_point: nothing said" {
  configuration = <<-HCL
    resource "aws_efs_access_point" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_efs_access_point: said wrongly" {
  configuration = <<-HCL
    resource "aws_efs_access_point" "r" {
      root_directory {
        path = "/"
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_efs_access_point: as it should be" {
  configuration = <<-HCL
    resource "aws_efs_access_point" "r" {
      root_directory {
        path = "/data"
      }
      posix_user {
        gid = 1000
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_fsx_ontap_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_ontap_file_system" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_fsx_ontap_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_ontap_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_fsx_windows_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_windows_file_system" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_fsx_windows_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_windows_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_fsx_lustre_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_lustre_file_system" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_fsx_lustre_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_lustre_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_fsx_openzfs_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_openzfs_file_system" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_fsx_openzfs_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_openzfs_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}
