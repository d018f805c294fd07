# Cases of redshift.rules: what is denied, and what is not.

case "aws_redshift_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {}
  HCL
  expect "redshift.classic" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.default-database" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.key" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.open-routing" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.public" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.unencrypted" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.unlogged" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
}

case "aws_redshift_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {
      allow_version_upgrade               = false
      automated_snapshot_retention_period = 0
    }
  HCL
  expect "redshift.classic" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.default-database" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.key" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.no-snapshots" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.no-upgrades" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.open-routing" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.public" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.unencrypted" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
  expect "redshift.unlogged" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
}

case "aws_redshift_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "r" {
      encrypted                 = true
      kms_key_id                = "arn:aws:kms:eu-west-1:111122223333:key/1"
      publicly_accessible       = false
      cluster_subnet_group_name = "data"
      enhanced_vpc_routing      = true
      database_name             = "sales"
    }
  HCL
  expect "redshift.unlogged" {
    on      = ["aws_redshift_cluster.r"]
    certain = true
  }
}

case "aws_redshiftserverless_namespace: nothing said" {
  configuration = <<-HCL
    resource "aws_redshiftserverless_namespace" "r" {}
  HCL
  expect "redshift.serverless-key" {
    on      = ["aws_redshiftserverless_namespace.r"]
    certain = true
  }
}

case "aws_redshiftserverless_namespace: as it should be" {
  configuration = <<-HCL
    resource "aws_redshiftserverless_namespace" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_redshift_snapshot_copy_grant: nothing said" {
  configuration = <<-HCL
    resource "aws_redshift_snapshot_copy_grant" "r" {}
  HCL
  expect "redshift.grant-key" {
    on      = ["aws_redshift_snapshot_copy_grant.r"]
    certain = true
  }
}

case "aws_redshift_snapshot_copy_grant: as it should be" {
  configuration = <<-HCL
    resource "aws_redshift_snapshot_copy_grant" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "logs beside a warehouse, and parameters" {
  configuration = <<-HCL
    resource "aws_redshift_cluster" "logged" {
      encrypted                 = true
      kms_key_id                = "arn:aws:kms:eu-west-1:111122223333:key/1"
      publicly_accessible       = false
      cluster_subnet_group_name = "data"
      enhanced_vpc_routing      = true
      database_name             = "sales"
    }
    resource "aws_redshift_logging" "logged" {
      cluster_identifier = aws_redshift_cluster.logged.id
    }
    resource "aws_redshift_parameter_group" "plain" {
      family = "redshift-1.0"
    }
    resource "aws_redshift_parameter_group" "tls" {
      family = "redshift-1.0"
      parameter {
        name  = "require_ssl"
        value = "true"
      }
    }
  HCL
  expect "redshift.plain" {
    on      = ["aws_redshift_parameter_group.plain"]
    certain = true
  }
}
