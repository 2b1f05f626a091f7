//! A windowed maximum over a virtual time (rounds, cycles), as BBR filters bandwidth.

/// Most steps of the virtual time that the window can have.
pub(super) const LONGEST: usize = 10;

/// The greatest value of the last steps of a virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    /// The greatest of each step, this one first.
    slots: [f64; LONGEST],
    step: u64,
}

impl MaxFilter {
    /// A value at a step, which never goes back.
    pub fn update(&mut self, step: u64, value: f64) {
        self.advance(step);
        self.slots[0] = self.slots[0].max(value);
    }

    fn advance(&mut self, step: u64) {
        for _ in 0..step.saturating_sub(self.step).min(LONGEST as u64) {
            self.slots.rotate_right(1);
            self.slots[0] = 0.0;
        }
        self.step = self.step.max(step);
    }

    /// The greatest of the last `window` steps; 0 if there is none.
    pub fn get(&self, window: usize) -> f64 {
        self.slots.iter().take(window).copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_forgotten_after_its_window() {
        let mut f = MaxFilter::default();
        f.update(0, 5.0);
        f.update(0, 3.0);
        for step in 1..10 {
            f.update(step, 1.0);
            assert_eq!(f.get(10), 5.0);
        }
        f.update(10, 2.0);
        assert_eq!((f.get(10), f.get(1)), (2.0, 2.0));
        f.update(1000, 0.5);
        assert_eq!(f.get(10), 0.5);
    }
}
