//! `mias-gpu compare`: what was measured, and the model beside it, as tables in Markdown. Needs no GPU. Definitions: sources.md D208.

pub mod beside;
pub mod campaign;
pub mod choice;
pub mod csv;
pub mod decided;
pub mod hardware;
pub mod inside;
pub mod leads;
pub mod measured;
pub mod metrics;
pub mod model;
pub mod orders;
pub mod progress;
pub mod repeats;
pub mod splits;
pub mod tables;

use self::measured::Measured;
use self::model::Model;
use std::path::Path;

/// SMs of the H100.
pub const SMS: u16 = 132;

/// All tables: of a campaign that was measured, and, with one, of results of `mias evaluate`.
///
/// # Errors
/// A sentence for a file that cannot be read, or results in which there is nothing that was measured.
pub fn report(campaign: &Path, results: Option<&Path>) -> Result<String, String> {
    let measured = Measured::read(campaign)?;
    let mut text = repeats::report(&measured);
    text += &hardware::alone(&measured);
    text += &hardware::sets(&measured, &measured.pairs, "**Pairs**: all configurations.");
    text += &hardware::sets(&measured, &measured.triples, "**Triples**: maximal configurations.");
    let titles = ["**Quadruples**: what was measured.", "**The seven's quadruples**: what was measured."];
    for (sets, title) in measured.quadruples.iter().zip(titles).filter(|(sets, _)| !sets.is_empty()) {
        text += &hardware::sets(&measured, sets, title);
    }
    text += &hardware::first_placed(&measured);
    text += &orders::report(&measured);
    text += &decided::report(&measured);
    text += &splits::report(&measured);
    text += &inside::report(&measured);
    let Some(results) = results else { return Ok(text) };
    let model = Model::read(results)?;
    if !model.alone.keys().any(|kernel| measured.alone.contains_key(kernel)) {
        return Err(format!(
            "{} has no kernel alone that was measured: `mias evaluate hardware/model.toml` makes such results",
            results.display()
        ));
    }
    text += &beside::alone(&measured, &model);
    text += &beside::pairs(&measured, &model);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line that is printed is a line of some page: of the first campaign, with the model's results, and of the second.
    #[test]
    fn the_pages_have_the_tables_of_the_measured_data() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let pages = ["hardware.md", "hardware-tables.md", "hardware-decisions.md", "hardware-trials.md", "hardware-quadruples.md"];
        let pages = pages.map(|page| std::fs::read_to_string(here.join("../docs").join(page)).unwrap());
        for (file, results, least) in [("h100-2026-11-26.csv.xz", Some(here.join("model.csv")), 450), ("h100-2026-11-27.csv.xz", None, 450)]
        {
            let text = report(&here.join("measured").join(file), results.as_deref()).unwrap();
            let missing: Vec<&str> =
                text.lines().filter(|line| !pages.iter().any(|page| page.lines().any(|other| other == *line))).collect();
            assert!(text.lines().count() > least && missing.is_empty(), "{file}: {missing:#?}");
        }
    }

    #[test]
    fn results_without_a_kernel_that_was_measured_are_a_mistake() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error =
            report(&here.join("measured/h100-2026-11-26.csv.xz"), Some(&here.join("../tests/data/reference/accelsim.csv"))).unwrap_err();
        assert!(error.contains("no column `quantity`"), "{error}");
    }
}
