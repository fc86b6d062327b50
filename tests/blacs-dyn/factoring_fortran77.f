C     SPDX-License-Identifier: BSD-3-Clause
C     LU and Cholesky while the grid changes, called without modules.
      PROGRAM FACT77
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER N, NB
      PARAMETER (N = 90, NB = 8)
      INTEGER*8 A, V, W
      INTEGER DW(9), NR, NC, MR, MC, MLOC, NLOC, LLD
      INTEGER INFO, OUTC, PIVOTS(N), IPIV(N + NB), ROUND, K
      COMMON /STATE/ ROUND
      CALL DYNGRID_INIT_GRID(2, 2, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      CALL DYNGRID_MATRIX_CREATE('a', 'd', N, N, NB, NB, A, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      ROUND = 1
      CALL DYNGRID_SHARE('round', ROUND, 4, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
C     a descriptor of more than nine integers is none here
      CALL DYNGRID_GRID(NR, NC, MR, MC)
      CALL DYNGRID_SET_SPEED(1D0 + MAX(MR, 0), INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      CALL DYNGRID_MATRIX_CREATE_WEIGHTED('w', 'd', N, N, NB, NB,
     $                                    DYNGRID_ORDER_BLOCK, W, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      CALL DYNGRID_DESC(W, DW)
      IF (MR .GE. 0) THEN
        DO 5 K = 1, 9
          CALL NEED(DW(K), -1)
    5   CONTINUE
      END IF
      CALL DYNGRID_DESC(A, DW)
      IF (MR .GE. 0) CALL NEED(DW(1), 1)
C     rows on each process, and a part of the grid
      CALL DYNGRID_MATRIX_CREATE_ON('v', 'd', N, 3, NB, 1,
     $                              DYNGRID_ON_COLUMN, V, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      CALL DYNGRID_MATRIX_SHAPE(V, MLOC, NLOC, LLD, INFO)
      IF (MR .GE. 0) CALL NEED(NLOC, 3)
      CALL DYNGRID_MATRIX_FREE(V, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
C     nothing is left of the descriptor of another matrix
      CALL DYNGRID_DESC(V, DW)
      CALL NEED(DW(1), -1)
      CALL NEED(DW(2), -1)
      CALL DYNGRID_MATRIX_CREATE_ON_PART('v', 'd', N, N, NB, NB, 1,
     $                                   1, V, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      CALL DYNGRID_MATRIX_SHAPE(V, MLOC, NLOC, LLD, INFO)
      IF (MR .EQ. 0 .AND. MC .EQ. 0) CALL NEED(MLOC, N)
      IF (MR .GT. 0 .OR. MC .GT. 0) CALL NEED(MLOC, 0)
      CALL DYNGRID_MATRIX_FREE(V, INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
C     of zeros: every pivot is 0, and no leading minor is positive
   10 IF (ROUND .EQ. 1) THEN
        CALL DYNGRID_LU(A, 0, PIVOTS, INFO, OUTC)
        IF (OUTC .EQ. DYNGRID_LEAVE) GOTO 30
        DO 20 K = 1, N
          CALL NEED(PIVOTS(K), K)
   20   CONTINUE
        CALL NEED(INFO, 1)
        CALL DYNGRID_LU_PIVOTS(A, PIVOTS, IPIV, INFO)
        CALL NEED(INFO, DYNGRID_SUCCESS)
        ROUND = 2
        GOTO 10
      END IF
      CALL DYNGRID_CHOLESKY(A, 'L', 0, INFO, OUTC)
      IF (OUTC .EQ. DYNGRID_LEAVE) GOTO 30
      CALL NEED(OUTC, DYNGRID_SAME)
      CALL NEED(INFO, 1)
   30 CALL DYNGRID_FINALIZE(INFO)
      CALL NEED(INFO, DYNGRID_SUCCESS)
      END

      SUBROUTINE NEED(GOT, WANTED)
      INTEGER GOT, WANTED
      CHARACTER*160 TEXT
      IF (GOT .EQ. WANTED) RETURN
      CALL DYNGRID_MESSAGE(TEXT)
      PRINT *, 'FAILED: got ', GOT, ', expected ', WANTED, TEXT
      CALL ABORT
      END
