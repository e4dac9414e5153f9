//! Spread of repeated measurements of the same configuration, and their SM clocks, file by file.

use super::measured::Measured;
use super::metrics::mean;
use super::tables::Table;

/// Part of a file's highest SM clock below which a run is slow. Rates are per SM cycle, and memory
/// has its own clock, so a memory-bound kernel then looks faster by at most that part. Assumption:
/// a fiftieth is large relative to the spread of repeats.
const SLOW: f64 = 0.98;

/// Spread and clocks of a file's rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Name of the file.
    pub file: String,
    /// Number of rates: those of a kernel in a configuration, however often it was measured.
    pub rates: usize,
    /// Spread of repeated rates: largest minus smallest over their mean, and their name.
    pub apart: Vec<(f64, String)>,
    /// SM clocks in kHz, one for each run.
    pub clocks: Vec<f64>,
}

impl Rows {
    /// Adds a rate with its repeats.
    pub fn add(&mut self, repeats: &[f64], what: impl FnOnce() -> String) {
        self.rates += 1;
        let [low, high] = [f64::min, f64::max].map(|of| repeats.iter().copied().reduce(of));
        if let (Some(low), Some(high), Some(mean), true) = (low, high, mean(repeats), repeats.len() > 1) {
            self.apart.push(((high - low) / mean, what()));
        }
    }
}

/// Returns the median, the 95th percentile and the largest of the differences.
pub fn spread(differences: &mut [(f64, String)]) -> Option<[&(f64, String); 3]> {
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = differences.len();
    Some([differences.get(count / 2)?, differences.get(count * 95 / 100)?, differences.last()?])
}

/// Returns the table of all files, a row each.
pub fn report(measured: &Measured) -> String {
    let columns = [
        "file",
        "rates",
        "measured twice",
        "apart: median",
        "95th percentile",
        "at most",
        "in",
        "lowest SM clock",
        "runs 2 % below the highest",
    ];
    let mut table = Table::new(&columns);
    for rows in measured.rows.iter().filter(|rows| rows.rates > 0) {
        let mut apart = rows.apart.clone();
        let part = |value: f64| format!("{:.2} %", 100.0 * value);
        let dash = || "-".to_owned();
        let [median, most, largest, place] = match spread(&mut apart) {
            Some([median, most, largest]) => [part(median.0), part(most.0), part(largest.0), largest.1.clone()],
            None => [dash(), dash(), dash(), dash()],
        };
        let [low, high] = [f64::min, f64::max].map(|of| rows.clocks.iter().copied().reduce(of));
        let slow = rows.clocks.iter().filter(|&&clock| high.is_some_and(|high| clock < SLOW * high)).count();
        let low = low.map_or_else(dash, |clock| format!("{:.2} GHz", clock / 1e6));
        let (rates, twice) = (rows.rates.to_string(), rows.apart.len().to_string());
        table.row(vec![
            format!("`{}`", rows.file),
            rates,
            twice,
            median,
            most,
            largest,
            place,
            low,
            format!("{slow} of {}", rows.clocks.len()),
        ]);
    }
    table.text("**Repeats and clock**: difference of two rates of one configuration, over their mean.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "kind,set,config,repeat,kernel,tbs_per_million_cycles,registers,shared_bytes,clock_khz,notes\n";

    /// Rates of 9 and 11 differ by a fifth of their mean. A run of 1.9 GHz is 5 % below 2.
    #[test]
    fn repeats_are_held_beside_their_mean_and_slow_runs_are_counted() {
        let alone = format!("{HEAD}alone,a,1,0,a,5,8,64,2000000,ok\nalone,b,1,0,b,5,8,64,2000000,ok\n");
        let rows = "mix,a+b,1+2,0,a,9,8,64,2000000,ok\nmix,a+b,1+2,0,b,4,8,64,2000000,ok\n\
                    mix,a+b,1+2,1,a,11,8,64,1900000,ok\nmix,a+b,1+2,1,b,4,8,64,1900000,ok\n";
        let text = report(&Measured::of(&alone, &format!("{HEAD}{rows}"), HEAD).unwrap());
        assert!(text.contains("| `pairs.csv` | 2 | 2 | 20.00 % | 20.00 % | 20.00 % | `a` in `a`, `b` 1-2 | 1.90 GHz | 1 of 2 |"), "{text}");
        assert!(text.contains("| `alone.csv` | 2 | 0 | - | - | - | - | 2.00 GHz | 0 of 2 |"), "{text}");
        assert!(!text.contains("triples.csv"), "{text}");
    }
}
