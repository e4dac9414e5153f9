//! JSON Schemas of GPUs, plans and kernels against their readers: the schema accepts every readable
//! file, and the reader rejects every file that an editor would mark. The validator is the crate
//! `jsonschema`.

mod files;
mod keys;
mod mutation;
mod wrong;
