/* SPDX-License-Identifier: MIT
 *
 * The live view, against a client that does what browsers do and what they do not: wrong tokens, foreign hosts, bodies,
 * garbage, standing still, going away in the middle; the stream goes on and the others see it. */
#include "live_client.h"
#include "pages_common.h"

#include <live.h>
#include <live_access.h>

#include <pthread.h>
#include <time.h>

/* ---- The door ---------------------------------------------------------------------------------------------------- */

#define TOKEN "0123456789abcdef0123456789abcdef"
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define SOCKET .connection = "Upgrade", .key = KEY, .version = "13"

/* What is asked for, and what comes of it. */
static const struct {
    ast_live_request request;
    int answer;
} visits[] = {
    {{.method = "GET", .path = "/" TOKEN "/", .host = "127.0.0.1:8080"}, AST_LIVE_PAGE},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "LocalHost:8080"}, AST_LIVE_PAGE},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "[::1]:8080"}, AST_LIVE_PAGE},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "127.0.0.1:8080", .content_length = "0"}, AST_LIVE_PAGE},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:8080", .origin = "http://localhost:8080"},
     AST_LIVE_PAGE},
    {{.method = "GET", .path = "/" TOKEN "/live", .host = "localhost:8080", .upgrade = "WebSocket", SOCKET},
     AST_LIVE_SOCKET},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .key = KEY,
      .version = "13",
      .connection = "keep-alive, Upgrade"},
     AST_LIVE_SOCKET},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .key = KEY,
      .version = "13"},
     AST_LIVE_NOTHING},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .key = KEY,
      .version = "13",
      .connection = "close, up"},
     AST_LIVE_NOTHING},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .key = KEY,
      .version = "8",
      .connection = "Upgrade"},
     AST_LIVE_NOTHING},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .key = "short",
      .version = "13",
      .connection = "Upgrade"},
     AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/" TOKEN "/live", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:8080", .upgrade = "websocket"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/" TOKEN, .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/" TOKEN "/x", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/" TOKEN "/../live", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/0123456789abcdef0123456789abcdee/", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "/", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = "", .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "GET", .path = NULL, .host = "localhost:8080"}, AST_LIVE_NOTHING},
    {{.method = "POST", .path = "/" TOKEN "/", .host = "localhost:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = "HEAD", .path = "/" TOKEN "/", .host = "localhost:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = NULL, .path = "/" TOKEN "/", .host = "localhost:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:8080", .content_length = "1"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:8080", .transfer_encoding = "chunked"},
     AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = NULL}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = ""}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:8081"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "localhost:808080"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "evil.example:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "192.168.1.9:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET", .path = "/" TOKEN "/", .host = "127.0.0.1.evil.example:8080"}, AST_LIVE_FORBIDDEN},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .origin = "http://evil.example",
      SOCKET},
     AST_LIVE_FORBIDDEN},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .origin = "https://localhost:8080",
      SOCKET},
     AST_LIVE_FORBIDDEN},
    {{.method = "GET",
      .path = "/" TOKEN "/live",
      .host = "localhost:8080",
      .upgrade = "websocket",
      .origin = "null",
      SOCKET},
     AST_LIVE_FORBIDDEN}};

static void door(void **state) {
    (void)state;
    const ast_live_access at = {.token = TOKEN, .address = "127.0.0.1", .port = 8080};
    for (size_t i = 0; i < ITEMS(visits); i++) {
        int answer = (int)ast_live_judge(&at, &visits[i].request);
        if (answer != visits[i].answer)
            fail_msg("case %zu: %d, not %d", i, answer, visits[i].answer);
    }
}

