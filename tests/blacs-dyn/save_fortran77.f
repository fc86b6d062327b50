! SPDX-License-Identifier: BSD-3-Clause
! save_fortran77 FILE hdf5|none|join: save_fortran.f90 in Fortran 77 with
! INCLUDE 'dyngrid.fh'. Elements are set and read by ScaLAPACK.
      PROGRAM SAVE77
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER M, N, NB
      PARAMETER (M = 19, N = 14, NB = 3)
      INTEGER*8 A, NONE
      PARAMETER (NONE = 0)
      INTEGER STEP, INFO, OUT, NR, NC, MR, MC
      CHARACTER*200 FILE, KIND
      SAVE STEP
      STEP = 0
      CALL GETARG(1, FILE)
      CALL GETARG(2, KIND)
      CALL DYNGRID_INIT(INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'init')
      CALL DYNGRID_MATRIX_CREATE('a', 'D', M, N, NB, NB, A, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'create')
      CALL DYNGRID_SHARE('step', STEP, 4, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'share')
      IF (DYNGRID_IS_NEWCOMER()) THEN
        CALL DYNGRID_RESIZE_POINT(OUT)
        CALL NEED(OUT .EQ. DYNGRID_RESIZED, 'a new process joins')
        GO TO 10
      END IF
      CALL NEED(.NOT. DYNGRID_IS_RESTARTED(), 'not restarted')
      CALL DYNGRID_GRID(NR, NC, MR, MC)
      CALL NEED(DYNGRID_IS_FIRST() .EQV. MR + MC .EQ. 0, 'the first')
      CALL DYNGRID_NEED('2:4 ', OUT)
      CALL NEED(OUT .EQ. DYNGRID_SAME, 'it has what it needs')
      CALL DYNGRID_NEED('9:16', OUT)
      CALL NEED(OUT .EQ. DYNGRID_ERR_UNSUPPORTED, 'no scheduler')
      CALL DYNGRID_SET_PROCESSES(7, INFO)
      CALL NEED(INFO .EQ. DYNGRID_ERR_ARGUMENT, 'no such way')
      CALL DYNGRID_SET_PROCESSES(DYNGRID_BLOCKING, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'spawn')
      CALL DYNGRID_SET_PROCESSES(DYNGRID_JOIN, INFO)
      IF (KIND .EQ. 'join') THEN
        CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'join')
      ELSE
        CALL NEED(INFO .EQ. DYNGRID_ERR_STATE .OR.
     $    INFO .EQ. DYNGRID_ERR_UNSUPPORTED, 'no ompi-server')
      END IF
      CALL EACH(A, M, N, 1)
      CALL DYNGRID_COPY(A, A, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'copy')
      CALL DYNGRID_COPY(A, NONE, INFO)
      CALL NEED(INFO .EQ. DYNGRID_ERR_NULL, 'copy to nothing')
      STEP = 5
      IF (KIND .EQ. 'hdf5') THEN
        CALL DYNGRID_CHECKPOINT(FILE, INFO)
        CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'checkpoint')
        CALL EACH(A, M, N, 2)
        STEP = 6
        CALL DYNGRID_RESTORE(FILE, INFO)
        CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'restore')
        CALL NEED(STEP .EQ. 5, 'what is shared')
        CALL EACH(A, M, N, -1)
        CALL DYNGRID_CHECKPOINT('/no/such/folder/file', INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_IO, 'nowhere')
        CALL DYNGRID_RESTORE('/no/such/file', INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_NOT_FOUND, 'nothing there')
      ELSE IF (KIND .EQ. 'none') THEN
        CALL DYNGRID_CHECKPOINT(FILE, INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_UNSUPPORTED, 'no HDF5')
        CALL DYNGRID_RESTORE(FILE, INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_UNSUPPORTED, 'no HDF5')
      END IF
      CALL DYNGRID_RESIZE(1, 3, DYNGRID_OPTIMAL, OUT)
      IF (OUT .EQ. DYNGRID_LEAVE) GO TO 20
      CALL NEED(OUT .EQ. DYNGRID_RESIZED, 'resize')
   10 CALL EACH(A, M, N, -1)
      CALL NEED(STEP .EQ. 5, 'shared')
      IF (KIND .EQ. 'hdf5') THEN
        CALL EACH(A, M, N, 3)
        STEP = 7
        CALL DYNGRID_RESTORE(FILE, INFO)
        CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'restore on 1 x 3')
        CALL NEED(STEP .EQ. 5, 'what is shared')
        CALL EACH(A, M, N, -1)
      END IF
   20 CALL DYNGRID_FINALIZE(INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'finalize')
      END

!     Fills with WHICH * (1000 i + j), or (negative) compares with that
      SUBROUTINE EACH(A, M, N, WHICH)
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER*8 A, NONE
      PARAMETER (NONE = 0)
      INTEGER M, N, WHICH, DA(9), I, J, NR, NC, MR, MC
      DOUBLE PRECISION X, WANTED
      CALL DYNGRID_GRID(NR, NC, MR, MC)
      IF (MR .LT. 0) RETURN
      CALL DYNGRID_DESC(A, DA)
      DO 40 J = 1, N
        DO 30 I = 1, M
          WANTED = ABS(WHICH) * (1000D0 * I + J)
          IF (WHICH .GT. 0) THEN
            CALL PDELSET(%VAL(DYNGRID_LOCAL(A)), I, J, DA, WANTED)
          ELSE
            CALL PDELGET('A', ' ', X, %VAL(DYNGRID_LOCAL(A)), I, J, DA)
            CALL NEED(X .EQ. WANTED, 'element')
          END IF
   30   CONTINUE
   40 CONTINUE
      END
