//! MIAS on the host.
