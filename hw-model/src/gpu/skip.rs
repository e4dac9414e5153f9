//! Skipping of idle cycles (sources.md D109), and the time until anything other than SMs and memory
//! acts.

use super::Gpu;

impl Gpu {
    /// Jumps to the next cycle in which anything can happen.
    pub(super) fn skip_ahead(&mut self, until: u64) {
        let mut next = self.sms.next();
        if next <= self.now || self.memory.replies_waiting().iter().any(|&word| word != 0) {
            return;
        }
        next = next.min(self.next_from_outside(until));
        if next <= self.now {
            return;
        }
        self.memory.catch_up_now();
        let cycles = (next - self.now).min(self.memory.quiet_cycles());
        self.memory.skip(cycles);
        self.now += cycles;
    }

    /// First cycle from the coming one on in which anything other than SMs and memory may act; at
    /// most `until`.
    pub(super) fn next_from_outside(&self, until: u64) -> u64 {
        if self.dispatcher.pending() || self.registers.needs_tick(self.now) || self.registers.calls_firmware() {
            return self.now;
        }
        // Waiting for a launch is not a hang, so the watchdog need not check before it.
        let next = until.min(self.next_launch_event().unwrap_or(self.watchdog.next_look));
        let next = next.min(self.registers.next_deadline().unwrap_or(u64::MAX)).min(self.states.next());
        let next = next.min(self.global_limits.as_ref().map_or(u64::MAX, |limits| limits.next()));
        next.min(self.oversubscription.as_ref().map_or(u64::MAX, |oversubscription| oversubscription.next()))
    }
}
