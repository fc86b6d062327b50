# SPDX-License-Identifier: BSD-3-Clause
"""Linear algebra by ScaLAPACK: on distributed matrices, and on numpy arrays with workers.

On a :class:`dyngrid.Matrix` each function is collective over the current grid. On numpy arrays, in a program without
MPI or in a notebook, it runs on worker processes of its own, which stay for the next call::

    x = dyngrid.linalg.solve(a, b, workers=4)

The workers are a dyngrid application: another number of them makes its grid grow or shrink. Arrays of integers are
computed in float64.
"""

import ctypes
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._application import Application
from ._library import library
from ._matrix import Matrix, _letter

__all__ = ["cholesky", "eigh", "lu", "matmul", "solve", "stop_workers"]

Array = Union[Matrix, NDArray[Any]]


def solve(a: Array, b: Array, workers: int = 4, progress: Optional[bool] = None) -> Optional[NDArray[Any]]:
    """Solves a x = b by p?gesv.

    Args:
        a: n x n. As a Matrix it is overwritten by its factors.
        b: n x k, or n elements as an array. As a Matrix it is overwritten by x.
        workers: processes, where a and b are arrays.
        progress: whether a line on standard error says what is done; None: where that is a terminal.

    Returns:
        x for arrays, None for matrices.

    Raises:
        numpy.linalg.LinAlgError: a is singular.
        ValueError: sizes, types or blocks that do not fit.
    """
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        _check_square(a.shape, "a")
        _check_rows(a.shape, b.shape)
        _gesv(a, b)
        return None
    x, y = _arrays(a=a, b=b)
    _check_square(x.shape, "a")
    _check_rows(x.shape, y.shape)
    right = y.reshape(y.shape[0], -1)
    return _run("solve", workers, progress, x, right)[0].reshape(y.shape)


def cholesky(a: Array, workers: int = 4, progress: Optional[bool] = None) -> Optional[NDArray[Any]]:
    """The factor L of a = L L^H by p?potrf; the lower triangle of `a` is read.

    Returns:
        L for an array. A Matrix is overwritten: its lower triangle is L, the upper one stays.

    Raises:
        numpy.linalg.LinAlgError: a is not positive definite.
    """
    if isinstance(a, Matrix):
        _check_square(a.shape, "a")
        _potrf(a)
        return None
    (x,) = _arrays(a=a)
    _check_square(x.shape, "a")
    return _run("cholesky", workers, progress, x)[0]


def lu(
    a: Array, workers: int = 4, progress: Optional[bool] = None
) -> Union[NDArray[Any], Tuple[NDArray[Any], NDArray[Any]]]:
    """The factors of P a = L U by p?getrf.

    Returns:
        For an array, L and U in one array and the pivots: row i was exchanged with row pivots[i], i = 0, 1, ..., as
        scipy.linalg.lu_factor has it. A Matrix is overwritten by L and U, and the pivots are returned on all processes
        where ScaLAPACK has them: of the local rows, from 1.

    Raises:
        numpy.linalg.LinAlgError: a is singular.
    """
    if isinstance(a, Matrix):
        return _getrf(a)
    (x,) = _arrays(a=a)
    factors, pivots = _run("lu", workers, progress, x)
    return factors, pivots[:, 0]


def eigh(a: Array, workers: int = 4, progress: Optional[bool] = None) -> Tuple[NDArray[Any], Any]:
    """Eigenvalues and eigenvectors of a symmetric or Hermitian matrix by p?syevd or p?heevd; its lower triangle counts.

    Returns:
        The eigenvalues, ascending, on all processes, and the vectors as columns: an array, or a Matrix on the same
        blocks, which the caller frees. `a` is overwritten when it is a Matrix.

    Raises:
        numpy.linalg.LinAlgError: no convergence.
    """
    if isinstance(a, Matrix):
        _check_square(a.shape, "a")
        return _eigh(a)
    (x,) = _arrays(a=a)
    _check_square(x.shape, "a")
    values, vectors = _run("eigh", workers, progress, x)
    return values[:, 0], vectors


def matmul(
    a: Array, b: Array, c: Optional[Matrix] = None, workers: int = 4, progress: Optional[bool] = None
) -> Optional[NDArray[Any]]:
    """The product a b by p?gemm.

    Args:
        c: takes the product when a and b are of Matrix.

    Returns:
        The product for arrays, None for matrices.
    """
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        if c is None:
            raise ValueError("c is missing, expected a Matrix for the product of two Matrix")
        _check_product(a.shape, b.shape)
        if c.shape != (a.shape[0], b.shape[1]):
            raise ValueError(f"c is {c.shape}, expected {(a.shape[0], b.shape[1])}")
        _gemm(a, b, c)
        return None
    if c is not None:
        raise ValueError("c is given, expected none for arrays: the product is returned")
    x, y = _arrays(a=a, b=b)
    _check_product(x.shape, y.shape)
    return _run("matmul", workers, progress, x, y)[0]


