variable "env" { default = "dev" }

resource "terraform_data" "base" { input = var.env }

resource "terraform_data" "web" {
  input            = terraform_data.base.id
  triggers_replace = [var.env]
}

output "web" { value = terraform_data.web.id }
