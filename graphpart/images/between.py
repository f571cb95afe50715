"""Where two regions touch: a place on either side of their boundary, and a small picture of it.

The places are those of the contact that is nearest to the mean of all contacts of both regions, so they are in the
middle of the boundary; of regions that do not touch, the first place of each. The picture is a square around them: of
a volume three, across each axis. It is indexed PNG of four bits: five shades for each of the two regions and for all
else, so that a thousand pictures are 2 MB.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHADES", "picture_between", "places_between"]

SIDE = 40  # of a square, in pixels
SHADES = 5
TINTS = ((1.0, 1.0, 1.0), (1.0, 0.7, 0.25), (0.35, 0.7, 1.0))  # of all else, the left region, the right one

Places = NDArray[np.int64]


def places_between(elements: NDArray[np.int32], pairs: NDArray[np.int64]) -> Places:
    """Of each pair of elements, a place of the left one and one of the right one, shape (k, 2, axes).

    O(N) for an array of N places, and the size of the smaller region of each pair.

    Examples
    --------
    >>> places_between(np.array([[0, 0, 1, 1]] * 3), np.array([[1, 0]])).tolist()
    [[[1, 2], [1, 1]]]
    """
    from scipy.ndimage import find_objects

    boxes = find_objects(elements + 1)
    out = np.zeros((len(pairs), 2, elements.ndim), np.int64)
    for k, (a, b) in enumerate(pairs.tolist()):
        box = min(boxes[a], boxes[b], key=lambda one: np.prod([part.stop - part.start for part in one]))
        part = elements[tuple(slice(max(0, one.start - 1), one.stop + 1) for one in box)]
        found = [_contacts(part, a, b, axis) for axis in range(part.ndim)]
        contacts = np.concatenate(found, axis=1)
        if contacts.shape[1]:
            middle = contacts.mean(axis=(0, 1))
            nearest = int(np.argmin(((contacts.mean(axis=0) - middle) ** 2).sum(axis=1)))
            out[k] = contacts[:, nearest] + [max(0, one.start - 1) for one in box]
        else:
            for side, x in enumerate((a, b)):
                start = [one.start for one in boxes[x]]
                out[k, side] = np.argwhere(elements[boxes[x]] == x)[0] + start
    return out


def _contacts(part: NDArray[np.int32], a: int, b: int, axis: int) -> Places:
    """Neighbours along an axis of which one is in a and the other in b, shape (2, contacts, axes): first those in a."""
    x, y = (np.take(part, range(s, part.shape[axis] - 1 + s), axis) for s in (0, 1))
    one = np.zeros(part.ndim, np.int64)
    one[axis] = 1
    up, down = np.argwhere((x == a) & (y == b)), np.argwhere((x == b) & (y == a))
    return np.stack([np.concatenate([up, down + one]), np.concatenate([up + one, down])])


def picture_between(elements: NDArray[np.int32], shades: NDArray[np.uint8], pair: list[int], place: Places) -> bytes:
    """The surroundings of a place as PNG: the region of the left element in orange, that of the right one in blue.

    Parameters
    ----------
    elements : ndarray of int32
        The element of each place.
    shades : ndarray of uint8
        Of each place, below `SHADES`.
    pair : list of two int
    place : ndarray of int64, shape (axes,)
    """
    squares = []
    for axis in range(3) if elements.ndim == 3 else [-1]:
        window = tuple(
            slice(x, x + 1) if k == axis else slice(start := max(0, min(x - SIDE // 2, size - SIDE)), start + SIDE)
            for k, (x, size) in enumerate(zip(place.tolist(), elements.shape, strict=True))
        )
        part = elements[window]
        values = shades[window] + SHADES * (part == pair[0]) + 2 * SHADES * (part == pair[1])
        shown = values.squeeze(axis) if axis >= 0 else values
        square = np.full((SIDE, SIDE + 2), 3 * SHADES, np.uint8)
        square[: shown.shape[0], : shown.shape[1]] = shown
        squares.append(square)
    return _png(np.concatenate(squares, axis=1))


def _png(codes: NDArray[np.uint8]) -> bytes:
    """A picture of even width whose pixels are numbers of colours."""
    tones = np.linspace(40, 255, SHADES)
    palette = np.concatenate([*(np.outer(tones, tint) for tint in TINTS), [[255, 255, 255]]]).astype(np.uint8)
    packed = codes[:, ::2] << 4 | codes[:, 1::2]
    rows = np.concatenate([np.zeros((len(packed), 1), np.uint8), packed], axis=1)
    head = struct.pack(">IIBBBBB", codes.shape[1], codes.shape[0], 4, 3, 0, 0, 0)
    blocks = (
        (b"IHDR", head),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    parts = (struct.pack(">I", len(x)) + name + x + struct.pack(">I", zlib.crc32(name + x)) for name, x in blocks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
