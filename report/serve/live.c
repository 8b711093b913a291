/* SPDX-License-Identifier: MIT
 *
 * The live view over civetweb, which implements HTTP and WebSockets. Its other features are not used: every request is
 * answered here, so civetweb never reads a file. */
#include "live.h"

#include "live_access.h"
#include "live_viewers.h"

#ifndef AST_HAVE_CIVETWEB

bool ast_live_there(void) {
    return false;
}

ast_live *ast_live_open(const char *address, unsigned port, ast_text *html, ast_recording *recording,
                        ast_format_error *error) {
    (void)address, (void)port, (void)recording;
    ast_text_free(html);
    ast_format_fail(error, "this build cannot serve results: it was built without civetweb");
    return NULL;
}

const char *ast_live_url(const ast_live *live) {
    (void)live;
    return "";
}

void ast_live_publish(ast_live *live, ast_shared_text *shared) {
    (void)live;
    ast_shared_text_release(shared);
}

void ast_live_end(ast_live *live, const char *reason) {
    (void)live, (void)reason;
}

size_t ast_live_waiting(ast_live *live) {
    (void)live;
    return 0;
}

size_t ast_live_viewers(ast_live *live) {
    (void)live;
    return 0;
}

uint64_t ast_live_missed(ast_live *live) {
    (void)live;
    return 0;
}

void ast_live_close(ast_live *live) {
    (void)live;
}

#else

#include <arpa/inet.h>
#include <civetweb.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT_TRIES 8

struct ast_live {
    ast_live_access access;
    char url[160];
    ast_text html;
    ast_viewers viewers;
    bool socket; /* there is a stream to send */
    bool library;
    struct mg_context *server;
    atomic_bool stopped;
};

