//! How many cases a property gets: as many as its test says, or as `cargo xtask soak` asks for.

use proptest::prelude::ProptestConfig;

/// `usual` cases, or the number in the variable `MIAS_CASES`.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("MIAS_CASES").ok();
    ProptestConfig::with_cases(asked.map_or(usual, |text| text.parse().expect("MIAS_CASES is a number")))
}
