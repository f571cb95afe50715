# Visits of message passing: a visit sums the messages that pairs send to a variable, and sends shares of the sum on.
#
# A pair keeps one vector of messages, to the variable that was not visited last. A message is the minimum over the
# labels of the sender of the table plus the share that the sender gives. For Potts and linear tables this takes time
# linear in the number of labels.
from graphpart.kernels.types cimport element_t, offset_t

# These loops take most of the time. They are in C to compute with two numbers at a time, for sizes that the compiler
# knows.
cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(_MSC_VER)
    #define GP_ALWAYS static __forceinline
    #elif defined(__GNUC__)
    #define GP_ALWAYS static inline __attribute__((always_inline))
    #else
    #define GP_ALWAYS static inline
    #endif

    /* Two numbers at a time. */
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    typedef __m128d gp_two;
    #define gp_load _mm_loadu_pd
    #define gp_store _mm_storeu_pd
    #define gp_store_low _mm_store_sd
    #define gp_both _mm_set1_pd
    #define gp_add _mm_add_pd
    #define gp_sub _mm_sub_pd
    #define gp_mul _mm_mul_pd
    #define gp_min _mm_min_pd
    #define gp_low _mm_unpacklo_pd
    #define gp_high _mm_unpackhi_pd
    #elif defined(__aarch64__) && defined(__ARM_NEON)
    #include <arm_neon.h>
    typedef float64x2_t gp_two;
    #define gp_load vld1q_f64
    #define gp_store vst1q_f64
    #define gp_store_low(p, x) vst1q_lane_f64(p, x, 0)
    #define gp_both vdupq_n_f64
    #define gp_add vaddq_f64
    #define gp_sub vsubq_f64
    #define gp_mul vmulq_f64
    #define gp_min vminq_f64
    #define gp_low vzip1q_f64
    #define gp_high vzip2q_f64
    #else
    typedef struct { double a, b; } gp_two;
    GP_ALWAYS gp_two gp_make(double a, double b) { gp_two x; x.a = a; x.b = b; return x; }
    GP_ALWAYS gp_two gp_load(const double *p) { return gp_make(p[0], p[1]); }
    GP_ALWAYS void gp_store(double *p, gp_two x) { p[0] = x.a; p[1] = x.b; }
    GP_ALWAYS void gp_store_low(double *p, gp_two x) { p[0] = x.a; }
    GP_ALWAYS gp_two gp_both(double x) { return gp_make(x, x); }
    GP_ALWAYS gp_two gp_add(gp_two x, gp_two y) { return gp_make(x.a + y.a, x.b + y.b); }
    GP_ALWAYS gp_two gp_sub(gp_two x, gp_two y) { return gp_make(x.a - y.a, x.b - y.b); }
    GP_ALWAYS gp_two gp_mul(gp_two x, gp_two y) { return gp_make(x.a * y.a, x.b * y.b); }
    GP_ALWAYS gp_two gp_min(gp_two x, gp_two y) { return gp_make(x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b); }
    GP_ALWAYS gp_two gp_low(gp_two x, gp_two y) { return gp_make(x.a, y.a); }
    GP_ALWAYS gp_two gp_high(gp_two x, gp_two y) { return gp_make(x.b, y.b); }
    #endif

    /* The least of h twos, in both places. */
    GP_ALWAYS gp_two gp_least_two(int h, const gp_two *x) {
        gp_two a = x[0], b = x[h - 1];
        for (int i = 1; i + 1 < h; i += 2) {
            a = gp_min(x[i], a);
            if (i + 2 < h) b = gp_min(x[i + 1], b);
        }
        a = gp_min(a, b);
        return gp_min(gp_low(a, a), gp_high(a, a));
    }

    enum { GP_GENERAL, GP_POTTS, GP_ANTI_POTTS, GP_LINEAR };

    /* A table, of one pair or of many. */
    typedef struct {
        int64_t start;
        double same, other;     /* Potts: entries for equal and different labels. Linear: least entry, slope */
        int32_t kind;
    } gp_table;

    typedef struct {
        int32_t u, v;
        uint32_t table : 31, flipped : 1;   /* flipped: the rows of the table belong to v */
    } gp_pair;

    GP_ALWAYS double gp_less(double a, double b) { return a < b ? a : b; }

    GP_ALWAYS double gp_more(double a, double b) { return a < b ? b : a; }

    /* Four minima side by side, then one of them: no long chain of operations that wait for each other. */
    #define GP_BEST(NAME, BETTER) \\
        GP_ALWAYS double NAME(int d, const double *x) { \\
            if (d < 4) { \\
                double best = x[0]; \\
                for (int i = 1; i < d; i++) best = BETTER(x[i], best); \\
                return best; \\
            } \\
            double lanes[4]; \\
            int i = 4; \\
            for (int k = 0; k < 4; k++) lanes[k] = x[k]; \\
            for (; i + 4 <= d; i += 4) \\
                for (int k = 0; k < 4; k++) lanes[k] = BETTER(x[i + k], lanes[k]); \\
            for (; i < d; i++) lanes[0] = BETTER(x[i], lanes[0]); \\
            return BETTER(BETTER(lanes[0], lanes[2]), BETTER(lanes[1], lanes[3])); \\
        }
    GP_BEST(gp_least, gp_less)
    GP_BEST(gp_most, gp_more)

    /* out[y] = least of table[x][y] + in[x] over x, for one of the two structured kinds; all of size d */
    GP_ALWAYS void gp_structured(int d, const gp_table *p, const double *table, const double *in, double *out) {
        double least = gp_least(d, in);
        if (p->kind == GP_POTTS) {
            double most = least + p->other;
            for (int i = 0; i < d; i++) out[i] = gp_less(in[i] + p->same, most);
        } else if (p->kind == GP_ANTI_POTTS) {
            double next = INFINITY;
            int at = -1;
            for (int i = 0; i < d; i++) {
                if (at < 0 && in[i] == least) at = i;
                else next = gp_less(in[i], next);
            }
            for (int i = 0; i < d; i++) out[i] = gp_less(in[i] + p->same, (i == at ? next : least) + p->other);
        } else {
            double slope = p->other, most = least + (table[d - 1] - p->same);
            out[0] = in[0];
            for (int i = 1; i < d; i++) out[i] = gp_less(in[i], out[i - 1] + slope);
            for (int i = d - 2; i >= 0; i--) out[i] = gp_less(out[i], out[i + 1] + slope);
            for (int i = 0; i < d; i++) out[i] = gp_less(out[i], most) + p->same;
        }
    }

    /* The message m of a pair becomes least of table + given - m, less a constant; both variables have d labels, an
       even number up to 16. */
    GP_ALWAYS void gp_send_sized(int d, const gp_table *p, const double *tables, int from_rows, const gp_two *given,
                                 gp_two constant, double *m, gp_two cap) {
        gp_two in[8], out[8];
        const double *table = tables + p->start;
        const int h = d / 2;
        for (int i = 0; i < h; i++) in[i] = gp_sub(given[i], gp_load(m + 2 * i));
        if (p->kind == GP_POTTS) {
            gp_two same = gp_both(p->same), most = gp_add(gp_least_two(h, in), gp_both(p->other));
            for (int i = 0; i < h; i++) out[i] = gp_min(gp_add(in[i], same), most);
        } else if (p->kind != GP_GENERAL) {
            double x[16], y[16];
            for (int i = 0; i < h; i++) gp_store(x + 2 * i, in[i]);
            gp_structured(d, p, table, x, y);
            for (int i = 0; i < h; i++) out[i] = gp_load(y + 2 * i);
        } else if (from_rows) {
            gp_two odd[8];
            for (int i = 0; i < h; i++) {       /* rows 2 i and 2 i + 1 */
                gp_two first = gp_low(in[i], in[i]), second = gp_high(in[i], in[i]);
                const double *row = table + 2 * i * d;
                for (int j = 0; j < h; j++) {
                    gp_two x = gp_add(gp_load(row + 2 * j), first), y = gp_add(gp_load(row + d + 2 * j), second);
                    out[j] = i ? gp_min(x, out[j]) : x;
                    odd[j] = i ? gp_min(y, odd[j]) : y;
                }
            }
            for (int j = 0; j < h; j++) out[j] = gp_min(out[j], odd[j]);
        } else {
            for (int i = 0; i < h; i++) {
                const double *row = table + 2 * i * d;
                gp_two x = gp_add(gp_load(row), in[0]), y = gp_add(gp_load(row + d), in[0]);
                for (int j = 1; j < h; j++) {
                    x = gp_min(gp_add(gp_load(row + 2 * j), in[j]), x);
                    y = gp_min(gp_add(gp_load(row + d + 2 * j), in[j]), y);
                }
                out[i] = gp_min(gp_low(x, y), gp_high(x, y));
            }
        }
        for (int i = 0; i < h; i++) {
            out[i] = gp_sub(out[i], constant);
            out[i] = gp_min(out[i], cap);
            gp_store(m + 2 * i, out[i]);
        }
    }

    /* The same for any sizes; scratch has room for both. */
    static void gp_send(int d, int other, const gp_table *p, const double *tables, int from_rows, const double *given,
                        double constant, double *m, double cap, double *in, double *out) {
        const double *table = tables + p->start;
        for (int i = 0; i < d; i++) in[i] = given[i] - m[i];
        if (p->kind != GP_GENERAL) {
            gp_structured(d, p, table, in, out);
        } else if (from_rows) {
            for (int j = 0; j < other; j++) out[j] = table[j] + in[0];
            for (int i = 1; i < d; i++) {
                const double *row = table + (int64_t)i * other;
                double x = in[i];
                for (int j = 0; j < other; j++) out[j] = gp_less(row[j] + x, out[j]);
            }
        } else {
            for (int i = 0; i < other; i++) {
                const double *row = table + (int64_t)i * d;
                double least = row[0] + in[0];
                for (int j = 1; j < d; j++) least = gp_less(row[j] + in[j], least);
                out[i] = least;
            }
        }
        for (int i = 0; i < other; i++) m[i] = gp_less(out[i] - constant, cap);
    }

    /* What a visit looks at. */
    typedef struct {
        int sized;                          /* all variables have so many labels, or 0 */
        const int32_t *domains, *earlier, *later_start, *earlier_start;
        const gp_pair *pairs;
        const gp_table *kinds;
        const double *tables, *unary;
        const double *weight;               /* share of its belief that a variable sends; NULL: its pairs say it */
        int64_t even;                       /* all variables have so many labels, or 0: see `first` and `message` */
        const int32_t *order;               /* the variable visited at each place, if it is not its number */
        const int64_t *first, *message;     /* where unary costs of each variable begin, and the message of each pair */
        double *messages;
        float *single;                      /* the messages, if they are stored with fewer digits; else NULL */
        uint16_t *whole;                    /* the messages, if they are stored as small integers; else NULL */
        int8_t *exponent;                   /* of each, the power of two that is the unit of the integers */
        double *in, *out, *given, *wide;
        double cap;
    } gp_network;

    GP_ALWAYS int64_t gp_message(const gp_network *net, int64_t k) {
        return net->even ? k * net->even : net->message[k];
    }

    /* Where the unary costs of a variable begin. */
    GP_ALWAYS int64_t gp_first(const gp_network *net, int64_t v) {
        return net->even ? net->even * (net->order ? net->order[v] : v) : net->first[v];
    }

    /* 1 / max(factors ahead, factors behind) */
    GP_ALWAYS double gp_weight(const gp_network *net, int64_t v) {
        if (net->weight) return net->weight[v];
        int32_t ahead = net->later_start[v + 1] - net->later_start[v];
        int32_t behind = net->earlier_start[v + 1] - net->earlier_start[v], most = ahead > behind ? ahead : behind;
        return 1.0 / (most ? most : 1);
    }

    GP_ALWAYS double gp_power(int exponent) {
        uint64_t bits = (uint64_t)(exponent + 1023) << 52;
        double power;
        memcpy(&power, &bits, 8);
        return power;
    }

    /* Read, and write, the d numbers of the message of a pair. Small integers are exact multiples of their unit. */
    CYTHON_UNUSED static void gp_read(const gp_network *net, int64_t k, int d, double *out) {
        int64_t at = gp_message(net, k);
        if (net->whole) {
            const double unit = gp_power(net->exponent[k]);
            for (int i = 0; i < d; i++) out[i] = net->whole[at + i] * unit;
        } else if (net->single) {
            for (int i = 0; i < d; i++) out[i] = net->single[at + i];
        } else {
            for (int i = 0; i < d; i++) out[i] = net->messages[at + i];
        }
    }

    /* Of small integers, the least is 0: the number that is taken out is returned. */
    CYTHON_UNUSED static double gp_write(const gp_network *net, int64_t k, int d, const double *message) {
        int64_t at = gp_message(net, k);
        if (!net->whole) {
            if (net->single) for (int i = 0; i < d; i++) net->single[at + i] = (float)message[i];
            else for (int i = 0; i < d; i++) net->messages[at + i] = message[i];
            return 0.0;
        }
        uint16_t *out = net->whole + at;
        double least = gp_least(d, message), most = gp_most(d, message) - least;
        uint64_t bits;
        memcpy(&bits, &most, 8);
        int exponent = (int)(bits >> 52) - 1023 - 15;       /* most is below 2^16 units */
        exponent = exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
        net->exponent[k] = (int8_t)exponent;
        const double scale = gp_power(-exponent);
        for (int i = 0; i < d; i++) {
            int32_t x = (int32_t)((message[i] - least) * scale + 0.5);
            out[i] = (uint16_t)(x < 65535 ? x : 65535);
        }
        return least;
    }

    CYTHON_UNUSED static void gp_add_message(const gp_network *net, int64_t k, int d, double *sum) {
        int64_t at = gp_message(net, k);
        if (net->whole) {
            const double unit = gp_power(net->exponent[k]);
            for (int i = 0; i < d; i++) sum[i] += net->whole[at + i] * unit;
        } else if (net->single) {
            for (int i = 0; i < d; i++) sum[i] += net->single[at + i];
        } else {
            for (int i = 0; i < d; i++) sum[i] += net->messages[at + i];
        }
    }

    /* gp_send with the stored message of a pair; what is left out of it is returned. */
    static double gp_send_stored(const gp_network *net, int64_t k, int d, int other, int from_rows, const double *given,
                               double constant) {
        const gp_table *p = &net->kinds[net->pairs[k].table];
        double *m = net->wide;
        const int narrow = net->whole || net->single;
        if (narrow) gp_read(net, k, d, m);
        else m = net->messages + gp_message(net, k);
        gp_send(d, other, p, net->tables, from_rows, given, constant, m, net->cap, net->in, net->out);
        return narrow ? gp_write(net, k, other, m) : 0.0;
    }

    /* Sum up what comes to a variable, take out the least entry, which is returned, and send shares of the rest on: to
       later variables if forward, else to earlier ones. What was computed last is added last, and the least entry is
       taken out of what is sent at the end, because the next variable waits for it. */
    GP_ALWAYS double gp_visit_sized(int d, const gp_network *net, int64_t v, int forward,
                                    const double *start, double *given) {
        gp_two sum[8], share[8], least, part, most = gp_both(net->cap), factor = gp_both(gp_weight(net, v));
        const int h = d / 2;
        const gp_pair *pairs = net->pairs;
        const gp_table *kinds = net->kinds;
        const int64_t later_end = net->later_start[v + 1], earlier_end = net->earlier_start[v + 1];
        double *messages = net->messages, taken;
        for (int i = 0; i < h; i++) sum[i] = gp_load(start + 2 * i);
        for (int turn = 0; turn < 2; turn++) {
            if (turn == forward) {
                for (int64_t k = net->earlier_start[v]; k < earlier_end; k++) {
                    const double *m = messages + (int64_t)net->earlier[k] * d;
                    for (int i = 0; i < h; i++) sum[i] = gp_add(sum[i], gp_load(m + 2 * i));
                }
            } else {
                for (int64_t k = net->later_start[v]; k < later_end; k++) {
                    const double *m = messages + k * d;
                    for (int i = 0; i < h; i++) sum[i] = gp_add(sum[i], gp_load(m + 2 * i));
                }
            }
        }
        for (int i = 0; i < h; i++) {
            share[i] = gp_mul(sum[i], factor);
            share[i] = gp_min(share[i], most);
        }
        least = gp_least_two(h, sum);
        part = gp_mul(least, factor);
        if (forward) {
            for (int64_t k = net->later_start[v]; k < later_end; k++)
                gp_send_sized(d, &kinds[pairs[k].table], net->tables, !pairs[k].flipped, share, part, messages + k * d,
                              most);
        } else {
            for (int64_t k = net->earlier_start[v]; k < earlier_end; k++) {
                const gp_pair *p = &pairs[net->earlier[k]];
                gp_send_sized(d, &kinds[p->table], net->tables, p->flipped, share, part,
                              messages + (int64_t)net->earlier[k] * d, most);
            }
        }
        if (given)
            for (int i = 0; i < h; i++) gp_store(given + 2 * i, gp_sub(share[i], part));
        gp_store_low(&taken, least);
        return taken;
    }

    /* The same for any number of labels, and for messages of fewer digits. */
    static double gp_visit_any(const gp_network *net, int64_t v, int forward, const double *start, double *given) {
        const int d = net->domains[v];
        const gp_pair *pairs = net->pairs;
        const int64_t later_end = net->later_start[v + 1], earlier_end = net->earlier_start[v + 1];
        const double weight = gp_weight(net, v);
        double least, part, total;
        for (int i = 0; i < d; i++) given[i] = start[i];
        for (int turn = 0; turn < 2; turn++) {
            if (turn == forward)
                for (int64_t k = net->earlier_start[v]; k < earlier_end; k++)
                    gp_add_message(net, net->earlier[k], d, given);
            else
                for (int64_t k = net->later_start[v]; k < later_end; k++) gp_add_message(net, k, d, given);
        }
        total = least = gp_least(d, given);
        part = weight * least;
        for (int i = 0; i < d; i++) given[i] = gp_less(weight * given[i], net->cap);
        if (forward) {
            for (int64_t k = net->later_start[v]; k < later_end; k++)
                total += gp_send_stored(net, k, d, net->domains[pairs[k].v], !pairs[k].flipped, given, part);
        } else {
            for (int64_t k = net->earlier_start[v]; k < earlier_end; k++) {
                const gp_pair *p = &pairs[net->earlier[k]];
                total += gp_send_stored(net, net->earlier[k], d, net->domains[p->u], p->flipped, given, part);
            }
        }
        for (int i = 0; i < d; i++) given[i] -= part;
        return total;
    }

    /* What the other end of a pair is sent if one end sent the message m: the least of the table less m, in place. */
    CYTHON_UNUSED static void gp_answer(const gp_network *net, int64_t k, int from_later, const double *zero,
                                        double *m) {
        const gp_pair *p = &net->pairs[k];
        const int d = net->domains[p->u], e = net->domains[p->v];
        gp_send(from_later ? e : d, from_later ? d : e, &net->kinds[p->table], net->tables,
                from_later ? p->flipped : !p->flipped, zero, 0.0, m, net->cap, net->in, net->out);
    }

    /* Not above x + y, which do not overflow: the sum errs by at most half of what is taken off. */
    CYTHON_UNUSED GP_ALWAYS double gp_below(double x, double y) {
        double sum = x + y;
        return sum - fabs(sum) * (1.0 / 4503599627370496);
    }

    /* How far below 0 the least entry of a table less both messages may be if one is the answer to the other, m. Let a
       be the largest entry without its sign, b that of m. An answer is found by at most d + 4 sums in a row, none above
       4 a + b, which err by 2^-53 of it. A linear table differs by some 2^-46 a from the function it was taken for. */
    CYTHON_UNUSED static double gp_slack(const gp_network *net, int64_t k, int from_later, const double *m) {
        const gp_pair *p = &net->pairs[k];
        const gp_table *t = &net->kinds[p->table];
        const double *table = net->tables + t->start;
        const int d = net->domains[p->u], e = net->domains[p->v];
        double a = 0.0, b = 0.0;
        if (t->kind == GP_GENERAL) {
            for (int64_t i = 0; i < (int64_t)d * e; i++) a = a < fabs(table[i]) ? fabs(table[i]) : a;
        } else if (t->kind == GP_LINEAR) {
            a = fabs(table[0]) + fabs(table[d - 1]);
        } else {
            a = fabs(t->same) + fabs(t->other);
        }
        for (int i = 0; i < (from_later ? e : d); i++) b = b < fabs(m[i]) ? fabs(m[i]) : b;
        return a * (1.0 / 17592186044416) + (d + 8) * (4.0 * a + b) * (1.0 / 4503599627370496);
    }
    /* Visit `count` variables from v on, of sizes that the compiler knows; from `start` if it is given, else from what
       they cost alone. One function a size: the compiler takes long for each. */
    #define GP_SIZES GP_SIZE(2) GP_SIZE(4) GP_SIZE(6) GP_SIZE(8) GP_SIZE(16)
    #define GP_SIZE(D) \\
        static double gp_run_##D(const gp_network *net, int64_t v, int64_t count, int forward, const double *start, \\
                                 double *given) { \\
            double total = 0.0; \\
            for (; count > 0; count--, v += forward ? 1 : -1) \\
                total += gp_visit_sized(D, net, v, forward, start ? start : net->unary + gp_first(net, v), given); \\
            return total; \\
        }
    GP_SIZES
    #undef GP_SIZE

    CYTHON_UNUSED static double gp_visit(const gp_network *net, int64_t v, int forward, const double *start,
                                         double *given) {
    #define GP_SIZE(D) case D: return gp_run_##D(net, v, 1, forward, start, given);
        switch (net->sized) { GP_SIZES }
    #undef GP_SIZE
        return gp_visit_any(net, v, forward, start, given);
    }

    /* Visit `count` variables from v on, none of which is in a large factor. */
    CYTHON_UNUSED static double gp_run(const gp_network *net, int64_t v, int64_t count, int forward) {
        double total = 0.0;
    #define GP_SIZE(D) case D: return gp_run_##D(net, v, count, forward, NULL, NULL);
        switch (net->sized) { GP_SIZES }
    #undef GP_SIZE
        for (; count > 0; count--, v += forward ? 1 : -1)
            total += gp_visit_any(net, v, forward, net->unary + gp_first(net, v), net->given);
        return total;
    }
    """
    ctypedef struct gp_table:
        offset_t start
        double same, other
        element_t kind

    ctypedef struct gp_pair:
        element_t u, v
        unsigned int table, flipped

    enum:
        GP_GENERAL
        GP_POTTS
        GP_ANTI_POTTS
        GP_LINEAR

    ctypedef struct gp_network:
        int sized
        const element_t* domains
        const element_t* earlier
        const element_t* later_start
        const element_t* earlier_start
        const gp_pair* pairs
        const gp_table* kinds
        const double* tables
        const double* unary
        const double* weight
        offset_t even
        const element_t* order
        const offset_t* first
        const offset_t* message
        double* messages
        float* single
        unsigned short* whole
        signed char* exponent
        double* in_ "in"
        double* out
        double* given
        double* wide
        double cap

    offset_t gp_first(const gp_network* net, offset_t v) noexcept nogil
    double gp_weight(const gp_network* net, offset_t v) noexcept nogil
    double gp_visit(const gp_network* net, offset_t v, int forward, const double* start, double* given) noexcept nogil
    double gp_run(const gp_network* net, offset_t v, offset_t count, int forward) noexcept nogil
    void gp_read(const gp_network* net, offset_t k, int d, double* out) noexcept nogil
    double gp_write(const gp_network* net, offset_t k, int d, const double* message) noexcept nogil
    void gp_add_message(const gp_network* net, offset_t k, int d, double* total) noexcept nogil
    void gp_answer(const gp_network* net, offset_t k, int from_later, const double* zero, double* m) noexcept nogil
    double gp_slack(const gp_network* net, offset_t k, int from_later, const double* m) noexcept nogil
    double gp_below(double x, double y) noexcept nogil
