# SPDX-License-Identifier: BSD-3-Clause
# For Doxygen: <name> in a comment line means just that, and dots at its end or begin are no list.
/^ *\/\/\/ /{
s/</\\</g
s/ \.\.*$/ .../
}
