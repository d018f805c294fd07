# Cases of eks.rules: what is denied, and what is not.

case "aws_eks_cluster: nothing said" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {}
  HCL
  expect "eks.logs" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
  expect "eks.public" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
  expect "eks.secrets" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
}

case "aws_eks_cluster: said wrongly" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {
      version = "1.21"
    }
  HCL
  expect "eks.logs" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
  expect "eks.public" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
  expect "eks.secrets" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
  expect "eks.version" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
}

case "aws_eks_cluster: as it should be" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "r" {
      version = "1.29"
      vpc_config {
        endpoint_public_access = false
      }
      encryption_config {
        resources = ["secrets"]
      }
    }
  HCL
  expect "eks.logs" {
    on      = ["aws_eks_cluster.r"]
    certain = true
  }
}

case "who may ask a cluster, and what it logs" {
  configuration = <<-HCL
    resource "aws_eks_cluster" "open" {
      enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
      vpc_config {
        endpoint_public_access = true
        public_access_cidrs    = ["10.0.0.0/8", "0.0.0.0/0"]
      }
      encryption_config {
        resources = ["secrets"]
      }
    }
    resource "aws_eks_cluster" "unsaid" {
      enabled_cluster_log_types = ["api", "audit"]
      vpc_config {
        subnet_ids = ["subnet-1"]
      }
      encryption_config {
        resources = ["secrets"]
      }
    }
    resource "aws_eks_cluster" "closed" {
      enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
      vpc_config {
        endpoint_public_access = false
      }
      encryption_config {
        resources = ["secrets"]
      }
    }
    resource "aws_eks_node_group" "open" {
      remote_access {
        ec2_ssh_key = "operators"
      }
    }
    resource "aws_eks_node_group" "closed" {
      remote_access {
        ec2_ssh_key               = "operators"
        source_security_group_ids = ["sg-1"]
      }
    }
  HCL
  expect "eks.logs" {
    on      = ["aws_eks_cluster.unsaid"]
    certain = true
  }
  expect "eks.node-login" {
    on      = ["aws_eks_node_group.open"]
    certain = true
  }
  expect "eks.open-network" {
    on      = ["aws_eks_cluster.open", "aws_eks_cluster.unsaid"]
    certain = true
  }
  expect "eks.public" {
    on      = ["aws_eks_cluster.open", "aws_eks_cluster.unsaid"]
    certain = true
  }
}
