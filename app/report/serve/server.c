/* SPDX-License-Identifier: MIT
 *
 * The thread waits for all connections at once (poll). A connection goes from READING its request to ANSWERING it and
 * LEAVING, or to OPEN, a socket. LEAVING reads what still comes and drops it: a connection that is closed before would
 * take the answer with it. */
#include "server.h"

#include "http_request.h"
#include "listening.h"
#include "sockets.h"
#include "websocket.h"

#include <errno.h>
#include <platform.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds for a browser to take a part of an answer, and to close after it. */
enum { STALLED = 30, FAREWELL = 1 };

typedef enum stage { READING, ANSWERING, LEAVING, OPEN, GONE } stage;

typedef struct connection {
    int handle;
    stage stage;
    bool known;      /* it has shown the token */
    double deadline; /* seconds of the monotonic clock; an open socket has one only while something is being sent */
    char in[AST_HTTP_HEAD + 1];
    size_t in_size;
    char head[640]; /* what is being sent: this, then the body */
    size_t head_size;
    const char *body;
    size_t body_size, sent;
    ast_shared_text *message; /* whose bytes are the body, or NULL */
    bool pong, farewell;      /* to be sent before the next message */
    bool over;                /* the farewell is being sent */
    bool deaf;                /* the browser will say nothing more */
    void *visitor;
} connection;

