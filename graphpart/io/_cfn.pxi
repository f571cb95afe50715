"""The words of a cost function network of toulbar2, and the loop over its functions.

Words, braces and brackets are cut out of blocks of bytes as these arrive, so only one block is in memory. Costs are
appended to one growing C array. Its size follows the data read so far, not sizes that the file announces. The only
exception are the default costs of functions listed by tuples, whose sizes are checked first.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport INFINITY, isnan, NAN, rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy

from graphpart.errors import FormatError
from graphpart.files._decimal cimport NONE, Fault, number
from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, zeros_int64
from graphpart.kernels.growing cimport reserve

cdef enum:
    LONGEST = 1 << 16      # most bytes of a word; a file with longer ones is of another format
    SHOWN = 40             # bytes of a word that a message shows
    NESTED = 20            # brackets within each other
    AGAIN = -1             # the block ends before the word does

END, OPEN, CLOSE, WORD = 0, 1, 2, 3
cdef enum Kind:
    _END, _OPEN, _CLOSE, _WORD, _UNCLOSED


cdef inline bint spaces(uint8_t c) noexcept nogil:
    """Whether a byte stands between words and means nothing."""
    return c == c' ' or c == c'\t' or c == c'\r' or c == c'\f' or c == c'\v' or c == c',' or c == c':'


cdef inline bint apart(uint8_t c) noexcept nogil:
    """Whether a byte ends an unquoted word: a space, a comma, a colon, a quote, a brace or a bracket."""
    return spaces(c) or c == c'\n' or c == c'"' or c == c'{' or c == c'}' or c == c'[' or c == c']'


cdef class Tokens:
    """Words, opening and closing braces or brackets, one after the other; comments and separators are skipped.

    Parameters
    ----------
    name : str
        The file, for messages.
    blocks : iterable of bytes
    line : int
        The number of the first line.

    Attributes
    ----------
    kind : int
        What `next` found last: END, OPEN, CLOSE or WORD.
    line : int
        Its line.
    """

    cdef object name, blocks
    cdef bytes data
    cdef const uint8_t* p          # the part of the block that is not yet read
    cdef const uint8_t* end
    cdef const uint8_t* first      # the word, until the next call of `next`
    cdef const uint8_t* last
    cdef bint finished, skipping, fresh
    cdef readonly int64_t line
    cdef readonly int kind

    def __init__(self, name, blocks, line=1):
        self.name, self.blocks, self.line = name, iter(blocks), line
        self.data = b""
        self.p = self.end = self.first = self.last = self.data
        self.fresh = True

    cdef int scan(self) noexcept nogil:
        """Find the next token in the block; AGAIN if the block ends within a token."""
        cdef const uint8_t* p = self.p
        cdef const uint8_t* end = self.end
        cdef uint8_t c
        while True:
            if self.skipping:
                while p < end and p[0] != c'\n':
                    p += 1
                if p == end:
                    self.p = p
                    return AGAIN
                self.skipping = False
            if p == end:
                self.p = p
                return AGAIN
            c = p[0]
            if c == c'\n':
                self.line += 1
                self.fresh = True
                p += 1
                continue
            if c == c'#' and self.fresh:
                self.skipping = True
                continue
            if spaces(c):
                self.fresh = False
                p += 1
                continue
            if c == c'/':
                if p + 1 == end and not self.finished:
                    self.p = p
                    return AGAIN
                if p + 1 < end and p[1] == c'/':
                    self.skipping = True
                    continue
            break
        self.p = p                  # a word that the end of the block cuts is scanned again from here
        self.fresh = False
        if c == c'{' or c == c'[' or c == c'}' or c == c']':
            self.first, self.last, self.p = p, p + 1, p + 1
            return _OPEN if c == c'{' or c == c'[' else _CLOSE
        if c == c'"':
            self.first = p + 1
            p += 1
            while p < end and p[0] != c'"' and p[0] != c'\n':
                p += 1
            self.last = p
            if p == end and not self.finished:
                return AGAIN
            if p == end or p[0] == c'\n':
                return _UNCLOSED
            self.p = p + 1
            return _WORD
        self.first = p
        while p < end and not apart(p[0]):
            if p[0] == c'/':
                if p + 1 == end and not self.finished:
                    return AGAIN
                if p + 1 < end and p[1] == c'/':
                    break
            p += 1
        if p == end and not self.finished:
            return AGAIN
        self.last = self.p = p
        return _WORD

    cdef int advance(self) except -1:
        """The kind of the next token, of which `first` and `last` are the ends."""
        cdef int kind
        with nogil:
            kind = self.scan()
        if kind == AGAIN:
            return self.more()
        if kind == _UNCLOSED:
            raise self.wrong("a closing quote in the same line")
        self.kind = kind
        return kind

    cdef int more(self) except -1:
        cdef Py_ssize_t left = self.end - self.p
        if self.finished:
            self.kind = _END
            self.first = self.last = self.end
            return _END
        if left > LONGEST:
            raise FormatError(self.name, self.line, f"a word of more than {LONGEST} bytes: expected a text file")
        block = next(self.blocks, None)
        self.finished = block is None
        rest = PyBytes_FromStringAndSize(<const char*>self.p, left)
        self.data = rest if block is None else rest + block
        self.p = self.data
        self.end = self.p + len(self.data)
        return self.advance()

    def next(self):
        """Go on to the next token."""
        return self.advance()

    @property
    def word(self):
        """The word as text; for other tokens their character."""
        return self.text()

    cdef str text(self):
        try:
            text = PyBytes_FromStringAndSize(<const char*>self.first, self.last - self.first).decode()
        except UnicodeDecodeError:
            raise self.wrong("UTF-8 text") from None
        if not text.isprintable():
            raise self.wrong("printable text")
        return text

    cdef bint says(self, const char* word, Py_ssize_t size) noexcept nogil:
        return self.kind == _WORD and self.last - self.first == size and memcmp(self.first, word, size) == 0

    cdef bint numeric(self) noexcept nogil:
        """Whether the word starts as numbers do, and names must not."""
        cdef uint8_t c = self.first[0] if self.first < self.last else 0
        return self.kind == _WORD and (c'0' <= c <= c'9' or c == c'-' or c == c'+' or c == c'.')

    def wrong(self, expected):
        """An exception about the token found last."""
        cdef Py_ssize_t size = min(self.last - self.first, <Py_ssize_t>SHOWN)
        if self.kind == _END:
            return FormatError(self.name, self.line, f"the file ends: expected {expected}")
        text = ascii(PyBytes_FromStringAndSize(<const char*>self.first, size).decode("utf-8", "backslashreplace"))
        dots = "..." if self.last - self.first > SHOWN else ""
        return FormatError(self.name, self.line, f"found {text}{dots}: expected {expected}")

    cdef int expect(self, int kind, str expected) except -1:
        if self.advance() != kind:
            raise self.wrong(expected)
        return 0


cdef class Functions:
    """The functions of a network, from the bracket that opens them to the one that closes them.

    Parameters
    ----------
    tokens : Tokens
        The next one is that of the first function.
    tagged : bool
        Whether fields have names.
    index : dict from str to int
        The variables by their names.
    domains : ndarray of int32, shape (n,)
    labels : list of (dict from str to int, or None)
        The labels of each variable by their names.
    most : int
        Most table entries of functions listed by tuples; more are an error.

    Attributes
    ----------
    names : list of (str or None)
    shared : list of (int, str, int)
        A function that shares the costs of another function, the name of that function, and the line.
    calls : list of (str, list of int, list, int)
        A global cost function: its name, its scope, its parameters as words and lists, and its line.
    decimals : int
        The largest number of digits behind the point of a cost.
    """

    cdef Tokens tokens
    cdef bint tagged
    cdef dict index
    cdef list labels
    cdef const int32_t[::1] domains
    cdef readonly list names, shared, calls
    cdef readonly int decimals
    cdef double most
    cdef int64_t[::1] seen         # of each variable: the last function that has it in its scope, from 1
    cdef int64_t* scope_start
    cdef int32_t* scope
    cdef int64_t* table_start
    cdef double* costs
    cdef Py_ssize_t m, functions_room, members, scope_room, size, room

    def __init__(self, Tokens tokens, tagged, dict index, domains, list labels, most):
        self.tokens, self.tagged, self.index, self.labels = tokens, tagged, index, labels
        self.domains = domains
        self.names, self.shared, self.calls, self.most = [], [], [], most
        self.seen = zeros_int64(len(domains))
        self.start_function()

    cdef int start_function(self) except -1:
        """Function m begins where those before it end."""
        cdef Py_ssize_t room = self.functions_room
        reserve(<void**>&self.scope_start, &room, self.m + 1, 8)
        reserve(<void**>&self.table_start, &self.functions_room, self.m + 1, 8)
        self.scope_start[self.m] = self.members
        self.table_start[self.m] = self.size
        return 0

    def __dealloc__(self):
        free(self.scope_start)
        free(self.scope)
        free(self.table_start)
        free(self.costs)

    def read(self):
        """Read all of them."""
        cdef Tokens t = self.tokens
        while t.advance() != _CLOSE:
            if self.one():
                self.m += 1
                self.start_function()

    cdef int one(self) except -1:
        """One function, whose name or first brace is the token at hand; 0 if it has no table."""
        cdef Tokens t = self.tokens
        cdef double default = 0.0
        cdef bint sparse
        cdef double entries = 1.0
        cdef Py_ssize_t i
        name = None
        if t.kind == _WORD:
            name = t.text()
            t.expect(_OPEN, "{ and a function, after its name")
        elif t.kind != _OPEN:
            raise t.wrong("a function, or } as the end of the functions")
        self.names.append(name)
        if self.tagged:
            t.advance()
            if not t.says(b"scope", 5):
                raise t.wrong("scope, the first field of a function")
        t.expect(_OPEN, "[ and the variables of the scope")
        while t.advance() != _CLOSE:
            self.member()
        for i in range(self.scope_start[self.m], self.members):
            entries *= self.domains[self.scope[i]]
        t.advance()
        sparse = t.says(b"defaultcost", 11) if self.tagged else t.numeric()
        if sparse:
            if self.tagged:
                t.advance()
            self.cost(&default)
            t.advance()
        if self.tagged:
            if t.says(b"type", 4):
                t.expect(_WORD, "the name of a global cost function")
                name, line = t.text(), t.line
                t.advance()
                if not t.says(b"params", 6):
                    raise t.wrong("params, the parameters of a global cost function")
                t.expect(_OPEN, "{ and the parameters of a global cost function")
                return self.call(name, line)
            if not t.says(b"costs", 5):
                raise t.wrong("costs" if sparse else "costs or defaultcost")
            t.advance()
        if t.kind == _WORD:
            return self.reuse(sparse)
        if t.kind != _OPEN:
            raise t.wrong("[ and costs, or the name of a function that has the same")
        if sparse:
            self.tuples(entries, default)
        else:
            self.dense(entries)
        t.expect(_CLOSE, "} as the end of the function")
        return 1

    cdef int call(self, name, line) except -1:
        """A global cost function, from its parameters on; it is added to `calls` only."""
        cdef Py_ssize_t i
        cdef Tokens t = self.tokens
        scope = []
        for i in range(self.scope_start[self.m], self.members):
            scope.append(self.scope[i])
            self.seen[self.scope[i]] = 0
        self.calls.append((name, scope, self.tree(0), line))
        t.expect(_CLOSE, "} as the end of the function")
        self.members = self.scope_start[self.m]
        self.names.pop()
        return 0

    cdef list tree(self, int depth):
        """The contents of a bracket: words, and lists of words."""
        cdef Tokens t = self.tokens
        found = []
        if depth > NESTED:
            raise t.wrong(f"at most {NESTED} brackets within each other")
        while t.advance() != _CLOSE:
            if t.kind == _END:
                raise t.wrong("] or } as the end of the parameters")
            found.append(self.tree(depth + 1) if t.kind == _OPEN else t.text())
        return found

    cdef int member(self) except -1:
        """The next variable of a scope, by its name or its index."""
        cdef Tokens t = self.tokens
        cdef Py_ssize_t n = self.domains.shape[0]
        cdef int64_t v
        if t.kind != _WORD:
            raise t.wrong("a variable, or ] as the end of the scope")
        if t.numeric():
            v = self.whole(n)
            if v < 0:
                raise t.wrong(f"the index of a variable, from 0 to {n - 1}" if n else "no variable, as there are none")
        else:
            found = self.index.get(t.text())
            if found is None:
                raise t.wrong("the name of a variable")
            v = found
        if self.seen[v] == self.m + 1:
            raise t.wrong("each variable once in a scope")
        self.seen[v] = self.m + 1
        reserve(<void**>&self.scope, &self.scope_room, self.members + 1, 4)
        self.scope[self.members] = <int32_t>v
        self.members += 1
        return 0

    cdef int64_t whole(self, int64_t size) noexcept:
        """The word as a whole number below `size`, or -1."""
        cdef const uint8_t* p = self.tokens.first
        cdef const uint8_t* last = self.tokens.last
        cdef int64_t value = 0
        if p == last:
            return -1
        while p < last:
            if not c'0' <= p[0] <= c'9':
                return -1
            value = 10 * value + (p[0] - c'0')
            if value >= size:
                return -1
            p += 1
        return value

    cdef int cost(self, double* out) except -1:
        """The word as a cost: a decimal number without an exponent."""
        if self.decimal(out) != NONE:
            raise self.tokens.wrong("a cost, a decimal number without exponent")
        return 0

    cdef inline int decimal(self, double* out) noexcept nogil:
        cdef const uint8_t* p = self.tokens.first
        cdef const uint8_t* last = self.tokens.last
        cdef const uint8_t* point = NULL
        cdef Fault fault
        if self.tokens.kind != _WORD:
            return 1
        while p < last:
            if p[0] == c'.':
                point = p
            elif not (c'0' <= p[0] <= c'9' or p[0] == c'-' or p[0] == c'+'):
                return 1
            p += 1
        fault = number(self.tokens.first, last, out)
        if fault == NONE and point != NULL and last - point - 1 > self.decimals:
            self.decimals = <int>min(<Py_ssize_t>1000, last - point - 1)
        return fault

    cdef int dense(self, double entries) except -1:
        """As many costs as there are labelings of the scope, and the closing bracket."""
        cdef Tokens t = self.tokens
        cdef Py_ssize_t found = 0, before
        cdef int kind
        cdef bint good = True
        while True:
            before = 0
            reserve(<void**>&self.costs, &self.room, self.size + 64, 8)
            with nogil:     # most of the work needs no GIL
                while before < 64:
                    kind = t.scan()
                    t.kind = kind
                    if kind != _WORD:
                        break
                    good = self.decimal(&self.costs[self.size + before]) == NONE
                    if not good:
                        break
                    before += 1
            self.size += before
            found += before
            if not good:
                raise t.wrong("a cost, a decimal number without exponent")
            if found > entries:
                t.kind = _WORD
                raise FormatError(t.name, t.line, f"found more than {entries:.0f} costs: expected one for each tuple")
            if before == 64:
                continue
            if kind == AGAIN:
                if t.more() == _WORD:
                    reserve(<void**>&self.costs, &self.room, self.size + 1, 8)
                    self.cost(&self.costs[self.size])
                    self.size += 1
                    found += 1
                    if found > entries:
                        raise t.wrong(f"] after {entries:.0f} costs, one for each tuple")
                    continue
                kind = t.kind
            if kind == _CLOSE:
                break
            if kind == _UNCLOSED:
                raise t.wrong("a closing quote in the same line")
            raise t.wrong("a cost, or ] after the last one")
        if found != entries:
            raise FormatError(t.name, t.line, f"found {found} costs: expected {entries:.0f}, one for each tuple")
        return 0

    cdef int tuples(self, double entries, double default) except -1:
        """Tuples of labels, each with a cost, and the closing bracket; all other tuples get the default cost."""
        cdef Tokens t = self.tokens
        cdef Py_ssize_t start = self.scope_start[self.m], arity = self.members - start, j = 0, i
        cdef int64_t place = 0, label, v
        cdef double* table
        if self.size + entries > self.most:
            raise FormatError(
                t.name, t.line, f"the table of the function has {entries:.3g} entries: expected one that fits into memory"
            )
        reserve(<void**>&self.costs, &self.room, self.size + <Py_ssize_t>entries, 8)
        table = self.costs + self.size
        with nogil:
            for i in range(<Py_ssize_t>entries):
                table[i] = NAN
        while t.advance() != _CLOSE:
            if t.kind != _WORD:
                raise t.wrong("a label or a cost, or ] after the last tuple")
            if j < arity:
                v = self.scope[start + j]
                if t.numeric():
                    label = self.whole(self.domains[v])
                else:
                    named = self.labels[v]
                    label = -1 if named is None else named.get(t.text(), -1)
                if label < 0:
                    raise t.wrong(
                        f"a label of variable {v}: its name, or a whole number from 0 to {self.domains[v] - 1}"
                    )
                place = place * self.domains[v] + label
                j += 1
                continue
            if not isnan(table[place]):
                raise FormatError(t.name, t.line, "found a tuple again: expected each tuple once")
            self.cost(&table[place])
            place = j = 0
        if j:
            raise t.wrong("the rest of a tuple and its cost")
        with nogil:
            for i in range(<Py_ssize_t>entries):
                if isnan(table[i]):
                    table[i] = default
        self.size += <Py_ssize_t>entries
        return 0

    cdef int reuse(self, bint sparse) except -1:
        """The costs of another function, whose name is the word at hand."""
        cdef Tokens t = self.tokens
        name = t.text()
        if sparse:
            raise t.wrong("[ and tuples after a default cost")
        line = t.line
        if t.advance() == _OPEN and not self.tagged:
            return self.call(name, line)
        if t.kind != _CLOSE:
            raise t.wrong("} as the end of the function, after the name of one that has the same costs")
        self.shared.append((self.m, name, line))
        return 1

    def arrays(self):
        """Starts of scopes, scopes, starts of tables, and tables, as new arrays."""
        starts = empty_int64(self.m + 1)
        tables_at = empty_int64(self.m + 1)
        members = empty_int32(self.members)
        tables = empty_float64(self.size)
        cdef int64_t[::1] a = starts, b = tables_at
        cdef int32_t[::1] c = members
        cdef double[::1] d = tables
        memcpy(&a[0], self.scope_start, (self.m + 1) * 8)
        memcpy(&b[0], self.table_start, (self.m + 1) * 8)
        if self.members:
            memcpy(&c[0], self.scope, self.members * 4)
        if self.size:
            memcpy(&d[0], self.costs, self.size * 8)
        return starts, members, tables_at, tables


def forbid(double[::1] tables, const int64_t[::1] start, const double[::1] limits, double scale):
    """Make every entry of table f infinite that is at least limits[f] / scale.

    With a scale above 1, numbers are whole after the multiplication, but for its rounding, and are made so.
    """
    cdef Py_ssize_t f, i
    cdef double x
    with nogil:
        for f in range(start.shape[0] - 1):
            for i in range(start[f], start[f + 1]):
                x = tables[i] * scale
                if (rint(x) if scale > 1.0 else x) >= limits[f]:
                    tables[i] = INFINITY
