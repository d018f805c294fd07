# Cases of efs.rules: what is denied, and what is not.

case "aws_efs_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_efs_file_system" "r" {}
  HCL

  expect "backup.files" {
    on      = ["aws_efs_file_system.r"]
    certain = true
  }

  expect "efs.key" {
    on      = ["aws_efs_file_system.r"]
    certain = true
  }

  expect "efs.unencrypted" {
    on      = ["aws_efs_file_system.r"]
    certain = true
  }
}

case "aws_efs_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_efs_file_system" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL

  expect "backup.files" {
    on      = ["aws_efs_file_system.r"]
    certain = true
  }
}

case "aws_efs_access_point: nothing said" {
  configuration = <<-HCL
    resource "aws_efs_access_point" "r" {}
  HCL
  expect "efs.no-user" {
    on      = ["aws_efs_access_point.r"]
    certain = true
  }
  expect "efs.root" {
    on      = ["aws_efs_access_point.r"]
    certain = true
  }
}

case "aws_efs_access_point: said wrongly" {
  configuration = <<-HCL
    resource "aws_efs_access_point" "r" {
      root_directory {
        path = "/"
      }
    }
  HCL
  expect "efs.no-user" {
    on      = ["aws_efs_access_point.r"]
    certain = true
  }
  expect "efs.root" {
    on      = ["aws_efs_access_point.r"]
    certain = true
  }
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
  expect_none = true
}

case "aws_fsx_ontap_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_ontap_file_system" "r" {}
  HCL
  expect "efs.ontap-key" {
    on      = ["aws_fsx_ontap_file_system.r"]
    certain = true
  }
}

case "aws_fsx_ontap_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_ontap_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_fsx_windows_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_windows_file_system" "r" {}
  HCL
  expect "efs.windows-key" {
    on      = ["aws_fsx_windows_file_system.r"]
    certain = true
  }
}

case "aws_fsx_windows_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_windows_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_fsx_lustre_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_lustre_file_system" "r" {}
  HCL
  expect "efs.lustre-key" {
    on      = ["aws_fsx_lustre_file_system.r"]
    certain = true
  }
}

case "aws_fsx_lustre_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_lustre_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_fsx_openzfs_file_system: nothing said" {
  configuration = <<-HCL
    resource "aws_fsx_openzfs_file_system" "r" {}
  HCL
  expect "efs.openzfs-key" {
    on      = ["aws_fsx_openzfs_file_system.r"]
    certain = true
  }
}

case "aws_fsx_openzfs_file_system: as it should be" {
  configuration = <<-HCL
    resource "aws_fsx_openzfs_file_system" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}