struct ast_server {
    ast_live_access access;
    char url[AST_LIVE_URL];
    ast_text html;
    ast_server_app app;
    int listening, wake[2];
    bool running;
    pthread_t thread;
    atomic_bool stopping;
    connection *all[AST_SERVER_CONNECTIONS];
    size_t count;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static void extend(connection *of) {
    of->deadline = now() + (of->known ? STALLED : AST_SERVER_PATIENCE);
}

static void begin_sending(connection *to, const char *body, size_t size) {
    to->body = body;
    to->body_size = size;
    to->sent = 0;
    extend(to);
}

/* Sends what can be sent without waiting; true when all of it is gone. */
static bool send_some(connection *to) {
    size_t all = to->head_size + to->body_size;
    while (to->sent < all) {
        bool head = to->sent < to->head_size;
        const char *from = head ? to->head + to->sent : to->body + (to->sent - to->head_size);
        size_t left = head ? to->head_size - to->sent : all - to->sent;
        ssize_t part = send(to->handle, from, left, MSG_NOSIGNAL | (head && to->body_size ? MSG_MORE : 0));
        if (part < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            to->stage = GONE;
        if (part <= 0)
            return false;
        to->sent += (size_t)part;
        extend(to);
    }
    return true;
}

static void leave(connection *from) {
    shutdown(from->handle, SHUT_WR);
    from->stage = LEAVING;
    from->deadline = now() + FAREWELL;
}

/* Browsers must not cache the page, embed it in another page, or send its address to others. */
#define HEADERS                                                                                                        \
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"                   \
    "X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n"

static const char *words_of(ast_live_answer answer) {
    return answer == AST_LIVE_PAGE        ? "OK"
           : answer == AST_LIVE_BAD       ? "Bad Request"
           : answer == AST_LIVE_FORBIDDEN ? "Forbidden"
           : answer == AST_LIVE_FULL      ? "Service Unavailable"
                                          : "Not Found";
}

static void answer(const ast_server *server, connection *to, ast_live_answer answer) {
    const char *words = words_of(answer);
    bool page = answer == AST_LIVE_PAGE;
    size_t size = page ? server->html.size : strlen(words);
    to->head_size =
        (size_t)snprintf(to->head, sizeof to->head,
                         "HTTP/1.1 %d %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n" HEADERS,
                         (int)answer, words, page ? "text/html" : "text/plain", size);
    to->stage = ANSWERING;
    begin_sending(to, page ? server->html.bytes : words, size);
}

/* ---- Sockets ----------------------------------------------------------------------------------------------------- */

static void open_socket(ast_server *server, connection *to, const char *key) {
    char accept[AST_SOCKET_ANSWER + 1];
    to->visitor = server->app.open ? server->app.open(server->app.data) : NULL;
    if (!to->visitor) {
        answer(server, to, server->app.open ? AST_LIVE_FULL : AST_LIVE_NOTHING);
        return;
    }
    ast_websocket_accept(key, accept);
    to->head_size = (size_t)snprintf(to->head, sizeof to->head,
                                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                     "Sec-WebSocket-Accept: %s\r\n\r\n",
                                     accept);
    to->stage = OPEN;
    to->in_size = 0;
    begin_sending(to, NULL, 0);
}

/* The next message, if there is one. */
static bool take_next(ast_server *server, connection *to) {
    size_t size = 0;
    const char *bytes = NULL;
    int opcode = to->pong ? AST_FRAME_PONG : AST_FRAME_CLOSE;
    if (!to->pong && !to->farewell) {
        to->message = server->app.next(server->app.data, to->visitor);
        if (!to->message)
            return false;
        bytes = to->message->text.bytes;
        size = to->message->text.size;
        opcode = to->message->binary ? AST_FRAME_BINARY : AST_FRAME_TEXT;
    }
    to->head_size = ast_websocket_head((unsigned char *)to->head, opcode, size);
    begin_sending(to, bytes, size);
    to->over = opcode == AST_FRAME_CLOSE;
    to->pong = false;
    return true;
}

static void send_messages(ast_server *server, connection *to) {
    while (to->stage == OPEN && send_some(to)) {
        ast_shared_text_release(to->message);
        to->message = NULL;
        if (to->over) {
            leave(to);
        } else if (!take_next(server, to)) {
            to->head_size = to->body_size = to->sent = 0;
            return;
        }
    }
}

static void hear(ast_server *server, connection *from, const ast_socket_message *message) {
    char after = message->text[message->size];
    bool good = true;
    if (message->opcode == AST_FRAME_CLOSE) {
        from->farewell = true;
    } else if (message->opcode == AST_FRAME_PING) {
        from->pong = true;
    } else if (message->opcode != AST_FRAME_PONG) {
        message->text[message->size] = 0;
        good = message->opcode == AST_FRAME_TEXT && server->app.hear &&
               server->app.hear(server->app.data, from->visitor, message->text, message->size);
        message->text[message->size] = after;
    }
    if (!good)
        from->stage = GONE;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void read_messages(ast_server *server, connection *from) {
    ast_socket_message message = {0};
    while (from->stage == OPEN) {
        ast_frame_state state = ast_websocket_read((unsigned char *)from->in, from->in_size, &message);
        if (state == AST_FRAME_BAD)
            from->stage = GONE;
        if (state != AST_FRAME_WHOLE)
            return;
        hear(server, from, &message);
        from->in_size -= message.used;
        memmove(from->in, from->in + message.used, from->in_size);
    }
}

static void read_request(ast_server *server, connection *from) {
    ast_live_request request;
    ast_http_state state = ast_http_read(from->in, from->in_size, &request);
    if (state == AST_HTTP_PART)
        return;
    ast_live_answer to = state == AST_HTTP_BAD ? AST_LIVE_BAD : ast_live_judge(&server->access, &request);
    from->known = to == AST_LIVE_PAGE || to == AST_LIVE_SOCKET;
    if (to == AST_LIVE_SOCKET)
        open_socket(server, from, request.key);
    else
        answer(server, from, to);
}

/* What came; a connection that is answered or leaves is not listened to any more. */
static void receive(ast_server *server, connection *from) {
    bool dropped = from->stage == ANSWERING || from->stage == LEAVING;
    if (dropped)
        from->in_size = 0;
    ssize_t part = recv(from->handle, from->in + from->in_size, AST_HTTP_HEAD - from->in_size, 0);
    if (part < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (part <= 0) {
        from->deaf = true;
        from->stage = from->stage == ANSWERING && part == 0 ? ANSWERING : GONE;
        return;
    }
    from->in_size += (size_t)part;
    if (from->stage == READING)
        read_request(server, from);
    else if (from->stage == OPEN)
        read_messages(server, from);
}

static void send_rest(ast_server *server, connection *to) {
    if (to->stage == OPEN)
        send_messages(server, to);
    else if (to->stage == ANSWERING && send_some(to))
        leave(to);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void remove_connection(ast_server *server, size_t index) {
    connection *gone = server->all[index];
    if (gone->visitor)
        server->app.close(server->app.data, gone->visitor);
    ast_shared_text_release(gone->message);
    close(gone->handle);
    free(gone);
    server->count--;
    for (size_t i = index; i < server->count; i++)
        server->all[i] = server->all[i + 1];
}

/* Makes room for a new connection: the oldest stranger goes if there are too many. They are in the order in which they
 * came. False if everybody is known. */
static bool make_room(ast_server *server) {
    size_t strangers = 0, oldest = SIZE_MAX;
    for (size_t i = server->count; i-- > 0;) {
        if (server->all[i]->known)
            continue;
        strangers++;
        oldest = i;
    }
    if (strangers < AST_SERVER_STRANGERS && server->count < AST_SERVER_CONNECTIONS)
        return true;
    if (oldest != SIZE_MAX)
        remove_connection(server, oldest);
    return server->count < AST_SERVER_CONNECTIONS;
}

/* Takes the next connection that waits; false if there is none. */
static bool greet(ast_server *server) {
    int on = 1, idle = 30, handle = ast_accept(server->listening);
    if (handle < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* the system has no room: do not spin */
    if (handle < 0)
        return false;
    connection *made = make_room(server) ? malloc(sizeof *made) : NULL;
    if (!made) {
        close(handle);
        return true;
    }
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(handle, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* a browser that vanished gives its place back */
    setsockopt(handle, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    memset(made, 0, offsetof(connection, in));
    memset((char *)made + offsetof(connection, in_size), 0, sizeof *made - offsetof(connection, in_size));
    made->handle = handle;
    made->deadline = now() + AST_SERVER_PATIENCE;
    server->all[server->count++] = made;
    receive(server, made);
    send_rest(server, made);
    return true;
}

static bool has_deadline(const connection *of) {
    return of->stage != OPEN || of->head_size + of->body_size > 0;
}

/* Ends what has taken too long or is over. */
static void sweep(ast_server *server) {
    double time = now();
    for (size_t i = server->count; i-- > 0;) {
        const connection *of = server->all[i];
        if (of->stage == GONE || (has_deadline(of) && time > of->deadline))
            remove_connection(server, i);
    }
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

enum { LISTENING, WAKE, FIRST };

static size_t list(const ast_server *server, struct pollfd *polled) {
    polled[LISTENING] = (struct pollfd){.fd = server->listening, .events = POLLIN};
    polled[WAKE] = (struct pollfd){.fd = server->wake[0], .events = POLLIN};
    for (size_t i = 0; i < server->count; i++) {
        const connection *of = server->all[i];
        bool sends = of->stage == ANSWERING || (of->stage == OPEN && of->head_size + of->body_size > 0);
        polled[FIRST + i] =
            (struct pollfd){.fd = of->handle, .events = (short)((of->deaf ? 0 : POLLIN) | (sends ? POLLOUT : 0))};
    }
    return FIRST + server->count;
}

static void *serve(void *data) {
    enum { TICK = 250 }; /* milliseconds: how precise deadlines are */
    ast_server *server = data;
    struct pollfd polled[FIRST + AST_SERVER_CONNECTIONS];
    char bytes[64];
    while (!atomic_load(&server->stopping)) {
        size_t count = list(server, polled);
        poll(polled, (nfds_t)count, server->count ? TICK : -1);
        while (read(server->wake[0], bytes, sizeof bytes) > 0)
            ;
        for (size_t i = 0; i + FIRST < count; i++) {
            connection *of = server->all[i];
            if (polled[FIRST + i].revents & (POLLIN | POLLERR | POLLHUP))
                receive(server, of);
            send_rest(server, of);
        }
        sweep(server);
        for (int i = 0; polled[LISTENING].revents && i < AST_SERVER_STRANGERS && greet(server); i++)
            ;
        sweep(server);
    }
    while (server->count > 0)
        remove_connection(server, server->count - 1);
    return NULL;
}

void ast_server_wake(ast_server *server) {
    ssize_t written = write(server->wake[1], "", 1); /* a full pipe wakes it too */
    (void)written;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static bool set_up(ast_server *server, const char *address, unsigned port, ast_format_error *error) {
    size_t length = strlen(address), skip = address[0] == '[';
    ast_live_access *access = &server->access;
    snprintf(access->address, sizeof access->address, "%.*s", (int)(length - 2 * skip), address + skip);
    access->port = port;
    if (!ast_live_token(access->token))
        return ast_format_fail(error, "the system has no random numbers for a token");
    if (ast_open_pipe(server->wake) != 0)
        return ast_format_fail(error, "cannot open a pipe for the server: %s", strerror(errno));
    ast_unblocked(server->wake[0]);
    ast_unblocked(server->wake[1]);
    server->listening = ast_listen(access, error);
    if (server->listening < 0)
        return false;
    ast_listening_url(access, server->url);
    server->running = pthread_create(&server->thread, NULL, serve, server) == 0;
    return server->running || ast_format_fail(error, "cannot start the thread of the server");
}

ast_server *ast_server_open(const char *address, unsigned port, ast_text *html, const ast_server_app *app,
                            ast_format_error *error) {
    ast_server *server = calloc(1, sizeof *server);
    if (!server) {
        ast_text_free(html);
        ast_format_fail(error, "there is not enough memory for the server");
        return NULL;
    }
    server->html = *html;
    *html = (ast_text){0};
    server->app = *app;
    server->listening = server->wake[0] = server->wake[1] = -1;
    atomic_init(&server->stopping, false);
    if (set_up(server, address, port, error))
        return server;
    ast_server_close(server);
    return NULL;
}

const char *ast_server_url(const ast_server *server) {
    return server->url;
}

void ast_server_close(ast_server *server) {
    if (!server)
        return;
    atomic_store(&server->stopping, true);
    if (server->running) {
        ast_server_wake(server);
        pthread_join(server->thread, NULL);
    }
    const int handles[] = {server->listening, server->wake[0], server->wake[1]};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i] >= 0)
            close(handles[i]);
    ast_text_free(&server->html);
    free(server);
}
