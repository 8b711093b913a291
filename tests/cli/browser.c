/* SPDX-License-Identifier: MIT
 *
 * What the command-line tests need of a browser:
 *     browser get URL
 *         prints the page at the address
 *     browser watch URL
 *         prints a line for each message of the live view: hello and its frames, frame and its number, end and why */
#include "live_client.h"

#include <jansson.h>

static int get(const char *url) {
    char request[256], byte;
    client asking = client_open(url);
    int size = snprintf(request, sizeof request, "GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", asking.token,
                        asking.port);
    if (asking.handle < 0 || !client_write(&asking, request, (size_t)size) || client_status(&asking) != 200)
        return 1;
    while (client_read(&asking, &byte, 1))
        putchar(byte);
    client_close(&asking);
    return 0;
}

static int print_message(const char *text, size_t size) {
    json_t *message = json_loadb(text, size, 0, NULL);
    const json_t *data = json_object_get(message, "data"), *frames = json_object_get(data, "frames");
    const char *type = json_string_value(json_object_get(message, "type"));
    if (!type)
        return 0;
    if (frames)
        printf("%s %zu\n", type, json_array_size(frames));
    else if (data)
        printf("%s %lld\n", type, (long long)json_integer_value(json_object_get(data, "frame")));
    else
        printf("%s %s\n", type, json_string_value(json_object_get(message, "reason")));
    fflush(stdout);
    json_decref(message);
    return 1;
}

static int watch(const char *url) {
    size_t size;
    char *text;
    client watching = client_watch(url);
    if (watching.handle < 0)
        return 1;
    while ((text = client_message(&watching, &size))) {
        int good = print_message(text, size);
        free(text);
        if (!good)
            return 1;
    }
    client_close(&watching);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "get") == 0)
        return get(argv[2]);
    if (argc == 3 && strcmp(argv[1], "watch") == 0)
        return watch(argv[2]);
    fprintf(stderr, "browser: get URL or watch URL\n");
    return 2;
}
