/* SPDX-License-Identifier: MIT
 *
 * The pages, the sweeps of tune and the server that connects them with browsers: opened in order, closed in reverse. */
#include "explore.h"

#include <page.h>
#include <stdlib.h>
#include <viewer.h>

#include "explore_page.h"

struct ast_explorer {
    ast_drawn drawn;
    ast_explore_pages pages;
    bool paged; /* the pages are initialised */
    ast_server *server;
};

/* The page, which holds nothing but the name of what is explored: the rest follows over its socket. */
static bool make_html(const ast_explored *explored, ast_text *html) {
    ast_text json = {0};
    size_t length;
    const char *page = ast_viewer_page(&length);
    ast_json_open(&json, NULL, '{');
    ast_json_integer(&json, "format", 1);
    ast_json_string(&json, "kind", "explore");
    ast_json_string(&json, "title", explored->input);
    ast_json_string(&json, "version", ast_version());
    ast_json_close(&json, '}');
    bool good = ast_page_fill(page, length, &json, html);
    ast_text_free(&json);
    return good;
}

static bool serve(ast_explorer *explorer, const char *address, unsigned port, ast_format_error *error) {
    ast_text html = {0};
    ast_explore_pages *pages = &explorer->pages;
    const ast_server_app app = {.data = pages,
                                .open = ast_explore_page_open,
                                .close = ast_explore_page_close,
                                .hear = ast_explore_page_hear,
                                .next = ast_explore_page_next};
    if (!make_html(pages->explored, &html))
        return ast_format_fail(error, "there is no memory for the page");
    explorer->server = ast_server_open(address, port, &html, &app, error);
    if (explorer->server)
        ast_explore_pages_serve(pages, explorer->server);
    return explorer->server != NULL;
}

static bool start(ast_explorer *explorer, const char *address, unsigned port, ast_format_error *error) {
    ast_explore_pages *pages = &explorer->pages;
    explorer->paged = ast_explore_pages_init(pages);
    if (!explorer->paged)
        return ast_format_fail(error, "there is no memory for the pages");
    if (!ast_drawn_choose(&explorer->drawn, pages->explored, error))
        return false;
    pages->sweeps = ast_explore_sweeps_open(pages);
    if (!pages->sweeps)
        return ast_format_fail(error, "there is no memory for the sweep");
    if (ast_map_suits(&pages->explored->points, pages->explored->axial || pages->explored->undirected)) {
        pages->map = ast_explore_map_open(pages);
        if (!pages->map)
            return ast_format_fail(error, "there is no memory for the map");
    }
    return serve(explorer, address, port, error);
}

ast_explorer *ast_explorer_open(const ast_explored *explored, const char *address, unsigned port,
                                ast_format_error *error) {
    ast_explorer *explorer = calloc(1, sizeof *explorer);
    if (!explorer) {
        ast_format_fail(error, "there is no memory for the pages");
        return NULL;
    }
    explorer->pages.explored = explored;
    explorer->pages.drawn = &explorer->drawn;
    explorer->pages.first = ast_explore_first(explored);
    if (start(explorer, address, port, error))
        return explorer;
    ast_explorer_close(explorer);
    return NULL;
}

const char *ast_explorer_url(const ast_explorer *explorer) {
    return ast_server_url(explorer->server);
}

void ast_explorer_close(ast_explorer *explorer) {
    if (!explorer)
        return;
    if (explorer->server) {
        ast_explore_pages_serve(&explorer->pages, NULL);
        ast_server_close(explorer->server);
    }
    ast_explore_sweeps_close(explorer->pages.sweeps);
    ast_explore_map_stop(explorer->pages.map);
    if (explorer->paged)
        ast_explore_pages_free(&explorer->pages);
    ast_explore_map_close(explorer->pages.map);
    ast_drawn_free(&explorer->drawn);
    free(explorer);
}
