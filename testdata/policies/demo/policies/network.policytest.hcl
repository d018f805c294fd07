case "everybody may log in" {
  configuration = <<-HCL
    resource "aws_security_group" "web" {
      ingress {
        from_port   = 0
        to_port     = 1024
        cidr_blocks = ["10.0.0.0/8", "0.0.0.0/0"]
      }
    }
  HCL
  expect "net.ssh" {
    on      = ["aws_security_group.web"]
    certain = true
  }
}

case "one rule opens the port, and another is for everybody" {
  configuration = <<-HCL
    resource "aws_security_group" "web" {
      ingress {
        from_port   = 22
        to_port     = 22
        cidr_blocks = ["10.0.0.0/8"]
      }
      ingress {
        from_port   = 443
        to_port     = 443
        cidr_blocks = ["0.0.0.0/0"]
      }
    }
  HCL
  expect_none = true
}

case "it depends on what nobody has said yet" {
  configuration = <<-HCL
    variable "networks" {
      type = list(string)
    }

    resource "aws_security_group" "web" {
      ingress {
        from_port   = 22
        to_port     = 22
        cidr_blocks = var.networks
      }
    }
  HCL
  expect "net.ssh" {
    certain = false
  }
}
