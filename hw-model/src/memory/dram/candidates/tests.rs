//! Comparison of the candidates with their plain twin.

use super::plain::PlainCandidates;
use super::*;
use proptest::prelude::*;

/// Step of a test: bank, command, cycles until its bounds of bank, group and channel, and whether
/// the bank leaves.
type Step = (usize, u8, u64, u64, u64, bool);

const BANKS: usize = 16;
const GROUPS: usize = 4;
const COMMANDS: [Next; 4] = [Next::Activate, Next::Precharge, Next::Read, Next::Write];

fn step() -> impl Strategy<Value = Step> {
    (0..BANKS, 0u8..4, 0u64..40, 0u64..12, 0u64..12, any::<bool>())
}

proptest! {
    /// The candidates and their plain twin find the same ready banks, and none is ready before the
    /// predicted cycle.
    #[test]
    fn agrees_with_a_look_at_every_bank(steps in prop::collection::vec(step(), 1..80)) {
        let mut candidates = Candidates::new(BANKS as u32, GROUPS as u32);
        let mut plain = PlainCandidates::new(BANKS, GROUPS);
        for (t, (b, command, own, of_group, of_channel, leaves)) in (0..).step_by(5).zip(steps) {
            let next = COMMANDS[usize::from(command)];
            plain.banks[b] = (!leaves).then_some((next, t + own));
            if leaves {
                candidates.remove(b);
            } else {
                candidates.set(b, next, t + own, t);
            }
            // As in the controller, the bounds of groups never decrease.
            let until = t + of_group;
            let group = &mut plain.groups[b % GROUPS];
            match next {
                Next::Activate => {}
                Next::Precharge => {
                    group[next] = until.max(candidates.precharges_until);
                    candidates.hold_precharges(b, group[next]);
                }
                Next::Read | Next::Write => {
                    let until = until.max(candidates.columns_until);
                    (group[Next::Read], group[Next::Write]) = (until, until);
                    candidates.hold_columns(b, until);
                }
            }
            if next != Next::Precharge {
                plain.channel[next] = t + of_channel;
            }
            candidates.release(t);
            let foretold = candidates.next_after(t, &plain.channel);
            for now in t..t + 5 {
                candidates.release(now);
                let (columns, rows) = candidates.ready(now, &plain.channel);
                for b in 0..BANKS {
                    let ready = plain.ready(b, now);
                    let column = matches!(ready, Some(Next::Read | Next::Write));
                    prop_assert_eq!(columns >> b & 1 == 1, column, "bank {} in cycle {}", b, now);
                    prop_assert_eq!(rows >> b & 1 == 1, ready.is_some() && !column, "bank {} in cycle {}", b, now);
                }
                prop_assert!(now == t || columns | rows == 0 || now >= foretold, "ready at {now}, foretold {foretold}");
            }
        }
    }
}
