! SPDX-License-Identifier: BSD-3-Clause
! C = A B, step after step, on a grid that may change between two
! steps; product.c in Fortran 77 (and INCLUDE, INTEGER*8, %VAL).
!   mpifort product.f $(pkg-config --cflags --libs dyngrid) -o product
      PROGRAM PRODCT
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER N, NB, STEPS
      PARAMETER (N = 60, NB = 8, STEPS = 4)
      INTEGER*8 A, B, C
      INTEGER DA(9), DB(9), DC(9), STEP, INFO, OUT, I, J, NR, NC, MR, MC
      INTEGER IA, IB, IC, IS
      DOUBLE PRECISION SUM, TOTAL
      SAVE STEP
      STEP = 0
      CALL DYNGRID_INIT(INFO)
      IF (INFO .LT. 0) STOP 'product: DYNGRID_INIT failed'
      CALL DYNGRID_MATRIX_CREATE('A', 'D', N, N, NB, NB, A, IA)
      CALL DYNGRID_MATRIX_CREATE('B', 'D', N, N, NB, NB, B, IB)
      CALL DYNGRID_MATRIX_CREATE('C', 'D', N, N, NB, NB, C, IC)
      CALL DYNGRID_SHARE('step', STEP, 4, IS)
      IF (MIN(IA, IB, IC, IS) .LT. 0) STOP 'product: no A, B, C or step'
      CALL DYNGRID_GRID(NR, NC, MR, MC)
      IF (.NOT. DYNGRID_IS_NEWCOMER() .AND. MR .GE. 0) THEN
        CALL DYNGRID_DESC(A, DA)
        CALL DYNGRID_DESC(B, DB)
        DO 11 J = 1, N
          DO 10 I = 1, N
            CALL PDELSET(%VAL(DYNGRID_LOCAL(A)), I, J, DA,
     &                   DBLE(MOD(I + 2*J, 7)))
            CALL PDELSET(%VAL(DYNGRID_LOCAL(B)), I, J, DB,
     &                   DBLE(MOD(3*I + J, 5)))
   10     CONTINUE
   11   CONTINUE
      END IF
!     The grid may change here and nowhere else
   20 CALL DYNGRID_RESIZE_POINT(OUT)
      IF (OUT .EQ. DYNGRID_LEAVE .OR. STEP .EQ. STEPS) GO TO 30
      CALL DYNGRID_DESC(A, DA)
      CALL DYNGRID_DESC(B, DB)
      CALL DYNGRID_DESC(C, DC)
      CALL PDGEMM('N', 'N', N, N, N, 1D0, %VAL(DYNGRID_LOCAL(A)), 1, 1,
     &            DA, %VAL(DYNGRID_LOCAL(B)), 1, 1, DB, 0D0,
     &            %VAL(DYNGRID_LOCAL(C)), 1, 1, DC)
      CALL DYNGRID_GRID(NR, NC, MR, MC)
!     Columns are summed where they lie, then over the process columns
      TOTAL = 0
      DO 21 J = 1, N
        CALL PDASUM(N, SUM, %VAL(DYNGRID_LOCAL(C)), 1, J, DC, 1)
        IF (MOD((J - 1)/NB, NC) .EQ. MC) TOTAL = TOTAL + SUM
   21 CONTINUE
      CALL DGSUM2D(DC(2), 'Row', ' ', 1, 1, TOTAL, 1, -1, -1)
      IF (DYNGRID_IS_FIRST()) PRINT 99, STEP, NR, NC, NINT(TOTAL)
   99 FORMAT ('step ', I0, ' on ', I0, ' x ', I0, ': sum of C = ', I0)
      STEP = STEP + 1
      GO TO 20
   30 CALL DYNGRID_FINALIZE(INFO)
      END
