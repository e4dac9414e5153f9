//! Modules, which the driver translates to machine code, and their functions.

use super::{Stream, checked};
use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUjit_option as Jit};
use std::ffi::{CString, c_void};
use std::ptr;

/// Capacity for messages of the driver's assembler.
const LOG_BYTES: usize = 16 << 10;

/// A module on the GPU, unloaded when dropped.
#[derive(Debug)]
pub struct Module(sys::CUmodule);

impl Module {
    /// Loads a PTX text, or a cubin.
    ///
    /// # Errors
    /// The message of the driver's assembler.
    pub fn of(image: &[u8]) -> Result<Self, String> {
        // A text ends with a zero; bytes after a cubin are ignored.
        let text = [image, &[0]].concat();
        let (mut module, mut log) = (ptr::null_mut(), vec![0u8; LOG_BYTES]);
        let mut options = [Jit::CU_JIT_ERROR_LOG_BUFFER, Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        // SAFETY: two options with their values; text and log live longer than the call.
        let result =
            unsafe { sys::cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()) };
        let said: Vec<u8> = log.into_iter().take_while(|&byte| byte != 0).collect();
        checked(result, "assembling").map_err(|error| format!("{error}\n{}", String::from_utf8_lossy(&said)))?;
        Ok(Module(module))
    }

    /// Returns an entry.
    ///
    /// # Errors
    /// The driver's error.
    pub fn function(&self, name: &str) -> Result<Function, String> {
        let (mut function, text) = (ptr::null_mut(), CString::new(name).map_err(|_| "a name with a zero byte".to_owned())?);
        // SAFETY: a valid place for a handle, and a zero-terminated name.
        let result = unsafe { sys::cuModuleGetFunction(&raw mut function, self.0, text.as_ptr()) };
        checked(result, &format!("entry `{name}`")).map(|()| Function(function))
    }

    /// Returns the address and the size in bytes of a variable.
    ///
    /// # Errors
    /// The driver's error.
    pub fn variable(&self, name: &str) -> Result<(u64, usize), String> {
        let (mut address, mut bytes, text) = (0, 0, CString::new(name).map_err(|_| "a name with a zero byte".to_owned())?);
        // SAFETY: valid places for an address and a size, and a zero-terminated name.
        let result = unsafe { sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, self.0, text.as_ptr()) };
        checked(result, &format!("variable `{name}`")).map(|()| (address, bytes))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded once, and no function of it runs.
        unsafe { sys::cuModuleUnload(self.0) };
    }
}

/// An entry on the GPU, valid as long as its module.
#[derive(Clone, Copy, Debug)]
pub struct Function(sys::CUfunction);

impl Function {
    fn attribute(self, attribute: Attribute) -> Result<u32, String> {
        let mut value = 0;
        // SAFETY: a valid place for a number.
        checked(unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, self.0) }, "an attribute of a function")?;
        u32::try_from(value).map_err(|_| format!("the driver returned {value} for an attribute of a function"))
    }

    /// Returns the registers per thread.
    ///
    /// # Errors
    /// The driver's error.
    pub fn registers(self) -> Result<u32, String> {
        self.attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)
    }

    /// Returns the static shared memory in bytes.
    ///
    /// # Errors
    /// The driver's error.
    pub fn shared(self) -> Result<u32, String> {
        self.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    }

    /// Returns the local memory of a thread in bytes.
    ///
    /// # Errors
    /// The driver's error.
    pub fn local(self) -> Result<u32, String> {
        self.attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    }

    /// Sets the preferred shared memory in percent of the largest.
    ///
    /// # Errors
    /// The driver's error.
    pub fn set_carve_out(self, percent: u32) -> Result<(), String> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        // SAFETY: a handle and numbers.
        checked(unsafe { sys::cuFuncSetAttribute(self.0, attribute, percent as i32) }, "setting shared memory")
    }

    /// Allows `bytes` bytes of shared memory beyond the function's declaration.
    ///
    /// # Errors
    /// The driver's error.
    pub fn allow_dynamic(self, bytes: u32) -> Result<(), String> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: a handle and numbers.
        checked(unsafe { sys::cuFuncSetAttribute(self.0, attribute, bytes as i32) }, "allowing shared memory")
    }

    /// Returns the TBs of `threads` threads that fit an SM.
    ///
    /// # Errors
    /// The driver's error.
    pub fn occupancy(self, threads: u32, dynamic: u32) -> Result<u32, String> {
        let mut tbs = 0;
        // SAFETY: a valid place for a number.
        let result = unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut tbs, self.0, threads as i32, dynamic as usize) };
        checked(result, "the occupancy of a function").map(|()| u32::try_from(tbs).unwrap_or(0))
    }

    /// Launches the function. Every argument is as long as its parameter.
    ///
    /// # Errors
    /// The driver's error.
    pub fn launch(self, grid: [u32; 3], block: [u32; 3], shared: u32, arguments: &[Vec<u8>], stream: &Stream) -> Result<(), String> {
        // At addresses with the alignment of every type. The driver reads as many bytes as the
        // parameter has.
        let mut places: Vec<Vec<u64>> = arguments.iter().map(|bytes| words(bytes)).collect();
        let mut pointers: Vec<*mut c_void> = places.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: as many pointers as parameters, which the driver reads before it returns.
        let result =
            unsafe { sys::cuLaunchKernel(self.0, gx, gy, gz, bx, by, bz, shared, stream.raw(), pointers.as_mut_ptr(), ptr::null_mut()) };
        checked(result, "launching")
    }
}

/// Packs bytes into words, the last one padded.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(8).map(word).collect()
}
