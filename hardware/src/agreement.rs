//! Agreement of repeats: for each kernel of each configuration, the distance of its rates relative
//! to their mean.

use std::collections::BTreeMap;

/// Rates, by the measured quantity.
#[derive(Debug, Default)]
pub struct Agreement(BTreeMap<String, Vec<f64>>);

impl Agreement {
    /// Adds a rate.
    pub fn add(&mut self, of: String, rate: f64) {
        self.0.entry(of).or_default().push(rate);
    }

    /// Returns the distances of rates from each other in percent of their mean: median, 95th
    /// percentile and largest, the name of the largest, and their number.
    ///
    /// Returns none without repeats.
    pub fn summary(&self) -> Option<(f64, f64, f64, String, usize)> {
        let several = self.0.iter().filter(|(_, rates)| rates.len() > 1);
        let mut distances: Vec<(f64, &String)> = several.map(|(of, rates)| (distance(rates), of)).collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |part: usize| distances.get((distances.len().saturating_sub(1)) * part / 100);
        let (median, most, largest) = (at(50)?, at(95)?, at(100)?);
        Some((median.0, most.0, largest.0, largest.1.clone(), distances.len()))
    }
}

fn distance(rates: &[f64]) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let (low, high) = rates.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &rate| (low.min(rate), high.max(rate)));
    if mean > 0.0 { 100.0 * (high - low) / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_in_percent_of_the_mean() {
        let mut agreement = Agreement::default();
        assert_eq!(agreement.summary(), None);
        for (of, rates) in [("a", vec![99.0, 101.0]), ("b", vec![100.0, 100.0]), ("c", vec![75.0, 125.0]), ("d", vec![7.0])] {
            rates.into_iter().for_each(|rate| agreement.add(of.into(), rate));
        }
        assert_eq!(agreement.summary(), Some((2.0, 2.0, 50.0, "c".into(), 3)));
    }
}
