# Cases of iam.rules: what is denied, and what is not.

case "aws_iam_account_password_policy: nothing said" {
  configuration = <<-HCL
    resource "aws_iam_account_password_policy" "r" {}
  HCL
  expect "iam.password-age" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-length" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-lowercase" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-numbers" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-reuse" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-symbols" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-uppercase" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
}

case "aws_iam_account_password_policy: said wrongly" {
  configuration = <<-HCL
    resource "aws_iam_account_password_policy" "r" {
      max_password_age          = 120
      minimum_password_length   = 6
      password_reuse_prevention = 5
    }
  HCL
  expect "iam.password-age" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-length" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-lowercase" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-numbers" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-reuse" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-symbols" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
  expect "iam.password-uppercase" {
    on      = ["aws_iam_account_password_policy.r"]
    certain = true
  }
}

case "aws_iam_account_password_policy: as it should be" {
  configuration = <<-HCL
    resource "aws_iam_account_password_policy" "r" {
      max_password_age             = 90
      minimum_password_length      = 14
      password_reuse_prevention    = 24
      require_lowercase_characters = true
      require_uppercase_characters = true
      require_numbers              = true
      require_symbols              = true
    }
  HCL
  expect_none = true
}

case "aws_iam_access_key: nothing said" {
  configuration = <<-HCL
    resource "aws_iam_access_key" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_access_key: said wrongly" {
  configuration = <<-HCL
    resource "aws_iam_access_key" "r" {
      user = "root"
    }
  HCL
  expect "iam.root-key" {
    on      = ["aws_iam_access_key.r"]
    certain = true
  }
}

case "aws_iam_access_key: as it should be" {
  configuration = <<-HCL
    resource "aws_iam_access_key" "r" {
      user = "build"
    }
  HCL
  expect_none = true
}

case "aws_iam_user_policy: nothing said" {
  configuration = <<-HCL
    resource "aws_iam_user_policy" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_user_policy: said wrongly" {
  configuration = <<-HCL
    resource "aws_iam_user_policy" "r" {
      user = "alice"
    }
  HCL
  expect "iam.user-policy" {
    on      = ["aws_iam_user_policy.r"]
    certain = true
  }
}

case "aws_iam_user_policy: as it should be" {
  configuration = <<-HCL
    resource "aws_iam_user_policy" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_user_policy_attachment: nothing said" {
  configuration = <<-HCL
    resource "aws_iam_user_policy_attachment" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_user_policy_attachment: said wrongly" {
  configuration = <<-HCL
    resource "aws_iam_user_policy_attachment" "r" {
      user = "alice"
    }
  HCL
  expect "iam.user-policy" {
    on      = ["aws_iam_user_policy_attachment.r"]
    certain = true
  }
}

case "aws_iam_user_policy_attachment: as it should be" {
  configuration = <<-HCL
    resource "aws_iam_user_policy_attachment" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_policy_attachment: nothing said" {
  configuration = <<-HCL
    resource "aws_iam_policy_attachment" "r" {}
  HCL
  expect_none = true
}

case "aws_iam_policy_attachment: said wrongly" {
  configuration = <<-HCL
    resource "aws_iam_policy_attachment" "r" {
      users = ["alice"]
    }
  HCL
  expect "iam.policy-users" {
    on      = ["aws_iam_policy_attachment.r"]
    certain = true
  }
}

case "aws_iam_policy_attachment: as it should be" {
  configuration = <<-HCL
    resource "aws_iam_policy_attachment" "r" {
      groups = ["developers"]
    }
  HCL
  expect_none = true
}

case "aws_instance: nothing said" {
  configuration = <<-HCL
    resource "aws_instance" "r" {}
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.ebs-optimized" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.monitoring" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "iam.no-role" {
    on      = ["aws_instance.r"]
    certain = true
  }
}

case "aws_instance: as it should be" {
  configuration = <<-HCL
    resource "aws_instance" "r" {
      iam_instance_profile = "web"
    }
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.ebs-optimized" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_instance.r"]
    certain = true
  }
  expect "ec2.monitoring" {
    on      = ["aws_instance.r"]
    certain = true
  }
}

case "documents that allow everything" {
  configuration = <<-HCL
    resource "aws_iam_policy" "inline" {
      policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "*", Resource = "*" }]
      })
    }
    resource "aws_iam_role_policy" "list" {
      policy = <<-JSON
        {"Statement": {"Effect": "Allow", "Action": ["s3:GetObject", "iam:*"], "Resource": "*"}}
      JSON
    }
    data "aws_iam_policy_document" "data" {
      statement {
        actions   = ["*"]
        resources = ["*"]
      }
    }
    resource "aws_iam_policy" "data" {
      policy = data.aws_iam_policy_document.data.json
    }
  HCL
  expect "iam.every-action" {
    on      = ["aws_iam_policy.inline", "data.aws_iam_policy_document.data"]
    certain = true
  }
  expect "iam.everything" {
    on      = ["aws_iam_policy.inline", "data.aws_iam_policy_document.data"]
    certain = true
  }
  expect "iam.over-iam" {
    on      = ["aws_iam_policy.inline", "aws_iam_role_policy.list", "data.aws_iam_policy_document.data"]
    certain = true
  }
  expect "iam.whole-service" {
    on      = ["aws_iam_role_policy.list"]
    certain = true
  }
}

