#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures, checks;

#define CHECK(what) \
    do { \
        checks++; \
        if (!(what)) { \
            failures++; \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #what); \
        } \
    } while (0)

#define DONE() \
    (printf("%s: %d checks, %d failures\n", __FILE__, checks, failures), failures ? 1 : 0)

#endif
