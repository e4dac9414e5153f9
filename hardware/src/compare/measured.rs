//! Measured data of a campaign: `alone.csv`, `pairs.csv` and `triples.csv`, and others if they
//! exist (README.md, "Columns"). Rates of repeats are averaged.

use super::campaign::Campaign;
use super::csv::{self, Line};
use super::metrics::mean;
use super::repeats::Rows;
use super::tables::configuration;
use crate::fit::Need;
use std::collections::BTreeMap;
use std::path::Path;

/// Remark for files without a column `launched`. After it, remarks with a command line name the
/// sets in which the kernel with the most shared memory per TB was launched first. All others were
/// launched in the order of their kernels.
const BY_SHARED_MEMORY: &str = "the kernel with most shared memory per TB is launched first";

/// Measurements of a kernel alone.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// TBs per million cycles of the whole GPU with 1, 2, .. TBs per SM.
    pub rates: Vec<f64>,
}

impl Alone {
    /// Returns the largest rate.
    pub fn best(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the rate with as many TBs as fit.
    pub fn full(&self) -> f64 {
        self.rates.last().copied().unwrap_or(0.0)
    }
}

/// Measurements of a set of kernels in several configurations.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Names of the kernels, in the set's order.
    pub kernels: Vec<String>,
    /// TBs of each per SM, in lexicographic order, and their rates.
    pub configurations: BTreeMap<Vec<u32>, Vec<f64>>,
    /// Index of the kernel whose TBs were placed first.
    pub first: usize,
    /// Rows with a slot that counted too few TBs to have a rate.
    pub short: usize,
    /// Configurations in which some TBs were not placed.
    pub incomplete: usize,
    /// Number of measured configurations, by the placement aid.
    pub aids: BTreeMap<String, usize>,
}

/// All measurements of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Isolated measurements, by kernel.
    pub alone: BTreeMap<String, Alone>,
    /// Demand of a TB, by kernel.
    pub needs: BTreeMap<String, Need>,
    /// Pairs in the order of the file.
    pub pairs: Vec<Set>,
    /// Triples in the order of the file.
    pub triples: Vec<Set>,
    /// Quadruples of other kernels, and of the thesis' seven: `quadruples.csv`,
    /// `quadruples-seven.csv`.
    pub quadruples: [Vec<Set>; 2],
    /// Pairs, triples and both kinds of quadruples in the reverse launch order:
    /// `pairs-reversed.csv` and so on.
    pub reversed: [Vec<Set>; 4],
    /// Pairs in the order of `pairs`, measured at the time of `reversed`: `pairs-again.csv`.
    pub again: Vec<Set>,
    /// Pairs in their maximal configurations only, in both orders, which serve only for comparison
    /// with splits: `maximal.csv`, `maximal-reversed.csv`.
    pub maximal: [Vec<Set>; 2],
    /// Kernels and pairs on SMs of their own, whose configurations are twelfths of SMs:
    /// `splits.csv`.
    pub splits: Vec<Set>,
    /// Spread of repeats, and clocks, of each file.
    pub rows: Vec<Rows>,
}

