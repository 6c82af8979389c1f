#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The command `nmodgpu` as it is staged: every subcommand, from the outside.
#
# Texts in single quotes are for the shells that are called; CC may be several words.
# shellcheck disable=SC2012,SC2016,SC2086
set -u

stage=${NMODGPU_TEST_STAGE:?NMODGPU_TEST_STAGE must name a staged installation}
nmodgpu=$stage/bin/nmodgpu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
out=$work/out
err=$work/err
checks=0
failures=0

unset NMODGPU NMODGPU_MIN_DIM NMODGPU_VERBOSE NMODGPU_REPORT NMODGPU_PLUGIN_PATH LD_PRELOAD
# Links for paths with spaces are then removed with the rest.
XDG_RUNTIME_DIR=$work/runtime
export XDG_RUNTIME_DIR
mkdir -m 700 "$XDG_RUNTIME_DIR"

# check NAME COMMAND...: one check, which fails when the command does.
check() {
    name=$1
    shift
    checks=$((checks + 1))
    if "$@"; then
        return 0
    fi
    failures=$((failures + 1))
    echo "check_command.sh: FAILED: $name" >&2
    sed 's/^/    out: /' "$out" | head -n 40 >&2
    sed 's/^/    err: /' "$err" | head -n 40 >&2
}

# gives STATUS COMMAND...: runs it into $out and $err.
gives() {
    expected=$1
    shift
    "$@" >"$out" 2>"$err" </dev/null
    status=$?
    [ "$status" = "$expected" ] && return 0
    echo "exit status $status, not $expected: $*" >&2
    return 1
}

prints() { grep -q -e "$1" "$out"; }
prints_text() { grep -qF -e "$1" "$out"; }
complains() { grep -q -e "$1" "$err"; }
one_complaint() { [ "$(wc -l <"$err")" -eq 1 ]; }
silent() { [ ! -s "$err" ]; }
no_escapes() { ! grep -q "$(printf '\033')" "$out" "$err"; }

# ---- help, version, wrong usage

check "version" gives 0 "$nmodgpu" version
check "version has three numbers" prints '^nmodgpu [0-9]*\.[0-9]*\.[0-9]*$'
check "--version" gives 0 "$nmodgpu" --version
check "help" gives 0 "$nmodgpu" help
for command in run info demo plans; do
    check "help lists $command" prints "^  $command "
done
for command in run info demo plans; do
    check "$command --help" gives 0 "$nmodgpu" $command --help
    check "$command --help shows usage" prints '^Usage: nmodgpu '
    check "$command --help shows examples" prints '^Examples:'
    check "$command --help names exit codes" prints '^Exit status:'
    cp "$out" "$work/help"
    check "help $command" gives 0 "$nmodgpu" help $command
    check "help $command is $command --help" cmp -s "$out" "$work/help"
    check "$command refuses unknown options" gives 2 "$nmodgpu" $command --no-such-option
    check "$command points to its help" complains "nmodgpu $command --help"
done
check "no command" gives 2 "$nmodgpu"
check "unknown command" gives 2 "$nmodgpu" frobnicate
check "unknown command is named" complains frobnicate
check "info takes no words" gives 2 "$nmodgpu" info word
check "demo takes no words" gives 2 "$nmodgpu" demo word
full() { gives 1 sh -c '"$1" help >/dev/full' sh "$nmodgpu"; }
check "a full disk is a failure" full

# ---- info

