//! Effect of the launch order by kernel type: compute-intensive first, or memory-intensive first.
//! Types are the thesis' (docs/results/kernels.md).

use super::measured::{Measured, Set};
use super::metrics::{best, mean};
use super::progress::{Base, Progress};
use super::tables::{Table, or_dash, percent, ratio};
use mias_kernels::THESIS;

/// Memory-intensive kernels of the thesis' seven.
const WAITS: [&str; 3] = ["fwt", "blk", "bfs"];

/// Returns means of pairs by types and by the kernel launched first; empty without a pair of the
/// seven with a memory-intensive kernel.
pub fn report(measured: &Measured) -> String {
    let waits = |kernel: &String| WAITS.contains(&kernel.as_str());
    let columns =
        ["pairs", "launched first", "pairs", "best STP", "SMK-P's STP", "its loss", "loss of middle", "mean maximal STP", "its loss"];
    let mut table = Table::new(&columns);
    let typed = |set: &&Set| set.kernels.iter().all(|kernel| THESIS.contains(&kernel.as_str()));
    let main = || measured.pairs.iter().filter(typed).map(|set| (set, false));
    let reversed = || measured.reversed[0].iter().filter(typed).map(|set| (set, true));
    if !main().chain(reversed()).any(|(set, _)| set.kernels.iter().filter(|kernel| waits(kernel)).count() == 1) {
        return String::new();
    }
    let groups = [
        ("compute, memory", "compute-intensive", 1, Some(false), None),
        ("compute, memory", "memory-intensive", 1, Some(true), None),
        ("both compute", "the first order", 0, None, Some(false)),
        ("both compute", "the reverse", 0, None, Some(true)),
        ("both memory", "the first order", 2, None, Some(false)),
        ("both memory", "the reverse", 2, None, Some(true)),
    ];
    for (what, first, waiting, leader, order) in groups {
        let mut values: [Vec<f64>; 6] = Default::default();
        for (set, reverse) in main().chain(reversed()) {
            let fits = set.kernels.iter().filter(|kernel| waits(kernel)).count() == waiting
                && leader.is_none_or(|leader| waits(&set.kernels[set.first]) == leader)
                && order.is_none_or(|order| order == reverse);
            let of = Progress::of(measured, set, Base::Best);
            let (Some(at), [smk, middle, _]) = (best(&of.stp), of.unmeasured_choices()) else { continue };
            if fits {
                let losses: Vec<f64> = of.maximal.iter().map(|&place| of.loss(place)).collect();
                let [smk_stp, smk_loss] = [smk.map(|place| of.stp[place]), smk.map(|place| of.loss(place))];
                let numbers =
                    [Some(of.stp[at]), smk_stp, smk_loss, middle.map(|place| of.loss(place)), mean(&of.maximal_stp()), mean(&losses)];
                values.iter_mut().zip(numbers).for_each(|(values, number)| values.extend(number));
            }
        }
        let mut cells = vec![what.to_owned(), first.to_owned(), values[0].len().to_string()];
        let forms = [ratio, ratio, percent, percent, ratio, percent];
        cells.extend(values.iter().zip(forms).map(|(values, form)| or_dash(mean(values), form)));
        table.row(cells);
    }
    table.text("**Memory- or compute-intensive kernel first**: means of pairs by the thesis' types.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measured::Alone;
    use crate::fit::Need;

    /// Two kernels have 512 threads per TB; `nbdy` is compute-intensive and `fwt` memory-intensive.
    /// Launched first, `nbdy` leaves half of the rest to `fwt`; launched second, both reach nearly
    /// all.
    #[test]
    fn a_pair_is_where_its_first_kernel_says() {
        let names = ["nbdy", "fwt"].map(str::to_owned);
        let need = Need { threads: 512, registers: 32, shared: 0 };
        let set = |first: usize, rates: [[f64; 2]; 3]| Set {
            kernels: names.to_vec(),
            configurations: [[1u32, 3], [2, 2], [3, 1]]
                .map(|counts| counts.to_vec())
                .into_iter()
                .zip(rates.map(|rates| rates.to_vec()))
                .collect(),
            first,
            ..Set::default()
        };
        let measured = Measured {
            alone: names.clone().map(|name| (name, Alone { rates: vec![100.0; 4] })).into(),
            needs: names.clone().map(|name| (name, need)).into(),
            pairs: vec![set(0, [[100.0, 60.0], [100.0, 20.0], [100.0, 0.0]])],
            reversed: [vec![set(1, [[70.0, 90.0], [80.0, 80.0], [90.0, 50.0]])], Vec::new(), Vec::new(), Vec::new()],
            ..Measured::default()
        };
        let text = report(&measured);
        // 2-2 is SMK-P's and the middle. First order: 1.60, 1.20, 1.00, with a mean of 1.27 and a
        // loss of (0 + 1/4 + 3/8) / 3. Second order: 1.60, 1.60, 1.40.
        assert!(text.contains("| compute, memory | compute-intensive | 1 | 1.60 | 1.20 | 25.0 % | 25.0 % | 1.27 | 20.8 % |"), "{text}");
        assert!(text.contains("| compute, memory | memory-intensive | 1 | 1.60 | 1.60 | 0.0 % | 0.0 % | 1.53 | 4.2 % |"), "{text}");
        assert!(text.contains("| both memory | the reverse | 0 | - | - |"), "{text}");
    }
}
