! SPDX-License-Identifier: BSD-3-Clause
! A field without modules: made, filled in a subroutine that sees it as an array of its extents, on another grid.
      PROGRAM FIELDS
      IMPLICIT NONE
      INCLUDE 'dyngrid.fh'
      INTEGER INFO, OUTCOME, DIMS, FIRST, LAST
      INTEGER EXTENT(3), BLOCKS(3), CUTS(3), N(3), PARTS(3), COORDS(3)
      INTEGER*8 U
      EXTERNAL WALK77
      DATA EXTENT /5, 6, 7/, BLOCKS /0, 0, 0/, CUTS /1, 0, 0/
      CALL DYNGRID_INIT_GRID(2, 2, INFO)
      IF (INFO .NE. 0) STOP 1
      CALL DYNGRID_FIELD_CREATE('U', 'D', 6, EXTENT, BLOCKS, CUTS, U,
     $                          INFO)
      IF (INFO .NE. DYNGRID_ERR_ARGUMENT) STOP 2
      CALL DYNGRID_FIELD_CREATE('U', 'D', 3, EXTENT, BLOCKS, CUTS, U,
     $                          INFO)
      IF (INFO .NE. 0) STOP 3
      CALL DYNGRID_FIELD_SHAPE(U, N, PARTS, COORDS, DIMS)
      IF (DIMS .NE. 3 .OR. PARTS(2) .NE. 2 .OR. N(1) .NE. 5) STOP 4
      CALL DYNGRID_FIELD_RANGE(U, 2, 1, FIRST, LAST, INFO)
      IF (INFO .NE. 1 .OR. FIRST .NE. 3 * COORDS(2) + 1 .OR.
     $    LAST .NE. FIRST + 2) STOP 5
      CALL DYNGRID_FIELD_RANGE(U, 2, 2, FIRST, LAST, INFO)
      IF (INFO .NE. 0) STOP 6
      CALL WALK77(%VAL(DYNGRID_LOCAL(U)), N(1), N(2), N(3), U, 1)
      CALL DYNGRID_REQUEST(1, 4, INFO)
      CALL DYNGRID_RESIZE_POINT(OUTCOME)
      IF (OUTCOME .NE. DYNGRID_RESIZED) STOP 7
      CALL DYNGRID_FIELD_SHAPE(U, N, PARTS, COORDS, DIMS)
      IF (PARTS(2) .NE. 1 .OR. PARTS(3) .NE. 4) STOP 8
      CALL WALK77(%VAL(DYNGRID_LOCAL(U)), N(1), N(2), N(3), U, 0)
      CALL DYNGRID_FINALIZE(INFO)
      IF (INFO .NE. 0) STOP 9
      END
