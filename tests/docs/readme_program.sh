#!/bin/sh
# The C function in the README compiles without a warning and finds the clusters of five points.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$SOURCE/README.md" | sed '/^```/d' >program.c
[ -s program.c ] || broken 'the README has no C program'
cat >>program.c <<'END'
#include <stdio.h>
int main(void) {
    const float xyz[] = {1, 0, 0, 0.99f, 0.1f, 0, 0, 1, 0, 0, 0.98f, -0.1f, 0, 0, 1};
    int32_t labels[5];
    ast_report report = {.size = sizeof report};
    if (find(xyz, 5, labels, &report) != AST_OK)
        return 1;
    for (int i = 0; i < 5; i++)
        printf("%d ", (int)labels[i]);
    printf("%zu\n", report.clusters);
}
END
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" program.c "$LIBRARY" -lm -pthread -o program
[ "$(./program)" = '0 0 1 1 2 3' ] || broken "it prints '$(./program)', not '0 0 1 1 2 3'"

# C++ may include the header too.
command -v c++ >/dev/null || skip 'C++: there is no c++'
echo '#include <asterism.h>
int main() { return ast_version()[0] == 0; }' >program.cc
c++ -Wall -Wextra -Werror -I"$SOURCE/include" program.cc "$LIBRARY" -lm -pthread -o program
./program
