#!/bin/sh
# Makes the secrets that compose.yaml reads, once: none is overwritten.
set -eu
cd "$(dirname "$0")"
[ ! -e secrets ] || { echo 'deploy/secrets is there already' >&2; exit 1; }
# The files are read by the users of the containers; the folder keeps everybody else out.
umask 022
mkdir -m 700 secrets
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
password=$(random)
id=$(random)
secret=$(random)
printf '%s' "$password" >secrets/database-password
printf 'postgres://catalejo:%s@database:5432/catalejo' "$password" >secrets/database-url
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$id" "$secret" >secrets/store-credentials
printf 'ROOT_ACCESS_KEY=%s\nROOT_SECRET_KEY=%s\n' "$id" "$secret" >secrets/store.env