/* Where every address is listened on, any number is right, and no name but the machine's own. */
static void wide_door(void **state) {
    (void)state;
    const ast_live_access at = {.token = TOKEN, .address = "0.0.0.0", .port = 80};
    ast_live_request request = {.method = "GET", .path = "/" TOKEN "/", .host = "192.168.1.9"};
    assert_int_equal(ast_live_judge(&at, &request), AST_LIVE_PAGE);
    request.host = "[fe80::1]";
    assert_int_equal(ast_live_judge(&at, &request), AST_LIVE_PAGE);
    request.host = "evil.example";
    assert_int_equal(ast_live_judge(&at, &request), AST_LIVE_FORBIDDEN);
    char one[AST_LIVE_TOKEN + 1], other[AST_LIVE_TOKEN + 1];
    assert_true(ast_live_token(one) && ast_live_token(other));
    assert_int_equal(strspn(one, "0123456789abcdef"), AST_LIVE_TOKEN);
    assert_string_not_equal(one, other);
    assert_true(ast_live_numeric("::1") && ast_live_numeric("[::1]") && ast_live_numeric("10.0.0.1"));
    assert_false(ast_live_numeric("localhost") || ast_live_numeric("") || ast_live_numeric("[]"));
}

/* ---- A stream ---------------------------------------------------------------------------------------------------- */

/* What is served: frames without points, each with a name of some length. */
typedef struct show {
    ast_recording *recording;
    ast_live *live;
    uint64_t frames;
    char name[4001];
} show;

static const char page[] = "<html>the page</html>";

static ast_live *serve(ast_recording *recording, unsigned port, ast_format_error *error) {
    ast_text html = {0};
    ast_text_put(&html, page);
    return ast_live_open("127.0.0.1", port, &html, recording, error);
}

static void begin(show *of, size_t name) {
    static const ast_page_head head = {.title = "t", .command = "c", .run = "r"};
    ast_format_error error;
    memset(of, 0, sizeof *of);
    memset(of->name, 'n', name);
    of->recording = ast_recording_open(&head);
    of->live = serve(of->recording, 0, &error);
    if (!of->live)
        fail_msg("%s", error.text);
}

static void next(show *of) {
    ast_format_error error;
    ast_shared_text *parcel;
    ast_frame frame = {.size = sizeof frame, .frame = of->frames++};
    ast_recorded recorded = {.frame = &frame, .source = of->name};
    assert_true(ast_recording_add(of->recording, &recorded, 3, &parcel, &error));
    ast_live_publish(of->live, parcel);
}

static void end(show *of) {
    ast_live_close(of->live);
    ast_recording_close(of->recording);
}

