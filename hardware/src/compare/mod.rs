//! `mias-gpu compare`: measurements, and their comparison with the model, as Markdown tables. It
//! needs no GPU. Definitions: sources.md D208.

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

/// Number of SMs of the H100.
pub const SMS: u16 = 132;

/// Returns all tables: of a measured campaign and, if given, of results of `mias evaluate`.
///
/// # Errors
/// A sentence for a file that cannot be read, or for results without any measured set.
pub fn report(campaign: &Path, results: Option<&Path>) -> Result<String, String> {
    let measured = Measured::read(campaign)?;
    let mut text = repeats::report(&measured);
    text += &hardware::alone(&measured);
    text += &hardware::sets(&measured, &measured.pairs, "**Pairs**: all configurations.");
    text += &hardware::sets(&measured, &measured.triples, "**Triples**: maximal configurations.");
    let titles = ["**Quadruples**: measured configurations.", "**Quadruples of the thesis' kernels**: measured configurations."];
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
            "{} has no isolated run of a measured kernel: create it with `mias evaluate hardware/model.toml`",
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
    use liblzma::{read::XzDecoder, write::XzEncoder};
    use std::io::{Read, Write};

    /// Golden reports of both campaigns; `MIAS_WRITE=1 cargo test` writes them anew.
    #[test]
    fn reports_of_the_measured_data_are_as_before() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("measured");
        for (campaign, results) in [("h100-2026-11-26", Some(here.join("../model.csv"))), ("h100-2026-11-27", None)] {
            let golden = here.join(format!("{campaign}.report.txt.xz"));
            let text = report(&here.join(format!("{campaign}.csv.xz")), results.as_deref()).unwrap();
            assert!(text.lines().count() > 450, "{campaign}: {} lines", text.lines().count());
            if std::env::var_os("MIAS_WRITE").is_some() {
                let mut encoder = XzEncoder::new(Vec::new(), 9);
                encoder.write_all(text.as_bytes()).unwrap();
                std::fs::write(&golden, encoder.finish().unwrap()).unwrap();
            }
            let mut before = String::new();
            XzDecoder::new(std::fs::File::open(&golden).unwrap()).read_to_string(&mut before).unwrap();
            let changed: Vec<&str> = text.lines().filter(|line| !before.lines().any(|other| other == *line)).collect();
            assert!(text == before, "{campaign}: {changed:#?}");
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
