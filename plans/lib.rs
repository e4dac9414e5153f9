//! Built-in plans of `mias`, as text: kernels, policies and settings of `mias evaluate`, one TOML
//! file per plan.
//!
//! Use this crate to read the plans and the published numbers without the rest of MIAS. `mias-lab`
//! parses them.
//!
//! ```rust
//! let plan = mias_plans::text("quick").unwrap();
//! assert!(plan.contains("[[experiment]]"));
//! ```

/// Pairs of names with the texts of `NAME.toml`.
macro_rules! plans {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!($name, ".toml")))),*] };
}

/// Names and texts of all plans, in the order of lists.
pub const ALL: &[(&str, &str)] = plans![
    "thesis",
    "extended",
    "quick",
    "baselines",
    "rules",
    "sensitivity",
    "linear",
    "memory-pairs",
    "roofline",
    "rules-elsewhere",
    "precision",
    "dai",
    "dai-limits",
    "dai-why",
    "shieh",
    "transitions",
    "zhao",
    "zhao-twelve",
    "zhao-elsewhere",
    "inside-or-beside",
    "lin",
    "field",
    "decisions-making",
    "decisions",
    "decisions-small",
    "stack",
    "maestro",
];

/// Names and texts of published numbers for comparison in these plans' reports, as CSV with paper,
/// figure, page, key, series and value.
pub const PUBLISHED: &[(&str, &str)] = &[
    ("dai", include_str!("published/dai.csv")),
    ("field", include_str!("published/field.csv")),
    ("kernels", include_str!("published/kernels.csv")),
    ("lin", include_str!("published/lin.csv")),
    ("maestro", include_str!("published/maestro.csv")),
    ("shieh", include_str!("published/shieh.csv")),
    ("thesis", include_str!("published/thesis.csv")),
    ("zhao", include_str!("published/zhao.csv")),
];

/// Returns the file of published numbers called `name`.
pub fn published(name: &str) -> Option<&'static str> {
    PUBLISHED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Division of kernels into those for making a decision rule and those for judging it, with the
/// seed of these plans' mixes, as TOML.
pub const DECISIONS_KERNELS: &str = include_str!("decisions/kernels.toml");

/// Returns the text of the plan called `name`.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file is in the list, under the name that it declares.
    #[test]
    fn the_list_is_the_folder() {
        let folder = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
        let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = names.filter(|name| name.ends_with(".toml") && name != "Cargo.toml").collect();
        let mut listed: Vec<String> = ALL.iter().map(|(name, _)| format!("{name}.toml")).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
        for (name, text) in ALL {
            let inside = format!("name = {name:?}");
            assert_eq!(text.lines().find(|line| line.starts_with("name")), Some(inside.as_str()));
        }
    }

    #[test]
    fn the_published_numbers_are_the_folder() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/published")).unwrap();
        let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = names.filter(|name| name.ends_with(".csv")).collect();
        let mut listed: Vec<String> = PUBLISHED.iter().map(|(name, _)| format!("{name}.csv")).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
    }

    #[test]
    fn plans_are_found_by_name() {
        assert!(text("quick").is_some_and(|text| text.contains("[[experiment]]")));
        assert_eq!(text("quack"), None);
    }
}
