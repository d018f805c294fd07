# Cases of balancers.rules: what is denied, and what is not.

case "aws_lb: nothing said" {
  configuration = <<-HCL
    resource "aws_lb" "r" {
      load_balancer_type = "network"
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.one-zone" {
    on      = ["aws_lb.r"]
    certain = true
  }
}

case "aws_lb: said wrongly" {
  configuration = <<-HCL
    resource "aws_lb" "r" {
      load_balancer_type     = "network"
      desync_mitigation_mode = "monitor"
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.desync" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_lb.r"]
    certain = true
  }
  expect "balancers.one-zone" {
    on      = ["aws_lb.r"]
    certain = true
  }
}

case "aws_lb: as it should be" {
  configuration = <<-HCL
    resource "aws_lb" "r" {
      load_balancer_type               = "network"
      drop_invalid_header_fields       = true
      enable_deletion_protection       = true
      enable_cross_zone_load_balancing = true
      access_logs {
        enabled = true
      }
    }
  HCL
  expect "balancers.exposed" {
    on      = ["aws_lb.r"]
    certain = true
  }
}

case "aws_alb: nothing said" {
  configuration = <<-HCL
    resource "aws_alb" "r" {
      load_balancer_type = "network"
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.one-zone" {
    on      = ["aws_alb.r"]
    certain = true
  }
}

case "aws_alb: said wrongly" {
  configuration = <<-HCL
    resource "aws_alb" "r" {
      load_balancer_type     = "network"
      desync_mitigation_mode = "monitor"
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.desync" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_alb.r"]
    certain = true
  }
  expect "balancers.one-zone" {
    on      = ["aws_alb.r"]
    certain = true
  }
}

case "aws_alb: as it should be" {
  configuration = <<-HCL
    resource "aws_alb" "r" {
      load_balancer_type               = "network"
      drop_invalid_header_fields       = true
      enable_deletion_protection       = true
      enable_cross_zone_load_balancing = true
      access_logs {
        enabled = true
      }
    }
  HCL
  expect "balancers.exposed" {
    on      = ["aws_alb.r"]
    certain = true
  }
}

case "aws_elb: nothing said" {
  configuration = <<-HCL
    resource "aws_elb" "r" {}
  HCL
  expect "balancers.classic-logs" {
    on      = ["aws_elb.r"]
    certain = true
  }
}

case "aws_elb: said wrongly" {
  configuration = <<-HCL
    resource "aws_elb" "r" {
      desync_mitigation_mode    = "monitor"
      cross_zone_load_balancing = false
      listener {
        lb_port           = 80
        instance_protocol = "http"
      }
    }
  HCL
  expect "balancers.classic-certificate" {
    on      = ["aws_elb.r"]
    certain = true
  }
  expect "balancers.classic-logs" {
    on      = ["aws_elb.r"]
    certain = true
  }
  expect "balancers.classic-plain" {
    on      = ["aws_elb.r"]
    certain = true
  }
  expect "balancers.classic-zone" {
    on      = ["aws_elb.r"]
    certain = true
  }
  expect "balancers.desync" {
    on      = ["aws_elb.r"]
    certain = true
  }
}

case "aws_elb: as it should be" {
  configuration = <<-HCL
    resource "aws_elb" "r" {
      access_logs {
        bucket = "logs"
      }
      listener {
        lb_port            = 443
        instance_protocol  = "https"
        ssl_certificate_id = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
      }
    }
  HCL
  expect_none = true
}

case "aws_lb_target_group: nothing said" {
  configuration = <<-HCL
    resource "aws_lb_target_group" "r" {
      protocol = "HTTPS"
    }
  HCL
  expect "balancers.unchecked" {
    on      = ["aws_lb_target_group.r"]
    certain = true
  }
}

case "aws_lb_target_group: as it should be" {
  configuration = <<-HCL
    resource "aws_lb_target_group" "r" {
      protocol = "HTTPS"
      health_check {
        path = "/health"
      }
    }
  HCL
  expect_none = true
}

case "aws_alb_target_group: nothing said" {
  configuration = <<-HCL
    resource "aws_alb_target_group" "r" {
      protocol = "HTTPS"
    }
  HCL
  expect "balancers.unchecked" {
    on      = ["aws_alb_target_group.r"]
    certain = true
  }
}

