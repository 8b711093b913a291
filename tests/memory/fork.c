/* SPDX-License-Identifier: MIT
 *
 * A process that has clustered may fork (Python's multiprocessing does): the child gets the parent's result from the
 * parent's context, on its one thread, and closes it; the parent goes on as before. */
#include "reference/cases.h"
#include "reference/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 20000, PATIENCE = 60 /* seconds until a child counts as hung */ };

static float x[N * 3];
static int32_t labels[N], child_labels[N];

static ast_status cluster(ast_context *context, int32_t *result) {
    ast_report report = {.size = sizeof report};
    ast_options options;
    ast_points points = ast_points_f4(x, N, 3);
    ast_options_init(&options);
    options.angle = 25;
    return ast_cluster(context, &points, &options, result, &report);
}

/* What the child does with the context it inherited; its exit code. */
static int child_uses(ast_context *context) {
    if (cluster(context, child_labels) != AST_OK)
        return 1;
    if (memcmp(labels, child_labels, sizeof labels) != 0)
        return 2;
    ast_close(context);
    return 0;
}

static int child_closes(ast_context *context) {
    ast_close(context);
    return 0;
}

/* What the child does with a context of its own. */
static int child_opens(ast_context *context) {
    (void)context;
    ast_context *own;
    ast_open(&own, 3);
    if (!own)
        return 3;
    return child_uses(own);
}

static void check_child(int (*task)(ast_context *), ast_context *context) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE); /* a hang ends with SIGALRM instead of with the test's time limit */
        _exit(task(context));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child ended with signal %d%s", WTERMSIG(status), WTERMSIG(status) == 14 ? ": it hung" : "");
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void check_parent(ast_context *context) {
    memset(child_labels, 0x5a, sizeof child_labels);
    assert_int_equal(cluster(context, child_labels), AST_OK);
    assert_memory_equal(labels, child_labels, sizeof labels);
}

static void a_child_uses_the_parents_context(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        ast_context *context;
        ast_open(&context, threads);
        assert_non_null(context);
        check_child(child_closes, context);
        assert_int_equal(cluster(context, labels), AST_OK);
        for (int again = 0; again < 3; again++) {
            check_child(child_uses, context);
            check_parent(context);
        }
        check_child(child_closes, context);
        ast_close(context);
    }
}

static void a_child_opens_its_own_context(void **state) {
    (void)state;
#ifdef REF_TSAN
    skip(); /* the thread sanitizer allows no threads in a child of a threaded process */
#endif
    ast_context *context;
    ast_open(&context, 2);
    assert_non_null(context);
    assert_int_equal(cluster(context, labels), AST_OK);
    check_child(child_opens, context);
    check_parent(context);
    ast_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_uses_the_parents_context),
        cmocka_unit_test(a_child_opens_its_own_context),
    };
    ref_fill_clustered(x, N, 3, 20, 0.1, 0.1, 9);
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
