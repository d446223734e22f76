#!/bin/sh
# Installs PostgreSQL's server for the tests of connector jdbc: Debian's package, where it is missing
# and this is root. No cluster is created or started. Elsewhere it says in one line what to do.
set -eu

there() {
    command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1
}

if there; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "tests of connector jdbc need PostgreSQL: install postgresql (postgres, initdb, psql)" >&2
    exit 1
fi
exec 9<"$0" # two test processes may come here at once
flock 9
if there; then
    exit 0
fi
echo '==> PostgreSQL for the tests (apt-get install postgresql)'
mkdir -p /etc/postgresql-common # the package creates no cluster with this setting
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends postgresql >/dev/null
