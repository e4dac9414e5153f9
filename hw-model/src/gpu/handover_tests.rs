//! Items arrive once and in order, at any speed of the threads; with loom, in every interleaving of
//! two threads.

use super::*;

/// Sends `items` to another thread and receives the double of each, like orders and answers of a
/// cycle.
fn there_and_back(items: u32, mut patience: Patience) {
    #[cfg(loom)]
    use loom::sync::Arc;
    #[cfg(not(loom))]
    use std::sync::Arc;
    let (there, back) = (Arc::new(Handover::new()), Arc::new(Handover::new()));
    let other = thread::spawn({
        let (there, back) = (there.clone(), back.clone());
        let mut patience = patience;
        move || {
            while let Some(item) = there.take(&mut patience).0 {
                back.put(2 * item);
            }
        }
    });
    for item in 0..items {
        there.put(Some(item));
        assert_eq!(back.take(&mut patience).0, 2 * item);
    }
    there.put(None);
    other.join().expect("no panic");
}

#[cfg(not(loom))]
mod threads {
    use super::*;

    #[test]
    fn items_arrive_whether_one_looks_yields_or_sleeps() {
        for (looks, yields) in [(0, 0), (0, 3), (3, 0), (500, 100)] {
            there_and_back(2_000, Patience::of(looks, yields));
        }
    }

    #[test]
    fn an_item_that_nobody_has_taken_is_replaced() {
        let place = Handover::new();
        place.put(1);
        place.put(2);
        assert_eq!(place.take(&mut { Patience::SHORT }).0, 2);
        assert!(!place.is_full());
    }
}

#[cfg(loom)]
mod model {
    use super::*;

    #[test]
    fn nobody_sleeps_for_ever() {
        loom::model(|| there_and_back(2, Patience::of(0, 0)));
    }

    #[test]
    fn nor_after_a_look() {
        loom::model(|| there_and_back(1, Patience::of(0, 1)));
    }
}
