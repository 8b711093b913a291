/* SPDX-License-Identifier: MIT
 *
 * Included before every source of the library in a wheel, by tools/wheel. glibc gave these functions a new version after
 * 2.17; the linker would choose the new one, and the library would not load on older systems. Here they are bound to
 * their first version, which later systems still have: the same function, for the mathematical ones behind a wrapper
 * that sets errno. */
#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#error "The first version of glibc for this architecture is not known here"
#endif
#define BIND_TO_FIRST(name) __asm__(".symver " #name "," #name "@" FIRST_VERSION)

BIND_TO_FIRST(exp);
BIND_TO_FIRST(exp2);
BIND_TO_FIRST(fmod);
BIND_TO_FIRST(hypot);
BIND_TO_FIRST(log);
BIND_TO_FIRST(log2);
BIND_TO_FIRST(pow);
BIND_TO_FIRST(pthread_create);
BIND_TO_FIRST(pthread_join);
BIND_TO_FIRST(pthread_once);
