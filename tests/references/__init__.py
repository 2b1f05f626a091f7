"""Reference implementations of the queues, written for simplicity instead of speed.

PIE, CoDel, FQ-CoDel and the controller of PI2 follow the texts of their RFCs. The papers of the
other AQMs were not available. The references of these AQMs, like the simulator, follow the authors'
memory of the papers, so that a comparison detects a coding error but not a misremembered paper. The
references share no code with the simulator; `draws` computes the same random numbers.
"""
