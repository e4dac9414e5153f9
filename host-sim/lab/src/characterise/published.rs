//! What is published about the seven kernels (sources.md D79 to D81 and D83), beside what ours do.
//!
//! sources.md D79 and D80 have each kernel's resources (compiled for sm_75 with the compiler that made ours) and what it
//! executes, as machine code and as the PTX front end counts it; sources.md D81 what GPGPU-Sim's V100 counts, and sources.md D83 what the
//! papers say of the same benchmark, on their machines and compiled for them. What a figure was derived from, and how the work differs from ours, is said with its source.

use super::Character;

/// One figure: kernel, what it is, the published value, ours, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub quantity: &'static str,
    /// Published: lowest and highest.
    pub published: (f64, f64),
    /// Ours; none if it does not exist.
    pub ours: Option<f64>,
    /// The publication.
    pub source: &'static str,
}

impl Figure {
    /// Ours over the published value, its nearer end where it is a range; none without ours, and where 0 is published.
    pub fn ratio(&self) -> Option<f64> {
        let (low, high) = self.published;
        let ours = self.ours?;
        let nearest = ours.clamp(low, high);
        (nearest != 0.0).then(|| ours / nearest)
    }
}

/// How a figure is found among ours.
type Ours = fn(&Character) -> Option<f64>;

