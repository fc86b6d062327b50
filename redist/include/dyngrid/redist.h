/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DYNGRID_REDIST_H
#define DYNGRID_REDIST_H
#include "dyngrid/status.h"
#endif
