//! Search for a flow in a sorted list.

/// Return the index of the first element of `among` whose flow is not before `flow`. The elements
/// are sorted by flow.
#[inline]
pub fn index_of_flow<T>(flow: u32, among: &[T], flow_of: impl Fn(&T) -> u32) -> usize {
    // Most such lists contain all flows of a scenario, or all flows from an index to the last flow.
    let guess = among.first().map_or(0, |first| flow.saturating_sub(flow_of(first))) as usize;
    if among.get(guess).is_some_and(|one| flow_of(one) == flow) {
        return guess;
    }
    among.partition_point(|one| flow_of(one) < flow)
}
