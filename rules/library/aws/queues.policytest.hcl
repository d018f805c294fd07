# Cases of queues.rules: what is denied, and what is not.

case "aws_sns_topic: nothing said" {
  configuration = <<-HCL
    resource "aws_sns_topic" "r" {}
  HCL
  expect "queues.topic-unencrypted" {
    on      = ["aws_sns_topic.r"]
    certain = true
  }
}

case "aws_sns_topic: as it should be" {
  configuration = <<-HCL
    resource "aws_sns_topic" "r" {
      kms_master_key_id = "alias/topics"
    }
  HCL
  expect_none = true
}

case "aws_sqs_queue: nothing said" {
  configuration = <<-HCL
    resource "aws_sqs_queue" "r" {}
  HCL
  expect "queues.queue-unencrypted" {
    on      = ["aws_sqs_queue.r"]
    certain = true
  }
}

case "aws_sqs_queue: as it should be" {
  configuration = <<-HCL
    resource "aws_sqs_queue" "r" {
      kms_master_key_id = "alias/queues"
    }
  HCL
  expect_none = true
}

case "aws_kinesis_stream: nothing said" {
  configuration = <<-HCL
    resource "aws_kinesis_stream" "r" {}
  HCL
  expect "queues.stream-key" {
    on      = ["aws_kinesis_stream.r"]
    certain = true
  }
  expect "queues.stream-unencrypted" {
    on      = ["aws_kinesis_stream.r"]
    certain = true
  }
}

case "aws_kinesis_stream: as it should be" {
  configuration = <<-HCL
    resource "aws_kinesis_stream" "r" {
      encryption_type = "KMS"
      kms_key_id      = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_kinesis_firehose_delivery_stream: nothing said" {
  configuration = <<-HCL
    resource "aws_kinesis_firehose_delivery_stream" "r" {}
  HCL
  expect "queues.delivery-unencrypted" {
    on      = ["aws_kinesis_firehose_delivery_stream.r"]
    certain = true
  }
}

case "aws_kinesis_firehose_delivery_stream: as it should be" {
  configuration = <<-HCL
    resource "aws_kinesis_firehose_delivery_stream" "r" {
      server_side_encryption {
        enabled = true
      }
    }
  HCL
  expect_none = true
}

case "aws_msk_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_msk_cluster" "r" {}
  HCL
  expect_none = true
}

case "aws_msk_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_msk_cluster" "r" {
      broker_node_group_info {
        connectivity_info {
          public_access {
            type = "SERVICE_PROVIDED_EIPS"
          }
        }
      }
    }
  HCL
  expect "queues.brokers-public" {
    on      = ["aws_msk_cluster.r"]
    certain = true
  }
}

case "aws_msk_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_msk_cluster" "r" {}
  HCL
  expect_none = true
}
