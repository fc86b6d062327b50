# SPDX-License-Identifier: BSD-3-Clause
"""What tests of errors share."""


def refused(kind, words, action):
    """The action raises this on this process, with these words; returns it."""
    try:
        action()
    except kind as error:
        assert words in str(error), str(error)
        return error
    raise AssertionError(f"nothing was raised, expected {kind.__name__} with {words!r}")
