/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <string.h>

#include "exact/word.h"
#include "plan_i8.h"
#include "planner_cases.h"
#include "support.h"

uint64_t planner_seed;

void planner_setup(void)
{
    planner_seed = test_seed();
}

/** A magnitude uniform by its logarithm, in [1, 2^bits]. */
static int64_t random_size(unsigned bits)
{
    const uint64_t top = 1ULL << test_below(bits + 1);
    return (int64_t)(test_below(4) ? 1 + test_below(top) : top);
}

static double scaled(double rate)
{
    return rate * (1 + (double)test_below(16)) / 8;
}

nmodgpu_rates random_rates(void)
{
    static const nmodgpu_rates gpu = {.f64_flops = 66e12,
                                      .f64_k_half = 120,
                                      .f64_tile_rows = 128,
                                      .f64_tile_cols = 128,
                                      .processors = 132,
                                      .gemm_start = 5e-6,
                                      .pass_start = 5e-6,
                                      .pass_bytes = 3.5e12,
                                      .integer_sums = 3.5e11,
                                      .import_bytes = 50e9,
                                      .export_bytes = 50e9,
                                      .call_start = 30e-6,
                                      .i8_flops = 1100e12,
                                      .i8_k_half = 300,
                                      .i8_fused_flops = 1500e12,
                                      .i8_fused_k_half = 300,
                                      .i8_tile = 256,
                                      .residues = 2e12};
    static const nmodgpu_rates cpu = {.f64_flops = 60e9,
                                      .f64_k_half = 30,
                                      .f64_tile_rows = 8,
                                      .f64_tile_cols = 8,
                                      .processors = 4,
                                      .gemm_start = 1e-6,
                                      .pass_start = 1e-6,
                                      .pass_bytes = 10e9,
                                      .integer_sums = 3e8,
                                      .import_bytes = 8e9,
                                      .export_bytes = 8e9,
                                      .call_start = 1e-6};
    nmodgpu_rates rates = test_below(3) ? gpu : cpu;
    rates.f64_flops = scaled(rates.f64_flops);
    rates.f64_k_half = scaled(rates.f64_k_half);
    rates.pass_bytes = scaled(rates.pass_bytes);
    rates.gemm_start *= (double)test_below(4);
    rates.integer_sums *= (double)test_below(3);
    rates.i8_flops = scaled(test_below(4) ? rates.i8_flops : 0);
    rates.i8_k_half *= (double)test_below(3);
    rates.i8_fused_flops = scaled(test_below(3) ? rates.i8_fused_flops : 0);
    rates.i8_fused_k_half *= (double)test_below(3);
    rates.i8_tile *= test_below(8) ? 1 : 0;
    rates.residues = scaled(test_below(4) ? rates.residues : 0);
    return rates;
}

problem random_problem(void)
{
    problem q;
    q.p = test_modulus(1 + (unsigned)test_below(64));
    q.p += q.p < 2;
    q.m = random_size(16);
    q.k = random_size(31);
    q.n = random_size(16);
    q.rates = random_rates();
    return q;
}

problem large_problem(void)
{
    problem q = random_problem();
    q.m = 2048 + (int64_t)test_below(20000);
    q.k = 2048 + (int64_t)test_below(test_below(4) ? 20000 : 1000000);
    q.n = 2048 + (int64_t)test_below(20000);
    q.p = test_below(4) ? q.p : 2 + test_below(255);
    q.rates.i8_flops = 1e15;
    q.rates.i8_fused_flops = 1e15;
    return q;
}

size_t list_f64_plans(nmodgpu_plan *plans, const problem *q)
{
    problem f64 = *q;
    f64.rates.i8_flops = 0;
    f64.rates.i8_fused_flops = 0;
    return list_plans(plans, &f64);
}

size_t list_i8_plans(nmodgpu_plan *plans, const problem *q)
{
    problem all = *q;
    size_t kept = 0;
    all.rates.i8_flops = 1e15;
    all.rates.i8_fused_flops = 1e15;
    const size_t count = list_plans(plans, &all);
    for (size_t i = 0; i < count; i++)
        if (plans[i].number == NMODGPU_I8)
            plans[kept++] = plans[i];
    return kept;
}

const nmodgpu_plan *plan_named(const nmodgpu_plan *plans, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(plans[i].name, name) == 0)
            return &plans[i];
    return NULL;
}

const nmodgpu_plan *plan_beginning(const nmodgpu_plan *plans, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(plans[i].name, prefix, strlen(prefix)) == 0)
            return &plans[i];
    return NULL;
}

size_t list_plans(nmodgpu_plan *plans, const problem *q)
{
    const size_t count = nmodgpu_plan_list(plans, MANY_PLANS, q->p, q->m, q->k, q->n, &q->rates);
    ck_assert_msg(count >= 1 && count <= MANY_PLANS, "seed %llu: %zu plans for p = %llu, k = %lld",
                  (unsigned long long)planner_seed, count, (unsigned long long)q->p, (long long)q->k);
    return count;
}

void mpz_set_u64(mpz_t x, uint64_t value)
{
    mpz_import(x, 1, -1, sizeof value, 0, 0, &value);
}

