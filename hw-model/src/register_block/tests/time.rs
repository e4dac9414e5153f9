//! Tests of the cycle counter, the timer and the watchdog.

use super::{at_sm, gpu};
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::{fault, global, interrupt};

#[test]
fn cycle_counter_does_not_tear() {
    let mut file = RegisterBlock::new(gpu());
    file.set_now(0x1_FFFF_FFFF);
    let low = file.read32(global::CYCLE_LOW);
    file.set_now(0x2_0000_0000);
    let high = file.read32(global::CYCLE_HIGH);
    assert_eq!((high, low), (1, 0xFFFF_FFFF));
}

#[test]
fn timer_fires_once_even_when_late() {
    let mut file = RegisterBlock::new(gpu());
    file.write32(global::INT_ENABLE, interrupt::TIMER);
    file.set_now(1 << 33);
    file.write32(global::TIMER_LOW, 5);
    file.write32(global::TIMER_HIGH, 2);
    assert_eq!(file.next_deadline(), Some((2 << 32) + 5));
    file.tick((2 << 32) + 4, at_sm(0));
    assert!(!file.interrupt_pending());
    file.tick((2 << 32) + 9, at_sm(0));
    assert!(file.interrupt_pending());
    file.write32(global::INT_STATUS, interrupt::TIMER);
    assert!(!file.interrupt_pending() && file.next_deadline().is_none());
}

#[test]
fn watchdog_expires_unless_fed() {
    let mut file = RegisterBlock::new(gpu());
    file.write32(global::WATCHDOG_PERIOD, 100);
    file.tick(99, at_sm(0));
    file.write32(global::WATCHDOG_FEED, 0);
    file.tick(198, at_sm(0));
    assert!(!file.watchdog_expired());
    file.tick(199, at_sm(0));
    assert!(file.watchdog_expired() && file.faults() == fault::WATCHDOG);
}
