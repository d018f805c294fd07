# Cases of secrets.rules: what is denied, and what is not.

case "aws_secretsmanager_secret: nothing said" {
  configuration = <<-HCL
    resource "aws_secretsmanager_secret" "r" {}
  HCL
  expect "secrets.key" {
    on      = ["aws_secretsmanager_secret.r"]
    certain = true
  }
  expect "secrets.unrotated" {
    on      = ["aws_secretsmanager_secret.r"]
    certain = true
  }
}

case "aws_secretsmanager_secret: as it should be" {
  configuration = <<-HCL
    resource "aws_secretsmanager_secret" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect "secrets.unrotated" {
    on      = ["aws_secretsmanager_secret.r"]
    certain = true
  }
}

case "aws_ssm_parameter: nothing said" {
  configuration = <<-HCL
    resource "aws_ssm_parameter" "r" {
      type = "SecureString"
    }
  HCL
  expect "secrets.parameter-key" {
    on      = ["aws_ssm_parameter.r"]
    certain = true
  }
}

case "aws_ssm_parameter: said wrongly" {
  configuration = <<-HCL
    resource "aws_ssm_parameter" "r" {
      type = "String"
    }
  HCL
  expect "secrets.parameter-plain" {
    on      = ["aws_ssm_parameter.r"]
    certain = true
  }
}

case "aws_ssm_parameter: as it should be" {
  configuration = <<-HCL
    resource "aws_ssm_parameter" "r" {
      type   = "SecureString"
      key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_secretsmanager_secret_rotation: nothing said" {
  configuration = <<-HCL
    resource "aws_secretsmanager_secret_rotation" "r" {}
  HCL
  expect_none = true
}

case "aws_secretsmanager_secret_rotation: said wrongly" {
  configuration = <<-HCL
    resource "aws_secretsmanager_secret_rotation" "r" {
      rotation_rules {
        automatically_after_days = 100
      }
    }
  HCL
  expect "secrets.slow-rotation" {
    on      = ["aws_secretsmanager_secret_rotation.r"]
    certain = true
  }
}

case "aws_secretsmanager_secret_rotation: as it should be" {
  configuration = <<-HCL
    resource "aws_secretsmanager_secret_rotation" "r" {
      rotation_rules {
        automatically_after_days = 30
      }
    }
  HCL
  expect_none = true
}

case "secrets that are changed, and one that is not" {
  configuration = <<-HCL
    resource "aws_kms_key" "secrets" {
      description = "secrets"
    }
    resource "aws_secretsmanager_secret" "kept" {
      kms_key_id = "alias/secrets"
    }
    resource "aws_secretsmanager_secret" "changed" {
      kms_key_id = "alias/secrets"
    }
    resource "aws_secretsmanager_secret_rotation" "changed" {
      secret_id = aws_secretsmanager_secret.changed.id
      rotation_rules {
        schedule_expression = "rate(30 days)"
      }
    }
    resource "aws_secretsmanager_secret_rotation" "slow" {
      secret_id = aws_secretsmanager_secret.changed.id
      rotation_rules {
        schedule_expression = "rate(180 days)"
      }
    }
  HCL

  expect "kms.no-policy" {
    on      = ["aws_kms_key.secrets"]
    certain = true
  }

  expect "kms.rotation" {
    on      = ["aws_kms_key.secrets"]
    certain = true
  }

  expect "secrets.slow-rotation" {
    on      = ["aws_secretsmanager_secret_rotation.slow"]
    certain = true
  }

  expect "secrets.unrotated" {
    on      = ["aws_secretsmanager_secret.kept"]
    certain = true
  }
}