void mpz_set_i64(mpz_t x, int64_t value)
{
    mpz_set_u64(x, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        mpz_neg(x, x);
}

uint64_t mpz_get_u64(const mpz_t x)
{
    uint64_t value = 0;
    mpz_export(&value, NULL, -1, sizeof value, 0, 0, x);
    return value;
}

void oracle_extremes(mpz_t low, mpz_t high, uint64_t p)
{
    mpz_set_u64(low, p);
    mpz_fdiv_q_2exp(high, low, 1);
    mpz_sub(low, high, low);
    mpz_add_ui(low, low, 1);
}

/** Smallest and largest value of the digits below the top one, together. */
static void oracle_low_part(mpz_t low, mpz_t high, const nmodgpu_operand_plan *operand)
{
    mpz_t unit;
    mpz_init_set_ui(unit, 1);
    mpz_set_ui(low, 0);
    mpz_set_ui(high, 0);
    for (uint32_t j = 0; j + 1 < operand->digits; j++) {
        mpz_addmul_ui(high, unit, (1UL << (operand->digit_bits - 1)) - 1);
        mpz_submul_ui(low, unit, 1UL << (operand->digit_bits - 1));
        mpz_mul_2exp(unit, unit, operand->digit_bits);
    }
    mpz_clear(unit);
}

/* The top digit t of x satisfies t B + low <= x <= t B + high with B = 2^(bits (digits - 1)): so it lies in
 * [ceil((least x - high) / B), floor((most x - low) / B)]. */
void oracle_digit_bound(mpz_t bound, const nmodgpu_operand_plan *operand, uint32_t j, uint64_t p)
{
    mpz_t least, most, low, high;
    if (j + 1 < operand->digits) {
        mpz_ui_pow_ui(bound, 2, operand->digit_bits - 1);
        return;
    }
    mpz_inits(least, most, low, high, NULL);
    const unsigned long shift = operand->digits == 1 ? 0 : operand->digit_bits * (operand->digits - 1);
    oracle_extremes(least, most, p);
    oracle_low_part(low, high, operand);
    mpz_sub(least, least, high);
    mpz_cdiv_q_2exp(least, least, shift);
    mpz_sub(most, most, low);
    mpz_fdiv_q_2exp(most, most, shift);
    mpz_set(bound, mpz_cmpabs(least, most) > 0 ? least : most);
    mpz_abs(bound, bound);
    mpz_clears(least, most, low, high, NULL);
}

void oracle_plane_bound(mpz_t bound, const nmodgpu_operand_plan *operand, uint32_t i, uint64_t p)
{
    mpz_t digit;
    mpz_init(digit);
    mpz_set_ui(bound, 0);
    for (uint32_t j = 0; j < operand->digits; j++) {
        if (!(operand->plane_digits[i] >> j & 1))
            continue;
        oracle_digit_bound(digit, operand, j, p);
        mpz_add(bound, bound, digit);
    }
    mpz_clear(digit);
}

void oracle_weight(mpz_t weight, const nmodgpu_plan *plan, uint32_t g)
{
    mpz_t left, right;
    mpz_inits(left, right, NULL);
    mpz_set_ui(weight, 0);
    for (uint32_t t = 0; t < plan->terms; t++) {
        if (plan->term[t].sum != g)
            continue;
        oracle_plane_bound(left, &plan->left, plan->term[t].left, plan->modulus);
        oracle_plane_bound(right, &plan->right, plan->term[t].right, plan->modulus);
        mpz_addmul(weight, left, right);
    }
    mpz_clears(left, right, NULL);
}

void oracle_spare(mpz_t spare, uint32_t moduli, int64_t k, uint64_t p)
{
    mpz_t h;
    mpz_init(h);
    mpz_set_u64(h, p / 2);
    mpz_set_ui(spare, 4);
    for (uint32_t i = 0; i < moduli; i++)
        mpz_mul_ui(spare, spare, nmodgpu_i8_moduli[i]);
    mpz_mul(h, h, h);
    mpz_mul_ui(h, h, 9);
    mpz_mul_ui(h, h, (unsigned long)k);
    mpz_sub(spare, spare, h);
    mpz_clear(h);
}

uint64_t oracle_dot(const uint64_t *a, const uint64_t *b, int64_t k, uint64_t p)
{
    mpz_t x, y, sum;
    mpz_inits(x, y, sum, NULL);
    for (int64_t l = 0; l < k; l++) {
        mpz_set_u64(x, a[l]);
        mpz_set_u64(y, b[l]);
        mpz_addmul(sum, x, y);
    }
    mpz_set_u64(x, p);
    mpz_fdiv_r(sum, sum, x);
    const uint64_t result = mpz_get_u64(sum);
    mpz_clears(x, y, sum, NULL);
    return result;
}

int64_t plane_of(const nmodgpu_operand_plan *operand, uint32_t i, int64_t x)
{
    int64_t plane = 0;
    for (uint32_t j = 0; j < operand->digits; j++) {
        const int64_t digit = j + 1 < operand->digits ? nmodgpu_take_digit(&x, operand->digit_bits) : x;
        if (operand->plane_digits[i] >> j & 1)
            plane += digit;
    }
    return plane;
}
