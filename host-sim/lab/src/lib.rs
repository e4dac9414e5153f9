//! Experiments on the GPU model under the firmware: which runs answer a question, the runs themselves, and what their numbers say.
//!
//! ```text
//! machines, workloads -> experiment -> metrics                       one question
//!                            |  `-- cosim: the firmware's image in QEMU, recordings of its accesses
//!                        evaluate, characterise, validation          many, from plans and references
//! ```

pub mod bandwidth;
pub mod cancel;
pub mod characterise;
pub mod choice;
pub mod cosim;
pub mod csv_table;
pub mod decision_cost;
pub mod evaluate;
pub mod experiment;
pub mod fingerprint;
pub mod gpus;
pub mod intervals;
pub mod kernel_name;
pub mod metrics;
#[cfg(test)]
mod model_sources;
pub mod output;
pub mod table;
pub mod validation;