case "aws_alb_target_group: as it should be" {
  configuration = <<-HCL
    resource "aws_alb_target_group" "r" {
      protocol = "HTTPS"
      health_check {
        path = "/health"
      }
    }
  HCL
  expect_none = true
}

case "listeners that answer without TLS, and that lead on" {
  configuration = <<-HCL
    resource "aws_lb" "web" {
      drop_invalid_header_fields = true
      enable_deletion_protection = true
      access_logs {
        bucket  = "logs"
        enabled = true
      }
    }
    resource "aws_lb_listener" "plain" {
      load_balancer_arn = aws_lb.web.arn
      port              = 80
      protocol          = "HTTP"
      default_action {
        type             = "forward"
        target_group_arn = aws_lb_target_group.web.arn
      }
    }
    resource "aws_lb_target_group" "web" {
      protocol = "HTTP"
      health_check {
        path = "/health"
      }
    }
    resource "aws_alb" "leads" {
      internal                   = true
      drop_invalid_header_fields = true
      enable_deletion_protection = true
      access_logs {
        bucket  = "logs"
        enabled = true
      }
    }
    resource "aws_alb_listener" "leads" {
      load_balancer_arn = aws_alb.leads.arn
      port              = "80"
      protocol          = "HTTP"
      default_action {
        type = "redirect"
        redirect {
          port        = "443"
          protocol    = "HTTPS"
          status_code = "HTTP_301"
        }
      }
    }
  HCL
  expect "balancers.exposed" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.no-firewall" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.no-redirect" {
    on      = ["aws_lb.web"]
    certain = true
  }
  expect "balancers.plain" {
    on      = ["aws_lb_listener.plain"]
    certain = true
  }
  expect "balancers.plain-group" {
    on      = ["aws_lb_target_group.web"]
    certain = true
  }
}

case "a firewall before a load balancer" {
  configuration = <<-HCL
    resource "aws_lb" "web" {
      drop_invalid_header_fields = true
      enable_deletion_protection = true
      access_logs {
        bucket  = "logs"
        enabled = true
      }
    }
    resource "aws_wafv2_web_acl_association" "web" {
      resource_arn = aws_lb.web.arn
      web_acl_arn  = "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/1"
    }
  HCL
  expect "balancers.exposed" {
    on      = ["aws_lb.web"]
    certain = true
  }
}

case "policies of TLS" {
  configuration = <<-HCL
    resource "aws_lb_listener" "default" {
      load_balancer_arn = "arn"
      protocol          = "HTTPS"
    }
    resource "aws_lb_listener" "old" {
      load_balancer_arn = "arn"
      protocol          = "TLS"
      ssl_policy        = "ELBSecurityPolicy-2016-08"
    }
    resource "aws_lb_listener" "strict" {
      load_balancer_arn = "arn"
      protocol          = "HTTPS"
      ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
    }
    resource "aws_load_balancer_policy" "old" {
      policy_attribute {
        name  = "Protocol-TLSv1"
        value = "true"
      }
    }
    resource "aws_load_balancer_policy" "older" {
      policy_attribute {
        name  = "Reference-Security-Policy"
        value = "ELBSecurityPolicy-2015-05"
      }
    }
    resource "aws_load_balancer_policy" "strict" {
      policy_attribute {
        name  = "Protocol-TLSv1.2"
        value = "true"
      }
    }
  HCL
  expect "balancers.old-tls" {
    on      = ["aws_lb_listener.default", "aws_lb_listener.old"]
    certain = true
  }
  expect "balancers.weak-ciphers" {
    on      = ["aws_lb_listener.default", "aws_lb_listener.old"]
    certain = true
  }
  expect "balancers.weak-classic" {
    on      = ["aws_load_balancer_policy.old", "aws_load_balancer_policy.older"]
    certain = true
  }
}

case "a load balancer for HTTP and nothing said" {
  configuration = <<-HCL
    resource "aws_alb" "web" {
      name = "web"
    }
  HCL
  expect "balancers.deletion" {
    on      = ["aws_alb.web"]
    certain = true
  }
  expect "balancers.exposed" {
    on      = ["aws_alb.web"]
    certain = true
  }
  expect "balancers.headers" {
    on      = ["aws_alb.web"]
    certain = true
  }
  expect "balancers.logs" {
    on      = ["aws_alb.web"]
    certain = true
  }
  expect "balancers.no-firewall" {
    on      = ["aws_alb.web"]
    certain = true
  }
}
