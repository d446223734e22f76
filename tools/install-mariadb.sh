#!/bin/sh
# Installs MariaDB's server for the tests of connector mysql-cdc: Debian's package, where it is
# missing and this is root. No service is started, unless this machine has a policy of its own for
# services. Elsewhere it says in one line what to do.
set -eu

if [ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "tests of connector mysql-cdc need MariaDB: install mariadb-server (mariadbd, mariadb-install-db)" >&2
    exit 1
fi
exec 9<"$0" # two test processes may come here at once
flock 9
if [ -x /usr/sbin/mariadbd ]; then
    exit 0
fi
echo '==> MariaDB for the tests (apt-get install mariadb-server)'
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then # no service may start
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends mariadb-server >/dev/null
