case "more goes than the limit allows" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    variable "policy_delete_limit" {
      default = 1
    }

    resource "terraform_data" "one" {
      input = "one"
    }
  HCL

  expect "limits.deletes" {
    on      = [""]
    certain = true
  }
}

case "more is made anew than the limit allows" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    variable "policy_replace_limit" {
      default = 1
    }

    resource "terraform_data" "one" {
      input = "one"
    }

    resource "random_string" "two" {
      length = 16
    }

    resource "random_string" "three" {
      length = 16
    }
  HCL

  expect "limits.replacements" {
    on      = [""]
    certain = true
  }
}

case "everything would go" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    output "nothing" {
      value = 1
    }
  HCL

  expect "limits.everything" {
    on      = [""]
    certain = true
  }
}

case "one is moved, and made anew" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    resource "terraform_data" "one" {
      input = "one"
    }

    resource "random_string" "second" {
      length = 16
    }

    resource "random_string" "three" {
      length = 8
    }

    moved {
      from = random_string.two
      to   = random_string.second
    }
  HCL

  expect "limits.moved-and-destroyed" {
    on      = ["random_string.second"]
    certain = true
  }
}

case "somebody deleted a file" {
  plan  = true
  state = "fixtures/file.tfstate"

  configuration = <<-HCL
    resource "local_file" "note" {
      filename = "never/written/here.txt"
      content  = "note"
    }
  HCL

  expect "limits.drifted" {
    on      = ["local_file.note"]
    certain = true
  }
}

case "little changes" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    resource "terraform_data" "one" {
      input = "changed"
    }

    resource "random_string" "first" {
      length = 8
    }

    resource "random_string" "three" {
      length = 16
    }

    moved {
      from = random_string.two
      to   = random_string.first
    }
  HCL

  expect_none = true
}
