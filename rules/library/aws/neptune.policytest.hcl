# Cases of neptune.rules: what is denied, and what is not.

case "aws_neptune_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_neptune_cluster" "r" {}
  HCL
  expect "neptune.backups" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.deletion" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.iam-login" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.key" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.logs" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.tags" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
  expect "neptune.unencrypted" {
    on      = ["aws_neptune_cluster.r"]
    certain = true
  }
}

case "aws_neptune_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_neptune_cluster" "r" {
      storage_encrypted                   = true
      kms_key_arn                         = "arn:aws:kms:eu-west-1:111122223333:key/1"
      enable_cloudwatch_logs_exports      = ["audit"]
      iam_database_authentication_enabled = true
      copy_tags_to_snapshot               = true
      deletion_protection                 = true
      backup_retention_period             = 7
    }
  HCL
  expect_none = true
}

case "aws_neptune_cluster_instance: nothing said" {
  configuration = <<-HCL
    resource "aws_neptune_cluster_instance" "r" {}
  HCL
  expect_none = true
}

case "aws_neptune_cluster_instance: said wrongly" {
  configuration = <<-HCL
    resource "aws_neptune_cluster_instance" "r" {
      publicly_accessible = true
    }
  HCL
  expect "neptune.public" {
    on      = ["aws_neptune_cluster_instance.r"]
    certain = true
  }
}

case "aws_neptune_cluster_instance: as it should be" {
  configuration = <<-HCL
    resource "aws_neptune_cluster_instance" "r" {}
  HCL
  expect_none = true
}

case "aws_neptune_cluster_snapshot: nothing said" {
  configuration = <<-HCL
    resource "aws_neptune_cluster_snapshot" "r" {}
  HCL
  expect "neptune.snapshot-key" {
    on      = ["aws_neptune_cluster_snapshot.r"]
    certain = true
  }
  expect "neptune.snapshot-unencrypted" {
    on      = ["aws_neptune_cluster_snapshot.r"]
    certain = true
  }
}

case "aws_neptune_cluster_snapshot: as it should be" {
  configuration = <<-HCL
    resource "aws_neptune_cluster_snapshot" "r" {
      storage_encrypted = true
      kms_key_id        = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}
