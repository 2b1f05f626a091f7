//! Tests of whole runs. They form one program, which is linked once.

#[path = "../common/mod.rs"]
mod common;

mod accurate_ecn;
mod applications;
mod classes;
mod datagrams;
mod diffserv;
mod early_delivery;
mod every_run;
mod foreign_loop;
mod forwarding;
mod impairments;
mod links;
mod refusals;
mod study_baseline;
mod tcp_tables;
mod warm_up;
mod warnings;
mod web;
mod why;
