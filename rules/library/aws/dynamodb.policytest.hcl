# Cases of dynamodb.rules: what is denied, and what is not.

case "aws_dynamodb_table: nothing said" {
  configuration = <<-HCL
    resource "aws_dynamodb_table" "r" {}
  HCL

  expect "backup.table" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }

  expect "dynamodb.fixed" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }

  expect "dynamodb.key" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }

  expect "dynamodb.recovery" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }
}

case "aws_dynamodb_table: as it should be" {
  configuration = <<-HCL
    resource "aws_dynamodb_table" "r" {
      point_in_time_recovery {
        enabled = true
      }
    }
  HCL
  expect "dynamodb.fixed" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }
  expect "dynamodb.key" {
    on      = ["aws_dynamodb_table.r"]
    certain = true
  }
}

case "aws_dynamodb_table_replica: nothing said" {
  configuration = <<-HCL
    resource "aws_dynamodb_table_replica" "r" {}
  HCL
  expect "dynamodb.replica-key" {
    on      = ["aws_dynamodb_table_replica.r"]
    certain = true
  }
}

case "aws_dynamodb_table_replica: as it should be" {
  configuration = <<-HCL
    resource "aws_dynamodb_table_replica" "r" {
      kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_dax_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_dax_cluster" "r" {}
  HCL
  expect "dynamodb.dax-plain" {
    on      = ["aws_dax_cluster.r"]
    certain = true
  }
  expect "dynamodb.dax-unencrypted" {
    on      = ["aws_dax_cluster.r"]
    certain = true
  }
}

case "aws_dax_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_dax_cluster" "r" {
      cluster_endpoint_encryption_type = "TLS"
      server_side_encryption {
        enabled = true
      }
    }
  HCL
  expect_none = true
}

case "keys and capacity" {
  configuration = <<-HCL
    resource "aws_dynamodb_table" "sound" {
      billing_mode = "PAY_PER_REQUEST"
      point_in_time_recovery {
        enabled = true
      }
      server_side_encryption {
        enabled     = true
        kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
    }
    resource "aws_dynamodb_table" "adjusted" {
      name = "adjusted"
      point_in_time_recovery {
        enabled = true
      }
      server_side_encryption {
        enabled     = true
        kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
    }
    resource "aws_appautoscaling_target" "adjusted" {
      resource_id = "table/${aws_dynamodb_table.adjusted.name}"
    }
    resource "aws_appautoscaling_policy" "adjusted" {
      resource_id = aws_appautoscaling_target.adjusted.resource_id
    }
  HCL
  expect_none = true
}
