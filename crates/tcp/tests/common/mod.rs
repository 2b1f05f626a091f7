//! Code that the tests of this crate share.
#![allow(dead_code)]

pub mod drops;
pub mod path;
pub mod random;
