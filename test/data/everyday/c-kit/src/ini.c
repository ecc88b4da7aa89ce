#include "inikit.h"

#include <ctype.h>
#include <string.h>

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return s;
}

static int set(ini_buf *buf, const char *s)
{
    buf->len = 0;
    return ini_buf_push(buf, s, strlen(s));
}

static int one_line(char *line, ini_buf *section, ini_visit visit, void *ctx, int *bad)
{
    char *s = trim(line);
    if (*s == '\0' || *s == '#' || *s == ';')
        return 0;
    size_t n = strlen(s);
    if (*s == '[') {
        if (n < 3 || s[n - 1] != ']') {
            *bad = 1;
            return 0;
        }
        s[n - 1] = '\0';
        return set(section, trim(s + 1));
    }
    char *eq = strchr(s, '=');
    if (!eq || eq == s) {
        *bad = 1;
        return 0;
    }
    *eq = '\0';
    char *key = trim(s);
    char *value = trim(eq + 1);
    n = strlen(value);
    if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
        value[n - 1] = '\0';
        value++;
    }
    return visit(ctx, section->text, key, value);
}

int ini_read(FILE *in, ini_visit visit, void *ctx)
{
    ini_buf section = {0}, line = {0};
    int number = 0, result = set(&section, "");
    char part[128];

    while (!result && fgets(part, sizeof part, in)) {
        if (ini_buf_push(&line, part, strlen(part)) < 0)
            break;
        if (line.text[line.len - 1] != '\n' && !feof(in))
            continue;
        int bad = 0;
        number++;
        result = one_line(line.text, &section, visit, ctx, &bad);
        if (bad)
            result = -number;
        line.len = 0;
    }
    ini_buf_free(&section);
    ini_buf_free(&line);
    return result;
}
