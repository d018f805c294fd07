# Cases of elasticache.rules: what is denied, and what is not.

case "aws_elasticache_replication_group: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticache_replication_group" "r" {}
  HCL
  expect "elasticache.failover" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
  expect "elasticache.key" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
  expect "elasticache.no-token" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
  expect "elasticache.plain" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
  expect "elasticache.unencrypted" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
}

case "aws_elasticache_replication_group: as it should be" {
  configuration = <<-HCL
    resource "aws_elasticache_replication_group" "r" {
      at_rest_encryption_enabled = true
      transit_encryption_enabled = true
      kms_key_id                 = "arn:aws:kms:eu-west-1:111122223333:key/1"
      automatic_failover_enabled = true
    }
  HCL
  expect "elasticache.no-token" {
    on      = ["aws_elasticache_replication_group.r"]
    certain = true
  }
}

case "aws_elasticache_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {}
  HCL
  expect "elasticache.backups" {
    on      = ["aws_elasticache_cluster.r"]
    certain = true
  }
  expect "elasticache.default-network" {
    on      = ["aws_elasticache_cluster.r"]
    certain = true
  }
}

case "aws_elasticache_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {
      auto_minor_version_upgrade = false
    }
  HCL
  expect "elasticache.backups" {
    on      = ["aws_elasticache_cluster.r"]
    certain = true
  }
  expect "elasticache.default-network" {
    on      = ["aws_elasticache_cluster.r"]
    certain = true
  }
  expect "elasticache.minor-upgrades" {
    on      = ["aws_elasticache_cluster.r"]
    certain = true
  }
}

case "aws_elasticache_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_elasticache_cluster" "r" {
      snapshot_retention_limit = 5
      subnet_group_name        = "caches"
    }
  HCL
  expect_none = true
}

case "aws_memorydb_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {}
  HCL
  expect "elasticache.memorydb-key" {
    on      = ["aws_memorydb_cluster.r"]
    certain = true
  }
}

case "aws_memorydb_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {
      tls_enabled = false
    }
  HCL
  expect "elasticache.memorydb-key" {
    on      = ["aws_memorydb_cluster.r"]
    certain = true
  }
  expect "elasticache.memorydb-plain" {
    on      = ["aws_memorydb_cluster.r"]
    certain = true
  }
}

case "aws_memorydb_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_memorydb_cluster" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_memorydb_snapshot: nothing said" {
  configuration = <<-HCL
    resource "aws_memorydb_snapshot" "r" {}
  HCL
  expect "elasticache.memorydb-snapshot-key" {
    on      = ["aws_memorydb_snapshot.r"]
    certain = true
  }
}

case "aws_memorydb_snapshot: as it should be" {
  configuration = <<-HCL
    resource "aws_memorydb_snapshot" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "a group that asks who comes" {
  configuration = <<-HCL
    resource "aws_elasticache_replication_group" "asks" {
      at_rest_encryption_enabled = true
      transit_encryption_enabled = true
      automatic_failover_enabled = true
      kms_key_id                 = "arn:aws:kms:eu-west-1:111122223333:key/1"
      user_group_ids             = ["operators"]
    }
  HCL
  expect_none = true
}
