//! Tests of the firmware on the register block, with a scripted GPU instead of the timing
//! model: SMs fill up and drain one TB per cycle, and counters follow a formula of the partition.

use mias_firmware::configs::TbVector;
use mias_hw_model::register_block::{GpuDescription, KernelDescriptor, RawCounters, RegisterBlock, Straps};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::counters::Counter;
use mias_registers::{PhaseCode, PolicyCode, fault};

const SMS: usize = 30;
const WINDOW: u32 = 2000;
const COALESCE: u32 = 500;

fn gpu(policy: PolicyCode) -> GpuDescription {
    let fixed = [3, 1, 0, 0, 0, 0, 0, 0];
    GpuDescription::reference(SMS, Straps { profile_window: WINDOW, coalesce_window: COALESCE, fixed, ..Straps::new(policy) })
}

/// Kernel with TBs of 256 threads: four fit an SM, as for mm and fwt of the thesis.
fn kernel(grid_tbs: u32) -> KernelDescriptor {
    KernelDescriptor { grid_tbs, tb_threads: 256, thread_registers: 39, ..KernelDescriptor::default() }
}

/// GPU that follows quotas, one TB in or out per SM and cycle.
struct Scripted {
    file: RegisterBlock,
    firmware: Firmware<AnyPolicy, 64>,
    now: u64,
    resident: [[u32; 8]; SMS],
    counters: [RawCounters; SMS],
    /// SMs with TBs that never end.
    stuck: Vec<usize>,
    phases: Vec<PhaseCode>,
}

impl Scripted {
    fn new(policy: PolicyCode) -> Self {
        let mut file = RegisterBlock::new(gpu(policy));
        let firmware = Firmware::from_straps(&mut file).expect("the map is the firmware's own");
        Self { file, firmware, now: 0, resident: [[0; 8]; SMS], counters: [RawCounters::default(); SMS], stuck: vec![], phases: vec![] }
    }

    fn launch(&mut self, grid_tbs: u32) -> usize {
        self.file.post_launch(kernel(grid_tbs)).expect("a free slot")
    }

    fn complete(&mut self, slot: usize) {
        for sm in 0..SMS {
            self.resident[sm][slot] = 0;
            self.file.set_resident(sm, slot, 0);
        }
        self.file.post_completed(slot);
    }

    /// Instructions per cycle of an SM. The best configuration is three TBs of the kernel in slot 0
    /// and one of slot 1.
    fn ipc(resident: &[u32; 8]) -> u64 {
        match resident {
            [3, 1, ..] => 60,
            [2, 2, ..] => 50,
            _ => 40,
        }
    }

    fn cycle(&mut self) {
        for sm in 0..SMS {
            for slot in 0..8 {
                let (resident, quota) = (self.resident[sm][slot], self.file.quota(sm, slot));
                let occupied: u32 = self.resident[sm].iter().sum();
                let next = if resident > quota && !self.stuck.contains(&sm) {
                    resident - 1
                } else if resident < quota && occupied < 4 && self.file.kernel(slot).is_some() {
                    resident + 1
                } else {
                    resident
                };
                self.resident[sm][slot] = next;
                self.file.set_resident(sm, slot, next);
            }
            let counters = &mut self.counters[sm];
            counters[Counter::ThreadInsts] += Self::ipc(&self.resident[sm]);
            for counter in [Counter::Cycles, Counter::IssueCycles, Counter::LoadRequests] {
                counters[counter] += 1;
            }
        }
        // Counters now include everything up to the start of the next cycle.
        self.now += 1;
        self.tick();
        if self.file.interrupt_pending() {
            self.file.set_now(self.now);
            self.firmware.on_interrupt(&mut self.file);
            self.tick();
        }
        let phase = self.file.phase().expect("a phase");
        if self.phases.last() != Some(&phase) {
            self.phases.push(phase);
        }
    }

