//! Suggestions for unknown names ("did you mean").

/// Minimum similarity (Jaro-Winkler, 0..=1) of a suggested name, as in the command-line parser for
/// options. A name within one typing error is suggested too, since its similarity is lower for two
/// letters.
const NEAR: f64 = 0.7;

/// Finds the nearest of `known` to `given`, if one is near enough; the last of equals.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let lower = given.to_lowercase();
    let scored =
        known.into_iter().map(|name| (strsim::osa_distance(&lower, name) == 1, strsim::jaro_winkler(&lower, &name.to_lowercase()), name));
    let near = scored.filter(|(one_error, score, _)| *one_error || *score >= NEAR);
    near.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., name)| name)
}

/// Formats the message that `given` is not a known `what`, with the nearest known name, if any, and
/// all names.
pub fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    let hint = nearest(given, known.iter().copied()).map(|name| format!(" did you mean `{name}`?")).unwrap_or_default();
    format!("unknown {what} `{given}`;{hint} known: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_suggested_and_all_are_listed() {
        let known = ["mm", "fwt", "hotspot"];
        assert_eq!(unknown("kernel", "hotspt", &known), "unknown kernel `hotspt`; did you mean `hotspot`? known: mm, fwt, hotspot");
        assert!(unknown("kernel", "mn", &known).contains("did you mean `mm`?"));
        assert!(unknown("kernel", "ftw", &["fwt", "fwt#2"]).contains("did you mean `fwt`?"));
        assert_eq!(unknown("kernel", "qqq", &known), "unknown kernel `qqq`; known: mm, fwt, hotspot");
    }
}
