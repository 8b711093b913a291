#!/bin/sh
# Completion: bash offers commands, options and their values, and every option of --help; zsh and fish parse their files.
. "$(dirname "$0")/common.sh"
command -v bash >/dev/null || skip 'there is no bash'

# offers WORD...: what bash offers for the last of these words.
offers() {
    bash -c '. "$0"; COMP_WORDS=(asterism "$@") COMP_CWORD=$#; _asterism; printf "%s\n" "${COMPREPLY[@]}"' \
        "$COMPLETION/bash/asterism" "$@"
}

[ "$(offers clu)" = cluster ] || broken "bash offers '$(offers clu)' for 'clu'"
[ "$(offers cluster x.npy --method sp)" = spkm ] || broken "bash offers '$(offers cluster x.npy --method sp)' for --method"
[ "$(offers segment depth --camera ki)" = kinect ] || broken 'bash does not offer cameras'
[ -z "$(offers cluster x.npy --threads '')" ] || broken 'bash offers something for a number'
touch points.npy
[ "$(offers cluster po)" = points.npy ] || broken 'bash does not offer files'
for command in cluster stream segment assign tune; do
    "$ASTERISM" $command --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort >expected
    offers $command -- | sort >offered
    diff expected offered || broken "bash does not offer the options of $command"
done
# parses SHELL FILE
parses() {
    if command -v "$1" >/dev/null; then
        "$1" -n "$2" || broken "$1 does not read its file"
    else
        skip_part "there is no $1"
    fi
}
parses zsh "$COMPLETION/zsh/_asterism"
parses fish "$COMPLETION/fish/asterism.fish"
