//! The JSON Schemas of machines, plans and kernels beside what reads them: whatever is read the schema takes, too, and what an editor would
//! mark is refused. The judge is the crate `jsonschema`.

mod files;
mod keys;
mod mutation;
mod wrong;
