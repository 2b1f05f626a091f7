//! Simulated transfers with one to four losses in one window, for Tahoe, Reno, NewReno and SACK
//! (Fall & Floyd 1996). The output lists every packet as CSV. `examples/fall_floyd.py` plots this
//! output.

#[path = "../tests/common/drops.rs"]
mod drops;
#[path = "../tests/common/path/mod.rs"]
mod path;

fn main() {
    println!("recovery,losses,seconds,segment,what");
    for recovery in drops::RECOVERIES {
        for losses in drops::DROPS {
            for (time, segment, event) in drops::run(recovery, losses).packets {
                println!("{recovery},{},{},{segment},{event:?}", losses.len(), time.seconds());
            }
        }
    }
}
