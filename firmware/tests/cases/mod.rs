//! How many cases a property gets: as many as its test says, or as `cargo xtask soak` asks for.

use proptest::prelude::ProptestConfig;

/// `usual` cases, or the number in the variable `MIAS_CASES`.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("MIAS_CASES").ok();
    let cases = asked.map_or(usual, |text| text.parse().expect("MIAS_CASES is a number"));
    // Filters and assumptions may reject a share of the cases, however many there are; the defaults are numbers of their own.
    let rejects = cases.saturating_mul(10);
    ProptestConfig { max_local_rejects: rejects, max_global_rejects: rejects, ..ProptestConfig::with_cases(cases) }
}
