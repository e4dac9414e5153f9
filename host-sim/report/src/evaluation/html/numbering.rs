//! Numbers of figures beyond the thesis': a letter per experiment, a number per figure, a letter
//! per part: A.1a.

/// Counter of an experiment's figures.
#[derive(Debug)]
pub(super) struct Numbering {
    letters: String,
    last: u32,
}

impl Numbering {
    /// Creates the counter of an experiment, counted from 0.
    pub(super) fn of(experiment: usize) -> Self {
        Numbering { letters: letters(experiment, b'A'), last: 0 }
    }

    /// Returns the number of the next figure.
    pub(super) fn next(&mut self) -> String {
        self.last += 1;
        format!("{}.{}", self.letters, self.last)
    }
}

/// Returns the number of a part of a figure, counted from 0.
pub(super) fn part(figure: &str, part: usize) -> String {
    figure.to_owned() + &letters(part, b'a')
}

/// Returns `a` to `z`, then `aa`, `ab` and so on.
fn letters(number: usize, first: u8) -> String {
    let last = char::from(first + (number % 26) as u8);
    if number < 26 { last.to_string() } else { letters(number / 26 - 1, first) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_z() {
        let mut second = Numbering::of(1);
        assert_eq!([second.next(), second.next()], ["B.1", "B.2"]);
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(|n| letters(n, b'A')), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
        assert_eq!(part("A.1", 2), "A.1c");
    }
}
