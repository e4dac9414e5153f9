//! Number of cases of a property: the test's own, or that of `cargo xtask soak`.

use proptest::prelude::ProptestConfig;

/// Returns `usual` cases, or the number in the variable `MIAS_CASES`.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("MIAS_CASES").ok();
    let cases = asked.map_or(usual, |text| text.parse().expect("MIAS_CASES is a number"));
    // Filters and assumptions may reject a share of the cases, for any number of cases. The
    // defaults are absolute numbers.
    let rejects = cases.saturating_mul(10);
    ProptestConfig { max_local_rejects: rejects, max_global_rejects: rejects, ..ProptestConfig::with_cases(cases) }
}
