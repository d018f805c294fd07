# Cases of trail.rules: what is denied, and what is not.

case "aws_cloudtrail: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudtrail" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_cloudtrail: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudtrail" "r" {
      enable_logging = false
    }
  HCL
  expect = "RECORD"
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
  expect = "RECORD"
}

case "aws_cloudtrail_event_data_store: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudtrail_event_data_store" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_cloudtrail_event_data_store: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudtrail_event_data_store" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_log_group: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_log_group: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {
      retention_in_days = 30
    }
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_log_group: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudwatch_log_group" "r" {
      retention_in_days = 365
      kms_key_id        = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_metric_alarm: nothing said" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_metric_alarm: said wrongly" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {
      actions_enabled = false
    }
  HCL
  expect = "RECORD"
}

case "aws_cloudwatch_metric_alarm: as it should be" {
  configuration = <<-HCL
    resource "aws_cloudwatch_metric_alarm" "r" {}
  HCL
  expect = "RECORD"
}
