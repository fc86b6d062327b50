# SPDX-License-Identifier: BSD-3-Clause
"""Matrices that follow the grid, as numpy arrays."""

import ctypes
from types import TracebackType
from typing import Any, Optional, Tuple, Type, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._application import Application
from ._library import Status, Transfer, check, encoded, library

_LETTERS = {"f4": b"s", "f8": b"d", "c8": b"c", "c16": b"z", "i4": b"i"}
_Index = Union[int, slice]


def _letter(dtype: "np.dtype[Any]") -> bytes:
    letter = _LETTERS.get(dtype.kind + str(dtype.itemsize)) if dtype.isnative else None
    if letter is None:
        raise TypeError(f"dtype is {dtype}, expected float32, float64, complex64, complex128 or int32")
    return letter


def _element(value: complex, dtype: "np.dtype[Any]", what: str) -> NDArray[Any]:
    """A number as an array of one element."""
    given = np.asarray(value)
    if given.ndim != 0 or given.dtype.kind not in "biufc" or not np.can_cast(given.dtype, dtype, "same_kind"):
        raise TypeError(f"{what} is {value!r}, expected a number of dtype {dtype}")
    return given.astype(dtype).reshape(1)


class Matrix:
    """An m x n matrix in mb x nb blocks on the current grid; it follows every change.

    Args:
        name: at most 63 characters, each used once.
        m, n: rows and columns.
        dtype: float64 (default), float32, complex128, complex64 or int32.
        mb, nb: rows and columns of a block; 64 without them, and nb is mb.

    All elements are zero. Collective. On a process that joins it declares the matrix, whose content comes at the first
    resize point.

    Raises:
        TypeError: not one of these types.
        Error: sizes or blocks below 1, a name in use, processes that differ.
    """

    def __init__(
        self, name: str, m: int, n: int, dtype: DTypeLike = np.float64, mb: int = 64, nb: Optional[int] = None
    ) -> None:
        self._app = Application.current()
        self.name = name
        self.shape: Tuple[int, int] = (m, n)
        self.dtype = np.dtype(dtype)
        self._handle = ctypes.c_void_p()
        letter = _letter(self.dtype)
        check(
            library.dyngrid_matrix_create(
                encoded(name, "the name of a matrix"), letter, m, n, mb, mb if nb is None else nb,
                ctypes.byref(self._handle),
            )
        )  # fmt: skip

    def free(self) -> None:
        """Ends the matrix. Collective; a second call does nothing."""
        check(library.dyngrid_matrix_free(ctypes.byref(self._handle)))

    def __enter__(self) -> "Matrix":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if value is None:  # otherwise the other processes may not come
            self.free()

    def __repr__(self) -> str:
        return f"Matrix({self.name!r}, {self.shape[0]}, {self.shape[1]}, {self.dtype})"

    # ---- this process's part

    @property
    def local(self) -> NDArray[Any]:
        """The local array, a view in column-major order; empty outside the grid. Ask for it again after a change."""
        rows, cols, lld = (ctypes.c_int64() for _ in range(3))
        check(library.dyngrid_matrix_shape(self._handle, *(ctypes.byref(value) for value in (rows, cols, lld))))
        address = library.dyngrid_local(self._handle)
        if not address or rows.value <= 0 or cols.value <= 0:
            return np.empty((max(rows.value, 0), max(cols.value, 0)), self.dtype, order="F")
        size = self.dtype.itemsize
        memory = (ctypes.c_char * (lld.value * cols.value * size)).from_address(address)
        return np.frombuffer(memoryview(memory), self.dtype).reshape((lld.value, cols.value), order="F")[: rows.value]

    @property
    def desc(self) -> NDArray[Any]:
        """ScaLAPACK's descriptor, a copy: int32, 9 elements, more of a matrix by a rule. Ask again after a change."""
        address = library.dyngrid_desc(self._handle)
        if not address:
            check(Status.UNSUPPORTED)  # too many sizes for one
        length = 9 if address[0] == 1 else 9 + address[4] + address[5]
        return np.array(address[:length], np.intc)

    @property
    def indices(self) -> Tuple[NDArray[Any], NDArray[Any]]:
        """Global rows of the local array as a column and its global columns as a row, from 0.

        ``a.local[:] = f(*a.indices)`` fills the local part of a matrix with the elements f(i, j).
        """
        desc = self.desc
        grid = self._app.grid
        row_sizes = desc[4:5] if desc[0] == 1 else desc[9 : 9 + desc[4]]
        col_sizes = desc[5:6] if desc[0] == 1 else desc[9 + desc[4] :]
        rows = _global_indices(self.shape[0], row_sizes, grid.nprow, grid.myrow, int(desc[6]))
        cols = _global_indices(self.shape[1], col_sizes, grid.npcol, grid.mycol, int(desc[7]))
        return rows[:, np.newaxis], cols[np.newaxis, :]

    # ---- with another matrix

    def add(self, alpha: complex, a: "Matrix", beta: complex = 1, op: str = "N") -> None:
        """Makes this matrix alpha op(a) + beta times itself, in one pass. Collective.

        Args:
            alpha, beta: numbers, the same on all processes; whole ones for int32, which is calculated modulo 2^32.
            a: a matrix of the same dtype, however it lies; nothing of it is read when alpha is 0.
            beta: with 0 nothing of this matrix is read.
            op: "N" for a, "T" for its transpose, "C" for its conjugate transpose.

        Raises:
            TypeError: alpha or beta is no number of the dtype.
            ValueError: op is not one letter.
            Error: shapes or types differ, another op, `a` is this matrix, processes that differ.
        """
        if not isinstance(op, str) or len(op) != 1 or not op.isascii():
            raise ValueError(f"op is {op!r}, expected 'N', 'T' or 'C'")
        factors = [_element(value, self.dtype, what) for value, what in ((alpha, "alpha"), (beta, "beta"))]
        check(
            library.dyngrid_add(op.encode(), factors[0].ctypes.data, a._handle, factors[1].ctypes.data, self._handle)
        )

    # ---- the whole, on one process

    def __getitem__(self, index: Tuple[_Index, _Index]) -> "Window":
        """A rectangle: ``a[2:5, :].to_array()``. Local.

        Raises:
            IndexError: outside the matrix.
            ValueError: a step other than 1.
        """
        if not isinstance(index, tuple) or len(index) != 2:
            raise IndexError(f"index is {index!r}, expected one for rows and one for columns: a[2:5, :]")
        first_row, rows = _range(index[0], self.shape[0], "rows")
        first_col, cols = _range(index[1], self.shape[1], "columns")
        return Window(self, first_row, first_col, rows, cols)

    def to_array(self, root: int = 0) -> Optional[NDArray[Any]]:
        """The whole matrix as an array in column-major order on process `root`, None on the others. Collective.

        root: a rank of the grid, counted row by row.
        """
        return self[:, :].to_array(root)

    def from_array(self, array: Optional[NDArray[Any]], root: int = 0) -> None:
        """Fills the matrix from an array on process `root`; what the others give is not looked at. Collective.

        An array in row-major order is copied once on `root`.

        Raises:
            ValueError: another shape or type than the matrix's, on all processes.
        """
        self[:, :].from_array(array, root)


