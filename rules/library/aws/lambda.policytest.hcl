# Cases of lambda.rules: what is denied, and what is not.

case "aws_lambda_function: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_function" "r" {
      environment {
        variables = { a = "b" }
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_function: said wrongly" {
  configuration = <<-HCL
    resource "aws_lambda_function" "r" {
      reserved_concurrent_executions = -1
      runtime                        = "nodejs12.x"
      environment {
        variables = { a = "b" }
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_function: as it should be" {
  configuration = <<-HCL
    resource "aws_lambda_function" "r" {
      reserved_concurrent_executions = 10
      code_signing_config_arn        = "arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-1"
      kms_key_arn                    = "arn:aws:kms:eu-west-1:111122223333:key/1"
      runtime                        = "nodejs22.x"
      environment {
        variables = { a = "b" }
      }
      tracing_config {
        mode = "Active"
      }
      dead_letter_config {
        target_arn = "arn:aws:sqs:eu-west-1:111122223333:failed"
      }
      vpc_config {
        subnet_ids = ["subnet-1"]
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_function_url: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_lambda_function_url: said wrongly" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {
      authorization_type = "NONE"
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_function_url: as it should be" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {
      authorization_type = "AWS_IAM"
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_permission: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_lambda_permission: said wrongly" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {
      principal = "s3.amazonaws.com"
    }
  HCL
  expect = "RECORD"
}

case "aws_lambda_permission: as it should be" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {
      principal = "111122223333"
    }
  HCL
  expect = "RECORD"
}
