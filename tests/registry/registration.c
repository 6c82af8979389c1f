/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Backends that the program registers.
 */
#include <check.h>
#include <stdio.h>

#include "capture.h"
#include "cases.h"
#include "reference_backend.h"
#include "registry.h"

static nmodgpu_status buffer_wait(nmodgpu_buffer *buffer)
{
    (void)buffer;
    return NMODGPU_OK;
}

START_TEST(only_matching_backends_are_registered)
{
    nmodgpu_backend other = reference_backend;
    char refused[80];
    snprintf(refused, sizeof refused, "a backend was refused: made for interface %u", NMODGPU_BACKEND_ABI + 1);
    capture_begin();
    ck_assert_int_eq(nmodgpu_backend_register(NULL), NMODGPU_EINVAL);
    other.abi_version++;
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EABI);
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EABI);
    other = reference_backend;
    other.size -= 8;
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EABI);
    const char *const names[] = {"",  "auto", "off", "on",   "1",
                                 "0", "Cuda", "a b", "../x", "a-name-that-is-far-too-long-for-a-backend"};
    other = reference_backend;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        other.name = names[i];
        ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EINVAL);
    }
    other.name = NULL;
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EINVAL);
    other = reference_backend;
    other.reduce = NULL;
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EINVAL);
    other = reference_backend;
    other.buffer_wait = buffer_wait; /* without the rest of it */
    ck_assert_int_eq(nmodgpu_backend_register(&other), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_EINVAL);
    const char *lines = capture_end();
    ck_assert_int_eq(count_in(lines, refused), 1);
    ck_assert_int_eq(count_in(lines, "a second backend named reference was refused"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 3);
}
END_TEST

START_TEST(the_list_has_room_for_sixteen)
{
    static nmodgpu_backend many[NMODGPU_MAX_BACKENDS + 1];
    static char names[NMODGPU_MAX_BACKENDS + 1][8];
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    for (int i = 0; i <= NMODGPU_MAX_BACKENDS; i++) {
        snprintf(names[i], sizeof names[i], "b%d", i);
        many[i] = reference_backend;
        many[i].name = names[i];
        many[i].priority = i * 7 % 5;
        ck_assert_int_eq(nmodgpu_backend_register(&many[i]),
                         i < NMODGPU_MAX_BACKENDS ? NMODGPU_OK : NMODGPU_ENOMEM);
    }
    ck_assert_int_eq(nmodgpu_registry_all(entries), NMODGPU_MAX_BACKENDS);
    for (int i = 1; i < NMODGPU_MAX_BACKENDS; i++)
        ck_assert_int_ge(entries[i - 1]->priority, entries[i]->priority);
}
END_TEST

TCase *registry_registration_cases(void)
{
    TCase *cases = registry_case("registration");
    tcase_add_test(cases, only_matching_backends_are_registered);
    tcase_add_test(cases, the_list_has_room_for_sixteen);
    return cases;
}
