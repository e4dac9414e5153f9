//! Published numbers about the seven kernels (sources.md D79 to D81 and D83;
//! `plans/published/kernels.csv`), compared with ours.
//!
//! sources.md D79 and D80 have each kernel's resources (compiled for sm_75 with the same compiler)
//! and its instructions, as machine code and as PTX. sources.md D81 has the counts of GPGPU-Sim's
//! V100, and sources.md D83 the papers' numbers for the same benchmark on their GPUs.
//! Derivations, and differences to our workloads, are stated with the source.

use super::Character;
use serde::Deserialize;
use std::sync::LazyLock;

/// Published figure with our value.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Published range: lowest and highest.
    pub published: (f64, f64),
    /// Our value; `None` if it does not exist.
    pub ours: Option<f64>,
    /// Publication with section.
    pub source: &'static str,
}

impl Figure {
    /// Returns our value over the published one, or its nearer end for a range; `None` without our
    /// value, and if 0 is published.
    pub fn ratio(&self) -> Option<f64> {
        let (low, high) = self.published;
        let ours = self.ours?;
        let nearest = ours.clamp(low, high);
        (nearest != 0.0).then(|| ours / nearest)
    }
}

/// Accessor of our value of a quantity.
type Ours = fn(&Character) -> Option<f64>;

/// Quantities of the file, with accessors of our values.
const QUANTITIES: [(&str, Ours); 13] = [
    ("threads/TB", |c| Some(c.info.threads().into())),
    ("regs/thread", |c| Some(c.info.registers_per_thread.into())),
    ("shared B/TB", |c| Some(c.info.shared_bytes.into())),
    ("max TBs/SM", |c| Some(c.occupancy.max_tbs.into())),
    ("insts/warp, PTX", |c| c.profile.insts_per_warp()),
    ("Cinst/Minst", |c| c.profile.compute_per_memory()),
    ("Req/Minst", |c| c.profile.requests_per_memory()),
    ("insts/warp", |c| c.profile.insts_per_warp()),
    ("lanes/inst", |c| c.profile.lanes_per_inst()),
    ("load sectors/1000 insts", |c| c.profile.load_sectors_per_kilo()),
    ("L1 miss rate", |c| c.alone.l1_miss_rate),
    ("L2 miss rate", |c| c.alone.l2_hit_rate.map(|hits| 1.0 - hits)),
    ("L1 fails/access", |c| c.alone.l1_fails_per_access),
];

/// Row of the file: kernel, quantity, lowest and highest, source.
#[derive(Deserialize)]
struct Row {
    paper: String,
    key: String,
    series: String,
    value: String,
}

impl Row {
    /// Parses a number, or two with ` to ` between.
    fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.value.split_once(" to ").unwrap_or((&self.value, &self.value));
        Some((low.parse().ok()?, high.parse().ok()?))
    }
}

/// All rows of the file.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let text = mias_plans::published("kernels").unwrap_or_default();
    csv::Reader::from_reader(text.as_bytes()).into_deserialize().filter_map(Result::ok).collect()
});

/// Returns the figures published about a built-in kernel, in order; none about a user's.
pub fn figures(character: &Character) -> Vec<Figure> {
    let figure = |row: &'static Row| {
        let (quantity, ours) = QUANTITIES.iter().find(|(name, _)| *name == row.series)?;
        Some(Figure { quantity, published: row.range()?, ours: ours(character), source: &row.paper })
    };
    ROWS.iter().filter(|row| Some(row.key.as_str()) == character.kernel).filter_map(figure).collect()
}

/// Returns the types that Dai, Lin, Shieh and Zhao give a kernel (sources.md D83), in their words;
/// empty where a paper lacks it.
pub fn said(kernel: Option<&str>) -> [&'static str; 4] {
    match kernel.unwrap_or_default() {
        "mm" => ["", "L2->SM, moderate (32 x 32 tiles)", "", ""],
        "bfs" => ["C", "under", "not idempotent", ""],
        "bopt" => ["", "", "", "C"],
        "dxtc" => ["C", "", "", "C"],
        _ => ["", "", "", ""],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_workloads::kernels;

    /// Every line of the file has a known kernel and a known quantity, once.
    #[test]
    fn every_kernel_of_the_seven_has_resources_published() {
        for kernel in kernels::THESIS {
            let rows: Vec<&str> = ROWS.iter().filter(|row| row.key == kernel).map(|row| row.series.as_str()).collect();
            assert_eq!(rows[..4], ["threads/TB", "regs/thread", "shared B/TB", "max TBs/SM"], "{kernel}");
            let mut once = rows.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), rows.len(), "{kernel}: a figure twice");
        }
        assert_eq!(ROWS.len(), mias_plans::published("kernels").unwrap().lines().count() - 1);
        let known = |row: &Row| QUANTITIES.iter().any(|(name, _)| *name == row.series) && kernels::find(&row.key).is_ok();
        assert!(ROWS.iter().all(|row| known(row) && row.range().is_some_and(|(low, high)| low <= high)));
    }

    #[test]
    fn a_range_is_compared_at_its_nearer_end() {
        let figure = |published, ours| Figure { quantity: "", published, ours, source: "" }.ratio();
        assert_eq!(figure((2.0, 4.0), Some(3.0)), Some(1.0));
        assert_eq!(figure((2.0, 4.0), Some(8.0)), Some(2.0));
        assert_eq!(figure((2.0, 4.0), Some(1.0)), Some(0.5));
        assert_eq!(figure((0.0, 0.0), Some(1.0)), None);
        assert_eq!(figure((1.0, 1.0), None), None);
    }
}
