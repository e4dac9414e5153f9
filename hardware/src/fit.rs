//! TBs that fit on an SM together, and their combinations. Limits of compute capability 9.0: CUDA C
//! programming guide, table "Technical specifications per compute capability"; allocation units:
//! `cuda_occupancy.h` of the CUDA toolkit.

/// Most threads of an SM.
pub const THREADS: u32 = 2048;
/// Most TBs of an SM.
pub const TBS: u32 = 32;
/// Registers of each of the four parts of an SM.
const PART_REGISTERS: u32 = 16_384;
/// Parts of an SM, each with its own schedulers and registers.
const PARTS: u32 = 4;
/// Registers of an SM.
pub const REGISTERS: u32 = PARTS * PART_REGISTERS;
/// Allocation unit of a warp's registers.
const REGISTER_UNIT: u32 = 256;
/// Allocation unit of a TB's shared memory, in bytes.
pub const SHARED_UNIT: u32 = 128;
/// Shared memory that the system reserves for each TB, in bytes.
pub const SHARED_RESERVED: u32 = 1024;
/// Valid settings of an SM's shared memory in KiB; the last is the largest.
const CARVE_OUTS: [u32; 10] = [0, 8, 16, 32, 64, 100, 132, 164, 196, 228];

/// Largest shared memory of an SM in bytes.
pub const SHARED: u32 = CARVE_OUTS[CARVE_OUTS.len() - 1] << 10;

/// Resource demand of a TB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Threads per TB.
    pub threads: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Shared memory in bytes, as the kernel requests it.
    pub shared: u32,
}

impl Need {
    fn warps(self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// Returns the registers of a warp.
    fn warp_registers(self) -> u32 {
        (32 * self.registers).next_multiple_of(REGISTER_UNIT)
    }

    fn shared_taken(self) -> u32 {
        self.shared.next_multiple_of(SHARED_UNIT) + SHARED_RESERVED
    }
}

/// Returns the bytes of shared memory of `counts` TBs of each kind.
pub fn shared(needs: &[Need], counts: &[u32]) -> u32 {
    needs.iter().zip(counts).map(|(need, &count)| count * need.shared_taken()).sum()
}

/// Returns whether `counts` TBs of each kind fit on an SM.
///
/// A kernel's warps are assumed to be spread evenly over the SM's parts (assumption; for a kernel
/// alone this is the rule of `cuda_occupancy.h`).
pub fn fits(needs: &[Need], counts: &[u32]) -> bool {
    let all = || needs.iter().zip(counts);
    let registers: u32 = all().map(|(need, &count)| (count * need.warps()).div_ceil(PARTS) * need.warp_registers()).sum();
    let threads: u32 = all().map(|(need, &count)| count * 32 * need.warps()).sum();
    registers <= PART_REGISTERS && threads <= THREADS && counts.iter().sum::<u32>() <= TBS && shared(needs, counts) <= SHARED
}

/// Returns the smallest setting of shared memory that fits these TBs, or one that is `larger` steps
/// above: KiB, and percent of the largest.
///
/// The percentage is rounded down, because the driver takes the next setting that is not smaller.
pub fn carve_out(needs: &[Need], counts: &[u32], larger: usize) -> [u32; 2] {
    let most = CARVE_OUTS[CARVE_OUTS.len() - 1];
    let bytes = shared(needs, counts);
    let size = CARVE_OUTS.into_iter().filter(|size| size << 10 >= bytes).nth(larger).unwrap_or(most);
    [size, 100 * size / most]
}

/// Set of combinations to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All that fit
    All,
    /// Those in which at most one kind can have another TB, and one TB of each: the results of
    /// giving one kind less and the others the freed space, and a scheduler's possible start.
    Nearly,
    /// Those that no TB can be added to
    Maximal,
}

impl Which {
    /// Returns the description of the set.
    pub fn words(self) -> &'static str {
        match self {
            Which::All => "all configurations",
            Which::Nearly => "configurations in which at most one kernel can have another TB, and one TB of each",
            Which::Maximal => "maximal configurations",
        }
    }
}

