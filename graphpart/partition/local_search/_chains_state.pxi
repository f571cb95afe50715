"""Chains: elements, subsets and candidates, and what a background and groups add to them."""

cdef fixed_t NONE = INT64_MAX       # the cost of a forbidden move

cdef double WORTH = 0.003           # seconds for a batch from which two threads are worth their start
cdef double PAYS = 1e-4             # share of the cost that chains have gained, above which higher ones pay

cdef enum:
    EMPTY = -1      # target: the empty set
    OUT = -1        # place of an element that is no candidate
    DONE = -2       # place of an element that has moved in this chain
    FETCHED = 64    # most pairs of a row that are fetched beforehand
    AHEAD = 4       # elements of the queue before which the row of one is fetched
    LINE = 64       # bytes of a line of the cache
    MANY = 65535    # pairs, or more than these
    TURNS = 255


cdef struct Element:            # 32 bytes, what is shared by both threads
    fixed_t delta               # change of cost by the best move
    fixed_t others              # lower bound on it by a move to another linked subset
    int64_t row                 # first of its stored pairs, in bits from 16 on; their number, or MANY, in the others
    element_t target
    char known                  # whether delta, others and target are
    char alone                  # the element was alone when this was computed, so that the empty set was no target
    char queued
    unsigned char turn          # of `State` when the element was last forgotten


cdef struct Candidate:
    fixed_t delta               # lower bound on the change of cost by the element's best move
    fixed_t others              # and by moves to other linked subsets, if not loose
    fixed_t barred              # and by moves that were forbidden when it was looked at; NONE if none was
    element_t element
    element_t mine              # its subset
    element_t target            # of the best move, if not loose
    char loose                  # delta is a bound only
    char looked                 # it was looked at in this chain
    char idle                   # its best move is neither from nor to a subset that this chain has changed


cdef struct Subset:             # 32 bytes
    fixed_t cost                # of one element to this subset
    int64_t look                # that computed it
    int64_t visited             # the last chain that changed this subset
    element_t size
    element_t members           # exclusive or of the elements: the element, if it is one


cdef struct Step:
    element_t element           # that moves
    element_t target            # -1 - U for a subset U that has no elements before the chain
    fixed_t change              # in the first of a chain, which is no step: of cost; and `element` says how many follow


cdef struct Half:               # of the elements of a batch
    element_t* starts           # elements taken from the queue,
    Py_ssize_t count, looked    # their number, and how many of them chains started from
    Step* steps                 # of chains that lower the cost; before those of each, one that says how many they are
    Py_ssize_t written


cdef struct State:
    Py_ssize_t n
    const offset_t* starts      # of rows with MANY or more pairs; `at` has the others
    const element_t* neighbours
    const cost_t* costs
    double scale                # fixed-point units in a cost of 1
    offset_t hub                # elements with more pairs have chains of one move
    element_t* label            # subset of each element
    Subset* subset
    Py_ssize_t top              # all numbers of subsets from here on are free, and their entries are 0
    element_t* unused           # other numbers of subsets without elements
    Py_ssize_t unuseds
    Element* at                 # the best move of each element in the partition between chains
    fixed_t* barred             # for each element a lower bound on a move that is forbidden, NONE if none is; or NULL
    int64_t look
    element_t* linked           # subsets of its neighbours
    offset_t most               # pairs that an element has
    Candidate* candidates
    Py_ssize_t waiting
    element_t* place            # of each element among the candidates
    element_t* moved            # the chain
    element_t* origin
    element_t* queue            # a ring: elements from which a chain has to start
    Py_ssize_t head, length
    Half* half                  # where chains are noted, not applied; NULL if each is applied at once
    bint shared                 # whether another thread may read the best moves that are known
    unsigned char turn          # number of the last times that noted chains were applied
    Base base
    char* stuck                 # elements whose move was forbidden, if subsets have to be connected
    Py_ssize_t bars             # at least the number of candidates that are barred
    Terms terms
    double* since               # terms.k for each element: `applied` when its best move was found
    double applied[TERMS]       # absolute weights of all that moved for good,
    double during[TERMS]        # and in this chain
    double left[TERMS]          # if exact: the largest absolute weight that has left one subset in this chain
    bint exact                  # whether the background repels, and there are no constraints
    int64_t kept                # number of moves for good; if exact:
    int64_t* last               # for each subset: the last of these moves that changed it
    int64_t* seen               # for each element: the last of these moves when its best move was found
    bint high                   # whether a chain may rise by as much as a pair repels
    bint narrow                 # whether a chain goes on with moves from or to subsets that it has changed only
    int64_t chain
    int64_t* moves              # for each group: number of moves of members, times the number that they stand for
    int64_t* known              # for each entry of the rows of groups: `moves` when the element was looked at
    bint ejects                 # whether there are hard groups, and no other constraints
    int64_t changes
    int64_t* version            # for each subset: number of its last change
    int64_t* paid_at            # for each element: the version of its subset for which `paid` is valid; -1 at first
    fixed_t* paid               # cost of each element in its own subset


# ---------------------------------------------------------------------------------------------- rows, and numbers

cdef inline offset_t row_begin(State* s, element_t a) noexcept nogil:
    return s.at[a].row >> 16


cdef inline offset_t degree(State* s, element_t a) noexcept nogil:
    cdef offset_t pairs = s.at[a].row & MANY
    return pairs if pairs < MANY else s.starts[a + 1] - s.starts[a]


