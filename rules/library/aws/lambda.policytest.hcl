# Cases of lambda.rules: what is denied, and what is not.

case "aws_lambda_function: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_function" "r" {
      environment {
        variables = { a = "b" }
      }
    }
  HCL
  expect "lambda.concurrency" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.dead-letters" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.environment-key" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.no-network" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.unsigned" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.xray" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
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
  expect "lambda.concurrency" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.dead-letters" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.environment-key" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.no-network" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.old-runtime" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.unsigned" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
  expect "lambda.xray" {
    on      = ["aws_lambda_function.r"]
    certain = true
  }
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
  expect_none = true
}

case "aws_lambda_function_url: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {}
  HCL
  expect_none = true
}

case "aws_lambda_function_url: said wrongly" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {
      authorization_type = "NONE"
    }
  HCL
  expect "lambda.url-open" {
    on      = ["aws_lambda_function_url.r"]
    certain = true
  }
}

case "aws_lambda_function_url: as it should be" {
  configuration = <<-HCL
    resource "aws_lambda_function_url" "r" {
      authorization_type = "AWS_IAM"
    }
  HCL
  expect_none = true
}

case "aws_lambda_permission: nothing said" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {}
  HCL
  expect_none = true
}

case "aws_lambda_permission: said wrongly" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {
      principal = "s3.amazonaws.com"
    }
  HCL
  expect "lambda.permission-source" {
    on      = ["aws_lambda_permission.r"]
    certain = true
  }
}

case "aws_lambda_permission: as it should be" {
  configuration = <<-HCL
    resource "aws_lambda_permission" "r" {
      principal = "111122223333"
    }
  HCL
  expect_none = true
}

case "who may call a function, and what is in its environment" {
  configuration = <<-HCL
    resource "aws_lambda_function" "open" {
      reserved_concurrent_executions = 10
      kms_key_arn                    = "arn:aws:kms:eu-west-1:111122223333:key/1"
      code_signing_config_arn        = "arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-1"
      tracing_config {
        mode = "Active"
      }
      dead_letter_config {
        target_arn = "arn:aws:sqs:eu-west-1:111122223333:failed"
      }
      vpc_config {
        subnet_ids = ["subnet-1"]
      }
      environment {
        variables = {
          ID = join("", ["AKIA", "ABCDEFGHIJKLMNOP"])
        }
      }
    }
    resource "aws_lambda_function_url" "open" {
      function_name      = aws_lambda_function.open.function_name
      authorization_type = "AWS_IAM"
      cors {
        allow_origins = ["*"]
        allow_methods = ["*"]
      }
    }
    resource "aws_lambda_permission" "everyone" {
      principal = "*"
    }
    resource "aws_lambda_permission" "narrow" {
      principal  = "s3.amazonaws.com"
      source_arn = "arn:aws:s3:::example"
    }
  HCL
  expect "lambda.permission-everyone" {
    on      = ["aws_lambda_permission.everyone"]
    certain = true
  }
  expect "lambda.secrets" {
    on      = ["aws_lambda_function.open"]
    certain = true
  }
  expect "lambda.url-every-origin" {
    on      = ["aws_lambda_function.open"]
    certain = true
  }
}