/// Returns the combinations with at least one TB of each kind, in lexicographic order.
pub fn configurations(needs: &[Need], which: Which) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for kind in 0..needs.len() {
        // Later kinds take at least one TB, which the last step ensures.
        let longer = |counts: &Vec<u32>| {
            let counts = counts.clone();
            let next = move |count| [&counts[..], &[count]].concat();
            (1..=TBS).map(next).take_while(|counts| fits(&needs[..=kind], counts)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let growing = |counts: &[u32]| {
        let one_more = |&kind: &usize| {
            let mut more = counts.to_vec();
            more[kind] += 1;
            fits(needs, &more)
        };
        (0..counts.len()).filter(one_more).count()
    };
    all.retain(|counts| match which {
        Which::All => true,
        Which::Nearly => growing(counts) <= 1 || counts.iter().all(|&count| count == 1),
        Which::Maximal => growing(counts) == 0,
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places one TB after the other on an SM, its warps one after the other on the parts, with
    /// registers counted in units.
    fn placed(needs: &[Need], counts: &[u32]) -> bool {
        let (mut units, mut threads, mut tbs, mut bytes) = ([0; 4], 0, 0, 0);
        for (need, &count) in needs.iter().zip(counts) {
            let mut part = 0;
            for _ in 0..count {
                for _ in 0..need.threads.div_ceil(32) {
                    units[part] += need.registers.div_ceil(8);
                    part = (part + 1) % 4;
                    threads += 32;
                }
                tbs += 1;
                bytes += need.shared.div_ceil(128) * 128 + 1024;
            }
        }
        units.iter().all(|&units| units <= 64) && threads <= 2048 && tbs <= 32 && bytes <= 228 * 1024
    }

    const NEEDS: [Need; 5] = [
        Need { threads: 256, registers: 32, shared: 2112 },
        Need { threads: 64, registers: 95, shared: 1472 },
        Need { threads: 128, registers: 24, shared: 64 },
        Need { threads: 96, registers: 24, shared: 12_352 },
        Need { threads: 1024, registers: 30, shared: 8256 },
    ];

    #[test]
    fn combinations_are_those_of_trying_all() {
        for (number, &a) in NEEDS.iter().enumerate() {
            for &b in &NEEDS[number..] {
                let needs = [a, b];
                let tried: Vec<Vec<u32>> = (1..=32).flat_map(|m| (1..=32).map(move |n| vec![m, n])).filter(|c| placed(&needs, c)).collect();
                assert_eq!(configurations(&needs, Which::All), tried, "{needs:?}");
                let full = |c: &&Vec<u32>| !placed(&needs, &[c[0] + 1, c[1]]) && !placed(&needs, &[c[0], c[1] + 1]);
                assert_eq!(configurations(&needs, Which::Maximal), tried.iter().filter(full).cloned().collect::<Vec<_>>());
                let both = |c: &&Vec<u32>| placed(&needs, &[c[0] + 1, c[1]]) && placed(&needs, &[c[0], c[1] + 1]);
                let nearly = tried.iter().filter(|c| !both(c) || ***c == [1, 1]);
                assert_eq!(configurations(&needs, Which::Nearly), nearly.cloned().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_kernel_alone_has_the_usual_occupancy() {
        let most = |threads, registers, shared| configurations(&[Need { threads, registers, shared }], Which::All).len();
        // 64 warps of 32 registers; 95 registers are 96, 5 warps of 3,072 in 16,384, two of each
        // TB: 10 TBs; 228 KiB / 13.25 KiB.
        assert_eq!((most(256, 32, 0), most(64, 95, 0), most(96, 24, 12_352)), (8, 10, 17));
        assert_eq!((most(32, 16, 0), most(1024, 64, 0), most(1024, 65, 0)), (32, 1, 0));
    }

    #[test]
    fn settings_of_shared_memory_have_room_and_are_the_smallest() {
        for tbs in 1..=17 {
            let [size, percent] = carve_out(&NEEDS[3..4], &[tbs], 0);
            assert!(size << 10 >= tbs * (12_416 + 1024), "{tbs}");
            let next = CARVE_OUTS.into_iter().find(|&size| 100 * size >= 228 * percent).unwrap();
            assert_eq!(next, size, "what the driver makes of {percent} %");
        }
        assert_eq!([0, 1, 6, 7].map(|larger| carve_out(&NEEDS[2..3], &[8], larger)), [[16, 7], [32, 14], [196, 85], [228, 100]]);
    }
}
