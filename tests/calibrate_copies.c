/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Import and export as the backend does them, from memory that has been touched.
 */
#include "calibrate.h"

typedef struct journey {
    const char *what;
    int64_t stride_gap; /**< words between rows */
    bool permuted;
    uint32_t element_bytes;
} journey;

static void measure(nmodgpu_queue *queue, uint64_t *memory, uint64_t **table, int64_t n, const journey *j)
{
    double up[5], down[5];
    const int64_t stride = n + j->stride_gap;
    nmodgpu_matrix words = {.representation = NMODGPU_WORDS,
                            .rows = n,
                            .cols = n,
                            .modulus = (1ULL << 31) - 1,
                            .element_bytes = j->element_bytes,
                            .planes = 1};
    nmodgpu_matrix host = words;
    host.device = NMODGPU_HOST;
    host.element_bytes = 8;
    host.stride = stride;
    host.data = memory;
    for (int64_t i = 0; i < n; i++)
        table[i] = memory + (i * 5 + 3) % n * stride; /* n is no multiple of 5 */
    host.row_table = j->permuted ? table : NULL;
    BACKEND_OK(calibrated->matrix_alloc(queue, &words));
    for (int r = 0; r < 5; r++) {
        const double t0 = calibrate_now();
        BACKEND_OK(calibrated->import_words(queue, &words, &host));
        BACKEND_OK(calibrated->wait(queue, NULL));
        const double t1 = calibrate_now();
        BACKEND_OK(calibrated->export_words(queue, &host, &words));
        BACKEND_OK(calibrated->wait(queue, NULL));
        up[r] = t1 - t0;
        down[r] = calibrate_now() - t1;
    }
    calibrated->matrix_free(queue, &words);
    const double bytes = (double)n * (double)n * 8, u = calibrate_median(up, 5), d = calibrate_median(down, 5);
    printf("  %5d x %-5d %-36s up %9.1f us (%5.2f GB/s), down %9.1f us (%5.2f GB/s)\n", (int)n, (int)n, j->what,
           u * 1e6, bytes / u / 1e9, d * 1e6, bytes / d / 1e9);
}

void calibrate_copies(nmodgpu_queue *queue, int64_t n)
{
    static const journey journeys[] = {
        {"8-byte words, rows adjacent", 0, false, 8}, {"8-byte words, rows apart", 8, false, 8},
        {"8-byte words, rows permuted", 0, true, 8},  {"4-byte words, rows adjacent", 0, false, 4},
        {"4-byte words, rows permuted", 8, true, 4},
    };
    const size_t count = (size_t)n * (size_t)(n + 8);
    uint64_t *memory = malloc(count * sizeof *memory);
    uint64_t **table = malloc((size_t)n * sizeof *table);
    if (!memory || !table) {
        fprintf(stderr, "no host memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        memory[i] = i & 0x3fffffff;
    printf("\nimport and export, waited for; bytes counted as 8 an entry\n");
    for (int64_t size = n; size >= n / 64; size /= 8)
        for (size_t i = 0; i < sizeof journeys / sizeof *journeys; i++)
            measure(queue, memory, table, size, &journeys[i]);
    free(memory);
    free(table);
}
