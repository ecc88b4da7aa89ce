#include "inikit.h"

#include <stdlib.h>
#include <string.h>

int ini_buf_push(ini_buf *buf, const char *bytes, size_t n)
{
    if (buf->len + n + 1 > buf->cap) {
        size_t cap = buf->cap ? buf->cap : 16;
        while (cap < buf->len + n + 1)
            cap *= 2;
        char *text = realloc(buf->text, cap);
        if (!text)
            return -1;
        buf->text = text;
        buf->cap = cap;
    }
    memcpy(buf->text + buf->len, bytes, n);
    buf->len += n;
    buf->text[buf->len] = '\0';
    return 0;
}

void ini_buf_free(ini_buf *buf)
{
    free(buf->text);
    memset(buf, 0, sizeof *buf);
}
