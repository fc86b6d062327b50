! SPDX-License-Identifier: BSD-3-Clause
! In a file of its own: gfortran would see an INTEGER*8 passed for X. One block in each dimension.
      SUBROUTINE WALK77(X, N1, N2, N3, U, FILLS)
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER N1, N2, N3, FILLS, I, J, K, J0, K0, LAST, INFO
      DOUBLE PRECISION X(N1, N2, N3), VALUE
      INTEGER*8 U
      J0 = 1
      K0 = 1
      CALL DYNGRID_FIELD_RANGE(U, 2, 1, J0, LAST, INFO)
      CALL DYNGRID_FIELD_RANGE(U, 3, 1, K0, LAST, INFO)
      DO 30 K = 1, N3
        DO 20 J = 1, N2
          DO 10 I = 1, N1
            VALUE = I + 10 * (J0 + J - 1) + 100 * (K0 + K - 1)
            IF (FILLS .EQ. 1) X(I, J, K) = VALUE
            IF (X(I, J, K) .NE. VALUE) STOP 20
   10     CONTINUE
   20   CONTINUE
   30 CONTINUE
      END
