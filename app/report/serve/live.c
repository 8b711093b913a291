/* SPDX-License-Identifier: MIT
 *
 * The live view: the viewers behind the sockets of a server. */
#include "live.h"

#include "live_viewers.h"
#include "server.h"

#include <stdlib.h>

struct ast_live {
    ast_viewers viewers;
    ast_server *server;
};

static void *open_viewer(void *data) {
    ast_live *live = data;
    return ast_viewer_open(&live->viewers);
}

static void close_viewer(void *data, void *viewer) {
    ast_live *live = data;
    ast_viewer_close(&live->viewers, viewer);
}

static ast_shared_text *next_message(void *data, void *viewer) {
    ast_live *live = data;
    return ast_viewer_next(&live->viewers, viewer);
}

/* The page sends nothing (no `hear`). A client that sends something is not the page. */
ast_live *ast_live_open(const char *address, unsigned port, ast_text *html, ast_recording *recording,
                        ast_format_error *error) {
    ast_live *live = calloc(1, sizeof *live);
    if (live && !ast_viewers_init(&live->viewers)) {
        free(live);
        live = NULL;
    }
    if (!live) {
        ast_text_free(html);
        ast_format_fail(error, "there is not enough memory for the live view");
        return NULL;
    }
    live->viewers.recording = recording;
    ast_server_app app = {
        .data = live, .open = recording ? open_viewer : NULL, .close = close_viewer, .next = next_message};
    live->server = ast_server_open(address, port, html, &app, error);
    if (live->server)
        return live;
    ast_live_close(live);
    return NULL;
}

void ast_live_close(ast_live *live) {
    if (!live)
        return;
    ast_server_close(live->server);
    ast_viewers_free(&live->viewers);
    free(live);
}

const char *ast_live_url(const ast_live *live) {
    return ast_server_url(live->server);
}

void ast_live_publish(ast_live *live, ast_shared_text *shared) {
    ast_viewers_publish(&live->viewers, shared);
    ast_server_wake(live->server);
}

void ast_live_end(ast_live *live, const char *reason) {
    ast_viewers_end(&live->viewers, reason);
    ast_server_wake(live->server);
}

size_t ast_live_waiting(ast_live *live) {
    return ast_viewers_waiting(&live->viewers);
}

size_t ast_live_viewers(ast_live *live) {
    pthread_mutex_lock(&live->viewers.lock);
    size_t count = live->viewers.count;
    pthread_mutex_unlock(&live->viewers.lock);
    return count;
}

uint64_t ast_live_missed(ast_live *live) {
    pthread_mutex_lock(&live->viewers.lock);
    uint64_t missed = live->viewers.missed;
    pthread_mutex_unlock(&live->viewers.lock);
    return missed;
}
