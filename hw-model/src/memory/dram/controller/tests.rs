//! Comparison of the controller with its plain twin.

use super::super::checker_tests::traffic;
use super::plain::PlainController;
use super::*;
use crate::hand_made::config;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The commands, their cycles and the returned data are equal, with and without skipping of
    /// quiet cycles.
    #[test]
    fn issues_what_the_plain_controller_does(
        requests in traffic(),
        drain_every in prop_oneof![4 => Just(1u64), 1 => Just(40)],
        t_faw in prop_oneof![2 => Just(0u32), 1 => 48u32..200],
        cap in 0u32..3,
        (lines, answered, skip) in any::<(bool, bool, bool)>(),
    ) {
        let mut config = config().dram;
        (config.timing.t_faw, config.row_hit_cap) = (t_faw, cap);
        config.return_queue = if drain_every > 1 { 4 } else { 192 };
        let (mut controller, mut plain) = (Controller::new(&config), PlainController::new(&config));
        let mut counters = CounterTable::new(1);
        let (mut t, mut wake, mut not_before) = (0, 0, 0);
        let mut requests = (0..).zip(requests).peekable();
        while requests.peek().is_some() || !controller.is_idle() {
            if t % drain_every == 0 {
                prop_assert_eq!(controller.returned().pop(), plain.returned.pop_front());
            }
            let finished = if !skip || wake <= t { controller.cycle(t, &mut counters) } else { None };
            prop_assert_eq!(finished, plain.cycle(t));
            prop_assert_eq!(controller.log.last(), plain.log.last());
            prop_assert_eq!(controller.is_full(), plain.is_full());
            if let Some((sector, (bank, row, is_write, atoms, gap))) = requests.next_if(|_| t >= not_before && !plain.is_full()) {
                let answers = if is_write && answered { sector as u32 } else { NO_PACKET };
                let atoms = if is_write || lines { atoms } else { 1 };
                let request = DramRequest { sector, answers, bank, row, is_write, atoms, ..DramRequest::default() };
                controller.push(request);
                plain.push(request);
                not_before = t + 1 + u64::from(gap);
            }
            wake = controller.next_event(t);
            t += 1;
        }
        prop_assert_eq!(&controller.log, &plain.log);
        prop_assert!(plain.returned.is_empty());
    }
}
