#include "inikit.h"

#include <string.h>

struct query {
    const char *name;
    int found;
};

static int show(void *ctx, const char *section, const char *key, const char *value)
{
    struct query *q = ctx;
    char full[512];
    snprintf(full, sizeof full, "%s%s%s", section, *section ? "." : "", key);
    if (!q->name) {
        printf("%s=%s\n", full, value);
    } else if (strcmp(q->name, full) == 0) {
        puts(value);
        q->found = 1;
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("iniq " INIKIT_VERSION);
        return 0;
    }
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: iniq FILE [SECTION.KEY]\n");
        return 2;
    }
    FILE *in = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    struct query q = {argc == 3 ? argv[2] : NULL, 0};
    int result = ini_read(in, show, &q);
    if (in != stdin)
        fclose(in);
    if (result < 0) {
        fprintf(stderr, "%s:%d: not a section, key or remark\n", argv[1], -result);
        return 3;
    }
    return q.name && !q.found ? 1 : 0;
}
