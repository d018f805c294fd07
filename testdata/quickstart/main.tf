# A diamond: `b` and `c` are made from `a`, and `d` from both.
#
#     a <- b <- d
#     a <- c <- d
#
# `plan -exclude=null_resource.b` leaves out `b`, and with it `d`; `a` and `c` are planned.
# `why null_resource.d -exclude=null_resource.b` tells the reason.

locals {
  service = "quickstart"
}

resource "null_resource" "a" {
  triggers = {
    service = local.service
  }
}

resource "null_resource" "b" {
  triggers = {
    a = null_resource.a.id
  }
}

resource "null_resource" "c" {
  triggers = {
    a = null_resource.a.id
  }
}

resource "null_resource" "d" {
  triggers = {
    b = null_resource.b.id
    c = null_resource.c.id
  }
}

# Relies on `c`, which takes part, and on `d`, which does not: under `-exclude=null_resource.b` it is
# recalculated, with null for what was never made.
output "made" {
  value = {
    service = null_resource.a.triggers.service
    c       = null_resource.c.id
    d       = null_resource.d.id
  }
}
