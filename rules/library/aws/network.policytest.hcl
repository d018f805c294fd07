# Cases of network.rules: what is denied, and what is not.

case "aws_network_acl_rule: nothing said" {
  configuration = <<-HCL
    resource "aws_network_acl_rule" "r" {}
  HCL
  expect "network.acl-all-ports" {
    on      = ["aws_network_acl_rule.r"]
    certain = true
  }
}

case "aws_network_acl_rule: as it should be" {
  configuration = <<-HCL
    resource "aws_network_acl_rule" "r" {
      from_port = 443
    }
  HCL
  expect_none = true
}

case "ports open to everyone, said in three ways" {
  configuration = <<-HCL
    resource "aws_security_group" "web" {
      description = "web"
      ingress {
        description = "shell"
        from_port   = 22
        to_port     = 22
        protocol    = "tcp"
        cidr_blocks = ["10.0.0.0/8", "0.0.0.0/0"]
      }
    }
    resource "aws_security_group_rule" "rdp" {
      description       = "desktop"
      type              = "ingress"
      security_group_id = aws_security_group.web.id
      from_port         = 3000
      to_port           = 4000
      protocol          = "tcp"
      ipv6_cidr_blocks  = ["::/0"]
    }
    resource "aws_vpc_security_group_ingress_rule" "all" {
      description       = "all"
      security_group_id = aws_security_group.web.id
      ip_protocol       = "-1"
      cidr_ipv4         = "0.0.0.0/0"
    }
    resource "aws_vpc_security_group_egress_rule" "all" {
      description       = "all"
      security_group_id = aws_security_group.web.id
      ip_protocol       = "-1"
      cidr_ipv4         = "0.0.0.0/0"
    }
  HCL
  expect "network.data-ports" {
    on      = ["aws_security_group_rule.rdp", "aws_vpc_security_group_ingress_rule.all"]
    certain = true
  }
  expect "network.egress" {
    on      = ["aws_vpc_security_group_egress_rule.all"]
    certain = true
  }
  expect "network.every-port" {
    on      = ["aws_vpc_security_group_ingress_rule.all"]
    certain = true
  }
  expect "network.http" {
    on      = ["aws_vpc_security_group_ingress_rule.all"]
    certain = true
  }
  expect "network.rdp" {
    on      = ["aws_security_group_rule.rdp", "aws_vpc_security_group_ingress_rule.all"]
    certain = true
  }
  expect "network.ssh" {
    on      = ["aws_security_group.web", "aws_vpc_security_group_ingress_rule.all"]
    certain = true
  }
  expect "network.unused-group" {
    on      = ["aws_security_group.web"]
    certain = true
  }
}