backend_usable() { grep -q "^  $1: usable" "$work/info"; }
check "info" gives 0 env NMODGPU_MIN_DIM=77 "$nmodgpu" info
cp "$out" "$work/info"
check "info: version" prints '^nmodgpu [0-9]'
check "info: backends" prints '^Backends$'
check "info: FLINT" prints '^FLINT$'
check "info: the drop-in" prints_text "libnmodgpu-flint.so"
check "info: settings" prints '^Settings$'
check "info: a setting from the environment" prints '^NMODGPU_MIN_DIM=77  (environment)'
check "info: a setting at its default" prints '^NMODGPU=off  (default)'
check "info: no colours in a file" no_escapes
for module in "$stage"/lib/nmodgpu/*.so; do
    [ -e "$module" ] || continue
    check "info: $(basename "$module" .so)" prints "^  $(basename "$module" .so): .*usable, priority [0-9]"
done
any_backend=no
if grep -q '^  [a-z0-9_-]*: usable' "$work/info"; then
    any_backend=yes
    check "info: devices with memory" prints 'GiB of memory, .* GiB free'
    check "info: rates" prints 'TFLOP/s in double precision'
fi
check "info --config" gives 0 env NMODGPU_VERBOSE=1 NMODGPU_REPORT= "$nmodgpu" info --config
for setting in NMODGPU NMODGPU_MIN_DIM NMODGPU_VERBOSE NMODGPU_REPORT NMODGPU_PLUGIN_PATH; do
    check "info --config: $setting" prints "^$setting="
done
check "info --config: origin" prints '^NMODGPU_VERBOSE=1  (environment)'
check "info --flint without a file" gives 1 "$nmodgpu" info --flint "$work/no-such-file"
check "info --flint says why" prints_text "no-such-file: cannot open"
mkfifo "$work/pipe"
check "info --flint of a pipe" gives 1 timeout 60 "$nmodgpu" info --flint "$work/pipe"
check "info --flint of another library" gives 1 "$nmodgpu" info --flint libm.so.6
check "info --flint of another library says why" prints 'libm.so.6 is no FLINT'
flint_product=$stage/libexec/nmodgpu/flint-product
if [ -x "$flint_product" ]; then
    flint=$(ldd "$flint_product" | sed -n 's/^[[:space:]]*libflint[^ ]* => \(.*\) (0x.*/\1/p')
    check "info --flint" gives 0 "$nmodgpu" info --flint "$flint"
    check "info --flint: version and path" prints 'FLINT [0-9][0-9.]*.*: .*libflint'
    check "info --flint: layout" prints 'layout: [a-z]*, proven by the self-test'
    check "info --flint: ours comes first" prints "nmod_mat_mul: nmodgpu's"
    check "info --flint: inner calls" prints 'inside its own functions'
fi

# ---- run

# A sanitizer's runtime comes into any program with the library; leaks of other programs are not looked for.
run() { env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$nmodgpu" run "$@"; }

check "run needs a program" gives 2 run
check "run passes arguments on" gives 0 run printf '<%s>' 'a b' -n '' --help
check "run leaves arguments alone" prints_text '<a b><-n><><--help>'
check "run takes --" gives 0 run -- printf '%s' --
check "run passes the exit status on" gives 7 run sh -c 'exit 7'
check "run is silent" silent
check "run switches nmodgpu on" gives 0 run sh -c 'echo "mode=$NMODGPU"'
check "NMODGPU=auto" prints '^mode=auto$'
check "run keeps NMODGPU" gives 0 env NMODGPU=off "$nmodgpu" run sh -c 'echo "mode=$NMODGPU"'
check "NMODGPU=off stays" prints '^mode=off$'
check "run preloads" gives 0 run cat /proc/self/maps
check "the drop-in is in the process" prints_text "$(readlink -f "$stage/lib")/libnmodgpu-flint.so"
check "and the library beside it" prints_text "$(readlink -f "$stage/lib")/libnmodgpu.so"
echo 'int nothing;' >"$work/other.c"
check "another library is made" gives 0 ${CC:-cc} -shared -fPIC -nostdlib -o "$work/other.so" "$work/other.c"
check "run keeps LD_PRELOAD" gives 0 env LD_PRELOAD="$work/other.so" "$nmodgpu" run sh -c 'echo "preload=$LD_PRELOAD"'
check "ours comes behind it" prints "^preload=$work/other.so:/.*/libnmodgpu-flint.so[.0-9]*\$"
check "run within run" gives 0 run "$nmodgpu" run sh -c 'echo "preload=$LD_PRELOAD"'
check "preloads once" prints '^preload=[^:]*$'

check "run without its program" gives 127 run "$work/missing"
check "says so in one line" one_complaint
check "run of an unknown command" gives 127 run nmodgpu-no-such-command
check "says that it is not found" complains 'nmodgpu-no-such-command: command not found'
echo data >"$work/data"
check "run of no program" gives 126 run "$work/data"
check "says why" complains 'data: Permission denied'
printf '#!%s\n' "$work/missing" >"$work/lost"
chmod +x "$work/lost"
check "run of a script without its interpreter" gives 127 run "$work/lost"
check "says which file" complains 'lost: .*interpreter'

mkdir "$work/a folder"
printf '#!/bin/sh\necho "script=$NMODGPU,$1"\ncat /proc/self/maps\n' >"$work/a folder/script"
printf '#!/usr/bin/env sh\necho "script=$NMODGPU,$1"\n' >"$work/a folder/env-script"
chmod +x "$work/a folder/script" "$work/a folder/env-script"
check "run of a script" gives 0 run "$work/a folder/script" 'x y'
check "a script is served" prints '^script=auto,x y$'
check "a script's programs are served" prints_text libnmodgpu-flint.so
check "a script gives no warning" silent
check "run of a script through env" gives 0 run "$work/a folder/env-script" z
check "it is served" prints '^script=auto,z$'
check "it gives no warning" silent
check "run finds programs along PATH" gives 0 env PATH="$work/a folder:$PATH" "$nmodgpu" run env-script q
check "that one" prints '^script=auto,q$'

# A program without a dynamic loader; it ends at once.
cat >"$work/static.c" <<'END'
void _start(void)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
#elif defined(__aarch64__)
    register long number __asm__("x8") = 93, status __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(number), "r"(status));
