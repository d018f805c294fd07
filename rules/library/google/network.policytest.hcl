case "firewalls that let everyone in" {
  configuration = <<-HCL
    resource "google_compute_network" "main" {
      auto_create_subnetworks = true
    }

    resource "google_compute_firewall" "logins" {
      network       = google_compute_network.main.name
      source_ranges = ["10.0.0.0/8", "0.0.0.0/0"]
      target_tags   = ["login"]

      allow {
        protocol = "tcp"
        ports    = ["20-22", "3306", "3389", "80"]
      }
    }

    resource "google_compute_firewall" "wide" {
      network       = "other"
      source_ranges = ["::/0"]

      allow {
        protocol = "tcp"
        ports    = ["8000-65535"]
      }
    }

    resource "google_compute_firewall" "all" {
      network = "other"

      allow {
        protocol = "all"
      }
    }

    resource "google_compute_instance" "open" {
      tags = ["web", "login"]

      service_account {
        email = "web@example.iam.gserviceaccount.com"
      }

      boot_disk {
        kms_key_self_link = "key"
      }

      metadata = { block-project-ssh-keys = "true" }

      shielded_instance_config {
        enable_secure_boot = true
      }

      network_interface {
        network = google_compute_network.main.name

        access_config {
          network_tier = "PREMIUM"
        }
      }
    }
  HCL

  expect "compute.public" {
    on      = ["google_compute_instance.open"]
    certain = true
  }
  expect "network.any-traffic" {
    on      = ["google_compute_firewall.all"]
    certain = true
  }
  expect "network.automatic-subnets" {
    on      = ["google_compute_network.main"]
    certain = true
  }
  expect "network.ftp" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.ftp-data" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.http" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.mysql" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.rdp" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.reachable-login" {
    on      = ["google_compute_instance.open"]
    certain = true
  }
  expect "network.ssh" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.logins"]
    certain = true
  }
  expect "network.wide-range" {
    on      = ["google_compute_firewall.all", "google_compute_firewall.wide"]
    certain = true
  }
}

case "subnets, balancers and zones without care" {
  configuration = <<-HCL
    resource "google_compute_network" "alone" {
      auto_create_subnetworks = false
    }

    resource "google_compute_subnetwork" "bare" {
      stack_type = "IPV4_IPV6"
    }

    resource "google_compute_ssl_policy" "weak" {
      profile = "COMPATIBLE"
    }

    resource "google_compute_ssl_policy" "own" {
      profile         = "CUSTOM"
      custom_features = ["TLS_RSA_WITH_AES_128_CBC_SHA"]
    }

    resource "google_compute_target_http_proxy" "plain" {
      name = "plain"
    }

    resource "google_compute_global_forwarding_rule" "plain" {
      target = google_compute_target_http_proxy.plain.id
    }

    resource "google_dns_managed_zone" "bare" {
      dns_name = "example.com."
    }

    resource "google_dns_managed_zone" "weak" {
      dnssec_config {
        state = "on"

        default_key_specs {
          algorithm = "rsasha1"
        }
      }
    }

    resource "google_compute_security_policy" "bare" {
      rule {
        action = "allow"

        match {
          expr {
            expression = "evaluatePreconfiguredWaf('cve-canary')"
          }
        }
      }
    }
  HCL

  expect "network.default-firewall" {
    on      = ["google_compute_network.alone"]
    certain = true
  }
  expect "network.log4shell" {
    on      = ["google_compute_security_policy.bare"]
    certain = true
  }
  expect "network.no-dnssec" {
    on      = ["google_dns_managed_zone.bare"]
    certain = true
  }
  expect "network.no-flow-log" {
    on      = ["google_compute_subnetwork.bare"]
    certain = true
  }
  expect "network.no-private-google" {
    on      = ["google_compute_subnetwork.bare"]
    certain = true
  }
  expect "network.no-private-google-6" {
    on      = ["google_compute_subnetwork.bare"]
    certain = true
  }
  expect "network.plain-proxy" {
    on      = ["google_compute_global_forwarding_rule.plain"]
    certain = true
  }
  expect "network.weak-dnssec" {
    on      = ["google_dns_managed_zone.weak"]
    certain = true
  }
  expect "network.weak-tls" {
    on      = ["google_compute_ssl_policy.own", "google_compute_ssl_policy.weak"]
    certain = true
  }
}

case "everything is looked after" {
  configuration = <<-HCL
    resource "google_compute_network" "main" {
      auto_create_subnetworks = false
    }

    resource "google_compute_firewall" "inside" {
      network       = google_compute_network.main.name
      source_ranges = ["10.0.0.0/8"]

      allow {
        protocol = "tcp"
        ports    = ["22"]
      }
    }

    resource "google_compute_firewall" "tags" {
      network     = google_compute_network.main.name
      source_tags = ["web"]

      allow {
        protocol = "all"
      }
    }

    resource "google_compute_firewall" "out" {
      network   = google_compute_network.main.name
      direction = "EGRESS"

      allow {
        protocol = "all"
      }
    }

    resource "google_compute_firewall" "off" {
      network       = google_compute_network.main.name
      disabled      = true
      source_ranges = ["0.0.0.0/0"]

      allow {
        protocol = "all"
      }
    }

    resource "google_compute_firewall" "web" {
      network       = google_compute_network.main.name
      source_ranges = ["0.0.0.0/0"]

      allow {
        protocol = "tcp"
        ports    = ["443"]
      }
    }

    resource "google_compute_subnetwork" "main" {
      private_ip_google_access   = true
      stack_type                 = "IPV4_IPV6"
      private_ipv6_google_access = "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE"

      log_config {
        flow_sampling = 0.5
      }
    }

    resource "google_compute_subnetwork" "proxies" {
      purpose = "REGIONAL_MANAGED_PROXY"
    }

    resource "google_compute_ssl_policy" "modern" {
      profile         = "MODERN"
      min_tls_version = "TLS_1_2"
    }

    resource "google_compute_target_https_proxy" "front" {
      name = "front"
    }

    resource "google_compute_global_forwarding_rule" "front" {
      target = google_compute_target_https_proxy.front.id
    }

    resource "google_dns_managed_zone" "signed" {
      dnssec_config {
        state = "on"
      }
    }

    resource "google_dns_managed_zone" "inside" {
      visibility = "private"
    }

    resource "google_compute_security_policy" "canary" {
      rule {
        action = "deny(403)"

        match {
          expr {
            expression = "evaluatePreconfiguredWaf('cve-canary')"
          }
        }
      }
    }
  HCL

  expect_none = true
}
