# Cases of trail.rules: what is denied, and what is not.

case "aws_cloudtrail: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudtrail" "r" {}
  HCL
  expect "trail.key" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.no-log-group" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.one-region" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.topic" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.unvalidated" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
}

case "aws_cloudtrail: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudtrail" "r" {
      enable_logging = false
    }
  HCL
  expect "trail.key" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.no-log-group" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.off" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.one-region" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.topic" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
  expect "trail.unvalidated" {
    on      = ["aws_cloudtrail.r"]
    certain = true
  }
}

case "aws_cloudtrail: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudtrail" "r" {
      kms_key_id                 = "arn:aws:kms:eu-west-1:111122223333:key/1"
      enable_log_file_validation = true
      is_multi_region_trail      = true
      sns_topic_name             = "trail"
      cloud_watch_logs_group_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:trail:*"
    }
  HCL
  expect_none = true
}

case "aws_cloudtrail_event_data_store: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudtrail_event_data_store" "r" {}
  HCL
  expect "trail.store-key" {
    on      = ["aws_cloudtrail_event_data_store.r"]
    certain = true
  }
}

case "aws_cloudtrail_event_data_store: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudtrail_event_data_store" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_cloudwatch_log_group: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {}
  HCL
  expect "trail.logs-kept" {
    on      = ["aws_cloudwatch_log_group.r"]
    certain = true
  }
  expect "trail.logs-key" {
    on      = ["aws_cloudwatch_log_group.r"]
    certain = true
  }
}

case "aws_cloudwatch_log_group: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {
      retention_in_days = 30
    }
  HCL
  expect "trail.logs-key" {
    on      = ["aws_cloudwatch_log_group.r"]
    certain = true
  }
  expect "trail.logs-year" {
    on      = ["aws_cloudwatch_log_group.r"]
    certain = true
  }
}

case "aws_cloudwatch_log_group: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {
      retention_in_days = 365
      kms_key_id        = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_cloudwatch_metric_alarm: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {}
  HCL
  expect_none = true
}

case "aws_cloudwatch_metric_alarm: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {
      actions_enabled = false
    }
  HCL
  expect "trail.alarm-mute" {
    on      = ["aws_cloudwatch_metric_alarm.r"]
    certain = true
  }
}

case "aws_cloudwatch_metric_alarm: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {}
  HCL
  expect_none = true
}
