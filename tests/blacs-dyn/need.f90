! SPDX-License-Identifier: BSD-3-Clause
! What the Fortran programs here stop at.
module need_module
  use dyngrid, only: dyngrid_last_message
  implicit none
  private
  public :: need

contains

  subroutine need(is_true, what)
    logical, intent(in) :: is_true
    character(*), intent(in) :: what
    external :: blacs_abort
    if (is_true) return
    print '(5a)', 'FAILED: ', what, ' [', dyngrid_last_message(), ']'
    call blacs_abort(0, 1)
    error stop 1
  end subroutine
end module
