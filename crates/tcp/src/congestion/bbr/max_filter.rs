//! Maximum filter for BBR's bandwidth, over a window of virtual time that counts rounds or cycles.

/// Maximum length of the filter's window, in steps of the virtual time.
pub(super) const MAX_WINDOW: usize = 10;

/// Filter that returns the maximum of the values in the last steps of a virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    /// Maximum of the values that were recorded in each step of the virtual time. Index 0 is the
    /// current step, and higher indices are earlier steps.
    slots: [f64; MAX_WINDOW],
    /// Current step of the virtual time.
    step: u64,
}

impl MaxFilter {
    /// Record a value at a step of the virtual time. Steps never decrease.
    pub fn update(&mut self, step: u64, value: f64) {
        self.advance(step);
        self.slots[0] = self.slots[0].max(value);
    }

    /// Move to a later step of the virtual time.
    fn advance(&mut self, step: u64) {
        for _ in 0..step.saturating_sub(self.step).min(MAX_WINDOW as u64) {
            self.slots.rotate_right(1);
            self.slots[0] = 0.0;
        }
        self.step = self.step.max(step);
    }

    /// Return the maximum of the values in the last `window` steps, or 0 if these steps contain no
    /// value.
    pub fn get(&self, window: usize) -> f64 {
        self.slots.iter().take(window).copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximum_expires_after_its_window() {
        let mut filter = MaxFilter::default();
        filter.update(0, 5.0);
        filter.update(0, 3.0);
        for step in 1..10 {
            filter.update(step, 1.0);
            assert_eq!(filter.get(10), 5.0);
        }
        filter.update(10, 2.0);
        assert_eq!((filter.get(10), filter.get(1)), (2.0, 2.0));
        filter.update(1000, 0.5);
        assert_eq!(filter.get(10), 0.5);
    }
}
