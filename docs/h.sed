# SPDX-License-Identifier: BSD-3-Clause
# For Doxygen: the C headers have plain comments, before a declaration or behind one.
s:^/\* ----.*::
s:^/\* :/** :
s:; */\* :; /**< :
s:, */\* :, /**< :
