! SPDX-License-Identifier: BSD-3-Clause
! dyngrid/pblas.h for Fortran: PBLAS and ScaLAPACK for matrices in blocks of any sizes (DTYPE_ 601) and of one size,
! with ScaLAPACK's own arguments. Arrays may have any shape.
module dyngrid_pblas
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_float, c_double, c_float_complex, c_double_complex
  implicit none
  private
  public :: dyngrid_psgemm, dyngrid_pdgemm, dyngrid_pcgemm, dyngrid_pzgemm
  public :: dyngrid_pssyrk, dyngrid_pdsyrk, dyngrid_pcsyrk, dyngrid_pzsyrk
  public :: dyngrid_pcherk, dyngrid_pzherk
  public :: dyngrid_pstrsm, dyngrid_pdtrsm, dyngrid_pctrsm, dyngrid_pztrsm
  public :: dyngrid_psgetrf, dyngrid_pdgetrf, dyngrid_pcgetrf, dyngrid_pzgetrf
  public :: dyngrid_psgetrs, dyngrid_pdgetrs, dyngrid_pcgetrs, dyngrid_pzgetrs
  public :: dyngrid_psgesv, dyngrid_pdgesv, dyngrid_pcgesv, dyngrid_pzgesv
  public :: dyngrid_pspotrf, dyngrid_pdpotrf, dyngrid_pcpotrf, dyngrid_pzpotrf
  public :: dyngrid_pspotrs, dyngrid_pdpotrs, dyngrid_pcpotrs, dyngrid_pzpotrs

  interface
    subroutine dyngrid_psgemm(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, &
      beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_psgemm_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, ia, ja, ib, jb, ic, jc, desca(*), descb(*), descc(*)
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(in) :: b(*)
      real(c_float), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pdgemm(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, &
      beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pdgemm_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, ia, ja, ib, jb, ic, jc, desca(*), descb(*), descc(*)
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pcgemm(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, &
      beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pcgemm_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, ia, ja, ib, jb, ic, jc, desca(*), descb(*), descc(*)
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(in) :: b(*)
      complex(c_float_complex), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pzgemm(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, &
      beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pzgemm_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, ia, ja, ib, jb, ic, jc, desca(*), descb(*), descc(*)
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(in) :: b(*)
      complex(c_double_complex), intent(inout) :: c(*)
    end subroutine
  end interface

  interface
    subroutine dyngrid_pssyrk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pssyrk_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pdsyrk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pdsyrk_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pcsyrk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pcsyrk_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pzsyrk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pzsyrk_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: c(*)
    end subroutine
  end interface

  interface
    subroutine dyngrid_pcherk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pcherk_")
      import :: c_char, c_float, c_float_complex, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      real(c_float), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: c(*)
    end subroutine
    subroutine dyngrid_pzherk(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc) &
      bind(C, name="dyngrid_pzherk_")
      import :: c_char, c_double, c_double_complex, c_int
      character(kind=c_char), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, ia, ja, ic, jc, desca(*), descc(*)
      real(c_double), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: c(*)
    end subroutine
  end interface

  interface
    subroutine dyngrid_pstrsm(side, uplo, transa, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb, &
      descb) &
      bind(C, name="dyngrid_pstrsm_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, ia, ja, ib, jb, desca(*), descb(*)
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: b(*)
    end subroutine
    subroutine dyngrid_pdtrsm(side, uplo, transa, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb, &
      descb) &
      bind(C, name="dyngrid_pdtrsm_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, ia, ja, ib, jb, desca(*), descb(*)
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: b(*)
    end subroutine
    subroutine dyngrid_pctrsm(side, uplo, transa, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb, &
      descb) &
      bind(C, name="dyngrid_pctrsm_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: b(*)
    end subroutine
    subroutine dyngrid_pztrsm(side, uplo, transa, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb, &
      descb) &
      bind(C, name="dyngrid_pztrsm_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: b(*)
    end subroutine
  end interface

  interface
    subroutine dyngrid_psgetrf(m, n, a, ia, ja, desca, ipiv, info) &
      bind(C, name="dyngrid_psgetrf_")
      import :: c_float, c_int
      integer(c_int), intent(in) :: m, n, ia, ja, desca(*)
      real(c_float), intent(inout) :: a(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pdgetrf(m, n, a, ia, ja, desca, ipiv, info) &
      bind(C, name="dyngrid_pdgetrf_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: m, n, ia, ja, desca(*)
      real(c_double), intent(inout) :: a(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pcgetrf(m, n, a, ia, ja, desca, ipiv, info) &
      bind(C, name="dyngrid_pcgetrf_")
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: m, n, ia, ja, desca(*)
      complex(c_float_complex), intent(inout) :: a(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pzgetrf(m, n, a, ia, ja, desca, ipiv, info) &
      bind(C, name="dyngrid_pzgetrf_")
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: m, n, ia, ja, desca(*)
      complex(c_double_complex), intent(inout) :: a(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
  end interface

  interface
    subroutine dyngrid_psgetrs(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_psgetrs_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: trans
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: b(*)
      integer(c_int), intent(in) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pdgetrs(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pdgetrs_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: trans
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: b(*)
      integer(c_int), intent(in) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pcgetrs(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pcgetrs_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: trans
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: b(*)
      integer(c_int), intent(in) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pzgetrs(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pzgetrs_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: trans
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: b(*)
      integer(c_int), intent(in) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
  end interface

  interface
    subroutine dyngrid_psgesv(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_psgesv_")
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_float), intent(inout) :: a(*)
      real(c_float), intent(inout) :: b(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pdgesv(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pdgesv_")
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_double), intent(inout) :: a(*)
      real(c_double), intent(inout) :: b(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pcgesv(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pcgesv_")
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_float_complex), intent(inout) :: a(*)
      complex(c_float_complex), intent(inout) :: b(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pzgesv(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pzgesv_")
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_double_complex), intent(inout) :: a(*)
      complex(c_double_complex), intent(inout) :: b(*)
      integer(c_int), intent(inout) :: ipiv(*)
      integer(c_int), intent(out) :: info
    end subroutine
  end interface

  interface
    subroutine dyngrid_pspotrf(uplo, n, a, ia, ja, desca, info) &
      bind(C, name="dyngrid_pspotrf_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, ia, ja, desca(*)
      real(c_float), intent(inout) :: a(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pdpotrf(uplo, n, a, ia, ja, desca, info) &
      bind(C, name="dyngrid_pdpotrf_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, ia, ja, desca(*)
      real(c_double), intent(inout) :: a(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pcpotrf(uplo, n, a, ia, ja, desca, info) &
      bind(C, name="dyngrid_pcpotrf_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, ia, ja, desca(*)
      complex(c_float_complex), intent(inout) :: a(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pzpotrf(uplo, n, a, ia, ja, desca, info) &
      bind(C, name="dyngrid_pzpotrf_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, ia, ja, desca(*)
      complex(c_double_complex), intent(inout) :: a(*)
      integer(c_int), intent(out) :: info
    end subroutine
  end interface

  interface
    subroutine dyngrid_pspotrs(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pspotrs_")
      import :: c_char, c_float, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: b(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pdpotrs(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pdpotrs_")
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: b(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pcpotrs(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pcpotrs_")
      import :: c_char, c_float_complex, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: b(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine dyngrid_pzpotrs(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info) &
      bind(C, name="dyngrid_pzpotrs_")
      import :: c_char, c_double_complex, c_int
      character(kind=c_char), intent(in) :: uplo
      integer(c_int), intent(in) :: n, nrhs, ia, ja, ib, jb, desca(*), descb(*)
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: b(*)
      integer(c_int), intent(out) :: info
    end subroutine
  end interface
end module
