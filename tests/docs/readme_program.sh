#!/bin/sh
# The C program in the README compiles without a warning and prints what its last comment says.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$SOURCE/README.md" | sed '/^```/d' >program.c
[ -s program.c ] || broken 'the README has no C program'
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" program.c "$LIBRARY" -lm -pthread -o program
expected=$(sed -n 's|.*printf("\\n"); /\* \(.*\) \*/|\1|p' program.c)
[ -n "$expected" ] || broken 'the program does not say what it prints'
[ "$(./program)" = "$expected" ] || broken "it prints '$(./program)', not '$expected'"

# C++ may include the header too, if there is a compiler for it.
if command -v c++ >/dev/null; then
    echo '#include <asterism.h>
    int main() { return ast_version()[0] == 0; }' >program.cc
    c++ -Wall -Wextra -Werror -I"$SOURCE/include" program.cc "$LIBRARY" -lm -pthread -o program
    ./program
fi