bool ast_live_there(void) {
    return true;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static ast_live_answer judge(const ast_live *live, const struct mg_connection *connection) {
    const struct mg_request_info *info = mg_get_request_info(connection);
    ast_live_request request = {.method = info->request_method,
                                .path = info->request_uri,
                                .host = mg_get_header(connection, "Host"),
                                .origin = mg_get_header(connection, "Origin"),
                                .upgrade = mg_get_header(connection, "Upgrade"),
                                .content_length = mg_get_header(connection, "Content-Length"),
                                .transfer_encoding = mg_get_header(connection, "Transfer-Encoding")};
    ast_live_answer answer = ast_live_judge(&live->access, &request);
    return answer == AST_LIVE_SOCKET && !live->socket ? AST_LIVE_NOTHING : answer;
}

/* Browsers must not cache the page, embed it in another page, or send its address to others. */
#define HEADERS                                                                                                        \
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"                   \
    "X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n"

static void refuse(struct mg_connection *connection, ast_live_answer answer) {
    const char *words = answer == AST_LIVE_FORBIDDEN ? "Forbidden" : "Not Found";
    mg_printf(connection, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n" HEADERS "%s\n",
              (int)answer, words, strlen(words) + 1, words);
}

/* Returning 0 lets civetweb continue, which happens only for the socket. */
static int answer_request(struct mg_connection *connection) {
    const ast_live *live = mg_get_user_data(mg_get_context(connection));
    ast_live_answer answer = judge(live, connection);
    if (answer == AST_LIVE_SOCKET)
        return 0;
    if (answer != AST_LIVE_PAGE) {
        refuse(connection, answer);
        return (int)answer;
    }
    mg_printf(connection,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n" HEADERS,
              live->html.size);
    mg_write(connection, live->html.bytes, live->html.size);
    return (int)answer;
}

static int keep_quiet(const struct mg_connection *connection, const char *message) {
    (void)connection, (void)message;
    return 1;
}

/* ---- Sockets ----------------------------------------------------------------------------------------------------- */

static bool send_text(void *browser, const char *text, size_t size) {
    return mg_websocket_write(browser, MG_WEBSOCKET_OPCODE_TEXT, text, size) > 0;
}

/* Marks the connection; the thread that reads owns the socket and closes it. */
static void hang_up(void *browser) {
    mg_websocket_write(browser, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, NULL, 0);
}

static int on_connect(const struct mg_connection *connection, void *data) {
    return judge(data, connection) == AST_LIVE_SOCKET ? 0 : 1;
}

static void on_ready(struct mg_connection *connection, void *data) {
    ast_live *live = data;
    ast_viewer *viewer = ast_viewer_open(&live->viewers, connection);
    mg_set_user_connection_data(connection, viewer);
    if (!viewer)
        mg_close_connection(connection);
}

/* The page never sends anything, so any data means that the client is not the page. civetweb handles pings and
 * pongs. */
static int on_data(struct mg_connection *connection, int bits, char *bytes, size_t size, void *data) {
    int opcode = bits & 0xf;
    (void)connection, (void)bytes, (void)size, (void)data;
    return opcode == MG_WEBSOCKET_OPCODE_PING || opcode == MG_WEBSOCKET_OPCODE_PONG;
}

static void on_close(const struct mg_connection *connection, void *data) {
    ast_live *live = data;
    ast_viewer *viewer = mg_get_user_connection_data(connection);
    if (viewer)
        ast_viewer_close(&live->viewers, viewer);
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

static bool is_wide(const char *address) {
    return strchr(address, ':') != NULL; /* IPv6 */
}

/* Makes a socket, and converts the address to the system's form. */
static int make_socket(const char *address, unsigned port, struct sockaddr_storage *form, socklen_t *size) {
    struct sockaddr_in narrow = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 wide = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    bool six = is_wide(address);
    inet_pton(AF_INET, address, &narrow.sin_addr);
    inet_pton(AF_INET6, address, &wide.sin6_addr);
    *size = six ? sizeof wide : sizeof narrow;
    memcpy(form, six ? (const void *)&wide : (const void *)&narrow, *size);
    return socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Listens; -1 with errno on failure. */
static int listen_at(const char *address, unsigned port) {
    struct sockaddr_storage form;
    socklen_t size;
    int on = 1, handle = make_socket(address, port, &form, &size);
    if (handle < 0)
        return -1;
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(handle, (struct sockaddr *)&form, size) == 0 && listen(handle, 1) == 0)
        return handle;
    int problem = errno;
    close(handle);
    errno = problem;
    return -1;
}

/* Checks whether the port is available, because civetweb only reports that something failed; chooses one if any port
 * will do, because access control needs its number before the first request. */
static bool find_port(ast_live_access *access, ast_format_error *error) {
    union {
        struct sockaddr any;
        struct sockaddr_in narrow;
        struct sockaddr_in6 wide;
    } found = {.wide = {0}};
    socklen_t size = sizeof found;
    int handle = listen_at(access->address, access->port);
    if (handle < 0 && errno == EADDRINUSE)
        return ast_format_fail(error,
                               "port %u of %s is in use by another program; use another port, or give none to use "
                               "any free port",
                               access->port, access->address);
    if (handle < 0)
        return ast_format_fail(error, "port %u of %s cannot be served: %s", access->port, access->address,
                               strerror(errno));
    bool known = getsockname(handle, &found.any, &size) == 0;
    close(handle);
    if (known)
        access->port = ntohs(is_wide(access->address) ? found.wide.sin6_port : found.narrow.sin_port);
    return true;
}

static bool start(ast_live *live, ast_format_error *error) {
    char ports[AST_LIVE_ADDRESS + 16], threads[16];
    const struct mg_callbacks callbacks = {.begin_request = answer_request, .log_message = keep_quiet};
    snprintf(ports, sizeof ports, is_wide(live->access.address) ? "[%s]:%u" : "%s:%u", live->access.address,
             live->access.port);
    snprintf(threads, sizeof threads, "%d", AST_LIVE_VIEWERS + 4); /* one per viewer, and some for the page */
    /* A browser that accepts no data for half a minute is disconnected; the short timeout is how often a socket's
     * thread checks whether to stop. */
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             threads,
                             "request_timeout_ms",
                             "30000",
                             "websocket_timeout_ms",
                             "200",
                             "enable_keep_alive",
                             "no",
                             "tcp_nodelay",
                             "1",
                             "enable_directory_listing",
                             "no",
                             NULL};
    live->server = mg_start(&callbacks, live, options);
    return live->server || ast_format_fail(error, "%s cannot be served", ports);
}

/* Another program may take the port between the check and serving it; then another port is tried, if any port will
 * do. */
static bool open_port(ast_live *live, unsigned port, ast_format_error *error) {
    for (int tries = port == 0 ? PORT_TRIES : 1; tries > 0; tries--) {
        live->access.port = port;
        if (!find_port(&live->access, error))
            return false;
        if (start(live, error))
            return true;
    }
    return false;
}

/* Writes the address for people. */
static void write_url(ast_live *live) {
    const char *address = live->access.address;
    const char *shown = strcmp(address, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(address, "::") == 0 ? "::1" : address;
    snprintf(live->url, sizeof live->url, is_wide(shown) ? "http://[%s]:%u/%s/" : "http://%s:%u/%s/", shown,
             live->access.port, live->access.token);
}

static bool set_up(ast_live *live, const char *address, unsigned port, ast_format_error *error) {
    size_t length = strlen(address), skip = address[0] == '[';
    char path[AST_LIVE_TOKEN + 8];
    snprintf(live->access.address, sizeof live->access.address, "%.*s", (int)(length - 2 * skip), address + skip);
    if (!ast_live_token(live->access.token))
        return ast_format_fail(error, "the system has no random numbers for a token");
    if (is_wide(live->access.address) && !mg_check_feature(MG_FEATURES_IPV6))
        return ast_format_fail(error, "%s: this build of civetweb has no IPv6", address);
    if (!open_port(live, port, error))
        return false;
    write_url(live);
    snprintf(path, sizeof path, "/%s/live", live->access.token);
    mg_set_websocket_handler(live->server, path, on_connect, on_ready, on_data, on_close, live);
    return true;
}

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
    live->html = *html;
    *html = (ast_text){0};
    live->socket = recording != NULL;
    live->viewers.recording = recording;
    live->viewers.send = send_text;
    live->viewers.hang_up = hang_up;
    mg_init_library(0);
    live->library = true;
    if (set_up(live, address, port, error))
        return live;
    ast_live_close(live);
    return NULL;
}

/* civetweb checks only every two seconds whether to stop; a connection wakes it earlier. */
static void *knock(void *data) {
    ast_live *live = data;
    while (!atomic_load(&live->stopped)) {
        struct sockaddr_storage form;
        socklen_t size;
        int handle = make_socket(live->access.address, live->access.port, &form, &size);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        if (handle >= 0) {
            fcntl(handle, F_SETFL, O_NONBLOCK);
            int tried = connect(handle, (struct sockaddr *)&form, size);
            (void)tried;
            close(handle);
        }
    }
    return NULL;
}

/* Closes every socket and waits until it is closed. */
static void stop(ast_live *live) {
    pthread_t knocking;
    bool knocks = pthread_create(&knocking, NULL, knock, live) == 0;
    mg_stop(live->server);
    atomic_store(&live->stopped, true);
    if (knocks)
        pthread_join(knocking, NULL);
}

void ast_live_close(ast_live *live) {
    if (!live)
        return;
    if (live->server)
        stop(live);
    if (live->library)
        mg_exit_library();
    ast_viewers_free(&live->viewers);
    ast_text_free(&live->html);
    free(live);
}

const char *ast_live_url(const ast_live *live) {
    return live->url;
}

void ast_live_publish(ast_live *live, ast_shared_text *shared) {
    ast_viewers_publish(&live->viewers, shared);
}

void ast_live_end(ast_live *live, const char *reason) {
    ast_viewers_end(&live->viewers, reason);
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

#endif
