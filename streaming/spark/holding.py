"""The worker that holds the state of a shard, and how the other workers of its executor reach it.

The matchable form of a state is a cache in the Python worker that built it. Spark hands a batch to any idle worker; a
worker that does not hold the shard passes the batch on to the one that does, over a Unix socket in a folder of this
user, and gets the answer back. A token guards every copy: it must be the last one written to Spark's state, whichever
attempt, executor or restart wrote it. A copy with another token is dropped.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import tempfile
import threading
import uuid
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import NamedTuple, TypeAlias

from silbo.streaming.bulk.garbage import settle
from silbo.streaming.bulk.packed_step import Answer, Sizes, packed_step
from silbo.streaming.bulk.step import State
from silbo.wire.values import packed, unpacked

log = logging.getLogger("silbo")

CACHED = 64  # states that one worker holds at most
MARKER = "silbo.workers"  # the file that marks a folder as created by silbo

Key: TypeAlias = tuple[str, int]  # the identity of a job's state, and the shard

_states: dict[Key, tuple[str, State, int]] = {}  # the token written last, the state, its stored bytes
_lock = threading.Lock()  # guards the states; a thread that works on one has taken it out
_listening: list[Path] = []  # the socket of this process, once it has one


class Request(NamedTuple):
    """A batch for the worker that holds the state with `token`; afterwards the state has `new_token`."""

    identity: str  # of a job's state
    shard: int
    token: str
    new_token: str  # unique to this write: another attempt has another token
    chunks: Sequence[bytes]
    sizes: Sequence[int]

    @property
    def key(self) -> Key:
        """The key of the state."""
        return self.identity, self.shard


def match_batch(
    key: Key, token: str, chunks: Sequence[bytes], sizes: Sizes, restore: Callable[[], State]
) -> tuple[Answer, str, bool]:
    """Match a batch in the worker that holds the state, or here with the restored state.

    Returns the answer, the token to store with it, and whether a worker held the state.
    """
    request = Request(*key, token, uuid.uuid4().hex, chunks, sizes)
    answer = _from_this_worker(request) or _from_another_worker(request)
    if answer is not None:
        return answer, request.new_token, True
    answer = _match(request, restore())
    _announce(key)
    return answer, request.new_token, False


def _from_this_worker(request: Request) -> Answer | None:
    """The answer of this process, or None if it does not hold the state with this token."""
    with _lock:
        token, state, _ = _states.pop(request.key, (None, None, 0))
    return None if state is None or token != request.token else _match(request, state)


def _match(request: Request, state: State) -> Answer:
    """Match a batch in this process, which then holds the new state."""
    answer = packed_step(state, request.chunks, Sizes(*request.sizes))
    with _lock:
        while len(_states) >= CACHED:  # the least recently used: its job has probably ended
            _states.pop(next(iter(_states)))
        _states[request.key] = request.new_token, state, _bytes_after(request, answer)
        settle(sum(size for _, _, size in _states.values()))
    return answer


def _bytes_after(request: Request, answer: Answer) -> int:
    """The bytes that Spark stores for the state now, as an estimate of its size in memory."""
    if answer.snapshot is not None:
        return sum(map(len, answer.snapshot))
    sizes = Sizes(*request.sizes)
    return sizes.snapshot_bytes + sizes.delta_bytes + len(answer.delta)


# between the workers of one executor


def _from_another_worker(request: Request) -> Answer | None:
    """The answer of another worker, or None if no other worker holds the state."""
    try:
        with Client(str(_announced(request.key)), "AF_UNIX") as holder:
            holder.send_bytes(packed(request))
            answer = unpacked(holder.recv_bytes())
    except (OSError, EOFError):  # no worker is there, or it died: the state is rebuilt
        return None
    return None if answer is None else Answer(*answer)


def _folder() -> Path:
    """The folder for the workers of one executor, which have the same parent process; no other user may enter it."""
    folder = Path(tempfile.gettempdir()) / f"silbo-workers-{os.getuid()}-{os.getppid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    (folder / MARKER).touch()
    return folder


def _announced(key: Key) -> Path:
    return _folder() / f"{key[0]}-{key[1]}"


def _announce(key: Key) -> None:
    """Let the other workers find this process; if that fails, each worker has its own copy of the state."""
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
    path.unlink(missing_ok=True)  # of an earlier process with this pid
    listener = Listener(str(path), "AF_UNIX")
    _listening.append(path)
    threading.Thread(target=_serve, args=(listener,), name="silbo-holding", daemon=True).start()


def _sweep() -> None:
    """Remove the marked folders of executors that have ended, and the sockets and links in them."""
    for folder in Path(tempfile.gettempdir()).glob(f"silbo-workers-{os.getuid()}-*"):
        with contextlib.suppress(OSError):  # another worker removes it too, or it holds other files
            if _is_abandoned(folder):
                for path in folder.iterdir():
                    if path.is_symlink() or path.is_socket():
                        path.unlink()
                (folder / MARKER).unlink()
                folder.rmdir()


def _is_abandoned(folder: Path) -> bool:
    """Whether `_folder` created it, in an executor of this user that has ended."""
    number = folder.name.rpartition("-")[2]
    is_own = not folder.is_symlink() and folder.stat().st_uid == os.getuid() and (folder / MARKER).is_file()
    return is_own and re.fullmatch("[1-9][0-9]{0,8}", number) is not None and not _is_alive(int(number))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _serve(listener: Listener) -> None:
    """Answer requests as long as the process lives: a worker must not wait for a thread that has ended."""
    while True:
        try:
            with listener.accept() as asking:
                _answer(asking)
        except (OSError, EOFError):  # the asking worker has ended
            pass
        except Exception:  # the asking worker gets no answer, rebuilds the state, and gets the error itself
            log.exception("a batch that was passed on could not be matched")


def _answer(asking: Connection) -> None:
    asking.send_bytes(packed(_from_this_worker(Request(*unpacked(asking.recv_bytes())))))
