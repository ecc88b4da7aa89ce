#ifndef INIKIT_H
#define INIKIT_H

#include <stddef.h>
#include <stdio.h>

#define INIKIT_VERSION "0.4.0"

/* A growing string. Begin with {0}; always ends in a NUL after a push. */
typedef struct {
    char *text;
    size_t len;
    size_t cap;
} ini_buf;

int ini_buf_push(ini_buf *buf, const char *bytes, size_t n);
void ini_buf_free(ini_buf *buf);

/* Called for every key; section is "" before the first one.
   A value other than 0 ends the reading and is handed back. */
typedef int (*ini_visit)(void *ctx, const char *section, const char *key, const char *value);

/* 0, the visitor's value, or -(line number) of the first bad line. */
int ini_read(FILE *in, ini_visit visit, void *ctx);

#endif
