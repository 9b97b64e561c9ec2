#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages of the servers and tools that some tests start themselves, on loopback. Needs root.
set -euo pipefail

packages=(
  nsd unbound radosgw ceph-mon ceph-osd pgbouncer haproxy strace systemd buildah mmdebstrap zsh fish prometheus
  nginx-light caddy varnish openssl php-cli python3
)
programs=(
  nsd unbound radosgw ceph-mon ceph-osd pgbouncer haproxy strace systemd-analyze buildah mmdebstrap zsh fish promtool
  nginx caddy varnishd openssl php python3
)

missing=no
for program in "${programs[@]}"; do command -v "$program" >/dev/null || missing=yes; done
if [ "$missing" = no ]; then exit 0; fi

# The packages must not start their servers.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