case "ports open to whom they should be" {
  configuration = <<-HCL
    resource "aws_security_group" "web" {
      description = "web"
      ingress {
        description = "shell"
        from_port   = 22
        to_port     = 22
        protocol    = "tcp"
        cidr_blocks = ["10.0.0.0/8"]
      }
      ingress {
        description = "web"
        from_port   = 443
        to_port     = 443
        protocol    = "tcp"
        cidr_blocks = ["0.0.0.0/0"]
      }
      ingress {
        description = "ping"
        from_port   = 8
        to_port     = 0
        protocol    = "icmp"
        cidr_blocks = ["0.0.0.0/0"]
      }
      egress {
        description = "web"
        from_port   = 443
        to_port     = 443
        protocol    = "tcp"
        cidr_blocks = ["0.0.0.0/0"]
      }
    }
    resource "aws_lb" "web" {
      security_groups = [aws_security_group.web.id]
    }
    resource "aws_security_group_rule" "out" {
      description       = "out"
      type              = "egress"
      security_group_id = aws_security_group.web.id
      from_port         = 22
      to_port           = 22
      protocol          = "tcp"
      cidr_blocks       = ["0.0.0.0/0"]
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.headers" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.no-firewall" {
    on      = ["aws_lb.web"]
    certain = true
  }
}

case "a port that is not known yet" {
  configuration = <<-HCL
    variable "networks" {
      type = list(string)
    }
    resource "aws_security_group_rule" "shell" {
      description       = "shell"
      type              = "ingress"
      security_group_id = "sg-1"
      from_port         = 22
      to_port           = 22
      protocol          = "tcp"
      cidr_blocks       = var.networks
    }
  HCL
  expect "network.ssh" {
    on      = ["aws_security_group_rule.shell"]
    certain = false
  }
}

case "groups without a description" {
  configuration = <<-HCL
    resource "aws_security_group" "group" {
      name = "group"
    }
    resource "aws_security_group" "rules" {
      name        = "rules"
      description = "rules"
      egress {
        from_port   = 443
        to_port     = 443
        protocol    = "tcp"
        cidr_blocks = ["10.0.0.0/8"]
      }
    }
    resource "aws_instance" "web" {
      vpc_security_group_ids = [aws_security_group.group.id]
      security_groups        = ["rules"]
    }
  HCL
  expect "ec2.disk-unencrypted" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "ec2.ebs-optimized" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "ec2.metadata" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "ec2.monitoring" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "iam.no-role" {
    on      = ["aws_instance.web"]
    certain = true
  }
  expect "network.undescribed" {
    on      = ["aws_security_group.group", "aws_security_group.rules"]
    certain = true
  }
}

case "networks, with and without what belongs to them" {
  configuration = <<-HCL
    resource "aws_default_vpc" "default" {}
    resource "aws_vpc" "bare" {}
    resource "aws_vpc" "opened" {}
    resource "aws_default_security_group" "opened" {
      vpc_id = aws_vpc.opened.id
      ingress {
        protocol  = "-1"
        self      = true
        from_port = 0
        to_port   = 0
      }
    }
    resource "aws_vpc" "sound" {}
    resource "aws_default_security_group" "sound" {
      vpc_id = aws_vpc.sound.id
    }
    resource "aws_flow_log" "sound" {
      vpc_id = aws_vpc.sound.id
    }
  HCL
  expect "network.default-group" {
    on      = ["aws_vpc.bare", "aws_vpc.opened"]
    certain = true
  }
  expect "network.default-vpc" {
    on      = ["aws_default_vpc.default"]
    certain = true
  }
  expect "network.no-flow-log" {
    on      = ["aws_vpc.bare", "aws_vpc.opened"]
    certain = true
  }
}

case "access lists" {
  configuration = <<-HCL
    resource "aws_network_acl" "idle" {
      ingress {
        rule_no    = 100
        action     = "allow"
        protocol   = "tcp"
        cidr_block = "0.0.0.0/0"
        from_port  = 22
        to_port    = 22
      }
    }
    resource "aws_network_acl" "used" {
      subnet_ids = ["subnet-1"]
      ingress {
        rule_no    = 50
        action     = "deny"
        protocol   = "tcp"
        cidr_block = "0.0.0.0/0"
        from_port  = 0
        to_port    = 65535
      }
      ingress {
        rule_no    = 100
        action     = "allow"
        protocol   = "tcp"
        cidr_block = "0.0.0.0/0"
        from_port  = 22
        to_port    = 22
      }
    }
    resource "aws_network_acl_rule" "rdp" {
      network_acl_id = aws_network_acl.used.id
      rule_number    = 200
      rule_action    = "allow"
      protocol       = "tcp"
      cidr_block     = "0.0.0.0/0"
      from_port      = 3000
      to_port        = 4000
    }
    resource "aws_network_acl_rule" "out" {
      network_acl_id = aws_network_acl.used.id
      egress         = true
      rule_number    = 200
      rule_action    = "allow"
      protocol       = "tcp"
      cidr_block     = "0.0.0.0/0"
      from_port      = 3000
      to_port        = 4000
    }
  HCL
  expect "network.acl-rdp" {
    on      = ["aws_network_acl_rule.rdp"]
    certain = true
  }
  expect "network.acl-ssh" {
    on      = ["aws_network_acl.idle"]
    certain = true
  }
  expect "network.idle-list" {
    on      = ["aws_network_acl.idle"]
    certain = true
  }
}

case "an access list that refuses logins, and then lets everything through" {
  configuration = <<-HCL
    resource "aws_network_acl" "sound" {
      subnet_ids = ["subnet-1"]
      ingress {
        rule_no    = 10
        action     = "deny"
        protocol   = "tcp"
        cidr_block = "0.0.0.0/0"
        from_port  = 22
        to_port    = 22
      }
      ingress {
        rule_no    = 100
        action     = "allow"
        protocol   = "-1"
        cidr_block = "0.0.0.0/0"
        from_port  = 0
        to_port    = 0
      }
    }
  HCL
  expect "network.acl-rdp" {
    on      = ["aws_network_acl.sound"]
    certain = true
  }
}

case "routes to a peer" {
  configuration = <<-HCL
    resource "aws_route" "everything" {
      route_table_id            = "rtb-1"
      destination_cidr_block    = "0.0.0.0/0"
      vpc_peering_connection_id = "pcx-1"
    }
    resource "aws_route_table" "everything" {
      vpc_id = "vpc-1"
      route {
        cidr_block                = "0.0.0.0/0"
        vpc_peering_connection_id = "pcx-1"
      }
    }
    resource "aws_route_table" "sound" {
      vpc_id = "vpc-1"
      route {
        cidr_block = "0.0.0.0/0"
        gateway_id = "igw-1"
      }
      route {
        cidr_block                = "10.1.0.0/16"
        vpc_peering_connection_id = "pcx-1"
      }
    }
  HCL
  expect "network.peer-everything" {
    on      = ["aws_route.everything", "aws_route_table.everything"]
    certain = true
  }
}

case "addresses" {
  configuration = <<-HCL
    resource "aws_eip" "idle" {
      domain = "vpc"
    }
    resource "aws_eip" "used" {
      domain = "vpc"
    }
    resource "aws_nat_gateway" "out" {
      allocation_id = aws_eip.used.id
    }
  HCL
  expect "network.idle-address" {
    on      = ["aws_eip.idle"]
    certain = true
  }
}
