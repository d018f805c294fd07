//! Verdicts as JUnit's XML, for build servers: a rule is a suite, a verdict a case, a denial a failure.

use entail::policy::rules::{Level, RuleInfo};
use entail::policy::{Report, Verdict};

/// Returns the document. A rule without a verdict is a case that passed.
pub fn document(report: &Report, rules: &[RuleInfo], with_possible: bool) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for rule in rules {
        let of_rule = |it: &&Verdict| it.rule.name == rule.name && it.rule.group == rule.group;
        let is_shown = |it: &&Verdict| it.is_certain || with_possible;
        let verdicts: Vec<&Verdict> =
            report.verdicts.iter().filter(of_rule).filter(is_shown).collect();
        let is_left_out = report.not_judged.iter().any(|it| it.ends_with(&rule.name));
        let mut cases: Vec<String> = verdicts.iter().map(|it| case(it)).collect();
        let mut left_out = verdicts.iter().filter(|it| !it.counts()).count();
        if cases.is_empty() {
            let inner = match is_left_out {
                true => "<skipped message=\"judged with a plan only\"/>",
                false => "",
            };
            left_out += usize::from(is_left_out);
            let name = escaped(&rule.name);
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"{name}\" file=\"{}\" line=\"{}\">{inner}</testcase>\n",
                escaped(&rule.file),
                rule.line
            ));
        }
        let denied = verdicts.iter().filter(|it| it.counts() && it.level == Level::Deny).count();
        suites.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{denied}\" errors=\"0\" skipped=\"{left_out}\">\n{}  </testsuite>\n",
            escaped(&rule.name),
            cases.len(),
            cases.concat()
        ));
        tests += cases.len();
        failures += denied;
        skipped += left_out;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"policies\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n{suites}</testsuites>\n"
    )
}

fn case(verdict: &Verdict) -> String {
    let name = match verdict.address.is_empty() {
        true => "plan",
        false => &verdict.address,
    };
    let place = verdict.place.as_ref().map_or(String::new(), |(file, line, _)| {
        format!(" file=\"{}\" line=\"{line}\"", escaped(file))
    });
    let message = escaped(&verdict.message);
    let inner = match (verdict.level, &verdict.waived, &verdict.overridden) {
        (_, Some(waived), _) => skipped(&format!("waived: {}", waived.reason)),
        (_, _, Some(because)) => skipped(&format!("overridden: {because}")),
        _ if !verdict.is_certain => skipped(&format!(
            "possible, waits for {}: {}",
            verdict.waits_for.join(", "),
            verdict.message
        )),
        (Level::Deny, ..) => {
            let help = verdict.rule.help.as_ref();
            let help = help.map_or(String::new(), |it| format!("\n{}", escaped(it)));
            format!(
                "<failure type=\"{}\" message=\"{message}\">{}{help}\n{}:{}</failure>",
                verdict.rule.severity.name(),
                escaped(&verdict.sentence),
                escaped(&verdict.rule.file),
                verdict.rule.line
            )
        }
        (level, ..) => format!("<system-out>{}: {message}</system-out>", level.name()),
    };
    format!(
        "    <testcase classname=\"{}\" name=\"{}\"{place}>{inner}</testcase>\n",
        escaped(&verdict.name),
        escaped(name)
    )
}

fn skipped(why: &str) -> String {
    format!("<skipped message=\"{}\"/>", escaped(why))
}

/// Text as it stands in XML; what must not stand there at all is left out.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            it if it.is_control() => {}
            it => out.push(it),
        }
    }
    out
}
