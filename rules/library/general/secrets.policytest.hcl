case "secrets that are written down" {
  configuration = <<-HCL
    provider "aws" {
      access_key = "not-a-real-one"
      secret_key = "not-a-real-one"
    }

    resource "aws_db_instance" "main" {
      password = "correct-horse"
    }

    resource "example_login" "bot" {
      api_key = "0123456789"
    }

    resource "aws_instance" "web" {
      user_data = "export AWS_ACCESS_KEY_ID=AKIAQQQQQQQQQQQQQQQQ"
    }

    resource "example_host" "web" {
      certificate = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"
    }
  HCL

  expect "secrets.cloud-key" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "secrets.in-provider" {
    on      = ["aws_db_instance.main", "aws_instance.web"]
    certain = true
  }
  expect "secrets.plain" {
    on      = ["aws_db_instance.main", "example_login.bot"]
    certain = true
  }
  expect "secrets.private-key" {
    on      = ["example_host.web"]
    certain = true
  }
}

case "secrets that come from elsewhere" {
  configuration = <<-HCL
    variable "password" {
      sensitive = true
      default   = "only-for-tests"
    }

    variable "token" {
      default = "only-for-tests"
    }

    provider "example" {
      token = var.token
    }

    resource "random_password" "main" {
      length = 20
    }

    resource "aws_db_instance" "main" {
      password = var.password
    }

    resource "example_login" "bot" {
      token       = var.token
      secret      = "projects/web/secrets/bot"
      private_key = ""
      user        = "bot"
    }
  HCL

  expect_none = true
}

case "secrets that another object makes may be anything" {
  configuration = <<-HCL
    resource "random_password" "main" {
      length = 20
    }

    resource "aws_db_instance" "main" {
      password = random_password.main.result
    }
  HCL

  expect "secrets.plain" {
    on      = ["aws_db_instance.main"]
    certain = false
  }
}
