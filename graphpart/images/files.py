"""Pictures, volumes and their labels as files: zarr, npy, tif, png and other formats of imageio.

An array of zarr, or a npy file, is read piece by piece; other files are read at once. For labels that are written block
by block see `label_arrays`.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import (
    FormatError,
    InvalidOption,
    InvalidProblem,
    MissingDependency,
    MissingFile,
    warn,
)
from graphpart.files.source import replacing
from graphpart.images.checks import probabilities_of
from graphpart.images.label_arrays import new_labels, publish, write_block, zarr_package

__all__ = [
    "Volume",
    "check_output",
    "is_picture",
    "is_zarr",
    "open_array",
    "read_array",
    "write_labels",
]

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif")
STACKS = (".tif", ".tiff")
WRITTEN = (".zarr", ".npy", *STACKS, ".png")
LARGEST_PNG = 65535  # largest number of segments in a picture of 16 bits


class Volume:
    """A boundary map that is read piece by piece, here or by workers.

    Parameters
    ----------
    source : path of a zarr array or npy file, or any array with a shape that can be sliced
    """

    def __init__(self, source: Any) -> None:
        self.source = os.path.abspath(os.fspath(source)) if isinstance(source, str | os.PathLike) else source
        self._array: Any = None
        array = self.array
        self.shape = tuple(int(x) for x in array.shape)
        self.name = self.source if isinstance(self.source, str) else "boundary"
        kind = np.dtype(array.dtype).kind
        if len(self.shape) not in (2, 3) or not all(self.shape):
            raise InvalidProblem(f"{self.name} has shape {self.shape}: expected a picture or a volume, of 2 or 3 axes")
        if kind not in "fb":
            bits = f"integers of {8 * np.dtype(array.dtype).itemsize} bits" if kind in "iu" else f"dtype {array.dtype}"
            raise InvalidProblem(
                f"{self.name} has {bits}: expected probabilities from 0 to 1 as floats; divide 8 bits by 255 and write "
                "them anew"
            )

    def __reduce__(self) -> tuple[type[Volume], tuple[Any]]:
        return type(self), (self.source,)

    @property
    def array(self) -> Any:
        """The array, opened where it is used."""
        if self._array is None:
            self._array = open_array(self.source) if isinstance(self.source, str) else self.source
        return self._array

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of the pieces in which it is stored, if it has any."""
        chunks = getattr(self.array, "chunks", None)
        return tuple(int(x) for x in chunks) if chunks and all(isinstance(x, int) for x in chunks) else None

    def read(self, piece: tuple[slice, ...]) -> NDArray[np.float32]:
        """A piece, checked.

        Raises
        ------
        FormatError
            If it cannot be read.
        InvalidProblem
            If a value is no probability.
        """
        at = tuple(s.start for s in piece)
        try:
            values = np.asarray(self.array[piece])
        except Exception as error:  # the exception of zarr for a truncated file depends on its codec
            text = str(error) or type(error).__name__
            raise FormatError(self.name, None, f"the block at {at} cannot be read ({text}): is it complete?") from None
        try:
            return probabilities_of(values)
        except InvalidProblem as error:
            raise InvalidProblem(f"{self.name}, block at {at}: {error}") from None


def is_zarr(path: Any) -> bool:
    """Whether a path is that of a zarr array: a folder, or its name says so."""
    return isinstance(path, str | os.PathLike) and (os.path.isdir(path) or ".zarr" in Path(path).suffixes)


def is_picture(path: Any) -> bool:
    """Whether a path is that of a picture, which is read at once."""
    return Path(os.fspath(path)).suffix.lower() in (*PICTURES, *STACKS)


