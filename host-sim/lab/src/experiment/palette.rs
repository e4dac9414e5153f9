//! Colors of policies in charts, in HTML notation.
//!
//! The colors are the eight of Okabe and Ito (2008), which are distinct under any color vision, and
//! colors of Tol's muted and dark schemes (SRON/EPS/TN/09-002). Warped-Slicer has its color of the
//! thesis.

use mias_policies::policy::NAMED;

/// Colors of the firmware's policies, in the order of their table, and spare ones for new policies
/// at its end.
pub(super) const FIRMWARE: [&str; 40] = [
    "#999999", // left-over
    "#56B4E9", // spatial
    "#0072B2", // mias-ipc
    "#D55E00", // mias-ipm-ipc
    "#009E73", // mias-factor
    "#E69F00", // mias-linear
    "#F0E442", // mias-stp
    "#332288", // mias-guard
    "#CC79A7", // warped-slicer
    "#882255", // warped-slicer+unscaled
    "#44AA99", // warped-slicer+sum
    "#999933", // smk
    "#117733", // coordinated
    "#CC6677", // maestro
    "#AA4499", // mias-roofline
    "#663333", // mias-roofline+stp
    "#114466", // mias-duel
    "#DD2299", // mias-trial
    "#993322", // cd-search
    "#EE7733", // cd-search+performance
    "#0077BB", // cd-search+power
    "#009988", // cd-search+reassign
    "#DD5588", // cd-search+utilization
    "#AA8866", // cd-search+share
    "#88CCEE", // maestro+search
    "#AA3377", // cd-search+maestro
    "#557700", // fair-share
    "#AA6600", // fair-share+model
    "#4400AA", // effective-bandwidth
    "#BBCC33", // effective-bandwidth+fair
    "#AA4400", // effective-bandwidth+harmonic
    "#6699CC", "#997700", "#994455", "#EE99AA", "#004488", "#DDAA33", "#BB5566", "#225555", "#225522",
];

const _: () = assert!(NAMED.len() <= FIRMWARE.len(), "every policy has a color: append some to FIRMWARE");

/// Color of the policy `null`.
pub(super) const NULL: &str = "#222222";

/// Color of sequential execution.
pub(super) const SEQUENTIAL: &str = "#DDCC77";

/// Color of a configuration as a policy.
pub(super) const STATIC: &str = "#555555";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn colors_are_different_and_in_html_notation() {
        let all = FIRMWARE.iter().chain([&NULL, &SEQUENTIAL, &STATIC]).copied();
        for color in all.clone() {
            assert!(color.len() == 7 && color.starts_with('#') && u32::from_str_radix(&color[1..], 16).is_ok(), "{color}");
        }
        assert_eq!(all.clone().collect::<BTreeSet<_>>().len(), all.count());
    }
}
