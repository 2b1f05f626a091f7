"""Reference implementations of the queues, written for simplicity instead of speed.

PIE, CoDel, FQ-CoDel and the controller of PI2 follow the texts of their RFCs. AQMs without an RFC
have papers, which were not available. For these AQMs, the reference and the simulator follow the
authors' memory of the papers. A comparison therefore detects a coding error, but it cannot detect a
misremembered paper. The references share no code with the simulator; the module `draws` computes
the random numbers of the simulator a second time.
"""
