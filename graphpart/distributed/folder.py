"""The work folder: arrays and answers of tasks, always complete, so that a run can be continued after a crash.

A task first writes its arrays, then its answer, a small JSON object. Both are written under another name, which is then
changed. So a task that has an answer is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import FormatError, InvalidOption, SolverError

__all__ = ["Folder", "Work"]

SIGNATURE = "run.json"


class Folder:
    """A folder of arrays and answers, named by stage and number.

    Parameters
    ----------
    path : str
        Reachable by all workers under the same name.

    Attributes
    ----------
    ended : callable or None
        The callback of methods in tasks that this process performs: whether the run has to end. Workers have none.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.written = 0  # bytes, by this object
        self.ended: Callable[[float, float], bool] | None = None

    def __reduce__(self) -> tuple[type[Folder], tuple[str]]:
        return type(self), (self.path,)

    def claim(self, signature: dict[str, Any]) -> None:
        """Make the folder, or check by this signature that it contains the same run.

        Raises
        ------
        InvalidOption
            If it contains another run, or other files.
        """
        os.makedirs(self.path, exist_ok=True)
        file = os.path.join(self.path, SIGNATURE)
        wanted = json.loads(json.dumps(signature))
        found: dict[str, Any] = {}
        if os.path.exists(file):
            with open(file, "rb") as stream:
                found = json.loads(stream.read())
        elif os.listdir(self.path):
            raise InvalidOption(f"work folder {self.path} is not empty, and no run of graphpart: name another one")
        for name, value in wanted.items():
            if found.get(name, value) != value:
                raise InvalidOption(
                    f"work folder {self.path} holds a run with another {name}: name another folder, or remove it"
                )
        if found != found | wanted:
            self._write(file, json.dumps(found | wanted).encode())

    def answer(self, stage: str, number: int) -> Any:
        """The answer of a task; None if it is not done."""
        try:
            with open(self._file(stage, f"{number}.json"), "rb") as stream:
                return json.loads(stream.read())
        except FileNotFoundError:
            return None

    def done(self, stage: str, number: int, answer: Any) -> Any:
        """Record that a task is done; return its answer in the form in which it will be read."""
        text = json.dumps(answer)
        self._write(self._file(stage, f"{number}.json"), text.encode())
        return json.loads(text)

    def save(self, stage: str, name: str, array: NDArray[Any]) -> None:
        """Write an array."""
        file = self._file(stage, f"{name}.npy")
        self._replace(file, lambda stream: np.save(stream, np.ascontiguousarray(array)))

    def load(self, stage: str, name: str, mapped: bool = True) -> NDArray[Any]:
        """An array, mapped into memory or read."""
        file = self._file(stage, f"{name}.npy")
        try:
            array: NDArray[Any] = np.load(file, mmap_mode="r" if mapped else None, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise FormatError(file, None, f"cannot be read ({error}): remove the work folder and begin anew") from None
        return array

    def remove(self, stage: str) -> None:
        """Remove the arrays of a stage, but not its answers."""
        folder = os.path.join(self.path, stage)
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if name.endswith(".npy"):
                    os.unlink(os.path.join(folder, name))

    def forget(self, stage: str) -> None:
        """Remove the arrays and answers of a stage, which is then performed again."""
        shutil.rmtree(os.path.join(self.path, stage), ignore_errors=True)

    def delete(self) -> None:
        """Remove it all. Under another name first: a worker that still writes finds no folder."""
        with contextlib.suppress(OSError):
            os.rename(self.path, self.path + ".removed")
        for path in (self.path, self.path + ".removed"):
            shutil.rmtree(path, ignore_errors=True)

    def size(self) -> int:
        """Bytes of all files."""
        return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.path) for name in names)

    def _file(self, stage: str, name: str) -> str:
        return os.path.join(self.path, stage, name)

    def _write(self, file: str, data: bytes) -> None:
        self._replace(file, lambda stream: stream.write(data))

    def _replace(self, file: str, fill: Any) -> None:
        """Write under another name first, so that a file is never incomplete. Two writers of one file do no harm."""
        if not os.path.isdir(self.path):  # removed, while a worker repeats a task that is no longer needed
            raise SolverError(f"work folder {self.path} is not there: expected a folder that all workers can reach")
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(file))
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(file), suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                fill(stream)
                self.written += stream.tell()
            os.replace(temporary, file)
        except OSError as error:
            _unlink(temporary)
            raise SolverError(
                f"{file} cannot be written ({error.strerror or error}): the work folder keeps what is done; "
                "make room and run again with the same work folder"
            ) from None
        except BaseException:
            _unlink(temporary)
            raise


class Work(NamedTuple):
    """A task as its function sees it: the work folder, the stage of the task, and its number within the stage."""

    folder: Folder
    stage: str
    number: int

    def save(self, name: str, array: NDArray[Any]) -> None:
        """Write an array of this stage."""
        self.folder.save(self.stage, name, array)


def _unlink(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
