# Cases of apigateway.rules: what is denied, and what is not.

case "aws_api_gateway_stage: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_stage" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_stage: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_stage" "r" {
      xray_tracing_enabled  = true
      cache_cluster_enabled = true
      access_log_settings {
        destination_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:api"
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_apigatewayv2_stage: nothing said" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_stage" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_apigatewayv2_stage: as it should be" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_stage" "r" {
      access_log_settings {
        destination_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:api"
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_domain_name: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_domain_name: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {
      security_policy = "TLS_1_0"
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_domain_name: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {
      security_policy = "TLS_1_2"
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method_settings: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_method_settings" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method_settings: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_method_settings" "r" {
      settings {
        data_trace_enabled = true
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method_settings: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_method_settings" "r" {
      settings {
        caching_enabled      = true
        cache_data_encrypted = true
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_apigatewayv2_route: nothing said" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_route" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_apigatewayv2_route: as it should be" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_route" "r" {
      authorization_type = "AWS_IAM"
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {
      authorization = "NONE"
    }
  HCL
  expect = "RECORD"
}

case "aws_api_gateway_method: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {
      authorization = "AWS_IAM"
    }
  HCL
  expect = "RECORD"
}
