"""The layout of the arrays that kernels share: fields, strides and codes, all plain integers.

Everything is stored in 8-byte words (floats are accessed through a second view of the same memory, bytes of
strings through a third) or in records of 4-byte fields. A **scalar** is three words: `meta`, a payload
(a double's bits, or a string's hash) and the span of a string's bytes (offset, length). The meta word
is that of `silbo.context.scalars`: an id in bits 0-31, a kind (or an operator) in 32-39, flags, the residue.
"""

from __future__ import annotations

from silbo.context.cells import CELL_WORDS, MOVED, TRACKED, VALUES, WRITES
from silbo.context.scalars import ABSENT, BOOL, FLAGS, INT, KIND, NUMBER, RESIDUE, SET, SHAPE, STRING
from silbo.language.evaluation import EARTH_RADIUS as EARTH

TRUTH = 6  # a kind of value that occurs only on a program's stack

# truths; `MAYBE` means that a kernel cannot decide, and Python must
FALSE, TRUE, UNKNOWN, MAYBE = 0, 1, 2, 3

# state: one word each
EVENTS = 0  # publications matched so far
OUT = 1  # hits in `out`
CONJUNCTIONS = 2  # slots of `conjunctions` in use, free ones included
FREE_CONJUNCTION = 3  # the first in the chain of free slots, or -1
LISTS = 4
FREE_LIST = 5
KEYS = 6  # keys in the hash table
POSTINGS = 7  # the end of the used part of `postings`
POSTINGS_LIVE = 8  # postings of it that are in lists
WORDS = 9  # the end of the used part of `words`
WORDS_DEAD = 10  # words of it in blocks that were released
CANDIDATES = 11  # postings that passed signature and interval, in total
VISITED = 12  # postings read, in total
TESTED, PASSED = 13, 14  # candidates whose constraints were checked, and those that passed
LAST_ROW, LAST_PROGRAM, LAST_TRUTH = 15, 16, 17  # the last evaluation of a program
FAMILIES = 18
LIVE = 19  # conjunctions in the index
HALTED = 20  # where `run` stopped in the stream
NEEDED = 21  # postings or words that the array to grow needs room for
DRAWN = 22  # the state of the survey's random numbers
PUBLICATIONS = 23  # publications matched by this run so far
WIDTH = 24  # families that a row has places for
COLUMNS = 25  # columns of the context cells
SEEN = 26  # publications over which A_SEEN of the attributes was counted
SEED = 27  # the seed of the keys
STAGE = 28  # where a match stops
STATE = 32

# the stages of a match. Only measurements stop early: after the candidates are collected, after the first of a
# candidate's two checks (function and constraints, in the order of the plan), or after both, without the survey
WHOLE, COLLECT, FIRST_CHECK, BOTH_CHECKS = 0, 1, 2, 3

# the status that a kernel returns: done, paused, or which array must grow before the call is repeated
DONE, PAUSED, GROW_POSTINGS, GROW_KEYS, GROW_LISTS, GROW_WORDS, GROW_CONJUNCTIONS, GROW_OUT = 0, 1, 2, 3, 4, 5, 6, 7

# a posting, in words: the signature of the attributes it needs, the interval that its access attribute's
# number must lie in, conjunction and context row, program + 1 (0: no function) with flags and the number of
# constraints, the block's first word and the subscription. It holds all that a candidate needs first, so that a
# candidate costs one memory access. A posting in a grid's cell holds a row's position (P_LOW, P_HIGH), the row's own
# list and the row (P_WHO), and the family (P_PROGRAM).
POSTING = 6
P_SIGNATURE, P_LOW, P_HIGH, P_WHO, P_PROGRAM, P_BLOCK = 0, 1, 2, 3, 4, 5
CELL = 1 << 32  # flag in P_PROGRAM: a posting in a grid's cell; the bits below it hold the family
EXACT = 1 << 33  # the interval is equivalent to the only constraint, for numbers without a residue
MULTIPLE = 1 << 34  # the subscription has other conjunctions
P_COUNT = 40  # shift: the number of constraints

# a list of postings, in words
LIST = 6
# L_SEEN: the last publication that collected it; L_WHAT: the way of access and the attribute of its first posting
L_START, L_COUNT, L_CAPACITY, L_KEY, L_SEEN, L_WHAT = 0, 1, 2, 3, 4, 5

# a conjunction, in 4-byte fields
CONJUNCTION = 8
C_FIRST, C_COUNT, C_SIZE, C_SUBSCRIPTION, C_LIST, C_PLACE, C_NEXT, C_ACCESS = 0, 1, 2, 3, 4, 5, 6, 7

# a subscription, in 4-byte fields
SUBSCRIPTION = 4
S_HEAD, S_ROW, S_PROGRAM, S_COUNT = 0, 1, 2, 3

