//! Dates as HTTP writes them.

use std::time::Duration;

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7) as the time since 1970.
///
/// The two obsolete forms, which no server in use sends, are not read; neither is a time before
/// 1970.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let (_, text) = text.split_once(", ")?;
    let mut parts = text.split(' ');
    let (day, month, year) = (number(parts.next()?, 2)?, parts.next()?, number(parts.next()?, 4)?);
    let mut clock = parts.next()?.split(':');
    let (hour, minute, second) =
        (number(clock.next()?, 2)?, number(clock.next()?, 2)?, number(clock.next()?, 2)?);
    if (clock.next(), parts.next(), parts.next()) != (None, Some("GMT"), None) {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    if !(1..=31).contains(&day) || year < 1970 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Duration::from_secs(seconds))
}

/// The days from 1970-01-01, by counting years from March, so that a leap day comes last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month < 3 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let in_year = (153 * from_march + 2) / 5 + day - 1;
    let before = year * 365 + year / 4 - year / 100 + year / 400;
    // 719 468 days lie between 0000-03-01 and 1970-01-01.
    before + in_year - 719_468
}

fn number(text: &str, digits: usize) -> Option<u64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_date_is_the_seconds_since_1970() {
        let seconds = |text| parse(text).map(|time| time.as_secs());
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(seconds("Fri, 01 Mar 2024 00:00:00 GMT"), Some(1_709_251_200));
        assert_eq!(seconds("Wed, 31 Dec 9999 23:59:59 GMT"), Some(253_402_300_799));
    }

    #[test]
    fn what_is_no_date_says_nothing() {
        for text in [
            "",
            "soon",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun, 00 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
