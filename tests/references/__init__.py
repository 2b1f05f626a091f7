"""Slow, plain references of the queues.

PIE, CoDel, FQ-CoDel and PI2's controller follow the text of their RFCs. The papers of the other
laws were not at hand: there the references, like the laws, are set down from memory, so that they
show a slip of the pen but not a misremembered paper. They share nothing with the simulator but the
random numbers, which `draws` makes anew.
"""
