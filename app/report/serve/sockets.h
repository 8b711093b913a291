/* SPDX-License-Identifier: MIT
 *
 * The sockets of the system, which none of the programs that we start inherits and none of which blocks. Windows has
 * only the names of addresses here: no_server.c. */
#pragma once

#ifdef _WIN32
enum { AF_INET = 2, AF_INET6 = 23 };
struct in6_addr {
    unsigned char bytes[16];
};
__declspec(dllimport) int __stdcall inet_pton(int family, const char *text, void *place);
__declspec(dllimport) int __stdcall gethostname(char *name, int size);
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#ifdef __APPLE__ /* signals of broken sockets are ignored by the whole process */
#define MSG_NOSIGNAL 0
#define MSG_MORE 0
#define TCP_KEEPIDLE TCP_KEEPALIVE
#endif

static inline int ast_unblocked(int handle) {
    if (handle >= 0) {
        fcntl(handle, F_SETFL, fcntl(handle, F_GETFL) | O_NONBLOCK);
        fcntl(handle, F_SETFD, FD_CLOEXEC);
    }
    return handle;
}

static inline int ast_socket(int family) {
#ifdef __APPLE__
    return ast_unblocked(socket(family, SOCK_STREAM, 0));
#else
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#endif
}

static inline int ast_accept(int listening) {
#ifdef __APPLE__
    return ast_unblocked(accept(listening, NULL, NULL));
#else
    return accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#endif
}
#endif
