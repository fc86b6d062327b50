! SPDX-License-Identifier: BSD-3-Clause
! What tests in Fortran expect.
module expectations
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int) :: failures = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(2a)', 'failed: ', what
    failures = failures + 1
  end subroutine
end module
