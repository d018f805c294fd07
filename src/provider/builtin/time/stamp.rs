//! A moment with its zone, and the calendar it is read in: Go's rules for parsing, printing and adding.

use std::fmt;

use crate::world::World;

/// A moment and the offset of the zone it was written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    /// Seconds since 1970 began.
    pub unix: i64,
    /// Nanoseconds beyond them.
    pub nanos: i64,
    /// Seconds that the zone is ahead of UTC.
    offset: i64,
}

/// A moment as a calendar and a clock show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

const DAY: i64 = 86_400;
const SECOND: i64 = 1_000_000_000;
/// Years beyond this are cut off; what comes from them is far outside of what can be written.
const LAST_YEAR: i64 = 1_000_000;

impl Stamp {
    /// Returns the time now: UTC, whole seconds.
    pub(super) fn now(world: &World) -> Stamp {
        Stamp { unix: world.now().timestamp(), nanos: 0, offset: 0 }
    }

    /// Returns a time in UTC.
    pub(super) fn of_unix(unix: i64) -> Stamp {
        Stamp { unix, nanos: 0, offset: 0 }
    }

    /// Reads `2024-01-31T10:20:30.5+01:00`; T and Z in upper case.
    pub(super) fn parse(text: &str) -> Option<Stamp> {
        let mut rest = text;
        let year = digits(&mut rest, 4)?;
        let month = after(&mut rest, '-').and_then(|()| digits(&mut rest, 2))?;
        let day = after(&mut rest, '-').and_then(|()| digits(&mut rest, 2))?;
        let hour = after(&mut rest, 'T')
            .and_then(|()| digits(&mut rest, 2).or_else(|| digits(&mut rest, 1)))?;
        let minute = after(&mut rest, ':').and_then(|()| digits(&mut rest, 2))?;
        let second = after(&mut rest, ':').and_then(|()| digits(&mut rest, 2))?;
        let nanos = fraction(&mut rest)?;
        let offset = zone(&mut rest)?;
        let is_date = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
        if !rest.is_empty() || !is_date || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let civil = Civil { year, month, day, hour, minute, second };
        Some(Stamp { unix: civil.seconds() - offset, nanos, offset })
    }

    /// Returns what calendar and clock show in the time's own zone.
    pub(super) fn civil(self) -> Civil {
        let seconds = self.unix.saturating_add(self.offset);
        let (year, month, day) = date_of(seconds.div_euclid(DAY));
        let clock = seconds.rem_euclid(DAY);
        Civil { year, month, day, hour: clock / 3600, minute: clock / 60 % 60, second: clock % 60 }
    }

    /// Adds to the date; what is too much for a month runs over into the next.
    pub(super) fn add_date(self, years: i64, months: i64, days: i64) -> Stamp {
        let civil = self.civil();
        let month = civil.month.saturating_add(months).saturating_sub(1);
        let year = civil
            .year
            .saturating_add(years)
            .saturating_add(month.div_euclid(12))
            .clamp(-LAST_YEAR, LAST_YEAR);
        let furthest = LAST_YEAR * 366;
        let day = civil.day + days.clamp(-furthest, furthest);
        let start = Civil { year, month: month.rem_euclid(12) + 1, day, ..civil };
        Stamp { unix: start.seconds() - self.offset, ..self }
    }

    /// Adds a number of units of so many nanoseconds each. A product beyond 64 bits wraps around, as in Go.
    pub(super) fn add(self, count: i64, unit: i64) -> Stamp {
        let nanos = self.nanos + count.wrapping_mul(unit) % SECOND;
        let seconds = count.wrapping_mul(unit) / SECOND + nanos.div_euclid(SECOND);
        Stamp { unix: self.unix.saturating_add(seconds), nanos: nanos.rem_euclid(SECOND), ..self }
    }

    /// Returns whether this moment lies after another.
    pub(super) fn is_after(self, other: Stamp) -> bool {
        (self.unix, self.nanos) > (other.unix, other.nanos)
    }

    /// Returns the day of the week, Sunday being 0.
    pub(super) fn weekday(self) -> i64 {
        (self.days() + 4).rem_euclid(7)
    }

    /// Returns the day of the year, from 1.
    pub(super) fn year_day(self) -> i64 {
        self.days() - days_to(self.civil().year, 1, 1) + 1
    }

    /// Returns year and week by ISO 8601: a week belongs to the year of its Thursday.
    pub(super) fn iso_week(self) -> (i64, i64) {
        let thursday = self.days() - (self.weekday() + 6) % 7 + 3;
        let year = date_of(thursday).0;
        (year, (thursday - days_to(year, 1, 1)) / 7 + 1)
    }

    fn days(self) -> i64 {
        self.unix.saturating_add(self.offset).div_euclid(DAY)
    }
}

impl Civil {
    fn seconds(self) -> i64 {
        days_to(self.year, self.month, self.day) * DAY
            + self.hour * 3600
            + self.minute * 60
            + self.second
    }
}

/// Prints whole seconds.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = self.civil();
        let sign = if it.year < 0 { "-" } else { "" };
        write!(
            f,
            "{sign}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            it.year.abs(),
            it.month,
            it.day,
            it.hour,
            it.minute,
            it.second
        )?;
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        write!(
            f,
            "{}{:02}:{:02}",
            if self.offset < 0 { '-' } else { '+' },
            minutes / 60,
            minutes % 60
        )
    }
}

/// Takes a number of exactly so many digits.
fn digits(rest: &mut &str, count: usize) -> Option<i64> {
    let taken = rest.get(..count).filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    *rest = &rest[count..];
    taken.parse().ok()
}

fn after(rest: &mut &str, sign: char) -> Option<()> {
    *rest = rest.strip_prefix(sign)?;
    Some(())
}

/// Takes a fraction of a second, if there is one, as nanoseconds; further digits are dropped.
fn fraction(rest: &mut &str) -> Option<i64> {
    let Some(after) = rest.strip_prefix(['.', ',']) else { return Some(0) };
    let count = after.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return None;
    }
    *rest = &after[count..];
    format!("{:0<9}", &after[..count.min(9)]).parse().ok()
}

/// Takes the zone as seconds ahead of UTC.
fn zone(rest: &mut &str) -> Option<i64> {
    if after(rest, 'Z').is_some() {
        return Some(0);
    }
    let sign = if after(rest, '+').is_some() { 1 } else { after(rest, '-').map(|()| -1)? };
    let hours = digits(rest, 2)?;
    let minutes = after(rest, ':').and_then(|()| digits(rest, 2))?;
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_to(next_year, next_month, 1) - days_to(year, month, 1)
}

/// Returns the days from 1970-01-01 to a date; a day beyond its month counts on. Years are counted from March, so that
/// the leap day comes last.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

/// Returns the date so many days after 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}
