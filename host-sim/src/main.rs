//! MIAS on the host.

fn main() {}
