! SPDX-License-Identifier: BSD-3-Clause
! The programs of Fortran 77 end with a message where a condition does not hold.
      SUBROUTINE NEED(IS_TRUE, WHAT)
      LOGICAL IS_TRUE
      CHARACTER*(*) WHAT
      CHARACTER*400 TEXT
      IF (IS_TRUE) RETURN
      CALL DYNGRID_MESSAGE(TEXT)
      PRINT '(4A)', 'FAILED: ', WHAT, ' ', TEXT
      CALL BLACS_ABORT(0, 1)
      END