def stop_workers() -> None:
    """Ends the workers; the next call starts others. They end with the program in any case."""
    from ._workers import _turn, stop

    with _turn:
        stop()


# ---- arguments


def _arrays(**given: Array) -> Tuple[NDArray[Any], ...]:
    """All as arrays of one type that ScaLAPACK computes in."""
    for name, value in given.items():
        if isinstance(value, Matrix):
            raise TypeError(f"{name} is a Matrix and another argument is not, expected only arrays or only Matrix")
    arrays = [np.asarray(value) for value in given.values()]
    dtype = np.result_type(*arrays)
    if dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    for name, array in zip(given, arrays):
        if array.ndim != 2 and (name, array.ndim) != ("b", 1):
            raise ValueError(f"{name} has {array.ndim} dimensions, expected 2")
    if _letter(dtype) == b"i":
        raise TypeError(f"dtype is {dtype}, expected a floating-point or complex one")
    return tuple(array.astype(dtype, copy=False) for array in arrays)


def _check_square(shape: Tuple[int, ...], name: str) -> None:
    if shape[0] != shape[1]:
        raise ValueError(f"{name} is {shape[0]} x {shape[1]}, expected a square matrix")


def _check_rows(a: Tuple[int, ...], b: Tuple[int, ...]) -> None:
    if b[0] != a[0]:
        raise ValueError(f"b has {b[0]} rows, expected {a[0]} as a has")


def _check_product(a: Tuple[int, ...], b: Tuple[int, ...]) -> None:
    if len(b) != 2 or a[1] != b[0]:
        raise ValueError(f"a is {a} and b is {b}, expected as many columns of a as rows of b")


def _same_type(*matrices: Matrix) -> str:
    dtypes = {matrix.dtype for matrix in matrices}
    if len(dtypes) > 1:
        raise ValueError(f"types are {sorted(map(str, dtypes))}, expected the same for all matrices")
    letter = _letter(matrices[0].dtype).decode()
    if letter == "i":
        raise ValueError("dtype is int32, expected a floating-point or complex one")
    return letter


# ---- ScaLAPACK on the current grid


def _call(name: str, *arguments: Any) -> int:
    """A routine with the arguments of Fortran; returns info, which it appends. Texts get their lengths at the end."""
    info = ctypes.c_int()
    lengths = [ctypes.c_size_t(len(value)) for value in arguments if isinstance(value, bytes)]
    words: List[Any] = []
    descriptors = []  # the words are addresses only
    one = ctypes.byref(ctypes.c_int(1))
    for value in arguments:
        if isinstance(value, Matrix):
            descriptors.append(value.desc)
            words += [ctypes.c_void_p(value.local.ctypes.data), one, one]
            words.append(ctypes.c_void_p(descriptors[-1].ctypes.data))
        elif isinstance(value, np.ndarray):
            words.append(ctypes.c_void_p(value.ctypes.data))
        elif isinstance(value, bytes):
            words.append(value)
        else:
            words.append(ctypes.byref(ctypes.c_int(value)))
    if not name.endswith(("gemm", "gsum2d")):  # these have no info
        words.append(ctypes.byref(info))
    getattr(library, name + "_")(*words, *lengths)
    if info.value < 0:
        raise ValueError(f"{name}: argument {-info.value} is not valid (info = {info.value})")
    return info.value


def _from_owner(vectors: Matrix, values: NDArray[Any], info: int) -> int:
    """Eigenvalues of a problem of one block: PDSTEDC solves it on the process of the block, others do not get them."""
    sent = np.zeros(values.size + 1, values.dtype)
    if vectors.local.size:
        sent[:-1], sent[-1] = values, info
    letter = "s" if values.dtype == np.dtype("f4") else "d"
    _call(f"{letter}gsum2d", int(vectors.desc[1]), b"A", b" ", sent.size, 1, sent, sent.size, -1, -1)
    values[:] = sent[:-1]
    return int(sent[-1])


def _pivots(a: Matrix) -> NDArray[Any]:
    return np.zeros(a.local.shape[0] + int(a.desc[4]), np.intc)


def _gesv(a: Matrix, b: Matrix) -> None:
    name = f"p{_same_type(a, b)}gesv"
    if info := _call(name, a.shape[0], b.shape[1], a, _pivots(a), b):
        raise np.linalg.LinAlgError(f"a is singular: element ({info}, {info}) of U is zero")


def _getrf(a: Matrix) -> NDArray[Any]:
    pivots = _pivots(a)
    if info := _call(f"p{_same_type(a)}getrf", *a.shape, a, pivots):
        raise np.linalg.LinAlgError(f"a is singular: element ({info}, {info}) of U is zero")
    return pivots[: a.local.shape[0]]


def _potrf(a: Matrix) -> None:
    if info := _call(f"p{_same_type(a)}potrf", b"L", a.shape[0], a):
        raise np.linalg.LinAlgError(f"a is not positive definite: its leading minor of order {info} is not")


