//! Selection of victims and techniques: algorithm 1 of Shieh 2016 (figure 3.4).
//!
//! For each TB it selects the technique with the least overhead among those within the latency
//! limit. If none is, it selects the one with the least latency. Among the candidates it selects
//! the one with the least overhead whose TBs all meet the limit, or the one with the least latency.
//! Ties are resolved in this order (sources.md D134): drain before switch before flush, a free
//! position before one with victims, and the lowest position. Minima are found in one pass, without
//! sorting.

use super::candidates::{Places, bits};
use super::cost::Cost;
use mias_registers::preempt::MAX_PLACES;
use mias_registers::technique;

/// Technique by which a TB leaves, in the order of preference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Technique {
    /// The TB runs to its end.
    #[default]
    Drain,
    /// The TB's context is saved.
    Switch,
    /// The TB is dropped.
    Flush,
}

impl Technique {
    /// All techniques, in the order of preference.
    pub const ALL: [Self; 3] = [Self::Drain, Self::Switch, Self::Flush];

    /// Returns the code in the register block: [`mod@technique`].
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Drain => technique::DRAIN,
            Self::Switch => technique::SWITCH,
            Self::Flush => technique::FLUSH,
        }
    }

    /// Returns the lower-case name of the technique.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Switch => "switch",
            Self::Flush => "flush",
        }
    }
}

/// Costs of the techniques for a TB, in the order of [`Technique::ALL`]; none for one that is not
/// allowed.
pub type Costs = [Option<Cost>; 3];

/// Technique and cost chosen for a TB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Technique of the choice.
    pub technique: Technique,
    /// Cost of the choice.
    pub cost: Cost,
}

/// Returns whether a cost is better: the least overhead within the limit, else the least latency;
/// equal costs are not better.
fn is_better(cost: Cost, than: Cost, limit: u32) -> bool {
    match (cost.latency <= limit, than.latency <= limit) {
        (true, true) => cost.overhead < than.overhead,
        (false, false) => cost.latency < than.latency,
        (meets, _) => meets,
    }
}

/// Returns the technique for a TB (lines 1 to 14). Without an allowed technique the TB drains, at
/// the largest cost.
#[must_use]
pub fn technique(costs: &Costs, limit: u32) -> Choice {
    let mut best: Option<Choice> = None;
    for (technique, cost) in Technique::ALL.into_iter().zip(costs) {
        if let Some(cost) = *cost
            && best.is_none_or(|best| is_better(cost, best.cost, limit))
        {
            best = Some(Choice { technique, cost });
        }
    }
    best.unwrap_or(Choice { technique: Technique::Drain, cost: Cost::MOST })
}

/// Candidate: a position, its victims and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victims {
    /// Position, or the first one of a whole SM.
    pub position: u8,
    /// Places of the victims.
    pub places: Places,
    /// Total cost of the victims.
    pub cost: Cost,
}

/// Returns the cost of removing all these TBs.
#[must_use]
pub fn cost(places: Places, choices: &[Choice; MAX_PLACES]) -> Cost {
    let mut total = Cost::NONE;
    for place in bits(places) {
        total = total.and(choices.get(place as usize).map_or(Cost::MOST, |choice| choice.cost));
    }
    total
}

/// Returns the candidate to preempt (lines 15 to 26); none without candidates.
///
/// A free position has no victims and no cost. A TB that could leave at no cost, because it has
/// done nothing yet or ends within the limit, then stays.
#[must_use]
pub fn victims(candidates: impl Iterator<Item = (u8, Places)>, choices: &[Choice; MAX_PLACES], limit: u32) -> Option<Victims> {
    let mut best: Option<Victims> = None;
    for (position, places) in candidates {
        let cost = cost(places, choices);
        if places == 0 {
            return Some(Victims { position, places, cost });
        }
        if best.is_none_or(|best| is_better(cost, best.cost, limit)) {
            best = Some(Victims { position, places, cost });
        }
    }
    best
}

