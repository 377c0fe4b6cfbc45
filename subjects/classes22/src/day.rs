//! V11, JFreeChart 1.0.13 `Day`: all parsing goes through one date formatter that keeps its digits in fields.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::java::locked_twin;

const MAX_DIGITS: usize = 19;

/// The digits that a formatter has scanned: an accumulator that is cleared before each number.
#[derive(Debug, Default)]
struct DigitList {
    digits: [AtomicI32; MAX_DIGITS],
    count: AtomicUsize,
}

impl DigitList {
    fn append(&self, digit: i32) {
        let count = self.count.load(Relaxed);
        assert!(count < MAX_DIGITS, "ArrayIndexOutOfBoundsException: {count}");
        self.digits[count].store(digit, Relaxed);
        self.count.store(count + 1, Relaxed);
    }

    /// The number that the digits make; panics if there is none.
    fn value(&self) -> i32 {
        let count = self.count.load(Relaxed);
        assert!(count != 0, "NumberFormatException: for input string \"\"");
        (0..count).fold(0, |value: i32, i| value.wrapping_mul(10).wrapping_add(self.digits[i].load(Relaxed)))
    }
}

/// A formatter with a calendar and a digit list, neither of which is protected.
#[derive(Debug, Default)]
struct DateFormat {
    digit_list: DigitList,
    year: AtomicI32,
    month: AtomicI32,
    day: AtomicI32,
}

impl DateFormat {
    /// Reads a number at the beginning of a text and returns it with the rest.
    fn number<'a>(&self, text: &'a str) -> Option<(i32, &'a str)> {
        self.digit_list.count.store(0, Relaxed);
        let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        for digit in text[..end].bytes() {
            self.digit_list.append(i32::from(digit - b'0'));
        }
        if end == 0 {
            return None;
        }
        Some((self.digit_list.value(), &text[end..]))
    }

    /// Reads year, month and day, separated by one character each, into the calendar and back.
    fn parse(&self, text: &str) -> Option<(i32, i32, i32)> {
        let (year, rest) = self.number(text)?;
        self.year.store(year, Relaxed);
        let (month, rest) = self.number(skip_one(rest))?;
        self.month.store(month, Relaxed);
        let (day, _) = self.number(skip_one(rest))?;
        self.day.store(day, Relaxed);
        Some((self.year.load(Relaxed), self.month.load(Relaxed), self.day.load(Relaxed)))
    }
}

fn skip_one(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

/// A day, as a number counted from the first of January 1900 in months of 31 days.
///
/// *Shared*: two formatters, static in the original and fields here, so that no state outlives a test.
/// *Locking*: none.
/// *Bug*: [`parse_day`](Day::parse_day) against itself: the digits that one thread has scanned are cleared by the other
/// before they are made into a number. Other outcomes are a wrong date or too many digits.
#[derive(Debug)]
pub struct Day {
    format: DateFormat,
    short_format: DateFormat,
    serial: i32,
}

impl Day {
    /// A day by its number.
    pub fn new(serial: u16) -> Day {
        Day { format: DateFormat::default(), short_format: DateFormat::default(), serial: serial.into() }
    }

    /// Reads a date such as 2011-12-31 and returns its number; `None` if it is not one.
    pub fn parse_day(&self, text: &str) -> Option<i32> {
        let (year, month, day) = self.format.parse(text)?;
        Some(year.wrapping_sub(1900).wrapping_mul(372).wrapping_add(month.wrapping_mul(31)).wrapping_add(day))
    }

    /// Reads a date with a year of two digits and returns its number; `None` if it is not one.
    pub fn parse_short_day(&self, text: &str) -> Option<i32> {
        let (year, month, day) = self.short_format.parse(text)?;
        Some(year.wrapping_mul(372).wrapping_add(month.wrapping_mul(31)).wrapping_add(day))
    }

    /// The number of the day.
    pub fn serial_date(&self) -> i32 {
        self.serial
    }

    /// The number of the day before, which the first day does not have.
    pub fn previous(&self) -> Option<i32> {
        (self.serial > 0).then(|| self.serial - 1)
    }

    /// The number of the next day.
    pub fn next(&self) -> i32 {
        self.serial + 1
    }

    /// The year.
    pub fn year(&self) -> i32 {
        1900 + self.serial / 372
    }

    /// The month, from 0.
    pub fn month(&self) -> i32 {
        self.serial % 372 / 31
    }

    /// The day of the month, from 0.
    pub fn day_of_month(&self) -> i32 {
        self.serial % 31
    }

    /// The same as the number of the day.
    pub fn serial_index(&self) -> i64 {
        self.serial.into()
    }

    /// The first millisecond.
    pub fn first_millisecond(&self) -> i64 {
        i64::from(self.serial) * 86_400_000
    }

    /// The middle millisecond.
    pub fn middle_millisecond(&self) -> i64 {
        self.first_millisecond() + 43_200_000
    }

    /// The last millisecond.
    pub fn last_millisecond(&self) -> i64 {
        self.first_millisecond() + 86_399_999
    }

    /// The start of the period.
    pub fn start(&self) -> i64 {
        self.first_millisecond()
    }

    /// The end of the period.
    pub fn end(&self) -> i64 {
        self.last_millisecond()
    }

    /// Whether another day is this one.
    pub fn equals(&self, serial: u16) -> bool {
        self.serial == i32::from(serial)
    }

    /// The hash code.
    pub fn hash_code(&self) -> i32 {
        self.serial
    }

    /// How many days this one is after another.
    pub fn compare_to(&self, serial: u16) -> i32 {
        self.serial - i32::from(serial)
    }

    /// The day as a text.
    pub fn text(&self) -> String {
        format!("{}-{}-{}", self.year(), self.month(), self.day_of_month())
    }
}

locked_twin! {
    DayFixed of Day, new(serial: u16) {
        fn parse_day(&self, text: &str) -> Option<i32>;
        fn parse_short_day(&self, text: &str) -> Option<i32>;
        fn serial_date(&self) -> i32;
        fn previous(&self) -> Option<i32>;
        fn next(&self) -> i32;
        fn year(&self) -> i32;
        fn month(&self) -> i32;
        fn day_of_month(&self) -> i32;
        fn serial_index(&self) -> i64;
        fn first_millisecond(&self) -> i64;
        fn middle_millisecond(&self) -> i64;
        fn last_millisecond(&self) -> i64;
        fn start(&self) -> i64;
        fn end(&self) -> i64;
        fn equals(&self, serial: u16) -> bool;
        fn hash_code(&self) -> i32;
        fn compare_to(&self, serial: u16) -> i32;
        fn text(&self) -> String;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_and_nothing_else() {
        let day = Day::new(0);
        assert_eq!(day.parse_day("1901-2-3"), Some(372 + 2 * 31 + 3));
        assert_eq!(day.parse_short_day("1/2/3"), Some(372 + 2 * 31 + 3));
        assert_eq!(day.parse_day("x"), None);
        let day = Day::new(372 + 65);
        assert_eq!(day.text(), "1901-2-3");
        assert_eq!((day.previous(), day.next(), day.compare_to(400)), (Some(436), 438, 37));
    }

    #[test]
    #[should_panic(expected = "ArrayIndexOutOfBoundsException")]
    fn has_room_for_a_limited_number_of_digits() {
        Day::new(0).parse_day("12345678901234567890");
    }
}