# an attribute, in 4-byte fields: its place in the current message, the number of postings for each way of access
ATTRIBUTE = 16
A_SLOT, A_ANY, A_NUMBER, A_STRING, A_EQUAL, A_PREFIX, A_SUFFIX, A_GRAM = 0, 1, 2, 3, 4, 5, 6, 7
# lengths in use, as bits; the number of messages that had it, the number of constraints that name it
A_PREFIXES, A_SUFFIXES, A_GRAMS, A_SEEN, A_NAMED = 8, 9, 10, 11, 12

# ways of access, as part of a key; those below 8 are the fields of an attribute
ALWAYS, ROW, GRID, EVERYWHERE = 16, 17, 18, 19

# a program, in 4-byte fields
PROGRAM = 8
R_FIRST, R_SIZE, R_FAMILY, R_EARLY, R_TRIED, R_HELD, R_WORDS = 0, 1, 2, 3, 4, 5, 6  # R_WORDS: size of the whole block

# a family of functions that share a grid, in words
FAMILY = 16
F_ACTIVE, F_GEO, F_PUB_X, F_THIS_X, F_PUB_Y, F_THIS_Y = 0, 1, 2, 3, 4, 5
F_CELL, F_REACH = 6, 7  # doubles
F_SAMPLED, F_BY_CONTENT, F_BY_CONTEXT = 9, 10, 11  # counts of the survey
F_WALKS, F_WALKED, F_LOOKED = 12, 13, 14  # walks over the grid; conjunctions found, and cells and rows read, in them

# a context row's place in a family's grid, in 4-byte fields: the cell's list and the
# place in it, the row's own list and how many conjunctions of the family it has
PLACE = 4
W_LIST, W_PLACE, W_OWN, W_COUNT = 0, 1, 2, 3

# a constraint is two words: a meta word whose kind is an operator, and a payload: a double, a mask of bools, or
# the span of a list (words) or of a text (bytes) later in the block; the word before a text is its hash
CONSTRAINT = 2
EXISTS, MISSING = 1, 2
N_EQ, N_NE, N_LT, N_LE, N_GT, N_GE, N_IN, N_NOT_IN = 8, 9, 10, 11, 12, 13, 14, 15
B_IN = 16  # bit 0 admits false, bit 1 admits true
S_EQ, S_NE, S_LT, S_LE, S_GT, S_GE, S_IN, S_NOT_IN = 24, 25, 26, 27, 28, 29, 30, 31
S_BEGINS, S_ENDS, S_HOLDS, S_NOT_BEGINS, S_NOT_ENDS, S_NOT_HOLDS = 32, 33, 34, 35, 36, 37

LONGEST_KEY = 32  # bytes of a prefix or suffix that are hashed
GRAM = 3  # bytes of a part that are hashed

# a program's instructions, three words each: code in bits 0-7, kind in 8-15, residue in 16-31, argument in 32-63;
# a payload; a span or a second argument
CONSTANT, PUB, MSG, THIS = 1, 2, 3, 4
NEGATIVE, ADD, SUBTRACT, MULTIPLY, DIVIDE, ABS, MIN, MAX, SQRT, DISTANCE, GEO_DISTANCE = (
    10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
)  # fmt: skip
COMPARE, PATTERN, IN_LIST, IN_SET, PRESENT, IS_TRUE, SPATIAL, POINT, LITERAL = 30, 31, 32, 33, 34, 35, 36, 37, 38
NOT, AND, OR, REQUIRE = 40, 41, 42, 43
WITHIN_SPAN, SHIFTED, WITHIN_DISTANCE, WITHIN_GEO = 50, 51, 52, 53  # whole clauses of boxes, at the top of a function
EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5
BEGINS, ENDS, HOLDS = 0, 1, 2

# a value on the stack, in words: kind, payload, residue, which buffer holds the bytes, offset, length; the offset
# of a shape is that of its bounds, or its buffer is -1 and it is a point with x as payload and y as residue
VALUE = 8
V_KIND, V_PAYLOAD, V_RESIDUE, V_BUFFER, V_OFFSET, V_LENGTH = 0, 1, 2, 3, 4, 5
STREAM_BYTES, WORD_BYTES, HEAP_BYTES = 0, 1, 2
DEPTH = 512  # values: no permitted function needs more

# a list collected for a message, in words: its first posting, its count, the message's number for its attribute
SLICE = 3
M_START, M_COUNT, M_NUMBER = 0, 1, 2

# events in a stream: two words of head, then scalars, then bytes
PUBLISH, SET_CONTEXT = 1, 2
HEAD = 2
SCALAR = 3

# re-exported from the layout of contexts
__all__ = [
    "ABSENT", "BOOL", "CELL_WORDS", "EARTH", "FLAGS", "INT", "KIND",
    "MOVED", "NUMBER", "RESIDUE", "SET", "SHAPE", "STRING", "TRACKED", "VALUES", "WRITES",
]  # fmt: skip
