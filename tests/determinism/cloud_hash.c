/* SPDX-License-Identifier: MIT
 *
 * One hash of normals and curvature over threads and instruction sets, for clouds of every awkward kind and for a room
 * of many tasks; and of a mesh. */
#include "reference/cloud.h"
#include "reference/harness.h"

#include <math.h>
#include <string.h>

enum { MOST = 30000 / REF_SLOWER + 3000, SMALL = 900 };

static uint64_t hash_mesh(ast_context *context, uint64_t hash, const float *vertices, size_t count) {
    static int32_t faces[3 * MOST];
    static float normals[3 * MOST];
    static double areas[MOST];
    for (size_t i = 0; i < 3 * count; i++)
        faces[i] = (int32_t)(ast_mix64(i) % count);
    assert_int_equal(ast_mesh_normals(context, vertices, count, faces, count, normals, areas), AST_OK);
    hash = ref_hash_floats(hash, normals, 3 * count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &areas[i], sizeof bits);
        hash = ast_mix64(hash ^ bits);
    }
    return hash;
}

static uint64_t hash_of(const char *isa, int threads) {
    static float points[3 * MOST], normals[3 * MOST], curvature[MOST];
    ast_context *context = ref_context(isa, threads);
    uint64_t hash = 0;
    for (int kind = 0; kind <= REF_CLOUD_KINDS; kind++) {
        size_t count = kind == REF_CLOUD_KINDS ? MOST : SMALL;
        ast_cloud_options options;
        ast_random random;
        ast_cloud_options_init(&options);
        options.neighbours = 5 + 4 * kind;
        ast_random_seed(&random, (uint64_t)kind, 97);
        ref_cloud_fill(points, count, kind == REF_CLOUD_KINDS ? REF_CLOUD_ROOM : (ref_cloud_kind)kind, 50, &random);
        assert_int_equal(ast_cloud_normals(context, points, count, &options, normals, curvature), AST_OK);
        hash = ref_hash_floats(ref_hash_floats(hash, normals, 3 * count), curvature, count);
        hash = hash_mesh(context, hash, points, count);
    }
    return hash;
}

static void one_hash(void **state) {
    (void)state;
    static const char *const sets[] = {"base", REF_FAST};
    static const int threads[] = {1, 2, 3, 8};
    uint64_t expected = hash_of(REF_FAST, 2);
    for (int s = 0; s < 2 && ref_has(sets[s]); s++)
        for (int t = 0; t < 4; t++) {
            uint64_t got = hash_of(sets[s], threads[t]);
            if (got != expected)
                fail_msg("%s, %d threads: %016llx, should be %016llx", sets[s], threads[t], (unsigned long long)got,
                         (unsigned long long)expected);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_hash)};
    return cmocka_run_group_tests_name("cloud hash", tests, NULL, ref_contexts_end);
}