/// Returns the rank of a candidate across SMs, where less is better. It agrees with [`victims`]
/// except for the last bit.
#[must_use]
pub fn rank(cost: Cost, limit: u32) -> u32 {
    const LATE: u32 = 1 << 31;
    if cost.latency <= limit { cost.overhead >> 1 } else { LATE | cost.latency >> 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn any_cost() -> impl Strategy<Value = Cost> {
        // Few values, so that many are equal, and the largest.
        let number = || prop_oneof![4 => 0..12_u32, 1 => Just(u32::MAX)];
        (number(), number()).prop_map(|(latency, overhead)| Cost { latency, overhead })
    }

    fn any_costs() -> impl Strategy<Value = Costs> {
        (any_cost(), any_cost(), any_cost(), any::<bool>())
            .prop_map(|(drain, switch, flush, may)| [Some(drain), Some(switch), may.then_some(flush)])
    }

    /// Returns all ways in which the TBs of a set can leave.
    fn all_ways(places: Places, costs: &[Costs]) -> Vec<Cost> {
        let tbs = costs.iter().enumerate().filter(|(place, _)| places >> place & 1 != 0);
        tbs.fold(Vec::from([Cost::NONE]), |ways, (_, costs)| {
            ways.iter().flat_map(|way| costs.iter().flatten().map(|cost| way.and(*cost))).collect()
        })
    }

    /// Shieh 2016, section 2.3, in numbers: near its end a TB drains, near its beginning it is
    /// flushed, in between it is switched.
    #[test]
    fn a_technique_has_its_time() {
        let costs = |done: u32, left: u32| {
            [Cost { latency: left, overhead: 0 }, Cost { latency: 50, overhead: 100 }, Cost { latency: 0, overhead: done }].map(Some)
        };
        for (done, left, limit, expected) in [
            (990, 10, 60, Technique::Drain),
            (10, 990, 60, Technique::Flush),
            (500, 500, 60, Technique::Switch),
            (500, 500, 500, Technique::Drain),
            (500, 500, 10, Technique::Flush),
        ] {
            assert_eq!(technique(&costs(done, left), limit).technique, expected, "{done} done, {left} left, limit {limit}");
        }
        let not_flushed = [costs(500, 500)[0], costs(500, 500)[1], None];
        assert_eq!(technique(&not_flushed, 10).technique, Technique::Switch, "none meets the limit: the least latency");
        let same = Some(Cost { latency: 1, overhead: 1 });
        assert_eq!(
            [technique(&[same; 3], 1), technique(&[None, same, same], 0)].map(|choice| choice.technique),
            [Technique::Drain, Technique::Switch]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The choice is the best of all candidates and all ways in which their TBs can leave, by
        /// brute force.
        #[test]
        fn the_choice_is_the_best_there_is(
            costs in proptest::collection::vec(any_costs(), 6),
            sets in proptest::collection::vec(0..64_u32, 0..6),
            limit in prop_oneof![0..12_u32, Just(u32::MAX - 1)],
        ) {
            let mut choices = [Choice::default(); MAX_PLACES];
            for (choice, costs) in choices.iter_mut().zip(&costs) {
                *choice = technique(costs, limit);
                let allowed = costs[choice.technique as usize];
                prop_assert_eq!(allowed, Some(choice.cost), "it may be used, and costs that");
            }
            let candidates = || (0_u8..).zip(sets.iter().copied());
            let Some(chosen) = victims(candidates(), &choices, limit) else {
                prop_assert!(sets.is_empty());
                return Ok(());
            };
            prop_assert_eq!(sets[usize::from(chosen.position)], chosen.places);
            let meeting: Vec<_> = sets.iter().map(|set| all_ways(*set, &costs).into_iter().filter(|way| way.latency <= limit).map(|way| way.overhead).min()).collect();
            prop_assert_eq!(chosen.cost.latency <= limit, meeting.iter().any(Option::is_some), "it meets the limit if and only if any can");
            if let Some(least) = meeting.iter().flatten().min() {
                prop_assert_eq!(chosen.cost.overhead, *least);
                let free = sets.iter().position(|set| *set == 0);
                let first = free.or_else(|| meeting.iter().position(|overhead| *overhead == Some(*least)));
                prop_assert_eq!(first, Some(usize::from(chosen.position)), "a free position, or the lowest of equals");
            } else {
                // TBs that can meet the limit have the least overhead. The others are late.
                let least = sets.iter().map(|set| all_ways(*set, &costs).into_iter().map(|way| way.latency).min().unwrap()).min().unwrap();
                prop_assert_eq!(chosen.cost.latency, least);
            }
        }

        /// Ranks agree with the choice.
        #[test]
        fn ranks_are_in_order(a in any_cost(), b in any_cost(), limit in 0..12_u32) {
            if is_better(a, b, limit) {
                prop_assert!(rank(a, limit) <= rank(b, limit));
            }
        }
    }
}
