# Cases of s3.rules: what is denied, and what is not.

case "aws_s3_bucket_public_access_block: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_bucket_public_access_block" "r" {}
  HCL
  expect "s3.acls-allowed" {
    on      = ["aws_s3_bucket_public_access_block.r"]
    certain = true
  }
  expect "s3.acls-heeded" {
    on      = ["aws_s3_bucket_public_access_block.r"]
    certain = true
  }
  expect "s3.policy-allowed" {
    on      = ["aws_s3_bucket_public_access_block.r"]
    certain = true
  }
  expect "s3.public-unrestricted" {
    on      = ["aws_s3_bucket_public_access_block.r"]
    certain = true
  }
}

case "aws_s3_bucket_public_access_block: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_bucket_public_access_block" "r" {
      block_public_acls       = true
      block_public_policy     = true
      ignore_public_acls      = true
      restrict_public_buckets = true
    }
  HCL
  expect_none = true
}

case "aws_s3_bucket_ownership_controls: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_bucket_ownership_controls" "r" {}
  HCL
  expect "s3.acls-used" {
    on      = ["aws_s3_bucket_ownership_controls.r"]
    certain = true
  }
}

case "aws_s3_bucket_ownership_controls: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_bucket_ownership_controls" "r" {
      rule {
        object_ownership = "BucketOwnerEnforced"
      }
    }
  HCL
  expect_none = true
}

case "aws_s3_object: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_object" "r" {}
  HCL
  expect "s3.object-key" {
    on      = ["aws_s3_object.r"]
    certain = true
  }
}

case "aws_s3_object: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_object" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_s3_bucket_object: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_bucket_object" "r" {}
  HCL
  expect "s3.object-key" {
    on      = ["aws_s3_bucket_object.r"]
    certain = true
  }
}

case "aws_s3_bucket_object: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_bucket_object" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_s3_object_copy: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_object_copy" "r" {}
  HCL
  expect "s3.copy-key" {
    on      = ["aws_s3_object_copy.r"]
    certain = true
  }
}

case "aws_s3_object_copy: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_object_copy" "r" {
      kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
    }
  HCL
  expect_none = true
}

case "aws_s3_access_point: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_access_point" "r" {}
  HCL
  expect_none = true
}

case "aws_s3_access_point: said wrongly" {
  configuration = <<-HCL
    resource "aws_s3_access_point" "r" {
      public_access_block_configuration {
        block_public_policy = false
      }
    }
  HCL
  expect "s3.point-open" {
    on      = ["aws_s3_access_point.r"]
    certain = true
  }
}

case "aws_s3_access_point: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_access_point" "r" {
      public_access_block_configuration {
        block_public_policy = true
      }
    }
  HCL
  expect_none = true
}

case "aws_s3_bucket: nothing said" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "r" {}
  HCL
  expect "s3.alone" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.no-events" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
}

case "aws_s3_bucket: as it should be" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "r" {}
  HCL
  expect "s3.alone" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.no-events" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.r"]
    certain = true
  }
}

case "a bucket and nothing beside it" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "b" {
      acl = "public-read-write"
    }
  HCL
  expect "s3.alone" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-events" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.public-read" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.public-write" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
}

case "a bucket with all that belongs to it, by reference, by local and by name" {
  configuration = <<-HCL
    locals {
      name = "example"
    }
    resource "aws_s3_bucket" "b" {
      bucket = local.name
    }
    resource "aws_s3_bucket_public_access_block" "b" {
      bucket                  = aws_s3_bucket.b.id
      block_public_acls       = true
      block_public_policy     = true
      ignore_public_acls      = true
      restrict_public_buckets = true
    }
    resource "aws_s3_bucket_logging" "b" {
      bucket        = local.name
      target_bucket = "logs"
    }
    resource "aws_s3_bucket_versioning" "b" {
      bucket = "example"
      versioning_configuration {
        status = "Enabled"
      }
    }
    resource "aws_s3_bucket_server_side_encryption_configuration" "b" {
      bucket = aws_s3_bucket.b.bucket
      rule {
        apply_server_side_encryption_by_default {
          sse_algorithm = "aws:kms"
        }
      }
    }
    resource "aws_s3_bucket_replication_configuration" "b" {
      bucket = aws_s3_bucket.b.id
      role   = "arn:aws:iam::111122223333:role/copy"
      rule {
        status = "Enabled"
      }
    }
    resource "aws_s3_bucket_lifecycle_configuration" "b" {
      bucket = aws_s3_bucket.b.id
      rule {
        id     = "uploads"
        status = "Enabled"
        abort_incomplete_multipart_upload {
          days_after_initiation = 7
        }
      }
    }
    resource "aws_s3_bucket_notification" "b" {
      bucket      = aws_s3_bucket.b.id
      eventbridge = true
    }
    resource "aws_s3_bucket_acl" "b" {
      bucket = aws_s3_bucket.b.id
      acl    = "private"
    }
  HCL
  expect_none = true
}

case "ACLs that let others in" {
  configuration = <<-HCL
    resource "aws_s3_bucket_acl" "b" {
      bucket = "example"
      access_control_policy {
        grant {
          grantee {
            type = "Group"
            uri  = "http://acs.amazonaws.com/groups/global/AllUsers"
          }
          permission = "FULL_CONTROL"
        }
        grant {
          grantee {
            type = "Group"
            uri  = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"
          }
          permission = "READ"
        }
      }
    }
  HCL
  expect "s3.acl-shown" {
    on      = ["aws_s3_bucket_acl.b"]
    certain = true
  }
  expect "s3.any-account" {
    on      = ["aws_s3_bucket_acl.b"]
    certain = true
  }
}

case "uploads are cleared away for some objects only" {
  configuration = <<-HCL
    resource "aws_s3_bucket_lifecycle_configuration" "b" {
      bucket = "example"
      rule {
        id     = "uploads"
        status = "Enabled"
        filter {
          prefix = "logs/"
        }
        abort_incomplete_multipart_upload {
          days_after_initiation = 7
        }
      }
    }
  HCL
  expect "s3.lost-uploads" {
    on      = ["aws_s3_bucket_lifecycle_configuration.b"]
    certain = true
  }
}

case "a lock that is not on" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "b" {
      acl                 = "private"
      object_lock_enabled = true
      object_lock_configuration {
        rule {}
      }
    }
  HCL
  expect "s3.alone" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-events" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unlocked" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
}

case "a block that may or may not be there" {
  configuration = <<-HCL
    variable "blocked" {
      type = bool
    }
    resource "aws_s3_bucket" "b" {}
    resource "aws_s3_bucket_public_access_block" "b" {
      bucket                  = aws_s3_bucket.b.id
      block_public_acls       = var.blocked
      block_public_policy     = true
      ignore_public_acls      = true
      restrict_public_buckets = true
    }
  HCL
  expect "s3.acls-allowed" {
    on      = ["aws_s3_bucket_public_access_block.b"]
    certain = false
  }
  expect "s3.alone" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.aws-key" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-events" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.no-lifecycle" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unblocked" {
    on      = ["aws_s3_bucket.b"]
    certain = false
  }
  expect "s3.unlogged" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
  expect "s3.unversioned" {
    on      = ["aws_s3_bucket.b"]
    certain = true
  }
}