    fn tick(&mut self) {
        if self.file.needs_tick(self.now) {
            self.file.tick(self.now, |sm| self.counters[sm]);
        }
    }

    fn run(&mut self, cycles: u32) {
        (0..cycles).for_each(|_| self.cycle());
    }

    fn residents(&self, slots: [usize; 2]) -> Vec<(u32, u32)> {
        self.resident.iter().map(|sm| (sm[slots[0]], sm[slots[1]])).collect()
    }
}

#[test]
fn a_full_cycle_of_mias() {
    use PhaseCode::{Partition, Profile, Steady, Transition};
    for policy in [PolicyCode::MiasIpc, PolicyCode::MiasIpmIpc, PolicyCode::MiasFactor, PolicyCode::MiasLinear] {
        let mut m = Scripted::new(policy);
        m.launch(100_000);
        m.run(100);
        m.launch(100_000);
        m.run(COALESCE + WINDOW + 100);
        // Decide and Broadcast take no simulated time here.
        assert_eq!(m.phases, [Partition, Transition, Profile, Steady], "{policy:?}");
        assert_eq!(m.firmware.report().winner(), Some(TbVector([3, 1, 0, 0])), "{policy:?}");
        assert_eq!(m.residents([0, 1]), [(3, 1); SMS]);
        assert_eq!((m.file.reschedulings(), m.file.faults()), (1, 0));
        let tried: Vec<_> = m.firmware.report().tried().map(|tried| (tried.entry.vector, tried.entry.sums)).collect();
        assert_eq!(tried.len(), 3);
        for (vector, sums) in tried {
            let TbVector([a, b, ..]) = vector;
            let ipc = Scripted::ipc(&[a.into(), b.into(), 0, 0, 0, 0, 0, 0]) as u32;
            assert_eq!((sums.sms, sums.cycles, sums.instructions), (10, 10 * WINDOW, 10 * WINDOW * ipc), "windows are exact");
        }
    }
}

#[test]
fn a_launch_while_profiling_and_completions_reschedule() {
    let mut m = Scripted::new(PolicyCode::MiasIpc);
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + WINDOW / 2);
    assert_eq!(m.file.phase(), Some(PhaseCode::Profile));
    m.launch(100_000);
    m.run(COALESCE + 2 * WINDOW);
    assert_eq!((m.file.phase(), m.file.reschedulings()), (Some(PhaseCode::Steady), 2));
    let winner = m.firmware.report().winner().expect("profiled");
    assert!(m.resident.iter().all(|sm| (0..3).all(|slot| sm[slot] == u32::from(winner.get(slot)))));
    m.complete(0);
    m.run(2 * WINDOW);
    assert_eq!((m.file.phase(), m.file.reschedulings()), (Some(PhaseCode::Steady), 3));
    assert_eq!(m.firmware.scheduler().scheduled_slots(), [1, 2]);
    m.complete(2);
    m.run(10);
    assert_eq!(m.residents([1, 2]), [(4, 0); SMS]);
    m.complete(1);
    m.run(10);
    assert_eq!((m.file.phase(), m.file.reschedulings()), (Some(PhaseCode::Idle), 4));
    assert!((0..8).all(|slot| m.file.kernel(slot).is_none()), "all slots are free again");
}

#[test]
fn an_sm_that_never_gets_there_is_left_out() {
    let mut m = Scripted::new(PolicyCode::MiasIpc);
    m.launch(100_000);
    m.run(COALESCE + 50);
    assert_eq!(m.residents([0, 1]), [(4, 0); SMS], "alone, the first kernel fills the GPU");
    m.stuck = vec![7];
    m.launch(100_000);
    m.run(COALESCE + 2 * WINDOW - 10);
    assert_eq!(m.file.phase(), Some(PhaseCode::Profile), "waiting for SM 7");
    m.run(50);
    assert_eq!(m.file.phase(), Some(PhaseCode::Steady));
    let replicas: Vec<_> = m.firmware.report().tried().map(|tried| tried.entry.sums.sms).collect();
    assert_eq!(replicas, [10, 9, 10]);
    assert_eq!(m.firmware.report().winner(), Some(TbVector([3, 1, 0, 0])));
}

