#!/bin/sh
# Installs a headless browser and its WebDriver for the tests of web pages: Debian's packages, where
# they are missing and this is root. Elsewhere it says in one line what to do.
set -eu

there() {
    command -v chromedriver >/dev/null 2>&1 && {
        command -v chromium || command -v google-chrome || command -v chrome
    } >/dev/null 2>&1
}

if there; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "tests of web pages need chromium and chromedriver: install both" >&2
    exit 1
fi
exec 9<"$0" # two test processes may come here at once
flock 9
if there; then
    exit 0
fi
echo '==> Chromium for the tests (apt-get install chromium chromium-driver)'
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends chromium chromium-driver >/dev/null
