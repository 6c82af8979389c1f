/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A program that has nothing but an installed nmodgpu: compiled, linked and run by installed.sh.
 */
#include <nmodgpu.h>
#include <nmodgpu/backend.h>
#include <stdio.h>
#include <string.h>

enum { M = 37, K = 41, N = 43, STRIDE = 50 };
static const uint64_t p = 4294967291u; /* products of two entries fit into 64 bits */

static uint64_t a[M][STRIDE], b[K][STRIDE], c[M][STRIDE], d[M][STRIDE], expected[M][STRIDE];

/** 16 high bits each of a linear congruential generator (D. E. Knuth, TAOCP 2, 3.3.4). */
static uint64_t next(void)
{
    static uint64_t state = 1;
    uint64_t word = 0;
    for (int i = 0; i < 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        word = word << 16 | state >> 48;
    }
    return word;
}

static nmodgpu_view view(int64_t rows, int64_t cols, uint64_t (*data)[STRIDE])
{
    nmodgpu_view v = {rows, cols, STRIDE, &data[0][0], NULL};
    return v;
}

/** expected <- c0 + sign * a * b, the part outside the matrix as in `like`. */
static void expect(int sign, uint64_t (*c0)[STRIDE], uint64_t (*like)[STRIDE])
{
    memcpy(expected, like, sizeof expected);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            uint64_t sum = 0;
            for (int l = 0; l < K; l++)
                sum = (sum + a[i][l] * b[l][j] % p) % p;
            expected[i][j] = ((c0 ? c0[i][j] : 0) + (sign > 0 ? sum : p - sum)) % p;
        }
    }
}

static int check(const char *what, nmodgpu_status status, uint64_t (*got)[STRIDE])
{
    const int right = status == NMODGPU_OK && memcmp(got, expected, sizeof expected) == 0;
    printf("%s: %s, %s\n", what, nmodgpu_status_text(status), right ? "right" : "WRONG");
    return !right;
}

static int products(nmodgpu_context *context)
{
    int wrong = 0;
    const nmodgpu_view va = view(M, K, a), vb = view(K, N, b), vc = view(M, N, c), vd = view(M, N, d);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < STRIDE; j++) {
            a[i][j] = next() % p;
            c[i][j] = next();
            d[i][j] = next();
        }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < STRIDE; j++)
            b[i][j] = next() % p;

    expect(1, NULL, c);
    wrong |= check("nmodgpu_mul", nmodgpu_mul(context, &vc, &va, &vb, p), c);
    expect(1, c, d);
    wrong |= check("nmodgpu_addmul", nmodgpu_addmul(context, &vd, &vc, &va, &vb, p), d);
    expect(-1, d, d);
    wrong |= check("nmodgpu_submul in place", nmodgpu_submul(context, &vd, &vd, &va, &vb, p), d);
    return wrong;
}

int main(void)
{
    nmodgpu_context *context = NULL;
    int wrong;
    if (strcmp(nmodgpu_version(), INSTALLED_VERSION) != 0) {
        printf("version %s, but pkg-config says %s\n", nmodgpu_version(), INSTALLED_VERSION);
        return 1;
    }
    printf("version %s, backend interface %u\n", nmodgpu_version(), NMODGPU_BACKEND_ABI);
    puts("default context:");
    wrong = products(NULL);
    if (nmodgpu_context_create(&context) != NMODGPU_OK ||
        nmodgpu_context_set(context, "NMODGPU_MIN_DIM", "0") != NMODGPU_OK) {
        puts("no context");
        return 1;
    }
    puts("a context of its own, everything sent to a backend:");
    wrong |= products(context);
    nmodgpu_context_destroy(context);
    return wrong;
}