#endif
}
END
check "a static program is made" gives 0 ${CC:-cc} -nostdlib -static -no-pie -fno-pie -fno-stack-protector -o "$work/static" "$work/static.c"
check "run of a static program" gives 0 run "$work/static"
check "warns in one line" one_complaint
check "says that it is static" complains 'static is statically linked'
printf '#!%s\n' "$work/static" >"$work/static-script"
chmod +x "$work/static-script"
check "run of its script" gives 0 run "$work/static-script"
check "warns of the interpreter" complains 'static is statically linked'

if [ "$(id -u)" = 0 ]; then
    cp "$(command -v cat)" "$work/set-uid"
    chown 65534 "$work/set-uid"
    chmod 4755 "$work/set-uid"
    chmod 755 "$work"
    set_uid=$work/set-uid
else
    set_uid=$(command -v su)
fi
if [ -u "$set_uid" ]; then
    run "$set_uid" --help >"$out" 2>"$err" </dev/null # its exit status is its own affair
    check "warns of a set-uid program" complains 'is set-uid'
else
    echo "check_command.sh: no set-uid program to try"
fi

# A path that LD_PRELOAD cannot hold.
odd="$work/odd: path for \$5"
mkdir "$odd"
cp -R "$stage/." "$odd"
rm -rf "$XDG_RUNTIME_DIR/nmodgpu" # the stage's own path may be one
check "run from an odd path" gives 0 env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$odd/bin/nmodgpu" run cat /proc/self/maps
check "no warning of the loader" silent
check "the drop-in of that path" prints_text "$(basename "$odd")/lib/libnmodgpu-flint.so"
check "and its library" prints_text "$(basename "$odd")/lib/libnmodgpu.so"
check "and again, by the same link" gives 0 "$odd/bin/nmodgpu" run true
check "one link" [ "$(ls "$XDG_RUNTIME_DIR/nmodgpu" | wc -l)" -eq 1 ]

# ---- demo

if [ ! -x "$flint_product" ]; then
    check "demo without FLINT" gives 1 "$nmodgpu" demo
    check "says what is missing" complains 'built without FLINT'
elif [ $any_backend = no ]; then
    check "demo without backends" gives 1 "$nmodgpu" demo --n 100 --p 23bits
    check "says that nobody served" prints 'no backend served it'
else
    for place in "$stage" "$odd"; do
        check "demo" gives 0 env NMODGPU_MIN_DIM=0 "$place/bin/nmodgpu" demo --n 300 --p 2^31-1
        check "demo: the result is the same" prints 'same result, served by [a-z]'
        check "demo: what was asked for" prints '^n = 300, p = 2147483647 (31 bits)'
        check "demo: both checksums" [ "$(grep -c 'checksum [0-9a-f]\{16\}' "$out")" -eq 2 ]
    done
    check "demo of both moduli" gives 0 env NMODGPU_MIN_DIM=0 "$nmodgpu" demo --n 200
    check "demo: the modulus of 23 bits" prints 'p = 8388593 (23 bits)'
    check "demo: the modulus of 31 bits" prints 'p = 2147483647 (31 bits)'
    check "demo: no colours in a file" no_escapes
    check "demo when too small" gives 1 env NMODGPU_MIN_DIM=1000 "$nmodgpu" demo --n 20 --p 5
    check "says so" prints 'same result; no backend served it, declined: small'
    check "demo when off" gives 1 env NMODGPU=off "$nmodgpu" demo --n 20 --p 5
    check "says that it is off" complains 'NMODGPU is off'
