//! Where the services of AWS are: partitions, regions, FIPS and dual stack, buckets in the host's name or in the path.

use std::sync::LazyLock;

use regex::Regex;

/// The addresses of one configuration.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// The region of bucket and table.
    pub region: String,
    /// The region of STS, where that is another one.
    pub sts_region: Option<String>,
    /// The address of S3, where it is not the usual one.
    pub s3: Option<String>,
    /// The address of DynamoDB, where it is not the usual one.
    pub dynamodb: Option<String>,
    /// The address of STS, where it is not the usual one.
    pub sts: Option<String>,
    /// The address of KMS, where it is not the usual one.
    pub kms: Option<String>,
    /// Whether the bucket stands in the path.
    pub is_path_style: bool,
    /// Whether endpoints with validated cryptography are asked.
    pub is_fips: bool,
    /// Whether endpoints that speak IPv6 are asked.
    pub is_dual_stack: bool,
}

/// Prefixes of regions, and what the names of services end with there: for IPv4, and for both.
pub const PARTITIONS: &[(&str, &str, &str)] = &[
    ("cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
    ("us-isob-", "sc2s.sgov.gov", "api.aws.scloud"),
    ("us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"),
    ("us-iso-", "c2s.ic.gov", "api.aws.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
    ("eusc-", "amazonaws.eu", "api.amazonwebservices.eu"),
    ("", "amazonaws.com", "api.aws"),
];

impl Addresses {
    fn suffixes(region: &str) -> (&'static str, &'static str) {
        let known = PARTITIONS.iter().find(|(prefix, ..)| region.starts_with(prefix));
        known.map_or(("amazonaws.com", "api.aws"), |(_, plain, dual)| (plain, dual))
    }

    /// Returns whether S3 is that of AWS, which keeps what conditions promise.
    pub fn is_of_aws(&self) -> bool {
        self.s3.is_none()
    }

    fn usual(&self, service: &str, region: &str) -> String {
        let (plain, dual) = Self::suffixes(region);
        let fips = if self.is_fips { "-fips" } else { "" };
        let suffix = if self.is_dual_stack { dual } else { plain };
        format!("https://{service}{fips}.{region}.{suffix}")
    }

    /// Returns the address of a bucket, or of an object in it.
    pub fn object(&self, bucket: &str, key: &str) -> String {
        let key = escaped(key, true);
        let base = match &self.s3 {
            Some(custom) => custom.trim_end_matches('/').to_owned(),
            None => {
                let (plain, _) = Self::suffixes(&self.region);
                let fips = if self.is_fips { "-fips" } else { "" };
                let dual = if self.is_dual_stack { ".dualstack" } else { "" };
                format!("https://s3{fips}{dual}.{}.{plain}", self.region)
            }
        };
        let (scheme, host) = base.split_once("://").unwrap_or(("https", &base));
        match self.is_path_style || !is_host_label(bucket) || is_numeric(host) {
            true => format!("{scheme}://{host}/{}/{key}", escaped(bucket, false)),
            false => format!("{scheme}://{bucket}.{host}/{key}"),
        }
    }

    /// Returns the address of DynamoDB.
    pub fn table(&self) -> String {
        let usual = || self.usual("dynamodb", &self.region);
        with_slash(self.dynamodb.clone().unwrap_or_else(usual))
    }

    /// Returns the address of STS.
    pub fn tokens(&self) -> String {
        with_slash(self.sts.clone().unwrap_or_else(|| self.usual("sts", self.tokens_region())))
    }

    /// Returns the address of KMS.
    pub fn keys(&self) -> String {
        with_slash(self.kms.clone().unwrap_or_else(|| self.usual("kms", &self.region)))
    }

    /// Returns the region that requests to STS are signed for.
    pub fn tokens_region(&self) -> &str {
        self.sts_region.as_deref().unwrap_or(&self.region)
    }
}

fn with_slash(address: String) -> String {
    match address.ends_with('/') {
        true => address,
        false => address + "/",
    }
}

/// Whether a bucket's name may stand before the host's without making another certificate necessary.
fn is_host_label(bucket: &str) -> bool {
    (3..=63).contains(&bucket.len())
        && bucket.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
        && !bucket.starts_with('-')
        && !bucket.ends_with('-')
}

fn is_numeric(host: &str) -> bool {
    let name = host.split('/').next().unwrap_or_default();
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    name.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Escapes what may not stand in a path or a query as it is.
pub fn escaped(text: &str, keeps_slashes: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            b'/' if keeps_slashes => escaped.push('/'),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Whether a region has the form of one.
pub fn is_region(name: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let form = r"^((us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d+|us-(gov|iso|isob|isof)-[a-z]+-\d+|eu-isoe-[a-z]+-\d+|cn-[a-z]+-\d+|eusc-[a-z]+-[a-z]+-\d+)$";
        Regex::new(form).expect("the form of regions is an expression")
    });
    FORM.is_match(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Addresses), expected: [&str; 3]) {
        let mut addresses = Addresses { region: "eu-west-1".into(), ..Addresses::default() };
        change(&mut addresses);
        let object = addresses.object("bucket", "a b/c:d.tfstate");
        assert_eq!([&*object, &*addresses.table(), &*addresses.tokens()], expected);
    }

    #[test]
    fn services_are_where_aws_has_them() {
        check(
            |_| (),
            [
                "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c%3Ad.tfstate",
                "https://dynamodb.eu-west-1.amazonaws.com/",
                "https://sts.eu-west-1.amazonaws.com/",
            ],
        );
        check(
            |it| (it.is_fips, it.is_dual_stack, it.is_path_style) = (true, true, true),
            [
                "https://s3-fips.dualstack.eu-west-1.amazonaws.com/bucket/a%20b/c%3Ad.tfstate",
                "https://dynamodb-fips.eu-west-1.api.aws/",
                "https://sts-fips.eu-west-1.api.aws/",
            ],
        );
        check(
            |it| {
                it.region = "cn-north-1".into();
                it.sts_region = Some("cn-northwest-1".into());
            },
            [
                "https://bucket.s3.cn-north-1.amazonaws.com.cn/a%20b/c%3Ad.tfstate",
                "https://dynamodb.cn-north-1.amazonaws.com.cn/",
                "https://sts.cn-northwest-1.amazonaws.com.cn/",
            ],
        );
        check(
            |it| {
                it.s3 = Some("http://127.0.0.1:9000/".into());
                it.dynamodb = Some("http://localhost:8000".into());
                it.sts = Some("http://localhost:8001/".into());
            },
            [
                "http://127.0.0.1:9000/bucket/a%20b/c%3Ad.tfstate",
                "http://localhost:8000/",
                "http://localhost:8001/",
            ],
        );
    }

    #[test]
    fn a_bucket_with_dots_stands_in_the_path() {
        let addresses = Addresses { region: "us-east-1".into(), ..Addresses::default() };
        assert_eq!(
            addresses.object("my.bucket", "k"),
            "https://s3.us-east-1.amazonaws.com/my.bucket/k"
        );
    }

    #[test]
    fn regions_have_a_form() {
        for good in [
            "us-east-1",
            "us-gov-west-1",
            "cn-north-1",
            "eusc-de-east-1",
            "us-iso-east-1",
            "ap-southeast-7",
        ] {
            assert!(is_region(good), "{good}");
        }
        for bad in ["", "us-east", "nowhere", "us-east-1a", "US-EAST-1"] {
            assert!(!is_region(bad), "{bad}");
        }
    }
}
