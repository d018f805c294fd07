# A few resources to be judged: `entail -chdir=testdata/policies/demo policy check`.

variable "environment" {
  type    = string
  default = "prod"
}

locals {
  tags = { environment = var.environment, team = "web" }
}

resource "aws_s3_bucket" "logs" {
  bucket = "example-logs"
  tags   = local.tags
}

resource "aws_s3_bucket" "assets" {
  bucket = "example-assets"
  tags   = local.tags
}

resource "aws_s3_bucket_server_side_encryption_configuration" "logs" {
  bucket = aws_s3_bucket.logs.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }
}

resource "aws_security_group" "web" {
  name = "web"

  dynamic "ingress" {
    for_each = [22, 443]
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = ["0.0.0.0/0"]
    }
  }
}
