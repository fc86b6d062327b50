! SPDX-License-Identifier: BSD-3-Clause
! In a file of their own: gfortran would see an INTEGER*8 passed for X.
      SUBROUTINE ONES77(X, N)
      IMPLICIT NONE
      INTEGER N, I
      DOUBLE PRECISION X(N)
      DO 10 I = 1, N
        X(I) = 1D0
   10 CONTINUE
      END

! X with borders: its neighbours add up to 4, less a half for each side that ends the field.
      SUBROUTINE SUMS77(X, N1, N2, COORDS, PARTS)
      IMPLICIT NONE
      INTEGER N1, N2, COORDS(2), PARTS(2), I, J
      DOUBLE PRECISION X(N1, N2), EXPECT
      DO 20 J = 2, N2 - 1
        DO 10 I = 2, N1 - 1
          EXPECT = 4D0
          IF (I .EQ. 2 .AND. COORDS(1) .EQ. 0) EXPECT = EXPECT - 0.5D0
          IF (J .EQ. 2 .AND. COORDS(2) .EQ. 0) EXPECT = EXPECT - 0.5D0
          IF (I .EQ. N1 - 1 .AND. COORDS(1) .EQ. PARTS(1) - 1)
     $      EXPECT = EXPECT - 0.5D0
          IF (J .EQ. N2 - 1 .AND. COORDS(2) .EQ. PARTS(2) - 1)
     $      EXPECT = EXPECT - 0.5D0
          IF (X(I, J) .NE. 1D0) STOP 20
          IF (X(I - 1, J) + X(I + 1, J) + X(I, J - 1) + X(I, J + 1)
     $        .NE. EXPECT) STOP 21
   10   CONTINUE
   20 CONTINUE
      END
