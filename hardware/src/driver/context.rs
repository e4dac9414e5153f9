//! The GPU and its context.

use super::checked;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use std::ptr;

/// Flags of `cuCtxCreate`: the host spins while it waits, and local memory keeps its largest size.
/// No launch then waits for an idle GPU to enlarge it.
const FLAGS: u32 = 0x01 | 0x10;

/// Clock for the length of windows if the driver gives none. Assumption: that of an H100; another
/// value only changes the length.
const CLOCK_KHZ: u32 = 1_980_000;

/// The first GPU, with a current context.
#[derive(Debug)]
pub struct Gpu {
    /// Name of the GPU.
    pub name: String,
    /// Version of the driver API, such as 13000.
    pub driver: i32,
    /// Number of SMs.
    pub sms: u32,
    /// Compute capability.
    pub capability: [i32; 2],
    /// Highest clock of the SMs in kHz, from the driver.
    pub clock_khz: u32,
    /// Highest clock of memory in kHz.
    pub memory_khz: u32,
    /// L2 cache in bytes.
    pub l2_bytes: u32,
}

impl Gpu {
    /// Opens the driver's library and creates a context.
    ///
    /// # Errors
    /// A sentence if there is no driver or no GPU.
    pub fn open() -> Result<Self, String> {
        // SAFETY: no other thread runs yet. Functions are loaded with their modules: loading one
        // while a kernel waits for others would wait for that kernel. Streams get queues of their
        // own.
        unsafe {
            std::env::set_var("CUDA_MODULE_LOADING", "EAGER");
            std::env::set_var("CUDA_DEVICE_MAX_CONNECTIONS", "32");
        }
        // SAFETY: only tries to open libraries.
        if !unsafe { sys::is_culib_present() } {
            return Err("libcuda not found: install NVIDIA's driver".into());
        }
        let (mut device, mut driver, mut context, mut name) = (0, 0, ptr::null_mut(), [0; 256]);
        // SAFETY: every pointer has the type that the function writes.
        unsafe {
            checked(sys::cuInit(0), "starting the driver")?;
            checked(sys::cuDriverGetVersion(&raw mut driver), "the driver's version")?;
            checked(sys::cuDeviceGet(&raw mut device, 0), "the first GPU")?;
            checked(sys::cuDeviceGetName(name.as_mut_ptr(), 255, device), "the GPU's name")?;
            checked(sys::cuCtxCreate_v2(&raw mut context, FLAGS, device), "making a context")?;
        }
        let attribute = |attribute: Attribute| -> Result<i32, String> {
            let mut value = 0;
            // SAFETY: as above.
            checked(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "an attribute of the GPU")?;
            Ok(value)
        };
        let count = |of: Attribute| attribute(of).map(|value| u32::try_from(value).unwrap_or(0));
        let name: Vec<u8> = name.iter().map(|&letter| letter as u8).take_while(|&letter| letter != 0).collect();
        Ok(Gpu {
            name: String::from_utf8_lossy(&name).into_owned(),
            driver,
            sms: count(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            capability: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ],
            clock_khz: Some(count(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?).filter(|&clock| clock > 0).unwrap_or(CLOCK_KHZ),
            memory_khz: count(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            l2_bytes: count(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        })
    }

    /// Returns the SM cycles of `microseconds` at the highest clock.
    pub fn cycles(&self, microseconds: u64) -> u64 {
        u64::from(self.clock_khz) * microseconds / 1000
    }
}