def open_array(path: Any) -> Any:
    """An array of zarr or a npy file, mapped into memory."""
    text = os.fspath(path)
    if not os.path.exists(text):
        raise MissingFile(text)
    if is_zarr(text):
        zarr = zarr_package()
        try:
            array = zarr.open(text, mode="r")
        except Exception as error:
            raise FormatError(text, None, f"no zarr array ({error})") from None
        if not hasattr(array, "dtype"):
            array = _finest(array)
        if not hasattr(array, "dtype"):
            inside = ", ".join(sorted(name for name, _ in array.arrays())) or "none"
            raise FormatError(text, None, f"a group of zarr: expected an array; it has these: {inside}")
        missing = array.nchunks - array.nchunks_initialized
        if missing > 0 and array.dtype.kind == "f":  # chunks of shards that reach beyond the array count as stored
            warn(f"{text}: {missing} of {array.nchunks} chunks are not stored, and count as {array.fill_value}")
        return array
    try:
        return np.load(text, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FormatError(text, None, f"cannot be read ({error}): expected a npy file or a zarr array") from None


def _finest(group: Any) -> Any:
    """The first array of the multiscales of OME-Zarr 0.4 or 0.5, which is the finest; other groups as they are."""
    scales = group.attrs.get("ome", group.attrs).get("multiscales")
    try:
        return group[scales[0]["datasets"][0]["path"]] if scales else group
    except (KeyError, IndexError, TypeError):
        return group


def read_array(path: Any) -> NDArray[Any]:
    """A whole picture, volume or array of labels.

    Raises
    ------
    FormatError
        If it cannot be read, or the name ends in none of the known suffixes.
    """
    text = os.fspath(path)
    suffix = Path(text).suffix.lower()
    if is_zarr(text) or suffix == ".npy":
        array = open_array(text)
        try:
            return np.asarray(array[...])
        except Exception as error:
            raise FormatError(text, None, f"cannot be read ({error}): is it complete?") from None
    if suffix not in (*PICTURES, *STACKS):
        raise FormatError(text, None, "expected a picture or volume that ends in .zarr, .npy, .tif, .png or .jpg")
    if not os.path.exists(text):
        raise MissingFile(text)
    reader = _package("skimage.io", "reading pictures")
    try:
        return np.asarray(reader.imread(text))
    except Exception as error:
        raise FormatError(text, None, f"cannot be read ({str(error).splitlines()[0]})") from None


def check_output(path: Any) -> str:
    """The suffix by which labels are written; InvalidOption if it is none."""
    text = os.fspath(path)
    suffix = Path(text).suffix.lower()
    if suffix not in WRITTEN:
        raise InvalidOption(
            f"labels go to a file that ends in {', '.join(WRITTEN)}: expected one of these, not {text!r}"
        )
    folder = os.path.dirname(os.path.abspath(text))
    if not os.path.isdir(folder):
        raise InvalidOption(f"{folder} is no folder: make it before")
    return suffix


def write_labels(labels: NDArray[Any], path: Any, spacing: Sequence[float] | None = None) -> None:
    """Write labels of a picture or volume: npy, tif, OME-Zarr with the size of a voxel, or png of 16 bits."""
    suffix = check_output(path)
    if suffix == ".zarr":
        new_labels(path, labels.shape, (256,) * labels.ndim, spacing)
        try:
            write_block(path, (0,) * labels.ndim, labels)
        except BaseException:
            shutil.rmtree(os.fspath(path) + ".part", ignore_errors=True)
            raise
        publish(path)
        return
    if suffix == ".png" and (labels.ndim != 2 or labels.max(initial=0) > LARGEST_PNG):
        raise InvalidOption(f"{path}: a png file has 2 axes and up to {LARGEST_PNG} segments: expected .tif or .npy")
    with replacing(path) as stream:
        if suffix == ".npy":
            np.save(stream, labels)
        elif suffix == ".png":
            _package("PIL.Image", "writing pictures").fromarray(labels.astype(np.uint16)).save(stream, "PNG")
        else:
            tifffile = _package("tifffile", "writing tif files")
            packed = io.BytesIO()  # tifffile wants a name or memory
            tifffile.imwrite(packed, labels)
            stream.write(packed.getbuffer())


def _package(module: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependency("scikit-image", "images", purpose) from None
