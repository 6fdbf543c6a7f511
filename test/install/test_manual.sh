#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Manual pages and completions name every command and every option that `calder help` shows, and nothing else.
set -euo pipefail

fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || exit 77
"$SOURCE_DIR/tools/manual" "$CALDER" "$work" 1.2.3

# Options as a reader of the help sees them: at most six spaces in, up to the explanation.
options_of() {
	"$CALDER" help "$1" | grep -E '^ {2,6}-' | sed -E 's/^ +//; s/  .*//' | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' | sort -u
}

# shellcheck source=/dev/null
source "$work/bash/calder"
propose() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_calder
	printf '%s\n' "${COMPREPLY[@]}"
}

commands=$("$CALDER" help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -gt 15 ] || fail "calder help lists too few commands"
for command in $commands; do
	page=$work/man1/calder-$command.1
	grep -q "^calder.*$command .* Calder 1.2.3\|^\.TH CALDER-${command^^} 1 .*Calder 1.2.3" "$page" || fail "$page has no title"
	grep -q "^\.BR calder..$command (1)" "$work/man1/calder.1" || fail "calder.1 does not name $command"
	propose calder "${command:0:2}" | grep -qx "$command" || fail "bash does not propose $command"
	grep -q "'$command:" "$work/zsh/_calder" || fail "zsh does not know $command"
	grep -q -- "-a $command -d" "$work/fish/calder.fish" || fail "fish does not know $command"
	propose calder "$command" - | { grep -vx -- --help || true; } | sort -u >"$work/proposed"
	options_of "$command" | grep -vx -- --help >"$work/shown" || true
	diff "$work/shown" "$work/proposed" || fail "bash proposes other options of $command than its help shows"
	while read -r option; do
		grep -qF -- "${option//-/\\-}" "$page" || fail "the page of $command has no $option"
		grep -qE -- "'\*$option(=-)?\[" "$work/zsh/_calder" || fail "zsh does not know $option"
	done <"$work/shown"
done

# Files where a file is wanted, nothing where it is a number, also of options with two spellings.
touch "$work/model.yaml"
cd "$work"
[ "$(propose calder run mod)" = model.yaml ] || fail "bash proposes no model"
[ "$(propose calder run --out mod)" = model.yaml ] || fail "bash proposes no file for --out"
[ -z "$(propose calder run --step mod)" ] || fail "bash proposes a file for --step"
[ -z "$(propose calder run -m mod)" ] || fail "bash proposes a file for -m"
