#!/bin/sh
# Installs the Sallyport agent: fetches it, checks its signature, enrols this host and starts the service.
# The install token comes from SVC_INSTALL_TOKEN, from /run/secrets/agent_token or from the terminal, never from the command line.
#
#   sh install-agent.sh [--prefix FOLDER] [--systemd | --run | --no-service]
set -eu
umask 077

API='__API__'
PUBLIC_KEY='__PUBLIC_KEY__'
prefix=''
service=''

fail() {
  printf 'install-agent: %s\n' "$1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) [ $# -ge 2 ] || fail '--prefix takes a folder.'; prefix=$2; shift 2 ;;
    --systemd) service=systemd; shift ;;
    --run) service=run; shift ;;
    --no-service) service=none; shift ;;
    *svc_ait_*) fail 'Give the token by SVC_INSTALL_TOKEN or when asked: a list of processes shows arguments.' ;;
    *) fail "Unknown option: $1" ;;
  esac
done

root=no
[ "$(id -u)" = 0 ] && root=yes
if [ -z "$prefix" ]; then
  if [ "$root" = yes ]; then prefix=/var/lib/sallyport-agent; else prefix="$HOME/.sallyport-agent"; fi
fi
if [ -z "$service" ]; then
  if [ "$root" = yes ] && [ -d /run/systemd/system ]; then service=systemd; else service=none; fi
fi
[ "$service" = systemd ] && [ "$root" = no ] && fail 'A service of systemd takes root: run this with sudo, or with --no-service.'
case "$prefix" in
  /*) ;;
  *) prefix="$(pwd)/$prefix" ;;
esac

# It is written into the unit and the starter below.
case "$prefix" in
  *[!A-Za-z0-9/._-]*) fail 'The folder may have letters, digits and / . _ - only.' ;;
esac

node=$(command -v node || true)
[ -n "$node" ] || fail 'Node.js 20 or newer is needed. See https://nodejs.org/en/download.'
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || fail "Node.js 20 or newer is needed, this is $("$node" -v)."

fetch() {
  if command -v curl >/dev/null 2>&1; then curl -fsS --max-time 60 -o "$2" "$1"; else wget -q -T 60 -O "$2" "$1"; fi || fail "$1 can't be fetched."
}

mkdir -p "$prefix"
# Programs of other accounts read the certificate of the forward proxy, and nothing else here.
chmod 711 "$prefix"
work=$(mktemp -d "$prefix/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch "$API/agent/agent.mjs" "$work/agent.mjs"
fetch "$API/agent/agent.mjs.sig" "$work/agent.mjs.sig"

# Ed25519 over the version and the digest of the file. A file without a good signature never replaces the one that is there, and never runs.
PUBLIC_KEY="$PUBLIC_KEY" "$node" -e '
const { createHash, verify } = require("node:crypto");
const { readFileSync } = require("node:fs");
const [file, signature] = process.argv.slice(1);
const bytes = readFileSync(file);
const [, version = ""] = /^const VERSION = .([0-9A-Za-z.-]+).;$/m.exec(bytes.toString()) ?? [];
const digest = createHash("sha256").update(bytes).digest("hex");
const statement = ["SVC-AGENT-BUILD-V1", version, "any", "any", digest].join("\n");
const good = verify(null, Buffer.from(statement), process.env.PUBLIC_KEY, Buffer.from(readFileSync(signature, "utf8"), "base64"));
process.exit(good ? 0 : 1);
' "$work/agent.mjs" "$work/agent.mjs.sig" || fail "The signature of the agent is not good. Nothing was installed."

chmod 700 "$work/agent.mjs"
mv "$work/agent.mjs" "$prefix/agent.mjs"
mv "$work/agent.mjs.sig" "$prefix/agent.mjs.sig"

cat >"$prefix/sallyport-agent" <<STARTER
#!/bin/sh
SVC_AGENT_HOME="$prefix" SVC_AGENT_API="$API" exec "$node" "$prefix/agent.mjs" "\$@"
STARTER
chmod 700 "$prefix/sallyport-agent"

SVC_AGENT_HOME="$prefix"
SVC_AGENT_API="$API"
export SVC_AGENT_HOME SVC_AGENT_API

token=${SVC_INSTALL_TOKEN:-${SVC_AGENT_TOKEN:-}}
unset SVC_INSTALL_TOKEN SVC_AGENT_TOKEN
[ -z "$token" ] && [ -r /run/secrets/agent_token ] && token=$(cat /run/secrets/agent_token)
if [ -f "$prefix/credentials.json" ] && [ -z "$token" ]; then
  printf 'This host is enrolled already; the program was updated.\n'
else
  if [ -z "$token" ]; then
    if [ -t 0 ]; then
      printf 'Install token: '
      stty -echo 2>/dev/null || true
      read -r token
      stty echo 2>/dev/null || true
      printf '\n'
    else
      read -r token || true
    fi
  fi
  [ -n "$token" ] || fail 'There is no install token. Create one on the Agents page.'
  printf '%s\n' "$token" | "$node" "$prefix/agent.mjs" enroll || fail 'Enrolling failed; the agent was not started.'
fi
token=''

case "$service" in
  systemd)
    id sallyport-agent >/dev/null 2>&1 || useradd --system --home-dir "$prefix" --no-create-home --shell /usr/sbin/nologin sallyport-agent
    chown -R sallyport-agent: "$prefix"
    umask 022
    # Root must not run a file that the service's account could write: this one is root's, and what it starts runs as that account.
    cat >/usr/local/bin/sallyport-agent <<STARTER
#!/bin/sh
exec runuser -u sallyport-agent -- "$prefix/sallyport-agent" "\$@"
STARTER
    chmod 755 /usr/local/bin/sallyport-agent
    cat >/etc/systemd/system/sallyport-agent.service <<UNIT
[Unit]
Description=Sallyport agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart="$node" "$prefix/agent.mjs" run
Environment="SVC_AGENT_HOME=$prefix" "SVC_AGENT_API=$API"
User=sallyport-agent
Restart=always
RestartSec=5
RestartPreventExitStatus=3
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ReadWritePaths=$prefix
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
UNIT
    systemctl daemon-reload
    systemctl enable --now sallyport-agent
    printf 'The agent runs. See: systemctl status sallyport-agent\n'
    ;;
  run)
    rm -rf "$work"
    trap - EXIT
    exec "$node" "$prefix/agent.mjs" run
    ;;
  *) printf 'Installed. Start it with: %s/sallyport-agent run\n' "$prefix" ;;
esac
