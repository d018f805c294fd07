# Cases of accounts.rules: what is denied, and what is not.

case "aws_guardduty_detector: nothing said" {
  configuration = <<-HCL
    resource "aws_guardduty_detector" "r" {}
  HCL
  expect_none = true
}

case "aws_guardduty_detector: said wrongly" {
  configuration = <<-HCL
    resource "aws_guardduty_detector" "r" {
      enable = false
    }
  HCL
  expect "accounts.guard-off" {
    on      = ["aws_guardduty_detector.r"]
    certain = true
  }
}

case "aws_guardduty_detector: as it should be" {
  configuration = <<-HCL
    resource "aws_guardduty_detector" "r" {}
  HCL
  expect_none = true
}

case "aws_networkfirewall_firewall: nothing said" {
  configuration = <<-HCL
    resource "aws_networkfirewall_firewall" "r" {}
  HCL
  expect "accounts.firewall-deletion" {
    on      = ["aws_networkfirewall_firewall.r"]
    certain = true
  }
  expect "accounts.firewall-key" {
    on      = ["aws_networkfirewall_firewall.r"]
    certain = true
  }
  expect "accounts.network-unlogged" {
    on      = ["aws_networkfirewall_firewall.r"]
    certain = true
  }
}

case "aws_networkfirewall_firewall: as it should be" {
  configuration = <<-HCL
    resource "aws_networkfirewall_firewall" "r" {
      delete_protection = true
      encryption_configuration {
        key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
    }
  HCL
  expect "accounts.network-unlogged" {
    on      = ["aws_networkfirewall_firewall.r"]
    certain = true
  }
}

case "aws_networkfirewall_rule_group: nothing said" {
  configuration = <<-HCL
    resource "aws_networkfirewall_rule_group" "r" {}
  HCL
  expect "accounts.firewall-key" {
    on      = ["aws_networkfirewall_rule_group.r"]
    certain = true
  }
}

case "aws_networkfirewall_rule_group: as it should be" {
  configuration = <<-HCL
    resource "aws_networkfirewall_rule_group" "r" {
      encryption_configuration {
        key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
    }
  HCL
  expect_none = true
}

case "aws_networkfirewall_firewall_policy: nothing said" {
  configuration = <<-HCL
    resource "aws_networkfirewall_firewall_policy" "r" {}
  HCL
  expect "accounts.policy-key" {
    on      = ["aws_networkfirewall_firewall_policy.r"]
    certain = true
  }
}

case "aws_networkfirewall_firewall_policy: as it should be" {
  configuration = <<-HCL
    resource "aws_networkfirewall_firewall_policy" "r" {
      encryption_configuration {
        key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
      }
    }
  HCL
  expect_none = true
}

case "aws_config_configuration_recorder: nothing said" {
  configuration = <<-HCL
    resource "aws_config_configuration_recorder" "r" {}
  HCL
  expect "accounts.recorder-globals" {
    on      = ["aws_config_configuration_recorder.r"]
    certain = true
  }
  expect "accounts.recorder-off" {
    on      = ["aws_config_configuration_recorder.r"]
    certain = true
  }
}

case "aws_config_configuration_recorder: as it should be" {
  configuration = <<-HCL
    resource "aws_config_configuration_recorder" "r" {
      recording_group {
        all_supported                 = true
        include_global_resource_types = true
      }
    }
  HCL
  expect "accounts.recorder-off" {
    on      = ["aws_config_configuration_recorder.r"]
    certain = true
  }
}

case "what records, and what does not" {
  configuration = <<-HCL
    resource "aws_config_configuration_recorder" "off" {
      recording_group {
        include_global_resource_types = true
      }
    }
    resource "aws_config_configuration_recorder" "on" {
      recording_group {
        include_global_resource_types = true
      }
    }
    resource "aws_config_configuration_recorder_status" "on" {
      name       = aws_config_configuration_recorder.on.name
      is_enabled = true
    }
    resource "aws_config_configuration_recorder" "part" {
      recording_group {
        all_supported                 = false
        include_global_resource_types = true
      }
    }
    resource "aws_config_configuration_recorder_status" "part" {
      name       = aws_config_configuration_recorder.part.name
      is_enabled = true
    }
    resource "aws_config_configuration_recorder_status" "other" {
      name       = "other"
      is_enabled = false
    }
    resource "aws_wafv2_web_acl" "silent" {}
    resource "aws_wafv2_web_acl" "logged" {}
    resource "aws_wafv2_web_acl_logging_configuration" "logged" {
      resource_arn = aws_wafv2_web_acl.logged.arn
    }
    resource "aws_networkfirewall_firewall" "logged" {
      delete_protection = true
      encryption_configuration {
        type   = "CUSTOMER_KMS"
        key_id = "alias/firewall"
      }
    }
    resource "aws_networkfirewall_logging_configuration" "logged" {
      firewall_arn = aws_networkfirewall_firewall.logged.arn
    }
  HCL
  expect "accounts.firewall-unlogged" {
    on      = ["aws_wafv2_web_acl.silent"]
    certain = true
  }
  expect "accounts.recorder-blind" {
    on      = ["aws_config_configuration_recorder_status.other", "aws_config_configuration_recorder_status.part"]
    certain = true
  }
  expect "accounts.recorder-globals" {
    on      = ["aws_config_configuration_recorder.part"]
    certain = true
  }
  expect "accounts.recorder-off" {
    on      = ["aws_config_configuration_recorder.off"]
    certain = true
  }
}
