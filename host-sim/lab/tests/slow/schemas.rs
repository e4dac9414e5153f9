//! Every value of every file left out, one at a time: see `schemas::mutation`.

use crate::schemas::mutation::{Which, may_be_left_out};

#[test]
fn what_may_be_left_out_may_be_left_out() {
    may_be_left_out(0, Which::Each);
}

#[test]
fn what_may_be_left_out_of_the_other_files_may_be_left_out() {
    may_be_left_out(1, Which::Each);
}
