//! Kernels as the firmware sees them, and their configurations. A kernel of several launches can
//! differ at each launch, so its configurations are those of any of its launches.

use super::{SimulatedGpu, unfit};
use crate::experiment::gpu_runner::RunError;
use crate::experiment::workload::Workload;
use mias_firmware::configs::{Candidate, Generator, Rules};
use mias_firmware::gpu::Settings;
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::Context;
use mias_firmware::resources::TbShape;
use mias_hw_model::gpu::LaunchError;
use mias_hw_model::sm::Resources;
use mias_warp_trace::KernelTrace;
use std::collections::BTreeSet;

/// Maximum number of different sets of concurrent launches for which configurations are listed
/// (assumption: the sweep of more takes too long).
const MOST_MEETINGS: usize = 1_024;

impl SimulatedGpu {
    /// Returns the kernel as the firmware sees it at each launch that differs in the resources or
    /// the number of its TBs.
    pub(super) fn launches(&self, slot: usize, workload: &Workload) -> Result<Vec<Kernel>, RunError> {
        let mut different: Vec<Kernel> = Vec::new();
        for trace in workload.launches() {
            let kernel = self.kernel(slot, workload, trace)?;
            let same = |other: &Kernel| (other.demand, self.cap(other)) == (kernel.demand, self.cap(&kernel));
            if !different.iter().any(same) {
                different.push(kernel);
            }
        }
        Ok(different)
    }

    /// Returns the maximum number of TBs per SM that a policy gives the kernel.
    fn cap(&self, kernel: &Kernel) -> u8 {
        Context { gpu: &self.properties, settings: &Settings::default(), kernels: std::slice::from_ref(kernel) }.cap(kernel)
    }

    /// Returns all configurations of these kernels, in lexicographic order.
    fn configurations_of(&self, kernels: &[Kernel]) -> impl Iterator<Item = Vec<u32>> {
        let candidates: Vec<Candidate> = kernels.iter().map(|k| Candidate { demand: k.demand, cap: self.cap(k) }).collect();
        let count = kernels.len();
        let admitted = Generator::new(self.properties.limits.capacity, &candidates).filter(move |v| Rules::default().admit(v, count));
        admitted.map(move |vector| (0..count).map(|k| vector.get(k).into()).collect())
    }

    /// Returns one launch as the firmware sees it.
    fn kernel(&self, slot: usize, workload: &Workload, trace: &KernelTrace) -> Result<Kernel, RunError> {
        let info = trace.info();
        let demand = Resources::of_tb(info, &self.config.sm);
        if let Some((resource, asked, had)) = Resources::of_sm(&self.config.sm).lacking(&demand) {
            let (kernel, gpu) = (workload.name.clone(), self.config.name.clone());
            return Err(unfit(&LaunchError::DoesNotFit { kernel, gpu, resource, asked, had }));
        }
        let shape = TbShape { threads: info.threads(), thread_registers: info.registers_per_thread, shared_bytes: info.shared_bytes };
        Ok(Kernel::new(slot as u8, &shape, trace.tbs(), &self.properties.limits))
    }

    /// Returns all configurations of any launches that may run concurrently, in lexicographic
    /// order.
    pub(super) fn configurations_in_turn(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError> {
        let mut together: Vec<Vec<Kernel>> = vec![Vec::new()];
        for (slot, workload) in workloads.iter().enumerate() {
            let launches = self.launches(slot, workload)?;
            if together.len() * launches.len() > MOST_MEETINGS {
                let why = "too many configurations, because their launches differ; name single launches (FILE#N)";
                return Err(RunError::Workload(why.into()));
            }
            together = together.iter().flat_map(|before| launches.iter().map(|launch| [&before[..], &[*launch]].concat())).collect();
        }
        if let [kernels] = together.as_slice() {
            return Ok(self.configurations_of(kernels).collect());
        }
        let all: BTreeSet<Vec<u32>> = together.iter().flat_map(|kernels| self.configurations_of(kernels)).collect();
        Ok(all.into_iter().collect())
    }
}