case "documents that name what they allow" {
  configuration = <<-HCL
    resource "aws_iam_policy" "inline" {
      policy = jsonencode({
        Statement = [
          { Effect = "Deny", Action = "*", Resource = "*" },
          { Effect = "Allow", Action = ["s3:GetObject"], Resource = "arn:aws:s3:::example/*" },
        ]
      })
    }
    data "aws_iam_policy_document" "data" {
      statement {
        effect    = "Deny"
        actions   = ["*"]
        resources = ["*"]
      }
      statement {
        actions   = ["s3:GetObject"]
        resources = ["arn:aws:s3:::example/*"]
        principals {
          type        = "AWS"
          identifiers = ["*"]
        }
        condition {
          test     = "StringEquals"
          variable = "aws:PrincipalOrgID"
          values   = ["o-1"]
        }
      }
    }
  HCL
  expect_none = true
}

case "a document that speaks to everyone" {
  configuration = <<-HCL
    data "aws_iam_policy_document" "data" {
      statement {
        actions   = ["s3:GetObject"]
        resources = ["arn:aws:s3:::example/*"]
        principals {
          type        = "AWS"
          identifiers = ["*"]
        }
      }
    }
  HCL
  expect "iam.anyone" {
    on      = ["data.aws_iam_policy_document.data"]
    certain = true
  }
}

case "who may take on a role" {
  configuration = <<-HCL
    resource "aws_iam_role" "all" {
      assume_role_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = ["*"] } }]
      })
    }
    resource "aws_iam_role" "account" {
      assume_role_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::111122223333:root" } }]
      })
    }
    resource "aws_iam_role" "service" {
      assume_role_policy = jsonencode({
        Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }]
      })
    }
  HCL
  expect "iam.role-for-account" {
    on      = ["aws_iam_role.account"]
    certain = true
  }
  expect "iam.role-for-all" {
    on      = ["aws_iam_role.all"]
    certain = true
  }
}

case "policies of AWS that give too much" {
  configuration = <<-HCL
    resource "aws_iam_role_policy_attachment" "administrator" {
      role       = "deploy"
      policy_arn = "arn:aws:iam::aws:policy/AdministratorAccess"
    }
    resource "aws_iam_group_policy_attachment" "iam" {
      group      = "operators"
      policy_arn = "arn:aws:iam::aws:policy/IAMFullAccess"
    }
    data "aws_iam_policy" "administrator" {
      name = "AdministratorAccess"
    }
    data "aws_iam_policy" "iam" {
      name = "IAMFullAccess"
    }
    resource "aws_iam_role_policy_attachment" "read" {
      role       = "deploy"
      policy_arn = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    }
    data "aws_iam_policy" "read" {
      name = "ReadOnlyAccess"
    }
  HCL
  expect "iam.administrator" {
    on      = ["aws_iam_role_policy_attachment.administrator"]
    certain = true
  }
  expect "iam.administrator-asked" {
    on      = ["data.aws_iam_policy.administrator"]
    certain = true
  }
  expect "iam.over-iam-managed" {
    on      = ["aws_iam_group_policy_attachment.iam", "data.aws_iam_policy.iam"]
    certain = true
  }
}

case "users and groups" {
  configuration = <<-HCL
    resource "aws_iam_user" "alice" {
      name = "alice"
    }
    resource "aws_iam_user" "bob" {
      name = "bob"
    }
    resource "aws_iam_user_login_profile" "alice" {
      user = aws_iam_user.alice.name
    }
    resource "aws_iam_group" "empty" {
      name = "empty"
    }
    resource "aws_iam_group" "peopled" {
      name = "peopled"
    }
    resource "aws_iam_group_membership" "peopled" {
      name  = "peopled"
      group = "peopled"
      users = [aws_iam_user.bob.name]
    }
    resource "aws_iam_group_membership" "strangers" {
      name  = "strangers"
      group = "others"
      users = ["carol"]
    }
  HCL
  expect "iam.console" {
    on      = ["aws_iam_user.alice"]
    certain = true
  }
  expect "iam.empty-group" {
    on      = ["aws_iam_group.empty"]
    certain = true
  }
  expect "iam.idle-membership" {
    on      = ["aws_iam_group_membership.strangers"]
    certain = true
  }
  expect "iam.user" {
    on      = ["aws_iam_user.alice", "aws_iam_user.bob"]
    certain = true
  }
}
