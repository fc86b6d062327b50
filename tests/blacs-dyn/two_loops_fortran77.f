! SPDX-License-Identifier: BSD-3-Clause
! two_loops.h 'plain' and 'led' with INCLUDE 'dyngrid.fh', and a notice.
      PROGRAM LOOP77
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER SCF, STEP, INFO, OUT, P, Q, R, C, SEEN(2), K
      CHARACTER*64 KIND, ENTRY, TEXT*400
      LOGICAL LED
      EXTERNAL BEFORE, AFTER
      SAVE SCF, STEP, SEEN
      SCF = 0
      STEP = 0
      SEEN(1) = 0
      SEEN(2) = 0
      CALL GETARG(1, KIND)
      LED = KIND .EQ. 'led'
      CALL DYNGRID_INIT_GRID(1, 2, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'init')
      CALL DYNGRID_SHARE('scf', SCF, 4, INFO)
      CALL DYNGRID_SHARE('step', STEP, 4, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'share')
      CALL DYNGRID_ON_CHANGE(BEFORE, AFTER, SEEN, INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'on_change')
      ENTRY = ' '
      IF (LED) CALL DYNGRID_ENTRY_POINT(ENTRY)
      OUT = DYNGRID_SAME
      IF (ENTRY .EQ. 'propagation') GO TO 20
   10 IF (LED) THEN
        CALL DYNGRID_RESIZE_POINT_AT('scf', OUT)
      ELSE
        CALL DYNGRID_RESIZE_POINT(OUT)
      END IF
      IF (OUT .EQ. DYNGRID_LEAVE) GO TO 30
      IF (OUT .EQ. DYNGRID_REDIRECT) THEN
        CALL DYNGRID_ENTRY_POINT(ENTRY)
        CALL NEED(ENTRY .EQ. 'propagation', 'where to go')
        GO TO 20
      END IF
      CALL NEED(OUT .EQ. DYNGRID_SAME, 'the first loop')
      SCF = SCF + 1
      IF (SCF .LT. 3) GO TO 10
   20 CALL DYNGRID_GRID(P, Q, R, C)
      IF (STEP .EQ. 1 .AND. R .GE. 0) THEN
        CALL DYNGRID_REQUEST(2, 2, INFO)
        CALL DYNGRID_PENDING(K)
        CALL NEED(K .EQ. 1, 'pending')
      END IF
      IF (LED) THEN
        CALL DYNGRID_RESIZE_POINT_AT('propagation', OUT)
      ELSE
        CALL DYNGRID_RESIZE_POINT(OUT)
      END IF
      IF (OUT .EQ. DYNGRID_LEAVE) GO TO 30
      IF (LED .OR. STEP .NE. 1) THEN
        CALL NEED(OUT .GE. 0, 'the second loop')
      ELSE
        CALL NEED(OUT .EQ. DYNGRID_ERR_STATE, 'refused')
        CALL DYNGRID_MESSAGE(TEXT)
        K = INDEX(TEXT, 'two_loops_fortran77+0x')
        CALL NEED(K .GT. 0, 'one place')
        CALL NEED(INDEX(TEXT(K+1:), 'two_loops_fortran77+0x') .GT. 0,
     $            'the other place')
      END IF
      IF (OUT .EQ. DYNGRID_RESIZED) THEN
        CALL NEED(SEEN(2) .EQ. 1, 'called after')
        CALL NEED(SEEN(1) .EQ. 0 .OR. R .GE. 0, 'called before')
      ELSE
        CALL NEED(LED .OR. SEEN(1) + SEEN(2) .EQ. 0, 'not called')
      END IF
      STEP = STEP + 1
      IF (STEP .LT. 4) GO TO 20
   30 CALL DYNGRID_FINALIZE(INFO)
      CALL NEED(INFO .EQ. DYNGRID_SUCCESS, 'finalize')
      END

      SUBROUTINE BEFORE(SEEN)
      INTEGER SEEN(2)
      SEEN(1) = SEEN(1) + 1
      END

      SUBROUTINE AFTER(SEEN)
      INTEGER SEEN(2)
      SEEN(2) = SEEN(2) + 1
      END
