case "nothing says how it is encrypted" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "a" {
      bucket = "a"
    }
  HCL
  expect "s3.unencrypted" {
    on      = ["aws_s3_bucket.a"]
    certain = true
  }
}

case "another block says how" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "a" {
      bucket = "a"
    }

    resource "aws_s3_bucket_server_side_encryption_configuration" "a" {
      bucket = aws_s3_bucket.a.id
    }
  HCL
  expect_none = true
}

case "its own block says how" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "a" {
      server_side_encryption_configuration {
        rule {}
      }
    }
  HCL
  expect_none = true
}

case "another block is about something else" {
  configuration = <<-HCL
    resource "aws_s3_bucket" "a" {
      bucket = "a"
    }

    resource "aws_s3_bucket_policy" "a" {
      bucket = aws_s3_bucket.a.id
    }
  HCL
  expect "s3.unencrypted" {
    on = ["aws_s3_bucket.a"]
  }
}