cdef inline offset_t row_end(State* s, element_t a) noexcept nogil:
    return row_begin(s, a) + degree(s, a)


cdef inline char* begin_of_line(char[::1] room):
    """The first address in an array at which a line of the cache begins."""
    return <char*>((<size_t>&room[0] + LINE - 1) // LINE * LINE)


cdef list begin_thread(State* s, Py_ssize_t longest):
    """Make room for all that belongs to one thread, except the labels; returns what has to be kept alive."""
    cdef Py_ssize_t n = s.n + 1
    cdef char[::1] subset = zeros_int8(n * sizeof(Subset) + LINE)
    cdef char[::1] candidates = empty_int8((min(n, longest * s.hub) + 1) * sizeof(Candidate))
    cdef element_t[::1] place = full_int32(n, OUT), unused = empty_int32(n), linked = empty_int32(s.most + 1)
    cdef element_t[:, ::1] chain = np.empty((2, 2 * min(n, longest) + 2), np.int32)
    s.subset, s.candidates = <Subset*>begin_of_line(subset), <Candidate*>&candidates[0]
    s.place, s.unused, s.linked = &place[0], &unused[0], &linked[0]
    s.moved, s.origin = &chain[0, 0], &chain[1, 0]
    return [subset, candidates, place, unused, linked, chain]


cdef inline element_t take_number(State* s) noexcept nogil:
    if s.unuseds:
        s.unuseds -= 1
        return s.unused[s.unuseds]
    s.top += 1
    return <element_t>(s.top - 1)


cdef void find_unused(State* s) noexcept nogil:
    """List the free numbers below the largest one in use; the smallest one comes first."""
    cdef Py_ssize_t U
    s.unuseds = 0
    for U in range(s.top - 1, -1, -1):
        if s.subset[U].size == 0:
            s.unused[s.unuseds] = <element_t>U
            s.unuseds += 1


cdef void count(State* s) noexcept nogil:
    """Compute sizes and members of all subsets, and list the free numbers."""
    cdef Py_ssize_t a, U
    terms_clear(&s.terms, s.n + 1)
    for U in range(s.top):
        s.subset[U].size = s.subset[U].members = 0
    for U in range(s.n + 1 if s.ejects else 0):
        s.changes += 1
        s.version[U] = s.changes
    for a in range(s.n):
        s.subset[s.label[a]].size += 1
        s.subset[s.label[a]].members ^= <element_t>a
        terms_put(&s.terms, <element_t>a, s.label[a])
    find_unused(s)


# -------------------------------------------------------------------------------------------------------- background

cdef inline fixed_t most_by(State* s, element_t b, const double* moved) noexcept nogil:
    """The most by which the background of b with a subset may have changed by these absolute weights."""
    cdef Py_ssize_t t
    cdef double sum = 0.0
    cdef double slope[TERMS]
    terms_slope(&s.terms, s.terms.weights + b * s.terms.k, slope)
    for t in range(s.terms.k):
        sum += fabs(slope[t]) * moved[t]
    sum *= s.scale * (1.0 + 2.0**-40)
    return <fixed_t>min(sum, 2.0**60) + s.terms.k


cdef inline bint restless(State* s) noexcept nogil:
    """Whether any move may open a subset to any element."""
    return s.terms.groups.max_size > 0 or s.terms.groups.limited


cdef inline bint groups_moved(State* s, element_t b, fixed_t* most) noexcept nogil:
    """Whether members of the groups of b have moved since it was looked at; `most`: the most that this may save."""
    cdef offset_t i
    cdef element_t g
    cdef bint moved = False
    cdef double sum = 0.0
    most[0] = 0
    if s.terms.groups.entries == 0:
        return False
    for i in range(s.terms.groups.starts[b], s.terms.groups.starts[b + 1]):
        g = s.terms.groups.group[i]
        if s.moves[g] != s.known[i]:
            moved = True
            if s.terms.groups.price[g] != INFINITY:
                sum += s.terms.groups.price[g] * <double>s.terms.groups.count[i] * <double>(s.moves[g] - s.known[i])
    if sum > 0:
        most[0] = <fixed_t>min(2.0 * s.scale * (1.0 + 2.0**-40) * sum + 1.0, 2.0**60)
    return moved


cdef inline void note_groups(State* s, element_t a, int moves) noexcept nogil:
    """Note that element a is looked at (0), moves (1), or moves back (-1)."""
    cdef offset_t i
    if s.terms.groups.entries == 0:
        return
    for i in range(s.terms.groups.starts[a], s.terms.groups.starts[a + 1]):
        if moves:
            s.moves[s.terms.groups.group[i]] += moves * s.terms.groups.count[i]
        else:
            s.known[i] = s.moves[s.terms.groups.group[i]]


cdef inline void note_change(State* s, element_t U, element_t W) noexcept nogil:
    if s.ejects:
        s.changes += 1
        s.version[U] = s.version[W] = s.changes


cdef inline bint is_as_it_was(State* s, element_t b, element_t U) noexcept nogil:
    """Whether a subset is as it was when the best move of b was found."""
    return U == EMPTY or (s.last[U] <= s.seen[b] and s.subset[U].visited != s.chain)


cdef inline void note_subsets(State* s, element_t U, element_t W) noexcept nogil:
    """Note that an element has moved from U to W for good."""
    s.kept += 1
    if s.exact:
        s.last[U] = s.last[W] = s.kept
