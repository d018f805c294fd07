case "machines and disks without care" {
  configuration = <<-HCL
    resource "azurerm_linux_virtual_machine" "bare" {
      disable_password_authentication = false
      provision_vm_agent              = false
    }

    resource "azurerm_windows_virtual_machine" "bare" {
      automatic_updates_enabled = false

      storage_os_disk {
        vhd_uri = "https://example.com/disk.vhd"
      }
    }

    resource "azurerm_managed_disk" "bare" {
      encryption_settings {
        enabled = false
      }
    }

    resource "azurerm_virtual_machine" "old" {
      managed_disk_id = azurerm_managed_disk.bare.id

      storage_os_disk {
        vhd_uri = "https://example.com/disk.vhd"
      }
    }
  HCL

  expect "compute.attached-plain" {
    on      = ["azurerm_virtual_machine.old"]
    certain = true
  }
  expect "compute.disk-own-key" {
    on      = ["azurerm_managed_disk.bare"]
    certain = true
  }
  expect "compute.disk-plain" {
    on      = ["azurerm_managed_disk.bare"]
    certain = true
  }
  expect "compute.disk-public" {
    on      = ["azurerm_managed_disk.bare"]
    certain = true
  }
  expect "compute.extensions" {
    on      = ["azurerm_linux_virtual_machine.bare", "azurerm_windows_virtual_machine.bare"]
    certain = true
  }
  expect "compute.host-encryption" {
    on      = ["azurerm_windows_virtual_machine.bare"]
    certain = true
  }
  expect "compute.loose-disk" {
    on      = ["azurerm_windows_virtual_machine.bare"]
    certain = true
  }
  expect "compute.no-agent" {
    on      = ["azurerm_linux_virtual_machine.bare"]
    certain = true
  }
  expect "compute.no-antimalware" {
    on      = ["azurerm_virtual_machine.old"]
    certain = true
  }
  expect "compute.no-backup" {
    on      = ["azurerm_linux_virtual_machine.bare", "azurerm_virtual_machine.old", "azurerm_windows_virtual_machine.bare"]
    certain = true
  }
  expect "compute.no-key" {
    on      = ["azurerm_linux_virtual_machine.bare"]
    certain = true
  }
  expect "compute.no-updates" {
    on      = ["azurerm_windows_virtual_machine.bare"]
    certain = true
  }
  expect "compute.old-loose-disk" {
    on      = ["azurerm_virtual_machine.old"]
    certain = true
  }
  expect "compute.password" {
    on      = ["azurerm_linux_virtual_machine.bare"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "azurerm_linux_virtual_machine" "guarded" {
      allow_extension_operations = false

      admin_ssh_key {
        public_key = "ssh-ed25519 AAAA"
      }
    }

    resource "azurerm_windows_virtual_machine" "guarded" {
      allow_extension_operations = false
      encryption_at_host_enabled = true
    }

    resource "azurerm_disk_encryption_set" "guarded" {
      name = "guarded"
    }

    resource "azurerm_managed_disk" "guarded" {
      disk_encryption_set_id        = azurerm_disk_encryption_set.guarded.id
      public_network_access_enabled = false
    }

    resource "azurerm_virtual_machine" "guarded" {
      managed_disk_id = azurerm_managed_disk.guarded.id

      storage_os_disk {
        managed_disk_type = "Premium_LRS"
      }
    }

    resource "azurerm_virtual_machine_extension" "guarded" {
      virtual_machine_id         = azurerm_virtual_machine.guarded.id
      publisher                  = "Microsoft.Azure.Security"
      type                       = "IaaSAntimalware"
      auto_upgrade_minor_version = true
    }

    resource "azurerm_backup_protected_vm" "guarded" {
      for_each     = { a = azurerm_linux_virtual_machine.guarded.id, b = azurerm_windows_virtual_machine.guarded.id, c = azurerm_virtual_machine.guarded.id }
      source_vm_id = each.value
    }
  HCL

  expect_none = true
}
