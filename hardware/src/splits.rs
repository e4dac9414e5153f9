//! Kernels on separate SMs: each alone on 1 to 12 twelfths of the SMs, and pairs in every split of
//! them, each SM with as many TBs as fit. `sets::pairs` defines the pairs.

use crate::device::Loaded;
use crate::fit;
use crate::measure::{Series, Wanted};
use crate::share::{PARTS, Share, splits};

/// A kernel that fits: TBs per SM, and cycles of one.
type Placed<'k> = (&'k Loaded, u32, u64);

/// Measures all curves, then all splits of these pairs, `repeats` times. Pairs with a kernel that
/// does not fit are left out.
///
/// # Errors
/// The driver's error, or SM numbers that are not 0, 1, .. as the shares assume.
pub fn measure(series: &mut Series<'_>, kernels: &[Loaded], pairs: &[[String; 2]], highest_sm: u32, repeats: u32) -> Result<(), String> {
    let sms = series.runner.gpu.sms;
    if highest_sm >= sms {
        return Err(format!("SM number {highest_sm} exceeds the {sms} SMs: shares need SMs numbered from 0 on"));
    }
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for kernel in kernels {
        let most = fit::configurations(&[kernel.need], fit::Which::Maximal).pop().and_then(|counts| counts.first().copied());
        match (series.full_tb_cycles(kernel), most) {
            (Ok(tb_cycles), Some(most)) => placed.push((kernel, most, tb_cycles)),
            (Err(why), _) => series.table.remark(&format!("left out: {why}"))?,
            (_, None) => series.table.remark(&format!("left out: no TB of `{}` fits", kernel.kernel.word))?,
        }
    }
    for repeat in 0..repeats {
        for &(kernel, most, tb_cycles) in &placed {
            for twelfths in 1..=PARTS {
                let share = Some(Share::of(&[twelfths], sms));
                series.measure(&Wanted { kernels: vec![kernel], counts: vec![most], share, tb_cycles, repeat })?;
            }
        }
        for pair in pairs {
            let find = |word: &String| placed.iter().find(|(kernel, ..)| kernel.kernel.word == *word).copied();
            let (Some((a, of_a, cycles_a)), Some((b, of_b, cycles_b))) = (find(&pair[0]), find(&pair[1])) else {
                series.table.remark(&format!("left out: {}", pair.join("+")))?;
                continue;
            };
            for split in splits() {
                let share = Some(Share::of(&split, sms));
                let tb_cycles = cycles_a.max(cycles_b);
                series.measure(&Wanted { kernels: vec![a, b], counts: vec![of_a, of_b], share, tb_cycles, repeat })?;
            }
        }
    }
    Ok(())
}
