# Cases of ec2.rules: what is denied, and what is not.

case "aws_ebs_volume: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ebs_volume: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_volume" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_instance: nothing said" {
  configuration = <<-HCL
    resource "aws_instance" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_instance: said wrongly" {
  configuration = <<-HCL
    resource "aws_instance" "r" {
      associate_public_ip_address = true
    }
  HCL
  expect = "RECORD"
}

case "aws_instance: as it should be" {
  configuration = <<-HCL
    resource "aws_instance" "r" {
      monitoring    = true
      ebs_optimized = true
    }
  HCL
  expect = "RECORD"
}

case "aws_launch_template: nothing said" {
  configuration = <<-HCL
    resource "aws_launch_template" "r" {}
  HCL
  expect = "RECORD"
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
  expect = "RECORD"
}

case "aws_launch_template: as it should be" {
  configuration = <<-HCL
    resource "aws_launch_template" "r" {
      metadata_options {
        http_put_response_hop_limit = 1
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_launch_configuration: nothing said" {
  configuration = <<-HCL
    resource "aws_launch_configuration" "r" {}
  HCL
  expect = "RECORD"
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
  expect = "RECORD"
}

case "aws_launch_configuration: as it should be" {
  configuration = <<-HCL
    resource "aws_launch_configuration" "r" {
      metadata_options {
        http_put_response_hop_limit = 1
      }
    }
  HCL
  expect = "RECORD"
}

case "aws_ebs_encryption_by_default: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ebs_encryption_by_default: said wrongly" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {
      enabled = false
    }
  HCL
  expect = "RECORD"
}

case "aws_ebs_encryption_by_default: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_encryption_by_default" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_subnet: nothing said" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_subnet: said wrongly" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {
      map_public_ip_on_launch = true
    }
  HCL
  expect = "RECORD"
}

case "aws_subnet: as it should be" {
  configuration = <<-HCL
    resource "aws_subnet" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_vpc_endpoint_service: nothing said" {
  configuration = <<-HCL
    resource "aws_vpc_endpoint_service" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_vpc_endpoint_service: as it should be" {
  configuration = <<-HCL
    resource "aws_vpc_endpoint_service" "r" {
      acceptance_required = true
    }
  HCL
  expect = "RECORD"
}

case "aws_ec2_transit_gateway: nothing said" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ec2_transit_gateway: said wrongly" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {
      auto_accept_shared_attachments = "enable"
    }
  HCL
  expect = "RECORD"
}

case "aws_ec2_transit_gateway: as it should be" {
  configuration = <<-HCL
    resource "aws_ec2_transit_gateway" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ami_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_ami_copy" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ami_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_ami_copy" "r" {
      encrypted  = true
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}

case "aws_ebs_snapshot_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_ebs_snapshot_copy" "r" {}
  HCL
  expect = "RECORD"
}

case "aws_ebs_snapshot_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_ebs_snapshot_copy" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect = "RECORD"
}