/// Kernel, quantity, published, ours, source.
type Row = (&'static str, &'static str, (f64, f64), Ours, &'static str);

const fn one(value: f64) -> (f64, f64) {
    (value, value)
}

fn threads(c: &Character) -> Option<f64> {
    Some(c.info.threads().into())
}

fn registers(c: &Character) -> Option<f64> {
    Some(c.info.registers_per_thread.into())
}

fn shared(c: &Character) -> Option<f64> {
    Some(c.info.shared_bytes.into())
}

fn tbs(c: &Character) -> Option<f64> {
    Some(c.occupancy.max_tbs.into())
}

fn insts(c: &Character) -> Option<f64> {
    c.profile.insts_per_warp()
}

fn lanes(c: &Character) -> Option<f64> {
    c.profile.lanes_per_inst()
}

fn compute(c: &Character) -> Option<f64> {
    c.profile.compute_per_memory()
}

fn requests(c: &Character) -> Option<f64> {
    c.profile.requests_per_memory()
}

fn sectors(c: &Character) -> Option<f64> {
    c.profile.load_sectors_per_kilo()
}

fn misses(c: &Character) -> Option<f64> {
    c.alone.l1_miss_rate
}

fn fails(c: &Character) -> Option<f64> {
    c.alone.l1_fails_per_access
}

fn l2_misses(c: &Character) -> Option<f64> {
    c.alone.l2_hit_rate.map(|hits| 1.0 - hits)
}

const NEEDS: &str = "SDK or Rodinia source for sm_75 (sources.md D79)";
const EXECUTES: &str = "SDK or Rodinia source for sm_75 (sources.md D80)";
const PTX: &str = "SDK or Rodinia source, read as PTX (sources.md D80)";
const DAI: &str = "Dai et al. 2018, table 2";
const V100: &str = "GPGPU-Sim, V100 (sources.md D81)";

const ROWS: &[Row] = &[
    ("mm", "threads/TB", one(256.0), threads, NEEDS),
    ("mm", "regs/thread", one(39.0), registers, NEEDS),
    ("mm", "shared B/TB", one(2048.0), shared, NEEDS),
    ("mm", "max TBs/SM", one(4.0), tbs, NEEDS),
    ("mm", "insts/warp, PTX", one(1218.0), insts, PTX),
    ("mm", "Cinst/Minst", one(33.0 / 24.0), compute, "of a tile's 57 instructions 24 access memory (sources.md D80)"),
    ("mm", "Req/Minst", one(2.0), requests, EXECUTES),
    ("fwt", "threads/TB", one(256.0), threads, NEEDS),
    ("fwt", "regs/thread", one(22.0), registers, NEEDS),
    ("fwt", "shared B/TB", one(0.0), shared, NEEDS),
    ("fwt", "max TBs/SM", one(4.0), tbs, NEEDS),
    ("fwt", "insts/warp", one(47.0), insts, EXECUTES),
    ("fwt", "insts/warp, PTX", one(42.0), insts, PTX),
    ("fwt", "Cinst/Minst", one(4.9), compute, EXECUTES),
    ("fwt", "Req/Minst", one(1.0), requests, EXECUTES),
    ("nbdy", "threads/TB", one(256.0), threads, NEEDS),
    ("nbdy", "regs/thread", one(60.0), registers, NEEDS),
    ("nbdy", "shared B/TB", one(4096.0), shared, NEEDS),
    ("nbdy", "max TBs/SM", one(4.0), tbs, NEEDS),
    ("nbdy", "insts/warp", one(588_000.0), insts, "about 4,900 for each of 120 tiles (sources.md D80)"),
    ("nbdy", "insts/warp, PTX", one(464_328.0), insts, PTX),
    ("nbdy", "Req/Minst", one(4.0), requests, EXECUTES),
    ("blk", "threads/TB", one(128.0), threads, NEEDS),
    ("blk", "regs/thread", one(23.0), registers, NEEDS),
    ("blk", "shared B/TB", one(0.0), shared, NEEDS),
    ("blk", "max TBs/SM", one(8.0), tbs, NEEDS),
    ("blk", "insts/warp", one(147.0), insts, V100),
    ("blk", "insts/warp, PTX", one(140.0), insts, PTX),
    ("blk", "lanes/inst", one(31.8), lanes, V100),
    ("blk", "Cinst/Minst", one(28.0), compute, EXECUTES),
    ("blk", "Req/Minst", one(2.0), requests, EXECUTES),
    ("blk", "load sectors/1000 insts", one(163.0), sectors, V100),
    ("blk", "L1 miss rate", one(1.0), misses, V100),
    ("blk", "L2 miss rate", one(0.9987), l2_misses, V100),
    ("bopt", "threads/TB", one(128.0), threads, NEEDS),
    ("bopt", "regs/thread", one(32.0), registers, NEEDS),
    ("bopt", "shared B/TB", one(516.0), shared, NEEDS),
    ("bopt", "max TBs/SM", one(8.0), tbs, NEEDS),
    ("bopt", "insts/warp", one(55_760.0), insts, "GPGPU-Sim, V100, 2,048 steps of 16 nodes per thread: 27 per step (sources.md D81)"),
    ("bopt", "insts/warp, PTX", one(55_740.0), insts, PTX),
    ("bopt", "lanes/inst", one(26.9), lanes, V100),
    ("bopt", "load sectors/1000 insts", one(0.0), sectors, V100),
    ("bfs", "threads/TB", one(256.0), threads, NEEDS),
    ("bfs", "regs/thread", one(20.0), registers, NEEDS),
    ("bfs", "shared B/TB", one(0.0), shared, NEEDS),
    ("bfs", "max TBs/SM", one(4.0), tbs, NEEDS),
    ("bfs", "insts/warp, PTX", one(189.0), insts, PTX),
    ("bfs", "Cinst/Minst", one(4.0), compute, DAI),
    ("bfs", "Req/Minst", one(1.0), requests, DAI),
    ("bfs", "L1 miss rate", one(1.0), misses, DAI),
    ("bfs", "L1 fails/access", one(0.0), fails, DAI),
    ("dxtc", "threads/TB", one(64.0), threads, NEEDS),
    ("dxtc", "regs/thread", (93.0, 100.0), registers, "98, and what gives 10 TBs (sources.md D79)"),
    ("dxtc", "shared B/TB", one(2048.0), shared, NEEDS),
    ("dxtc", "max TBs/SM", one(10.0), tbs, NEEDS),
    ("dxtc", "insts/warp, PTX", one(5788.0), insts, PTX),
    ("dxtc", "Cinst/Minst", one(5.0), compute, DAI),
    ("dxtc", "Req/Minst", one(1.0), requests, DAI),
    ("dxtc", "L1 miss rate", one(0.09), misses, DAI),
    ("dxtc", "L1 fails/access", one(0.17), fails, DAI),
];

/// The figures published about a kernel of ours, in order; none about a user's.
pub fn figures(character: &Character) -> Vec<Figure> {
    let of_kernel = ROWS.iter().filter(|row| Some(row.0) == character.kernel);
    of_kernel.map(|&(_, quantity, published, ours, source)| Figure { quantity, published, ours: ours(character), source }).collect()
}

/// What Dai, Lin, Shieh and Zhao say a kernel is (sources.md D83): in their words; empty where they do not have it.
pub fn said(kernel: Option<&str>) -> [&'static str; 4] {
    match kernel.unwrap_or_default() {
        "mm" => ["", "L2->SM, moderate (32 x 32 tiles)", "", ""],
        "bfs" => ["C", "under", "not idempotent", ""],
        "bopt" => ["", "", "", "C"],
        "dxtc" => ["C", "", "", "C"],
        _ => ["", "", "", ""],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_workloads::kernels;

    #[test]
    fn every_kernel_of_the_seven_has_resources_published() {
        for kernel in kernels::THESIS {
            let rows: Vec<&str> = ROWS.iter().filter(|row| row.0 == kernel).map(|row| row.1).collect();
            assert_eq!(rows[..4], ["threads/TB", "regs/thread", "shared B/TB", "max TBs/SM"], "{kernel}");
            let mut once = rows.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), rows.len(), "{kernel}: a figure twice");
        }
        assert!(ROWS.iter().all(|row| row.2.0 <= row.2.1 && kernels::find(row.0).is_ok()));
    }

    #[test]
    fn a_range_is_compared_at_its_nearer_end() {
        let figure = |published, ours| Figure { quantity: "", published, ours, source: "" }.ratio();
        assert_eq!(figure((2.0, 4.0), Some(3.0)), Some(1.0));
        assert_eq!(figure((2.0, 4.0), Some(8.0)), Some(2.0));
        assert_eq!(figure((2.0, 4.0), Some(1.0)), Some(0.5));
        assert_eq!(figure((0.0, 0.0), Some(1.0)), None);
        assert_eq!(figure((1.0, 1.0), None), None);
    }
}
