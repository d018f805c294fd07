# Cases of ec2.rules: what is denied, and what is not.

case "aws_ebs_volume: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "r" {}
  HCL

  expect "backup.volume" {
    on      = ["aws_ebs_volume.r"]
    certain = true
  }

  expect "ec2.volume-key" {
    on      = ["aws_ebs_volume.r"]
    certain = true
  }

  expect "ec2.volume-unencrypted" {
    on      = ["aws_ebs_volume.r"]
    certain = true
  }
}

case "aws_ebs_volume: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL

  expect "backup.volume" {
    on      = ["aws_ebs_volume.r"]
    certain = true
  }
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

case "aws_instance: said wrongly" {
  configuration = <<-HCL
    resource "aws_instance" "r" {
      associate_public_ip_address = true
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

  expect "ec2.public-address" {
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
      monitoring    = true
      ebs_optimized = true
    }
  HCL

  expect "ec2.disk-unencrypted" {
    on      = ["aws_instance.r"]
    certain = true
  }

  expect "ec2.metadata" {
    on      = ["aws_instance.r"]
    certain = true
  }

  expect "iam.no-role" {
    on      = ["aws_instance.r"]
    certain = true
  }
}

case "aws_launch_template: nothing said" {
  configuration = <<-HCL
    resource "aws_launch_template" "r" {}
  HCL
  expect "ec2.metadata" {
    on      = ["aws_launch_template.r"]
    certain = true
  }
}

case "aws_launch_template: said wrongly" {
  configuration = <<-HCL
    resource "aws_launch_template" "r" {
      network_interfaces {
        associate_public_ip_address = true
      }
      metadata_options {
        http_put_response_hop_limit = 2
      }
    }
  HCL
  expect "ec2.hops" {
    on      = ["aws_launch_template.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_launch_template.r"]
    certain = true
  }
  expect "ec2.template-public-address" {
    on      = ["aws_launch_template.r"]
    certain = true
  }
}

case "aws_launch_template: as it should be" {
  configuration = <<-HCL
    resource "aws_launch_template" "r" {
      metadata_options {
        http_put_response_hop_limit = 1
      }
    }
  HCL
  expect "ec2.metadata" {
    on      = ["aws_launch_template.r"]
    certain = true
  }
}

case "aws_launch_configuration: nothing said" {
  configuration = <<-HCL
    resource "aws_launch_configuration" "r" {}
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
}

case "aws_launch_configuration: said wrongly" {
  configuration = <<-HCL
    resource "aws_launch_configuration" "r" {
      associate_public_ip_address = true
      metadata_options {
        http_put_response_hop_limit = 2
      }
    }
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
  expect "ec2.hops" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
  expect "ec2.launch-public-address" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
}

case "aws_launch_configuration: as it should be" {
  configuration = <<-HCL
    resource "aws_launch_configuration" "r" {
      metadata_options {
        http_put_response_hop_limit = 1
      }
    }
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_launch_configuration.r"]
    certain = true
  }
}

case "aws_ebs_encryption_by_default: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {}
  HCL
  expect_none = true
}

case "aws_ebs_encryption_by_default: said wrongly" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {
      enabled = false
    }
  HCL
  expect "ec2.ebs-default" {
    on      = ["aws_ebs_encryption_by_default.r"]
    certain = true
  }
}

case "aws_ebs_encryption_by_default: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {}
  HCL
  expect_none = true
}

case "aws_subnet: nothing said" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {}
  HCL
  expect_none = true
}

case "aws_subnet: said wrongly" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {
      map_public_ip_on_launch = true
    }
  HCL
  expect "ec2.subnet-public" {
    on      = ["aws_subnet.r"]
    certain = true
  }
}

case "aws_subnet: as it should be" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {}
  HCL
  expect_none = true
}

case "aws_vpc_endpoint_service: nothing said" {
  configuration = <<-HCL
    resource "aws_vpc_endpoint_service" "r" {}
  HCL
  expect "ec2.endpoint-service" {
    on      = ["aws_vpc_endpoint_service.r"]
    certain = true
  }
}

case "aws_vpc_endpoint_service: as it should be" {
  configuration = <<-HCL
    resource "aws_vpc_endpoint_service" "r" {
      acceptance_required = true
    }
  HCL
  expect_none = true
}

case "aws_ec2_transit_gateway: nothing said" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {}
  HCL
  expect_none = true
}

case "aws_ec2_transit_gateway: said wrongly" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {
      auto_accept_shared_attachments = "enable"
    }
  HCL
  expect "ec2.gateway-accepts" {
    on      = ["aws_ec2_transit_gateway.r"]
    certain = true
  }
}

case "aws_ec2_transit_gateway: as it should be" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {}
  HCL
  expect_none = true
}

case "aws_ami_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_ami_copy" "r" {}
  HCL
  expect "ec2.image-key" {
    on      = ["aws_ami_copy.r"]
    certain = true
  }
  expect "ec2.image-unencrypted" {
    on      = ["aws_ami_copy.r"]
    certain = true
  }
}

case "aws_ami_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_ami_copy" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_ebs_snapshot_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_snapshot_copy" "r" {}
  HCL
  expect "ec2.snapshot-key" {
    on      = ["aws_ebs_snapshot_copy.r"]
    certain = true
  }
}

case "aws_ebs_snapshot_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_snapshot_copy" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "machines and their disks" {
  configuration = <<-HCL
    resource "aws_instance" "disks" {
      monitoring    = true
      ebs_optimized = true
      user_data     = join("", ["export AWS_ACCESS_KEY_ID=AKIA", "ABCDEFGHIJKLMNOP"])
      metadata_options {
        http_tokens = "required"
      }
      root_block_device {
        encrypted = true
      }
      ebs_block_device {
        device_name = "/dev/sdf"
      }
    }
    resource "aws_instance" "sound" {
      monitoring    = true
      ebs_optimized = true
      metadata_options {
        http_endpoint = "disabled"
      }
      root_block_device {
        encrypted = true
      }
      ebs_block_device {
        device_name = "/dev/sdf"
        snapshot_id = "snap-1"
      }
    }
  HCL

  expect "ec2.disk-unencrypted" {
    on      = ["aws_instance.disks"]
    certain = true
  }

  expect "ec2.keys-in-data" {
    on      = ["aws_instance.disks"]
    certain = true
  }

  expect "iam.no-role" {
    on      = ["aws_instance.disks", "aws_instance.sound"]
    certain = true
  }
}

case "volumes that are attached" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "plain" {
      kms_key_id = "alias/disks"
    }
    resource "aws_ebs_volume" "encrypted" {
      encrypted  = true
      kms_key_id = "alias/disks"
    }
    resource "aws_volume_attachment" "plain" {
      volume_id = aws_ebs_volume.plain.id
    }
    resource "aws_volume_attachment" "encrypted" {
      volume_id = aws_ebs_volume.encrypted.id
    }
    resource "aws_ami_launch_permission" "given" {
      account_id = "111122223333"
    }
  HCL

  expect "backup.volume" {
    on      = ["aws_ebs_volume.encrypted", "aws_ebs_volume.plain"]
    certain = true
  }

  expect "ec2.attached-unencrypted" {
    on      = ["aws_ebs_volume.plain"]
    certain = true
  }

  expect "ec2.image-shared" {
    on      = ["aws_ami_launch_permission.given"]
    certain = true
  }

  expect "ec2.volume-unencrypted" {
    on      = ["aws_ebs_volume.plain"]
    certain = true
  }
}
