//! Kernels of the library on a real GPU: how many TBs per million SM cycles they complete, alone and next to each other, for every number of
//! TBs per SM. `README.md` says how.

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
