#!/bin/sh
# docs/command.md is what the tables of options make of it.
. "$(dirname "$0")/common.sh"
"$COMMAND_PAGE" command.md
diff "$SOURCE/docs/command.md" command.md >difference ||
    broken "docs/command.md is not made from these tables; make it with: cmake --build --preset release --target command_page
$(head -20 difference)"