def _eigh(a: Matrix) -> Tuple[NDArray[Any], Matrix]:
    letter = _same_type(a)
    n = a.shape[0]
    real = np.dtype("f4" if letter in "sc" else "f8")
    values = np.zeros(n, real)
    vectors = Matrix(a.name[:50] + " vectors", n, n, a.dtype, int(a.desc[4]), int(a.desc[5]))
    work, rwork, iwork = np.zeros(1, a.dtype), np.zeros(1, real), np.zeros(1, np.intc)
    sizes = [-1, -1, -1]
    try:
        for _ in range(2):  # first the sizes of the work space
            complex_part = (rwork, sizes[1]) if letter in "cz" else ()
            name = f"p{letter}{'heevd' if letter in 'cz' else 'syevd'}"
            info = _call(name, b"V", b"L", n, a, values, vectors, work, sizes[0], *complex_part, iwork, sizes[2])
            if sizes[0] > 0:
                break
            # ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors,
            # info 0
            rows, cols = vectors.local.shape
            block = int(a.desc[4])
            more = block * (2 * (rows + cols) + 3 * block) + n
            sizes = [int(np.real(work[0])) + more, int(rwork[0]) + more, max(1, int(iwork[0]))]
            work, rwork, iwork = np.zeros(sizes[0], a.dtype), np.zeros(sizes[1], real), np.zeros(sizes[2], np.intc)
        if n <= block:
            info = _from_owner(vectors, values, info)
        if info:
            raise np.linalg.LinAlgError(f"the eigenvalues do not converge (info = {info})")
    except (ValueError, np.linalg.LinAlgError):  # of info: on all processes
        vectors.free()
        raise
    return values, vectors


def _gemm(a: Matrix, b: Matrix, c: Matrix) -> None:
    letter = _same_type(a, b, c)
    one, zero = np.ones(1, a.dtype), np.zeros(1, a.dtype)
    _call(f"p{letter}gemm", b"N", b"N", *c.shape, a.shape[1], one, a, b, zero, c)


# ---- the same on arrays, as the workers carry it out


def _run(name: str, workers: int, progress: Optional[bool], *arrays: NDArray[Any]) -> Tuple[NDArray[Any], ...]:
    from ._workers import run

    if Application._current is not None:
        raise RuntimeError("an application is open, expected Matrix arguments inside one")
    return run(name, workers, progress, arrays)


def _block(shape: Tuple[int, int]) -> int:
    """Blocks of 64, smaller where a process would have none."""
    grid = Application.current().grid
    return max(1, min(64, min(shape) // max(grid.nprow, grid.npcol)))


def _on_grid(
    name: str, arrays: Tuple[Any, ...], shapes: Tuple[Tuple[int, int], ...], dtype: "np.dtype[Any]"
) -> Tuple[Optional[NDArray[Any]], ...]:
    """One of the functions above, from arrays on process 0; its results there. Collective."""
    block = _block(shapes[0])
    made: List[Matrix] = []
    try:
        for at, shape in enumerate(shapes):
            made.append(Matrix(f"argument {at}", *shape, dtype, block))
        for matrix, array in zip(made, arrays):
            matrix.from_array(array)
        return _STEPS[name](made)
    finally:
        for matrix in made:
            matrix.free()


def _solve_step(made: List[Matrix]) -> Tuple[Optional[NDArray[Any]], ...]:
    _gesv(made[0], made[1])
    return (made[1].to_array(),)


def _cholesky_step(made: List[Matrix]) -> Tuple[Optional[NDArray[Any]], ...]:
    _potrf(made[0])
    factor = made[0].to_array()
    return (None if factor is None else np.tril(factor),)


def _lu_step(made: List[Matrix]) -> Tuple[Optional[NDArray[Any]], ...]:
    a = made[0]
    mine = _getrf(a)
    rows = min(a.shape)
    pivots = Matrix("pivots", a.shape[0], 1, np.int32, int(a.desc[4]), 1)
    made.append(pivots)
    if pivots.local.shape[1]:
        pivots.local[:, 0] = mine - 1
    return a.to_array(), pivots[:rows, :].to_array()


def _eigh_step(made: List[Matrix]) -> Tuple[Optional[NDArray[Any]], ...]:
    values, vectors = _eigh(made[0])
    made.append(vectors)
    return values[:, np.newaxis], vectors.to_array()


def _matmul_step(made: List[Matrix]) -> Tuple[Optional[NDArray[Any]], ...]:
    a, b = made
    c = Matrix("product", a.shape[0], b.shape[1], a.dtype, int(a.desc[4]))
    made.append(c)
    _gemm(a, b, c)
    return (c.to_array(),)


_STEPS: Dict[str, Callable[[List[Matrix]], Tuple[Optional[NDArray[Any]], ...]]] = {
    "solve": _solve_step,
    "cholesky": _cholesky_step,
    "lu": _lu_step,
    "eigh": _eigh_step,
    "matmul": _matmul_step,
}
