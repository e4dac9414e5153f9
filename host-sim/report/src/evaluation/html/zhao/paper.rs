//! The numbers of Zhao et al. 2018 that its text and its table give. What only its figures show is not here: heights are not read off bars.

/// A kernel of table 1: our name, TBs of the grid, C or M.
pub(super) const KERNELS: [(&str, &str, char); 14] = [
    ("dxtc", "16,384", 'C'),
    ("tpacf", "201", 'C'),
    ("bino", "512", 'C'),
    ("leu", "596", 'C'),
    ("coulomb", "32 x 128", 'C'),
    ("merge", "4,096", 'C'),
    ("pathfinder", "9,260", 'C'),
    ("lavamd", "1,000", 'M'),
    ("gaussian", "512 x 512", 'M'),
    ("lbm", "120 x 150", 'M'),
    ("dwt2d", "97,824", 'M'),
    ("gesummv", "128", 'M'),
    ("pvc", "46,875", 'M'),
    ("sc", "512", 'M'),
];

/// What a mode changes over the even split: mean, and the least and most of any pair, in percent; none where the text says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) mean: f64,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
}

const fn change(mean: f64, least: Option<f64>, most: Option<f64>) -> Option<Change> {
    Some(Change { mean, least, most })
}

/// What a mode changes. ANTT: the old over the new, less 1; power: negative is less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    pub(super) stp: Option<Change>,
    pub(super) antt: Option<Change>,
    pub(super) power: Option<Change>,
}

/// A machine, or a number of kernels, and what both modes change there.
pub(super) struct Said {
    /// The experiment that it is of.
    pub(super) experiment: &'static str,
    pub(super) performance: Changes,
    pub(super) power: Changes,
}

const fn for_performance(stp: Option<Change>, antt: Option<Change>) -> Changes {
    Changes { stp, antt, power: None }
}

const fn for_power(stp: Option<Change>, power: Option<Change>) -> Changes {
    Changes { stp, antt: None, power }
}

/// Sections 7.1, 7.2 and 7.4.
pub(super) const SAID: [Said; 5] = [
    Said {
        experiment: "pairs",
        performance: for_performance(change(10.4, Some(-2.1), Some(62.9)), change(22.0, None, Some(199.0))),
        power: Changes {
            stp: change(2.2, Some(-10.3), Some(28.3)),
            antt: change(2.8, None, None),
            power: change(-25.0, Some(-41.2), None),
        },
    },
    Said {
        experiment: "bandwidth-75",
        performance: for_performance(change(14.4, None, Some(69.0)), change(26.9, None, Some(229.0))),
        power: for_power(None, change(-30.6, None, None)),
    },
    Said {
        experiment: "bandwidth-150",
        performance: for_performance(change(5.9, None, None), change(15.6, None, None)),
        power: for_power(None, change(-21.3, None, None)),
    },
    Said {
        experiment: "sms-30",
        performance: for_performance(change(19.4, None, None), None),
        power: for_power(change(19.5, None, None), change(-19.7, None, None)),
    },
    Said {
        experiment: "four",
        performance: for_performance(change(6.2, None, Some(42.3)), change(14.2, None, None)),
        power: for_power(None, change(-16.4, None, None)),
    },
];

/// What the paper says of an experiment.
pub(super) fn said(experiment: &str) -> Option<&'static Said> {
    SAID.iter().find(|said| said.experiment == experiment)
}

/// Pairs that utilisation with the best threshold has wrong, of all 91; the model has none (section 7).
pub(super) const WRONG_BY_UTILISATION: (usize, usize) = (36, 91);

/// What profiling costs beside the split that is best offline, in percent, "for performance" and "for power" (section 7.3).
pub(super) const OVERHEAD: [f64; 2] = [0.92, 2.5];

/// Of what it had on the even split, the power mode leaves each kernel as much (section 4.3).
pub(super) const KEPT: f64 = 0.95;

/// What classification-driven search on Maestro adds to Maestro, in percent of STP (section 7.5).
pub(super) const ON_MAESTRO: f64 = 8.9;

#[cfg(test)]
mod tests {
    use super::*;

    /// 14 kernels make 91 pairs: 49 mixed, 21 of each type (section 6).
    #[test]
    fn table_1_makes_the_papers_pairs() {
        let memory = KERNELS.iter().filter(|kernel| kernel.2 == 'M').count();
        let compute = KERNELS.len() - memory;
        let pairs = |of: usize| of * (of - 1) / 2;
        assert_eq!((pairs(KERNELS.len()), memory * compute, pairs(memory), pairs(compute)), (WRONG_BY_UTILISATION.1, 49, 21, 21));
    }

    #[test]
    fn the_mean_is_between_the_least_and_the_most() {
        let all = |of: &Changes| [of.stp, of.antt, of.power];
        for change in SAID.iter().flat_map(|said| all(&said.performance).into_iter().chain(all(&said.power))).flatten() {
            assert!(change.least.is_none_or(|least| least < change.mean) && change.most.is_none_or(|most| most > change.mean));
        }
        assert!(said("pairs").is_some() && said("alone").is_none());
    }
}
