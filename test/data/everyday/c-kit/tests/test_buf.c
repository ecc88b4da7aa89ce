#include "check.h"
#include "inikit.h"

#include <string.h>

int main(void)
{
    ini_buf buf = {0};
    CHECK(ini_buf_push(&buf, "ab", 2) == 0);
    CHECK(strcmp(buf.text, "ab") == 0);
    for (int i = 0; i < 100; i++)
        CHECK(ini_buf_push(&buf, "xyz", 3) == 0);
    CHECK(buf.len == 302);
    CHECK(strlen(buf.text) == 302);
    ini_buf_free(&buf);
    CHECK(buf.text == NULL && buf.len == 0);
    return DONE();
}
