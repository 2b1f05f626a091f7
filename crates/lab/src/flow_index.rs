//! Where a flow stands among others.

/// Where the first of some flows, which are in order, stands that is not before this one.
#[inline]
pub fn index_of_flow<T>(flow: u32, among: &[T], flow_of: impl Fn(&T) -> u32) -> usize {
    // Mostly they are all of a scenario's flows, or all behind some that are none.
    let guess = among.first().map_or(0, |first| flow.saturating_sub(flow_of(first))) as usize;
    if among.get(guess).is_some_and(|one| flow_of(one) == flow) {
        return guess;
    }
    among.partition_point(|one| flow_of(one) < flow)
}
