//! Kernels of the library on a real GPU: completed TBs per million SM cycles, alone and in sets,
//! for every number of TBs per SM. `README.md` explains its use.

pub mod agreement;
pub mod check;
pub mod compare;
pub mod control;
pub mod device;
pub mod driver;
pub mod fit;
pub mod holder;
pub mod kernel;
pub mod measure;
pub mod order;
pub mod place;
pub mod rate;
pub mod repeat;
pub mod run;
pub mod sets;
pub mod share;
pub mod slot;
pub mod splits;
pub mod table;
pub mod verify;
