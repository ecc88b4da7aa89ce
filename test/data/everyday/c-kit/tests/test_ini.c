#include "check.h"
#include "inikit.h"

#include <stdio.h>
#include <string.h>

static char seen[1024];

static int note(void *ctx, const char *section, const char *key, const char *value)
{
    (void)ctx;
    size_t n = strlen(seen);
    snprintf(seen + n, sizeof seen - n, "%s/%s=%s;", section, key, value);
    return 0;
}

static int read_text(const char *text)
{
    seen[0] = '\0';
    FILE *in = tmpfile();
    if (!in)
        return 99;
    fputs(text, in);
    rewind(in);
    int result = ini_read(in, note, NULL);
    fclose(in);
    return result;
}

int main(void)
{
    CHECK(read_text("a = 1\n[s]\nb=two words \n") == 0);
    CHECK(strcmp(seen, "/a=1;s/b=two words;") == 0);
    CHECK(read_text("# remark\n; too\n\nq = \" kept \"") == 0);
    CHECK(strcmp(seen, "/q= kept ;") == 0);
    CHECK(read_text("fine=1\nnonsense\n") == -2);
    CHECK(read_text("[open\n") == -1);
    CHECK(read_text("= nothing\n") == -1);
    return DONE();
}
