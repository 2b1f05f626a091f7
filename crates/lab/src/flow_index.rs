//! Search for a flow in a list that is sorted by flow.

/// Return the index of the first element of the list `among` whose flow is `flow` or a later flow.
/// The list is sorted by flow.
#[inline]
pub fn index_of_flow<T>(flow: u32, among: &[T], flow_of: impl Fn(&T) -> u32) -> usize {
    // Most lists that this function searches contain all flows of a scenario, or all flows from a
    // certain index to the last flow.
    let guess = among.first().map_or(0, |first| flow.saturating_sub(flow_of(first))) as usize;
    if among.get(guess).is_some_and(|one| flow_of(one) == flow) {
        return guess;
    }
    among.partition_point(|one| flow_of(one) < flow)
}
