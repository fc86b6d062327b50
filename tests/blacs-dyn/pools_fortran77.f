! SPDX-License-Identifier: BSD-3-Clause
! pools_fortran.f90 with INCLUDE 'dyngrid.fh': two pools, of which the
! second grows; refusals, and names.
      PROGRAM POOLS7
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER INFO, HALF, COMM, NONE, OUT, STEP, FIRST, P, Q, R, C, WANT
      CHARACTER*20 NAME, FOUND
      CALL INIT77
      CALL NULL77(NONE)
C     what a new process passes does not matter
      COMM = NONE
      CALL DYNGRID_POOL(NAME)
      IF (NAME .EQ. ' ') THEN
        CALL HALF77(HALF, COMM)
        WRITE (NAME, '(A4,I1)') 'part', HALF
        CALL DYNGRID_INIT_ON(NONE, NAME, INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_ARGUMENT, 'MPI_COMM_NULL')
        CALL DYNGRID_INIT_ON(COMM, 'a/b', INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_ARGUMENT, 'a slash')
        CALL DYNGRID_INIT_ON(COMM, '  ', INFO)
        CALL NEED(INFO .EQ. DYNGRID_ERR_ARGUMENT, 'no name')
      END IF
      CALL DYNGRID_INIT_ON(COMM, NAME, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'init_on')
      CALL DYNGRID_POOL(FOUND)
      CALL NEED(FOUND .EQ. NAME, 'name of the pool')
      CALL DYNGRID_POOL(FOUND(1:3))
      CALL NEED(FOUND(1:3) .EQ. 'par', 'name cut off')
      FIRST = 0
      IF (DYNGRID_IS_NEWCOMER()) FIRST = 1
      DO 10 STEP = FIRST, 1
        CALL DYNGRID_RESIZE_POINT(OUT)
        CALL NEED(OUT .GE. 0, 'resize point')
        WANT = 2
        IF (STEP .EQ. 1 .AND. NAME .EQ. 'part1') WANT = 4
        CALL DYNGRID_GRID(P, Q, R, C)
        CALL NEED(P * Q .EQ. WANT, 'grid')
        IF (STEP .EQ. 0 .AND. NAME .EQ. 'part1')
     $    CALL DYNGRID_REQUEST(2, 2, INFO)
   10 CONTINUE
      CALL DYNGRID_FINALIZE(INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'finalize')
      CALL END77
      END
