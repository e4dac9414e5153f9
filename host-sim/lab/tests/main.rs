//! Input files: their schemas, and what happens when they are damaged.

mod schemas;
mod slow;
