case "what holds data goes" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    variable "policy_protected_types" {
      default = ["random_string"]
    }

    resource "terraform_data" "one" {
      input = "one"
    }
  HCL

  expect "guard.data-deleted" {
    on      = ["random_string.two", "random_string.three"]
    certain = true
  }
}

case "what holds data is made anew" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    variable "policy_protected_types" {
      default = ["random_string"]
    }

    resource "terraform_data" "one" {
      input = "one"
    }

    resource "random_string" "two" {
      length = 16
    }

    resource "random_string" "three" {
      length = 8
    }
  HCL

  expect "guard.data-replaced" {
    on      = ["random_string.two"]
    certain = true
  }
}

case "a key goes, and what it encrypts stays" {
  plan  = true
  state = "fixtures/key.tfstate"

  configuration = <<-HCL
    variable "policy_protected_types" {
      default = ["terraform_data"]
    }

    variable "policy_key_types" {
      default = ["random_string"]
    }

    resource "terraform_data" "data" {
      input = "data"
    }
  HCL

  expect "guard.key-before-data" {
    on      = ["random_string.key"]
    certain = true
  }
}

case "what holds no data may go, and what holds data may stay" {
  plan  = true
  state = "fixtures/three.tfstate"

  configuration = <<-HCL
    variable "policy_protected_types" {
      default = ["terraform_data"]
    }

    variable "policy_key_types" {
      default = ["terraform_data"]
    }

    variable "policy_protected_tags" {
      default = { env = "prod" }
    }

    resource "terraform_data" "one" {
      input = "changed"
    }

    resource "random_string" "two" {
      length = 16
    }
  HCL

  expect_none = true
}