/* Waits until there are so many viewers: half a minute at most. */
static void expect_viewers(const show *of, size_t count) {
    for (int i = 0; i < 3000 && ast_live_viewers(of->live) != count; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(ast_live_viewers(of->live), count);
}

/* The next message of that type. */
static json_t *expect(const client *of, const char *type) {
    size_t size;
    char *text = client_message(of, &size);
    assert_non_null(text);
    json_t *message = parsed(text, size);
    assert_string_equal(json_string_value(json_object_get(message, "type")), type);
    free(text);
    return message;
}

static size_t expect_hello(const client *of) {
    json_t *hello = expect(of, "hello");
    const json_t *data = json_object_get(hello, "data");
    assert_true(json_is_true(json_object_get(data, "live")));
    size_t count = json_array_size(json_object_get(data, "frames"));
    json_decref(hello);
    return count;
}

static uint64_t expect_frame(const client *of) {
    json_t *frame = expect(of, "frame");
    uint64_t number = (uint64_t)number_of(json_object_get(frame, "data"), "frame");
    json_decref(frame);
    return number;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static int ask(const show *of, const char *format, const char *host) {
    char request[1024];
    client asking = client_open(ast_live_url(of->live));
    assert_true(asking.handle >= 0);
    char own[64];
    snprintf(own, sizeof own, "127.0.0.1:%u", asking.port);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = snprintf(request, sizeof request, format, asking.token, host ? host : own);
#pragma GCC diagnostic pop
    assert_true(client_write(&asking, request, (size_t)size));
    int status = client_status(&asking);
    client_close(&asking);
    return status;
}

static void requests(void **state) {
    (void)state;
    show of;
    begin(&of, 10);
    const char *good = "GET /%s/ HTTP/1.1\r\nHost: %s\r\n\r\n";
    assert_int_equal(ask(&of, good, NULL), 200);
    assert_int_equal(ask(&of, good, "evil.example"), 403);
    assert_int_equal(ask(&of, "GET /%.31sX/ HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "GET /%.0s HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "GET /%s/live HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "GET /%s/etc/passwd HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "GET /%s/../../etc/passwd HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "GET /%s/%%2e%%2e/x HTTP/1.1\r\nHost: %s\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of, "POST /%s/ HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\nhi", NULL), 403);
    assert_int_equal(ask(&of, "PUT /%s/x HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\nhi", NULL), 403);
    assert_int_equal(ask(&of, "GET /%s/ HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\nhi", NULL), 403);
    assert_int_equal(ask(&of, "GET /%s/ HTTP/1.1\r\nHost: %s\r\nOrigin: http://evil.example\r\n\r\n", NULL), 403);
    assert_int_equal(ask(&of, "GET /%s/ HTTP/1.1\r\nHost: %s\r\nHost: evil.example\r\n\r\n", NULL), 400);
    assert_int_equal(ask(&of, "GET /%s/ HTTP/1.1\r\nHost: %s\r\n folded: line\r\n\r\n", NULL), 400);
    assert_int_equal(ask(&of, "GET /%s/ HTTP/1.0\r\nHost: %s\r\n\r\n", NULL), 400);
    /* Bodies are not waited for, and a socket is opened by a whole handshake alone. */
    assert_int_equal(ask(&of, "POST /%s/ HTTP/1.1\r\nHost: %s\r\nContent-Length: 99999999\r\n\r\nhi", NULL), 403);
    assert_int_equal(ask(&of, "POST /%s/ HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n", NULL), 403);
    assert_int_equal(ask(&of, "GET /%s/live HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&of,
                         "GET /%s/live HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nSec-WebSocket-Key: " KEY
                         "\r\nSec-WebSocket-Version: 13\r\n\r\n",
                         NULL),
                     404);
    /* What is no request is answered with an error or not at all. */
    static const char *const garbage[] = {"nonsense\r\n\r\n%s%s", "GET\r\n\r\n%s%s",
                                          "\x16\x03\x01\x02\x01\xfc\x03\r\n\r\n%s%s"};
    for (size_t i = 0; i < ITEMS(garbage); i++) {
        int status = ask(&of, garbage[i], NULL);
        assert_true(status == 0 || status >= 400);
    }
    assert_int_equal(ask(&of, good, NULL), 200);

    client reading = client_open(ast_live_url(of.live));
    char request[256], body[sizeof page];
    int size = snprintf(request, sizeof request, "GET /%s/ HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", reading.token,
                        reading.port);
    assert_true(client_write(&reading, request, (size_t)size));
    assert_int_equal(client_status(&reading), 200);
    assert_true(client_read(&reading, body, sizeof page - 1));
    assert_memory_equal(body, page, sizeof page - 1);
    client_close(&reading);
    end(&of);
}

/* Hundreds of connections that send half a request, or nothing: the page is served at once, and so is a socket; they
 * are shown out, the oldest first. */
static void half_requests(void **state) {
    enum { MANY = 300 };
    (void)state;
    show of;
    begin(&of, 10);
    client half[MANY];
    const char *good = "GET /%s/ HTTP/1.1\r\nHost: %s\r\n\r\n";
    for (size_t i = 0; i < MANY; i++) {
        half[i] = client_open(ast_live_url(of.live));
        assert_true(half[i].handle >= 0);
        if (i % 3 > 0)
            assert_true(client_write(&half[i], "GET / HTTP/1.1\r\nHost: 127", i % 3 == 1 ? 5 : 24));
        if (i % 20 == 19)
            assert_int_equal(ask(&of, good, NULL), 200);
    }
    char byte;
    assert_false(client_read(&half[0], &byte, 1)); /* the oldest are gone */
    client watching = client_watch(ast_live_url(of.live));
    assert_int_equal(expect_hello(&watching), 0);
    next(&of);
    assert_int_equal(expect_frame(&watching), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_false(client_read(&half[i], &byte, 1)); /* the rest when its seconds are over */
    client_close(&watching);
    for (size_t i = 0; i < MANY; i++)
        client_close(&half[i]);
    end(&of);
}

/* A request of single bytes, and one that never ends. */
static void slow_requests(void **state) {
    (void)state;
    show of;
    begin(&of, 10);
    client slow = client_open(ast_live_url(of.live));
    char request[256], junk[1024];
    int size =
        snprintf(request, sizeof request, "GET /%s/ HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", slow.token, slow.port);
    for (int i = 0; i < size; i++)
        assert_true(client_write(&slow, request + i, 1));
    assert_int_equal(client_status(&slow), 200);
    client_close(&slow);
    client endless = client_open(ast_live_url(of.live));
    memset(junk, 'x', sizeof junk);
    assert_true(client_write(&endless, "GET / HTTP/1.1\r\nCookie: ", 24));
    for (int i = 0; i < 64 && client_write(&endless, junk, sizeof junk); i++)
        ;
    int status = client_status(&endless);
    assert_true(status == 400 || status == 0);
    client_close(&endless);
    end(&of);
}

/* A ping is answered; a farewell is, too. */
static void pings(void **state) {
    (void)state;
    show of;
    unsigned char head[2];
    begin(&of, 10);
    client one = client_watch(ast_live_url(of.live));
    expect_hello(&one);
    assert_true(client_write(&one, "\x89\x80\1\2\3\4", 6) && client_read(&one, head, 2));
    assert_int_equal(head[0], 0x8a);
    assert_true(client_write(&one, "\x88\x80\1\2\3\4", 6) && client_read(&one, head, 2));
    assert_int_equal(head[0], 0x88);
    assert_false(client_read(&one, head, 1));
    expect_viewers(&of, 0);
    client_close(&one);
    end(&of);
}

/* ---- Sockets ----------------------------------------------------------------------------------------------------- */

static void sockets(void **state) {
    (void)state;
    show of;
    begin(&of, 10);
    next(&of);
    next(&of);
    client first = client_watch(ast_live_url(of.live));
    assert_int_equal(expect_hello(&first), 2);
    next(&of);
    assert_int_equal(expect_frame(&first), 2);
    client second = client_watch(ast_live_url(of.live)); /* in mid-stream: all so far at once */
    assert_int_equal(expect_hello(&second), 3);
    next(&of);
    assert_int_equal(expect_frame(&first), 3);
    assert_int_equal(expect_frame(&second), 3);
    assert_int_equal(ast_live_waiting(of.live), 2);
    ast_live_end(of.live, "It is over.");
    json_t *message = expect(&first, "end");
    assert_string_equal(json_string_value(json_object_get(message, "reason")), "It is over.");
    json_decref(message);
    json_decref(expect(&second, "end"));
    client late = client_watch(ast_live_url(of.live));
    assert_int_equal(expect_hello(&late), 4);
    json_decref(expect(&late, "end"));
    client_close(&first);
    client_close(&second);
    client_close(&late);
    expect_viewers(&of, 0);
    assert_int_equal(ast_live_missed(of.live), 0);
    end(&of);
}

static void refused_sockets(void **state) {
    (void)state;
    show of;
    begin(&of, 10);
    char host[64];
    client trying = client_open(ast_live_url(of.live));
    snprintf(host, sizeof host, "127.0.0.1:%u", trying.port);
    assert_int_equal(client_upgrade(&trying, TOKEN, host, NULL), 404);
    client_close(&trying);
    trying = client_open(ast_live_url(of.live));
    assert_int_equal(client_upgrade(&trying, trying.token, "evil.example", NULL), 403);
    client_close(&trying);
    trying = client_open(ast_live_url(of.live));
    assert_int_equal(client_upgrade(&trying, trying.token, host, "Origin: http://evil.example\r\n"), 403);
    client_close(&trying);
    trying = client_open(ast_live_url(of.live));
    char origin[128];
    snprintf(origin, sizeof origin, "Origin: http://%s\r\n", host);
    assert_int_equal(client_upgrade(&trying, trying.token, host, origin), 101);
    assert_int_equal(expect_hello(&trying), 0);
    client_close(&trying);
    expect_viewers(&of, 0);
    end(&of);
}

/* Whoever talks, or sends what is no WebSocket, is shown out; the others see the next frame. */
static void garbage(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } words[] = {{"\x81\x85\x01\x02\x03\x04\x69\x67\x6f\x68\x6e", 11},     /* a masked text */
                 {"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14}, /* of 2^63 bytes */
                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 14},
                 {"GET / HTTP/1.1\r\n\r\n", 18},
                 {"\x88\x80\0\0\0\0", 6}}; /* a farewell */
    show of;
    begin(&of, 10);
    client good = client_watch(ast_live_url(of.live));
    expect_hello(&good);
    for (size_t i = 0; i < ITEMS(words); i++) {
        client rude = client_watch(ast_live_url(of.live));
        assert_int_equal(expect_hello(&rude), of.frames);
        assert_true(client_write(&rude, words[i].bytes, words[i].size));
        shutdown(rude.handle, SHUT_WR); /* or the half of a message would be waited for */
        expect_viewers(&of, 1);
        client_close(&rude);
        next(&of);
        assert_int_equal(expect_frame(&good), of.frames - 1);
    }
    client_close(&good);
    end(&of);
}

/* One browser stands still, another goes in the middle of a message: the stream goes on, the third one sees it to the
 * end; and the one that stood still wakes up to whole messages, the newest among them. */
static void slow_browsers(void **state) {
    (void)state;
    show of;
    begin(&of, 4000);
    client slow = client_watch(ast_live_url(of.live));
    client leaving = client_watch(ast_live_url(of.live));
    client good = client_watch(ast_live_url(of.live));
    expect_hello(&good);
    /* A hello has what there is when the server's thread comes to it, which may be long after the socket is open. */
    assert_int_equal(expect_hello(&slow), 0);
    char part[100];
    assert_true(client_read(&leaving, part, 50));
    for (int i = 0; i < 5000; i++) {
        next(&of);
        if (i == 100)
            client_close(&leaving);
        if (i % 100 == 0)
            while (expect_frame(&good) != of.frames - 1)
                ;
    }
    assert_true(ast_live_missed(of.live) > 0);
    ast_live_end(of.live, "over");
    uint64_t last = 0, count = 0;
    for (;; count++) {
        size_t size;
        char *text = client_message(&slow, &size);
        assert_non_null(text);
        json_t *message = parsed(text, size);
        free(text);
        const json_t *data = json_object_get(message, "data");
        if (!data) {
            json_decref(message);
            break;
        }
        assert_true(count == 0 || (uint64_t)number_of(data, "frame") > last);
        last = (uint64_t)number_of(data, "frame");
        json_decref(message);
    }
    assert_int_equal(last, of.frames - 1);
    assert_true(count < of.frames);
    client_close(&slow);
    client_close(&good);
    expect_viewers(&of, 0);
    end(&of);
}

/* Nothing twice and nothing missing between the hello and the frames behind it, whenever it comes. */
static void *publish_many(void *data) {
    for (int i = 0; i < 400; i++) {
        next(data);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    ast_live_end(((show *)data)->live, "over");
    return NULL;
}

static void joins(void **state) {
    (void)state;
    show of;
    pthread_t thread;
    begin(&of, 100);
    assert_int_equal(pthread_create(&thread, NULL, publish_many, &of), 0);
    for (int i = 0; i < 20; i++) {
        client one = client_watch(ast_live_url(of.live));
        uint64_t expected = expect_hello(&one);
        for (int k = 0; k < 3; k++) {
            size_t size;
            char *text = client_message(&one, &size);
            json_t *message = parsed(text, size);
            const json_t *data = json_object_get(message, "data");
            uint64_t number = data ? (uint64_t)number_of(data, "frame") : expected;
            assert_true(number >= expected && (number == expected || ast_live_missed(of.live) > 0));
            expected = number + 1;
            free(text);
            json_decref(message);
            if (!data)
                break;
        }
        client_close(&one);
    }
    pthread_join(thread, NULL);
    end(&of);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* A port that is taken is said to be; once it is free it can be had again, with another token. */
static void restart(void **state) {
    (void)state;
    show of;
    ast_format_error error;
    begin(&of, 10);
    client old = client_watch(ast_live_url(of.live));
    expect_hello(&old);
    assert_null(serve(of.recording, old.port, &error));
    assert_non_null(strstr(error.text, "is in use by another program"));
    ast_live_close(of.live);
    size_t size;
    assert_null(client_message(&old, &size)); /* closed */
    of.live = serve(of.recording, old.port, &error);
    if (!of.live)
        fail_msg("%s", error.text);
    client again = client_watch(ast_live_url(of.live));
    assert_int_equal(again.port, old.port);
    assert_string_not_equal(again.token, old.token);
    expect_hello(&again);
    client_close(&old);
    client_close(&again);
    end(&of);
}

/* As many as there may be, and not one more; who goes makes room. */
static void many_viewers(void **state) {
    (void)state;
    show of;
    begin(&of, 10);
    client all[AST_LIVE_VIEWERS];
    for (size_t i = 0; i < AST_LIVE_VIEWERS; i++) {
        all[i] = client_watch(ast_live_url(of.live));
        expect_hello(&all[i]);
    }
    client more = client_watch(ast_live_url(of.live));
    size_t size;
    assert_true(more.handle < 0 || client_message(&more, &size) == NULL);
    client_close(&more);
    next(&of);
    for (size_t i = 0; i < AST_LIVE_VIEWERS; i++)
        assert_int_equal(expect_frame(&all[i]), 0);
    client_close(&all[0]);
    expect_viewers(&of, AST_LIVE_VIEWERS - 1);
    all[0] = client_watch(ast_live_url(of.live));
    assert_int_equal(expect_hello(&all[0]), 1);
    for (size_t i = 0; i < AST_LIVE_VIEWERS; i++)
        client_close(&all[i]);
    end(&of);
}

/* A finished page has no socket. */
static void still_pages(void **state) {
    (void)state;
    ast_format_error error;
    ast_live *live = serve(NULL, 0, &error);
    assert_non_null(live);
    client trying = client_watch(ast_live_url(live));
    assert_true(trying.handle < 0);
    ast_live_close(live);
}

int main(void) {
    const struct CMUnitTest doors[] = {cmocka_unit_test(door), cmocka_unit_test(wide_door)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests), cmocka_unit_test(half_requests), cmocka_unit_test(slow_requests),
        cmocka_unit_test(pings),    cmocka_unit_test(sockets),       cmocka_unit_test(refused_sockets),
        cmocka_unit_test(garbage),  cmocka_unit_test(slow_browsers), cmocka_unit_test(joins),
        cmocka_unit_test(restart),  cmocka_unit_test(many_viewers),  cmocka_unit_test(still_pages)};
    return cmocka_run_group_tests(doors, NULL, NULL) + cmocka_run_group_tests(tests, NULL, NULL);
}
