"""The register map: the addresses on the AXI4-Lite bus, and the codes of commands, states and failures.

`hw/rtl/bus/register_file.v` names the same addresses and codes; a test compares the two. Addresses from 0x200
on are reserved for the parser (SCBXP, 0x200), the subscription unit (SPU, 0x400), the notification unit (NPU,
0x600) and the mode machine (0x800).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

SPAN = 0x1000  # bytes of address space that the core answers


class Register(IntEnum):
    """Addresses, in bytes; every register has 32 bits."""

    # the core and its parameters (read only)
    ID = 0x000
    VERSION = 0x004
    CRT_MODE = 0x008  # the form of the rows of the CRT: a `CrtMode`
    FILTERS = 0x00C  # entries of the CAM
    SIDS = 0x010  # t-SIDs that can be assigned: 1 … SIDS
    SUBSCRIBERS = 0x014  # rows of the contextManager memory
    LANES = 0x018  # rows tested in a cycle

    # commands
    COMMAND = 0x020  # write: a `Command`
    STATUS = 0x024  # read: `Status`, the last command's `Failure`, and which MATCH words are not zero
    TSID = 0x028  # write: the t-SID for REMOVE and OSID; read: the same, or the one that REGISTER assigned
    OSID_LOW = 0x02C  # write: the o-SID of the subscription to register; read: the o-SID of TSID, from the SMT
    OSID_HIGH = 0x030
    FILTER = 0x034  # write: one more filter of the subscription to register; read: the number of filters written
    SUBSCRIBER = 0x038  # write: the row of its subscriber in the contextManager; bit 31: it is matched in context

    # how full the tables are (read only)
    S = 0x040  # registered subscriptions
    S_MAX = 0x044
    FILTERS_USED = 0x048  # rows of the CRT in use

    # a context: four coordinates, then the row; the write to CONTEXT stores them
    X_LOW = 0x060
    X_HIGH = 0x064
    Y_LOW = 0x068
    Y_HIGH = 0x06C
    CONTEXT = 0x070  # write: the row; bit 31: it has a box

    # cycles (read only)
    MATCH_CYCLES = 0x080  # from a publication's first beat to its result
    REGISTER_CYCLES = 0x084  # of the last REGISTER or REMOVE
    INIT_CYCLES = 0x088
    CONTEXT_CYCLES = 0x08C  # of the last scan of the lanes
    PUBLICATIONS = 0x090  # matched since the last INIT

    # the result (read only): bit t of the eight words together is t-SID t
    MATCH = 0x100


WORDS = 8  # of MATCH
ID = 0x58324342  # "X2CB"
VERSION = 1
VALID = 1 << 31  # in CONTEXT and SUBSCRIBER
NO_POSITION = 0x8000_0000  # the first beat of a publication without a position


class CrtMode(IntEnum):
    """The form of the rows of the CRT: a bit for each t-SID, or the paper's 31 t-SIDs and the next row's address."""

    BITMAP = 0
    LIST = 1


class Command(IntEnum):
    """Values of COMMAND."""

    INIT = 1  # clear all tables, and drop a result that waits
    REGISTER = 2  # the subscription in OSID, FILTER and SUBSCRIBER
    REMOVE = 3  # the subscription TSID
    TAKE = 4  # the result was read: the core may accept the next publication
    DROP = 5  # drop the filters written since the last REGISTER


class Status(IntFlag):
    """Bits of STATUS."""

    BUSY = 1 << 0  # a command is running
    DONE = 1 << 1  # a result waits to be read, and is held until TAKE
    MATCHING = 1 << 2  # a publication has begun and has no result yet
    SCANNING = 1 << 3  # the lanes are scanning
    HCD = 1 << 4  # since the last INIT, a filter with 31 subscriptions got another (high commonality degree)
    CRT_FULL = 1 << 5
    SMT_FULL = 1 << 6
    REFUSED = 1 << 7  # since the last command, a write was dropped: a running command needed what it would change


FAILURE_SHIFT = 8  # of the `Failure` in STATUS
FAILURE_MASK = 0x7
NOT_ZERO_SHIFT = 24  # of the eight bits in STATUS that say which words of MATCH are not zero


class Failure(IntEnum):
    """Why the last command was refused. A refused command changes no subscription."""

    NONE = 0
    NO_FILTERS = 1
    TOO_MANY_FILTERS = 2
    SMT_FULL = 3
    CRT_FULL = 4
    NO_SUCH_TSID = 5
