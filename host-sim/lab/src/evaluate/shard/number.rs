//! Number of a shard, and the total number of shards.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::str::FromStr;

/// Maximum number of shards of an evaluation (assumption: more are a typing error; clusters take
/// about 1,000 jobs of a user).
pub const MOST_SHARDS: u32 = 10_000;

/// One of several shards, written `2/3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// Total number of shards: 1 to [`MOST_SHARDS`].
    of: u32,
    /// Number of the shard, from 1.
    number: u32,
}

impl Shard {
    /// Returns the total number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns the index of the shard, from 0.
    pub fn place(self) -> usize {
        self.number as usize - 1
    }

    /// Returns all of `of` shards, at most [`MOST_SHARDS`].
    pub fn all(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of.min(MOST_SHARDS)).map(move |number| Shard { of, number })
    }

    /// Returns the stem of a file name: `2-of-3`.
    pub fn file_stem(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }

    /// Parses a shard from the stem of a file name: `2-of-3`.
    pub fn of_file_stem(stem: &str) -> Option<Self> {
        let (number, of) = stem.split_once("-of-")?;
        format!("{number}/{of}").parse().ok()
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = |text: &str| text.parse::<u32>().ok();
        let numbers = text.split_once('/').and_then(|(number, of)| Some((whole(number)?, whole(of)?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST_SHARDS => Ok(Shard { of, number }),
            Some((_, of)) if of > MOST_SHARDS => Err(format!("at most {MOST_SHARDS} shards are allowed")),
            Some((_, of)) if of > 0 => Err(format!("shards are counted from 1: 1/{of} to {of}/{of}")),
            _ => Err("expected NUMBER/COUNT, as in 2/3".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        let shard: Shard = "2/3".parse().unwrap();
        assert_eq!((shard.place(), shard.of(), shard.to_string().as_str()), (1, 3, "2/3"));
        assert_eq!(Shard::of_file_stem(&shard.file_stem()), Some(shard));
        assert_eq!(Shard::all(3).map(Shard::place).collect::<Vec<_>>(), [0, 1, 2]);
        for (text, part) in
            [("0/3", "1/3 to 3/3"), ("4/3", "1/3 to 3/3"), ("1/10001", "at most 10000"), ("1/0", "2/3"), ("1", "2/3"), ("a/b", "2/3")]
        {
            assert!(text.parse::<Shard>().unwrap_err().contains(part), "{text}");
        }
        for stem in ["2-of-1", "slurm-1", "1-of-"] {
            assert_eq!(Shard::of_file_stem(stem), None, "{stem}");
        }
    }
}