class Window:
    """A rectangle of a matrix, which `Matrix.__getitem__` makes; good as long as the matrix."""

    def __init__(self, matrix: Matrix, first_row: int, first_col: int, rows: int, cols: int) -> None:
        self.matrix = matrix
        self.first_row, self.first_col = first_row, first_col
        self.shape = (rows, cols)

    def to_array(self, root: int = 0) -> Optional[NDArray[Any]]:
        """The rectangle as an array in column-major order on process `root`, None on the others. Collective."""
        here = self._is_here(root)
        array = None
        error = None
        if here:
            try:
                array = np.empty(self.shape, self.matrix.dtype, order="F")
            except MemoryError:
                error = f"no memory for {self.shape[0]} x {self.shape[1]} elements of {self.matrix!r}"
        self.matrix._app._agree(error)
        self._move(array, root, is_out=True)
        return array

    def from_array(self, array: Optional[NDArray[Any]], root: int = 0) -> None:
        """Fills the rectangle from an array on process `root`. Collective; as Matrix.from_array."""
        error = None
        given = None
        if self._is_here(root):
            if not isinstance(array, np.ndarray):
                error = f"the array is a {type(array).__name__}, expected a numpy array"
            elif array.shape != self.shape:
                error = f"the array is {_by(array.shape)}, expected {_by(self.shape)} as {self.matrix!r} has"
            elif array.dtype != self.matrix.dtype:
                error = (
                    f"the array has dtype {array.dtype}, expected {self.matrix.dtype} as {self.matrix!r} has: "
                    f"array.astype({str(self.matrix.dtype)!r})"
                )
            else:
                try:
                    given = np.asfortranarray(array)
                except MemoryError:
                    error = f"no memory for a copy of {_by(array.shape)} elements of {self.matrix!r} by columns"
        self.matrix._app._agree(error)
        self._move(given, root, is_out=False)

    def _is_here(self, root: int) -> bool:
        grid = self.matrix._app.grid
        if not 0 <= root < grid.nprow * grid.npcol:
            raise ValueError(f"root is {root}, expected 0 to {grid.nprow * grid.npcol - 1}, a process of the grid")
        return grid.myrow * grid.npcol + grid.mycol == root

    def _move(self, array: Optional[NDArray[Any]], root: int, is_out: bool) -> None:
        """Between the matrix and one process that has the rectangle alone. Collective."""
        matrix, app = self.matrix, self.matrix._app
        rows, cols = self.shape
        if rows == 0 or cols == 0:
            return
        grid = app.grid
        local = matrix.local
        desc = matrix.desc
        spread, alone, plan = (ctypes.c_void_p() for _ in range(3))
        try:
            check(library.dyngrid_layout_create(desc.ctypes.data, grid.nprow, grid.npcol, None, ctypes.byref(spread)))
            row, col, owner = (np.array([value], np.int64) for value in (rows, cols, 0))
            zero, rank = (np.array([value], np.intc) for value in (0, root))
            check(
                library.dyngrid_layout_create_block_list(
                    rows, cols, 1, row.ctypes.data, zero.ctypes.data, 1, col.ctypes.data, zero.ctypes.data, 1, 1,
                    rank.ctypes.data, ctypes.byref(alone),
                )
            )  # fmt: skip
            ends = [(spread, self.first_row, self.first_col), (alone, 0, 0)]
            source, target = ends if is_out else reversed(ends)
            size = matrix.dtype.itemsize
            check(
                library.dyngrid_plan_create_window(*source, *target, rows, cols, b"N", 0, size, ctypes.byref(plan))
            )
            here = (local.ctypes.data if local.size else None, max(1, local.strides[1] // size if local.size else 1))
            there = (None if array is None else array.ctypes.data, rows)
            pair = [here, there] if is_out else [there, here]
            app._exchange(Transfer(plan, *pair[0], *pair[1], _letter(matrix.dtype)))
        finally:
            library.dyngrid_plan_destroy(ctypes.byref(plan))
            library.dyngrid_layout_destroy(ctypes.byref(alone))
            library.dyngrid_layout_destroy(ctypes.byref(spread))


def _range(index: _Index, length: int, what: str) -> Tuple[int, int]:
    """First and number of rows or columns that an index stands for."""
    if isinstance(index, slice):
        if index.step not in (None, 1):
            raise ValueError(f"the step of the {what} is {index.step}, expected 1")
        for bound in (index.start, index.stop):
            if bound is not None and not -length <= bound <= length:
                raise IndexError(f"{what} {index.start}:{index.stop} are outside the matrix, which has {length}")
        first, end, _ = index.indices(length)
        return first, max(0, end - first)
    if not -length <= index < length:
        raise IndexError(f"{what} {index} is outside the matrix, which has {length}")
    return int(index) % length, 1


def _global_indices(length: int, sizes: NDArray[Any], processes: int, mine: int, source: int) -> NDArray[Any]:
    """Of one axis: the indices on position `mine`. Block j, of sizes[j mod len], lies on (source + j) mod processes."""
    if mine < 0 or length == 0:
        return np.empty(0, np.int64)
    blocks = -(-length // max(1, int(sizes.sum()))) * len(sizes)
    ends = np.minimum(np.cumsum(np.resize(sizes, blocks).astype(np.int64)), length)
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    own = np.arange((mine - source) % processes, blocks, processes)
    ranges = [np.arange(begins[j], ends[j]) for j in own]
    return np.concatenate(ranges) if ranges else np.empty(0, np.int64)


def _by(shape: Tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