impl Measured {
    /// Reads a campaign: a folder, or a compressed file.
    ///
    /// # Errors
    /// A sentence with the name of the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let campaign = Campaign::read(path)?;
        let table = |name: &str| campaign.table(name).ok_or_else(|| format!("{} has no {name}", path.display()));
        let mut measured = Self::of(table("alone.csv")?, table("pairs.csv")?, table("triples.csv")?)?;
        let more = |measured: &mut Self, name: &str| campaign.table(name).map_or(Ok(Vec::new()), |text| measured.sets(name, text));
        // The main files give the demand of TBs.
        let needs = measured.needs.clone();
        measured.quadruples = [more(&mut measured, "quadruples.csv")?, more(&mut measured, "quadruples-seven.csv")?];
        measured.reversed = [
            more(&mut measured, "pairs-reversed.csv")?,
            more(&mut measured, "triples-reversed.csv")?,
            more(&mut measured, "quadruples-reversed.csv")?,
            more(&mut measured, "quadruples-seven-reversed.csv")?,
        ];
        measured.maximal = [more(&mut measured, "maximal.csv")?, more(&mut measured, "maximal-reversed.csv")?];
        measured.again = more(&mut measured, "pairs-again.csv")?;
        measured.splits = more(&mut measured, "splits.csv")?;
        measured.needs.extend(needs);
        measured.known_alone()?;
        Ok(measured)
    }

    /// Returns every kind of sets in both launch orders, and its name.
    pub fn kinds(&self) -> [([&[Set]; 2], &'static str); 4] {
        let [pairs, triples, others, seven] = &self.reversed;
        let [quadruples, of_seven] = &self.quadruples;
        [
            ([&self.pairs, pairs], "pairs"),
            ([&self.triples, triples], "triples"),
            ([quadruples, others], "quadruples"),
            ([of_seven, seven], "the seven's quadruples"),
        ]
    }

    /// Checks that every kernel of a set was measured alone.
    ///
    /// # Errors
    /// A sentence for a kernel that was not.
    fn known_alone(&self) -> Result<(), String> {
        let sets = self.kinds().into_iter().flat_map(|([one, other], _)| one.iter().chain(other));
        match sets.flat_map(|set| &set.kernels).find(|kernel| !self.alone.contains_key(*kernel)) {
            Some(kernel) => Err(format!("alone.csv has no `{kernel}`")),
            None => Ok(()),
        }
    }

    /// Reads the texts of the three files.
    ///
    /// # Errors
    /// A sentence for a row that cannot be read.
    pub fn of(alone: &str, pairs: &str, triples: &str) -> Result<Self, String> {
        let mut measured = Measured::default();
        for set in measured.sets("alone.csv", alone)? {
            let rates = set.configurations.values().map(|rates| rates[0]).collect();
            measured.alone.insert(set.kernels.concat(), Alone { rates });
        }
        measured.pairs = measured.sets("pairs.csv", pairs)?;
        measured.triples = measured.sets("triples.csv", triples)?;
        measured.known_alone()?;
        Ok(measured)
    }

    /// Returns the demand of TBs of these kernels.
    pub fn needs_of(&self, kernels: &[String]) -> Vec<Need> {
        kernels.iter().filter_map(|kernel| self.needs.get(kernel).copied()).collect()
    }

    /// Returns the sets of one file, without incomplete runs, which have no rate.
    fn sets(&mut self, file: &str, text: &str) -> Result<Vec<Set>, String> {
        let named = |error: String| format!("{file}: {error}");
        let (mut sets, mut second, mut by_shared) = (Vec::<(Set, BTreeMap<Vec<u32>, Vec<Vec<f64>>>)>::new(), false, Vec::<String>::new());
        let mut of_file = Rows { file: file.to_owned(), ..Rows::default() };
        let (mut launched, mut incomplete) = (BTreeMap::<Vec<String>, usize>::new(), BTreeMap::<Vec<String>, usize>::new());
        for line in csv::read(text).map_err(named)? {
            let row = match line {
                Line::Remark(remark) => {
                    self.threads(&remark);
                    second |= remark.contains(BY_SHARED_MEMORY);
                    if second {
                        by_shared.extend(remark.split(' ').filter(|word| word.contains('+')).map(str::to_owned));
                    }
                    continue;
                }
                Line::Row(row) => row,
            };
            let cell = |name: &str| row.get(name).map(String::as_str).ok_or_else(|| named(format!("no column `{name}`")));
            let number = |name: &str| -> Result<u32, String> { cell(name)?.parse().map_err(|_| named(format!("{name} is not a number"))) };
            if cell("kind")? == "native" {
                continue;
            }
            let kernels: Vec<String> = cell("set")?.split('+').map(str::to_owned).collect();
            if cell("tbs_per_million_cycles")?.is_empty() {
                *incomplete.entry(kernels.clone()).or_default() +=
                    usize::from(kernels.first().map(String::as_str) == Some(cell("kernel")?));
                continue;
            }
            let counts = cell("config")?.split('+').map(str::parse).collect::<Result<Vec<u32>, _>>();
            let counts = counts.map_err(|_| named(format!("`{}` is not a configuration", row["config"])))?;
            let kernel = cell("kernel")?.to_owned();
            let rate: f64 = cell("tbs_per_million_cycles")?.parse().map_err(|_| named(format!("no rate of {kernel}")))?;
            let place = kernels.iter().position(|one| *one == kernel).ok_or_else(|| named(format!("`{kernel}` is not in its set")))?;
            if row.get("launched").is_some_and(|place| place == "1") {
                launched.insert(kernels.clone(), place);
            }
            let (registers, shared) = (number("registers")?, number("shared_bytes")?);
            let threads = self.needs.get(&kernel).map_or(0, |need| need.threads);
            self.needs.insert(kernel, Need { threads, registers, shared });
            if sets.last().is_none_or(|(set, _)| set.kernels != kernels) && !sets.iter().any(|(set, _)| set.kernels == kernels) {
                sets.push((Set { kernels: kernels.clone(), ..Set::default() }, BTreeMap::new()));
            }
            let Some((set, rates)) = sets.iter_mut().find(|(set, _)| set.kernels == kernels) else { continue };
            set.short += usize::from(cell("notes")?.contains("short"));
            if let Some(clock) = row.get("clock_khz").filter(|_| place == 0).and_then(|clock| clock.parse().ok()) {
                of_file.clocks.push(clock);
            }
            if let Some(aid) = row.get("aid").filter(|_| place == 0) {
                *set.aids.entry(aid.clone()).or_default() += 1;
            }
            rates.entry(counts).or_insert_with(|| vec![Vec::new(); kernels.len()])[place].push(rate);
        }
        for (set, rates) in &sets {
            for (counts, rates) in rates {
                let named = |kernel: &str| format!("`{kernel}` in `{}` {}", set.kernels.join("`, `"), configuration(counts));
                set.kernels.iter().zip(rates).filter(|(_, repeats)| !repeats.is_empty()).for_each(|(kernel, repeats)| {
                    of_file.add(repeats, || named(kernel));
                });
            }
        }
        self.rows.push(of_file);
        let finished = |(mut set, rates): (Set, BTreeMap<Vec<u32>, Vec<Vec<f64>>>)| {
            if by_shared.contains(&set.kernels.join("+")) {
                let shared = |place: &usize| self.needs[&set.kernels[*place]].shared;
                set.first = (0..set.kernels.len()).min_by_key(|place| std::cmp::Reverse(shared(place))).unwrap_or(0);
            }
            set.first = launched.get(&set.kernels).copied().unwrap_or(set.first);
            set.incomplete = incomplete.get(&set.kernels).copied().unwrap_or(0);
            let complete = rates.into_iter().filter(|(_, rates)| rates.iter().all(|repeats| !repeats.is_empty()));
            set.configurations = complete.map(|(counts, rates)| (counts, rates.iter().filter_map(|of| mean(of)).collect())).collect();
            set
        };
        Ok(sets.into_iter().map(finished).collect())
    }

    /// Reads the threads of a TB from a remark such as `mm: 256 threads, ..`.
    fn threads(&mut self, remark: &str) {
        let parts = remark.split_once(" threads,").and_then(|(start, _)| start.rsplit_once(": "));
        if let Some((kernel, Ok(threads))) = parts.map(|(kernel, threads)| (kernel, threads.parse())) {
            self.needs.insert(kernel.to_owned(), Need { threads, registers: 0, shared: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "kind,set,config,kernel,tbs_per_million_cycles,registers,shared_bytes,notes\n";

    #[test]
    fn repeats_are_averaged_and_who_was_first_is_known() {
        let alone = format!(
            "# a: 64 threads, registers 8\n# b: 32 threads, x\n{HEAD}native,a,,a,,8,,\nalone,a,1,a,10,8,64,ok\nalone,a,2,a,16,8,64,ok\nalone,b,1,b,3,8,512,ok\n"
        );
        let rows = "mix,a+b,1+1,a,8,8,64,ok\nmix,a+b,1+1,b,1,8,512,short\nmix,a+b,1+1,a,6,8,64,ok\nmix,a+b,1+1,b,1,8,512,ok\nmix,a+b,2+1,a,,8,64,incomplete\n";
        let measured =
            Measured::of(&alone, &format!("{HEAD}{rows}"), &format!("# {BY_SHARED_MEMORY}\n# mias-gpu mixes a+b c+d\n{HEAD}{rows}"))
                .unwrap();
        assert_eq!((measured.alone["a"].best(), measured.alone["a"].full(), measured.alone["a"].rates.len()), (16.0, 16.0, 2));
        assert_eq!(measured.needs["b"], Need { threads: 32, registers: 8, shared: 512 });
        let [in_order, by_shared] = [&measured.pairs[0], &measured.triples[0]];
        assert_eq!(in_order.configurations, BTreeMap::from([(vec![1, 1], vec![7.0, 1.0])]));
        assert_eq!((in_order.first, by_shared.first, in_order.short), (0, 1, 1));
    }

    #[test]
    fn who_was_launched_first_is_read_from_its_column_and_what_is_incomplete_is_counted() {
        let head = "kind,set,config,kernel,tbs_per_million_cycles,registers,shared_bytes,launched,aid,notes\n";
        let rows = "split,a+b,3+9,a,8,8,64,2,holder,ok\nsplit,a+b,3+9,b,1,8,512,1,holder,ok\nsplit,a+b,4+8,a,,8,64,2,,incomplete\nsplit,a+b,4+8,b,,8,512,1,,incomplete\n";
        let mut measured = Measured::default();
        let sets = measured.sets("x", &format!("{head}{rows}")).unwrap();
        assert_eq!((sets[0].first, sets[0].incomplete, &sets[0].aids), (1, 1, &BTreeMap::from([("holder".to_owned(), 1)])));
        assert_eq!(sets[0].configurations, BTreeMap::from([(vec![3, 9], vec![8.0, 1.0])]));
    }

    #[test]
    fn a_kernel_that_was_not_measured_alone_is_a_mistake() {
        let row = "mix,a+b,1+1,a,8,8,64,ok\n";
        assert!(Measured::of(HEAD, &format!("{HEAD}{row}"), HEAD).unwrap_err().contains("alone.csv has no `a`"));
    }
}