fi
for wrong in 0 -5 x 1.5; do
    check "demo --n $wrong" gives 2 "$nmodgpu" demo --n $wrong
done
for wrong in 0 -7 x 2^65 2^64 2^3-8 2^3-9 65bits 1bits 18446744073709551616 2^5-; do
    check "demo --p $wrong" gives 2 "$nmodgpu" demo --p $wrong
done

# ---- plans

# json FILE PYTHON: true when the file is JSON for which the expression of `d` holds.
json() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2"
}
has_python=no
python3 -c 'import json' 2>"$err" && has_python=yes || echo "check_command.sh: no python3: the JSON is not read"

check "plans needs a modulus" gives 2 "$nmodgpu" plans --size 10
check "plans needs a size" gives 2 "$nmodgpu" plans --p 7
check "plans needs every dimension" gives 2 "$nmodgpu" plans --p 7 --m 3 --n 4
check "plans refuses p = 1" gives 2 "$nmodgpu" plans --p 1 --size 4
check "plans refuses size 0" gives 2 "$nmodgpu" plans --p 7 --size 0
check "plans --grid has its own moduli" gives 2 "$nmodgpu" plans --grid --p 7
check "plans of an unknown backend" gives 1 "$nmodgpu" plans --p 7 --size 4 --backend nosuch
check "plans: it is named" complains nosuch
if [ $any_backend = no ]; then
    check "plans without backends" gives 1 "$nmodgpu" plans --p 7 --size 4
    check "plans: says so" complains 'no usable backend'
else
    check "plans" gives 0 "$nmodgpu" plans --p 2^31-1 --m 30 --k 500 --n 20
    check "plans: one choice" [ "$(grep -c '^\* ' "$out")" -eq 1 ]
    check "plans: several plans" [ "$(grep -c '^[* ] f64(' "$out")" -gt 5 ]
    check "plans: the product" prints '^30 x 500 by 500 x 20 mod 2147483647 (31 bits)'
    check "plans: the last line" sh -c 'tail -n 1 "$1" | grep -q "^choice: "' sh "$out"
    check "plans: no colours in a file" no_escapes
    check "plans --measure" gives 0 "$nmodgpu" plans --p 16bits --size 60 --measure --top 3
    check "plans --measure: as many as asked for" [ "$(grep -c '^[* ] f64(' "$out")" -eq 3 ]
    check "plans --measure: the comparison" sh -c 'tail -n 1 "$1" | grep -q "^choice: .*, within .* % of the best measured, "' sh "$out"
    check "plans --measure without time" gives 1 "$nmodgpu" plans --p 16bits --size 60 --measure --seconds 0
    check "plans --measure --json" gives 0 "$nmodgpu" plans --p 2^64-59 --size 50 --measure --top 2 --json
    if [ $has_python = yes ]; then
        check "plans --json: the product" json "$out" 'd["p"] == 2**64 - 59 and (d["m"], d["k"], d["n"]) == (50, 50, 50)'
        check "plans --json: the plans" json "$out" 'len(d["plans"]) == 2 and [q["chosen"] for q in d["plans"]] == [True, False]'
        check "plans --json: times" json "$out" 'all(q["predicted_seconds"] > 0 and q["measured_seconds"] > 0 for q in d["plans"])'
        check "plans --json: rates" json "$out" 'all(abs(q["measured_tflops"] * q["measured_seconds"] / 2.5e-7 - 1) < 1e-3 for q in d["plans"])'
        check "plans --json: the ratio" json "$out" 'd["choice_over_best"] >= 1 and d["best"] in [q["name"] for q in d["plans"]]'
        check "plans --json without measuring" gives 0 "$nmodgpu" plans --p 23bits --size 50 --json
        check "plans --json: p of 23 bits" json "$out" 'd["p"] == 8388593 and d["plans_in_all"] == len(d["plans"])'
        check "plans --json: soonest first" json "$out" 'all(a["predicted_seconds"] <= b["predicted_seconds"] for a, b in zip(d["plans"], d["plans"][1:]))'
        check "plans --json: not measured" json "$out" 'd["choice_over_best"] is None and d["plans"][0]["measured_seconds"] is None'
    fi
    check "plans --grid" gives 0 "$nmodgpu" plans --grid --seconds 2 --top 2
    check "plans --grid: a point" prints '^ *256  *8  f64('
    check "plans --grid: the worst ratio" prints '^worst ratio: [0-9]'
fi

echo "$(((checks - failures) * 100 / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures -eq 0 ]
