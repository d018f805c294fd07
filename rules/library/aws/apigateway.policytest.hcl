# Cases of apigateway.rules: what is denied, and what is not.

case "aws_api_gateway_stage: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_stage" "r" {}
  HCL
  expect "apigateway.cache" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
  expect "apigateway.logs" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
  expect "apigateway.no-certificate" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
  expect "apigateway.stage-unlogged" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
  expect "apigateway.xray" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
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
  expect "apigateway.no-certificate" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
  expect "apigateway.stage-unlogged" {
    on      = ["aws_api_gateway_stage.r"]
    certain = true
  }
}

case "aws_apigatewayv2_stage: nothing said" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_stage" "r" {}
  HCL
  expect "apigateway.logs" {
    on      = ["aws_apigatewayv2_stage.r"]
    certain = true
  }
}

case "aws_apigatewayv2_stage: as it should be" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_stage" "r" {
      access_log_settings {
        destination_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:api"
      }
    }
  HCL
  expect_none = true
}

case "aws_api_gateway_domain_name: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {}
  HCL
  expect "apigateway.tls" {
    on      = ["aws_api_gateway_domain_name.r"]
    certain = true
  }
}

case "aws_api_gateway_domain_name: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {
      security_policy = "TLS_1_0"
    }
  HCL
  expect "apigateway.tls" {
    on      = ["aws_api_gateway_domain_name.r"]
    certain = true
  }
}

case "aws_api_gateway_domain_name: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_domain_name" "r" {
      security_policy = "TLS_1_2"
    }
  HCL
  expect_none = true
}

case "aws_api_gateway_method_settings: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_method_settings" "r" {}
  HCL
  expect "apigateway.uncached" {
    on      = ["aws_api_gateway_method_settings.r"]
    certain = true
  }
}

case "aws_api_gateway_method_settings: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_method_settings" "r" {
      settings {
        data_trace_enabled = true
      }
    }
  HCL
  expect "apigateway.data-trace" {
    on      = ["aws_api_gateway_method_settings.r"]
    certain = true
  }
  expect "apigateway.uncached" {
    on      = ["aws_api_gateway_method_settings.r"]
    certain = true
  }
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
  expect_none = true
}

case "aws_apigatewayv2_route: nothing said" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_route" "r" {}
  HCL
  expect "apigateway.open-route" {
    on      = ["aws_apigatewayv2_route.r"]
    certain = true
  }
}

case "aws_apigatewayv2_route: as it should be" {
  configuration = <<-HCL
    resource "aws_apigatewayv2_route" "r" {
      authorization_type = "AWS_IAM"
    }
  HCL
  expect_none = true
}

case "aws_api_gateway_method: nothing said" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {}
  HCL
  expect "apigateway.unvalidated" {
    on      = ["aws_api_gateway_method.r"]
    certain = true
  }
}

case "aws_api_gateway_method: said wrongly" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {
      authorization = "NONE"
    }
  HCL
  expect "apigateway.open-method" {
    on      = ["aws_api_gateway_method.r"]
    certain = true
  }
  expect "apigateway.unvalidated" {
    on      = ["aws_api_gateway_method.r"]
    certain = true
  }
}

case "aws_api_gateway_method: as it should be" {
  configuration = <<-HCL
    resource "aws_api_gateway_method" "r" {
      authorization = "AWS_IAM"
    }
  HCL
  expect "apigateway.unvalidated" {
    on      = ["aws_api_gateway_method.r"]
    certain = true
  }
}

case "what a stage logs, who asks, and what is let through" {
  configuration = <<-HCL
    resource "aws_api_gateway_stage" "sound" {
      xray_tracing_enabled  = true
      cache_cluster_enabled = true
      client_certificate_id = "c1"
      access_log_settings {
        destination_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:api"
      }
    }
    resource "aws_api_gateway_method_settings" "sound" {
      stage_name = aws_api_gateway_stage.sound.stage_name
      settings {
        logging_level        = "INFO"
        caching_enabled      = true
        cache_data_encrypted = true
      }
    }
    resource "aws_api_gateway_method_settings" "plain" {
      stage_name = "other"
      settings {
        caching_enabled = true
      }
    }
    resource "aws_apigatewayv2_api" "socket" {
      protocol_type = "WEBSOCKET"
    }
    resource "aws_apigatewayv2_stage" "socket" {
      api_id = aws_apigatewayv2_api.socket.id
      access_log_settings {
        destination_arn = "arn:aws:logs:eu-west-1:111122223333:log-group:api"
      }
    }
    resource "aws_api_gateway_method" "sound" {
      authorization        = "AWS_IAM"
      request_validator_id = "v1"
    }
  HCL
  expect "apigateway.cache-plain" {
    on      = ["aws_api_gateway_method_settings.plain"]
    certain = true
  }
  expect "apigateway.no-certificate" {
    on      = ["aws_apigatewayv2_stage.socket"]
    certain = true
  }
}