#[test]
fn static_policies_place_and_stay() {
    let mut m = Scripted::new(PolicyCode::Spatial);
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + 50);
    let residents = m.residents([0, 1]);
    assert_eq!(residents.iter().filter(|sm| **sm == (4, 0)).count(), 15);
    assert_eq!(residents.iter().filter(|sm| **sm == (0, 4)).count(), 15);

    let mut m = Scripted::new(PolicyCode::FixedConfig);
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + 50);
    assert_eq!(m.residents([0, 1]), [(3, 1); SMS]);

    let mut m = Scripted::new(PolicyCode::LeftOver);
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + 50);
    assert_eq!(m.residents([0, 1]), [(4, 0); SMS]);
    m.file.post_drained(0);
    m.complete(0);
    m.run(50);
    assert_eq!(m.residents([0, 1]), [(0, 4); SMS]);
}

#[test]
fn launches_beyond_the_firmwares_room_wait_in_the_fifo() {
    let mut m = Scripted::new(PolicyCode::LeftOver);
    let slots: Vec<_> = (0..6).map(|_| m.launch(1000)).collect();
    m.run(COALESCE + 50);
    assert_eq!(m.firmware.scheduler().kernels().len(), 4);
    m.complete(slots[0]);
    m.run(COALESCE + 50);
    let taken: Vec<_> = m.firmware.scheduler().kernels().iter().map(|kernel| usize::from(kernel.slot)).collect();
    assert_eq!(taken, slots[1..5]);
}

#[test]
fn a_kernel_that_fits_no_sm_is_rejected() {
    let mut m = Scripted::new(PolicyCode::MiasIpc);
    let slot = m.file.post_launch(KernelDescriptor { tb_threads: 2048, ..kernel(5) }).expect("a free slot");
    m.run(2);
    assert_eq!((m.file.take_rejected(), m.file.faults()), (1 << slot, fault::KERNEL_TOO_LARGE));
    assert_eq!(m.file.phase(), Some(PhaseCode::Idle));
}

/// Reading counters that the metric does not need changes no decision; warp IPC reads the other
/// counter.
#[test]
fn options_reach_the_counters() {
    use mias_registers::option;
    let mut description = gpu(PolicyCode::MiasIpc);
    description.straps.options = option::READ_ALL_COUNTERS | option::WARP_IPC;
    let mut m = Scripted::new(PolicyCode::MiasIpc);
    m.file = RegisterBlock::new(description);
    m.firmware = Firmware::from_straps(&mut m.file).expect("the map is the firmware's own");
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + WINDOW + 100);
    let tried: Vec<_> = m.firmware.report().tried().map(|tried| (tried.entry.sums.load_requests, tried.entry.sums.instructions)).collect();
    assert_eq!(tried, [(10 * WINDOW, 0); 3], "load requests are read for the report, and no warp instruction was counted");
    assert_eq!(m.firmware.scheduler().settings().instructions(), Counter::WarpInsts);
    assert_eq!(m.firmware.report().winner(), Some(TbVector([1, 3, 0, 0])), "all scores are equal: the lowest");
}

/// The firmware drives a block with fewer slots than the map supports, without accessing the
/// others.
#[test]
fn a_gpu_with_two_slots() {
    let mut m = Scripted::new(PolicyCode::MiasIpc);
    m.file = RegisterBlock::new(GpuDescription { slot_count: 2, ..gpu(PolicyCode::MiasIpc) });
    m.firmware = Firmware::from_straps(&mut m.file).expect("the map is the firmware's own");
    m.launch(100_000);
    m.launch(100_000);
    m.run(COALESCE + WINDOW + 100);
    assert_eq!((m.residents([0, 1]), m.file.faults()), (vec![(3, 1); SMS], 0));
}
