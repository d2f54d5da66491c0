"""Who holds the state of a shard: one of an executor's Python workers, whichever of them Spark asks next.

The state that can be matched is a cache in the worker that made it. Spark hands a batch to any idle worker; one
that does not hold the shard passes the batch on to the one that does, over a Unix socket in a folder of this user,
and gets the answer back. A token guards every copy: it must be the one that was written to Spark's state last,
whichever attempt, executor or restart wrote it. A copy that fails this is thrown away.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import NamedTuple, TypeAlias

from silbo.streaming.collector import settle
from silbo.streaming.records import packed, unpacked
from silbo.streaming.shard import Answer, Sizes, advance
from silbo.streaming.step import State

log = logging.getLogger("silbo")

CACHED = 64  # states in one worker

Key: TypeAlias = tuple[str, int]  # the identity of a job's state, and the shard

_states: dict[Key, tuple[str, State, int]] = {}  # the token of what was written last, the state, its bytes there
_lock = threading.Lock()  # of the states: who works on one has taken it out
_listening: list[Path] = []  # the socket of this process, once it has one


class Request(NamedTuple):
    """A batch for whoever holds the state of the token; then it will be the state of the new token."""

    identity: str  # of a job's state
    shard: int
    token: str
    new_token: str  # of this write alone, should it be tried again
    chunks: Sequence[bytes]
    sizes: Sequence[int]

    @property
    def key(self) -> Key:
        """Of the state."""
        return self.identity, self.shard


def advanced(
    key: Key, token: str, chunks: Sequence[bytes], sizes: Sizes, restore: Callable[[], State]
) -> tuple[Answer, str, bool]:
    """A batch's answer, the token to be written with it, and whether somebody held the state."""
    request = Request(*key, token, uuid.uuid4().hex, chunks, sizes)
    found = _here(request) or _elsewhere(request)
    if found is not None:
        return found, request.new_token, True
    answer = _advance(request, restore())
    _announce(key)
    return answer, request.new_token, False


def _here(request: Request) -> Answer | None:
    """The answer of this process, if it holds the state of the token."""
    with _lock:
        token, state, _ = _states.pop(request.key, (None, None, 0))
    return None if state is None or token != request.token else _advance(request, state)


def _advance(request: Request, state: State) -> Answer:
    answer = advance(state, request.chunks, Sizes(*request.sizes))
    with _lock:
        while len(_states) >= CACHED:  # of jobs that ended, the oldest first
            _states.pop(next(iter(_states)))
        _states[request.key] = request.new_token, state, _bytes_after(request, answer)
        settle(sum(size for _, _, size in _states.values()))
    return answer


def _bytes_after(request: Request, answer: Answer) -> int:
    """What Spark keeps of the state now, which is as good a measure of it as any."""
    if answer.snapshot is not None:
        return sum(map(len, answer.snapshot))
    sizes = Sizes(*request.sizes)
    return sizes.snapshot_bytes + sizes.delta_bytes + len(answer.delta)


# between the workers of one executor


def _elsewhere(request: Request) -> Answer | None:
    """The answer of another worker, if one holds the state."""
    try:
        with Client(str(_announced(request.key)), "AF_UNIX") as there:
            there.send_bytes(packed(request))
            answer = unpacked(there.recv_bytes())
    except (OSError, EOFError):  # nobody is there, or died at it: the state is made anew
        return None
    return None if answer is None else Answer(*answer)


def _folder() -> Path:
    """For the workers of one executor, who have one parent; nobody else may enter it."""
    folder = Path(tempfile.gettempdir()) / f"silbo-{os.getuid()}-{os.getppid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is somebody else's")
    return folder


def _announced(key: Key) -> Path:
    return _folder() / f"{key[0]}-{key[1]}"


def _announce(key: Key) -> None:
    """Let the others find this process; where that cannot be, each has its own copy."""
    with contextlib.suppress(OSError):
        if not _listening:
            _listen()
        link = _announced(key)
        partial = link.with_suffix(f".{os.getpid()}")
        partial.symlink_to(_listening[0])
        partial.rename(link)


def _listen() -> None:
    _sweep()
    path = _folder() / f"{os.getpid()}.socket"
    path.unlink(missing_ok=True)  # of an earlier process with this number
    listener = Listener(str(path), "AF_UNIX")
    _listening.append(path)
    threading.Thread(target=_serve, args=(listener,), name="silbo-holding", daemon=True).start()


def _sweep() -> None:
    """Take away what executors left behind that are no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"silbo-{os.getuid()}-*"):
        if not _is_alive(int(folder.name.rpartition("-")[2])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _serve(listener: Listener) -> None:
    """For as long as the process lives: whoever asks must not wait for a thread that is no more."""
    while True:
        try:
            with listener.accept() as asking:
                _answer(asking)
        except (OSError, EOFError):  # who asked has gone
            pass
        except Exception:  # who asked hears nothing, makes the state anew, and meets the error itself
            log.exception("a batch that was passed on could not be matched")


def _answer(asking: Connection) -> None:
    asking.send_bytes(packed(_here(Request(*unpacked(asking.recv_bytes())))))
