cdef enum:                      # positions in CRITERIA of persistency.py; 0: nothing is proven
    EDGE = 1
    NEIGHBOURHOOD = 2
    PAIR = 3
    TRIANGLE = 4
    SUBGRAPH = 5
    CUT_SET = 6
    NODE = 7
