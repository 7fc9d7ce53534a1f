import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../command.ts';
import { freePorts } from '../ports.ts';
import { get } from './http.ts';
import { familyOf, findTool, spawnOn, stopChild, until } from './machine.ts';
import { startNginx } from './nginx.ts';

// Other gateways set up to do what ours does for a call: tell the caller by the SHA-256 of its key, count it against a limit of its own over a sliding window,
// put a credential into a header, and write a line of JSON about it.

export type EqualPeer = { port: number; pids: () => number[]; stop: () => Promise<void> };
export type EqualWork = {
  directory: string;
  /** Cores of the peer. */
  where: string;
  upstreamPort: number;
  key: string;
  /** Of the key, SHA-256 in lower-case hexadecimal digits. */
  digest: string;
  /** Calls of a key in a second: more than can be made, but counted. */
  limit: number;
};
/** Undefined: it isn't on this machine, and `missing` says what would be. */
export type StartPeer = (work: EqualWork) => Promise<EqualPeer> | undefined;

const AUTHORIZATION = 'Bearer sk_live_0123456789abcdef0123456789abcdef';

export const equalPeers = {
  nginx: { start: startLua, missing: 'nginx with its Lua module (apt-get install libnginx-mod-http-lua)' },
  HAProxy: { start: startHaproxy, missing: 'haproxy (apt-get install haproxy)' },
  Fastify: { start: startFastify, missing: '@fastify/reply-from: BENCH_REPLY_FROM names no folder that it is installed in' },
  Caddy: { start: startCaddy, missing: 'caddy (apt-get install caddy)' },
} satisfies Record<string, { start: StartPeer; missing: string }>;

/** Lua as it is best written for this: the digest by the OpenSSL that nginx has loaded, counters in memory that is shared, lines written 64 KB at a time. */
function startLua({ directory, where, upstreamPort, digest, limit }: EqualWork): Promise<EqualPeer> | undefined {
  const modules = ['ndk_http_module.so', 'ngx_http_lua_module.so'].map((name) =>
    ['/usr/lib/nginx/modules', '/usr/share/nginx/modules'].map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file)),
  );
  if (!findTool('nginx') || modules.some((file) => file === undefined)) return undefined;
  return freePorts(1).then(([port = 0]) =>
    startNginx(
      directory,
      'lua',
      where,
      port,
      [
        `log_format calls escape=json '{"time":"$time_iso8601","id":"$request_id","caller":"$caller","address":"$remote_addr","method":"$request_method","path":"$uri","status":$status,"seconds":$request_time,"upstream_seconds":"$upstream_response_time","upstream":"$upstream_addr","bytes":$body_bytes_sent}';`,
        'lua_shared_dict windows 10m;',
        `init_by_lua_block {
          local ffi = require 'ffi'
          ffi.cdef[[ unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *md); ]]
          local out = ffi.new('unsigned char[32]')
          local function digest(text) ffi.C.SHA256(text, #text, out); return ffi.string(out, 32) end
          local callers = { [('${digest}'):gsub('..', function(two) return string.char(tonumber(two, 16)) end)] = 'key-1' }
          function admit()
            local text = ngx.var.http_x_svc_key
            local caller = text and callers[digest(text)]
            if not caller then return ngx.exit(401) end
            local windows, now = ngx.shared.windows, ngx.now()
            local i = math.floor(now)
            local before = windows:get(caller .. ':' .. (i - 1)) or 0
            local count = windows:incr(caller .. ':' .. i, 1, 0, 3)
            if math.floor(before * (1 - (now - i))) + count > ${limit} then return ngx.exit(429) end
            ngx.var.caller = caller
          end
        }`,
        `upstream origin { server 127.0.0.1:${upstreamPort}; keepalive 128; }`,
        `server { listen 127.0.0.1:${port} backlog=1024; keepalive_requests 1000000000;`,
        '  location = /up { return 204; access_log off; }',
        '  location / { set $caller ""; access_by_lua_block { admit() }',
        `    access_log ${path.join(directory, 'nginx-lua', 'calls.log')} calls buffer=64k flush=1s;`,
        `    proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";`,
        `    proxy_set_header Authorization "${AUTHORIZATION}"; proxy_set_header X-Svc-Key ""; }`,
        '}',
      ],
      modules as string[],
      '/up',
    ),
  );
}

/** A map from digests to callers, a stick table that counts them, and lines on its standard output, which is a file. Also carries WebSockets. */
export function startHaproxy({ directory, where, upstreamPort, digest, limit }: EqualWork): Promise<EqualPeer> | undefined {
  const haproxy = findTool('haproxy');
  if (!haproxy) return undefined;
  return freePorts(1).then(async ([port = 0]) => {
    const folder = path.join(directory, 'haproxy');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'callers.map'), `${digest} key-1\n`);
    const file = path.join(folder, 'haproxy.cfg');
    fs.writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 4096
  log stdout format raw local0
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
frontend calls
  bind 127.0.0.1:${port} backlog 1024
  log global
  log-format '{"time":"%trg","id":"%ID","caller":"%[var(txn.caller)]","address":"%ci","method":"%HM","path":%{+Q}HPO,"status":%ST,"ms":%Ta,"upstream_ms":"%Tr","upstream":"%s","bytes":%B}'
  unique-id-format %[uuid]
  http-request set-var(txn.caller) req.hdr(x-svc-key),sha2(256),hex,lower,map(${path.join(folder, 'callers.map')})
  http-request deny deny_status 401 unless { var(txn.caller) -m found }
  stick-table type string len 36 size 100k expire 10s store http_req_rate(1s)
  http-request track-sc0 var(txn.caller)
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${limit} }
  http-request set-header Authorization "${AUTHORIZATION}"
  http-request del-header X-Svc-Key
  default_backend origin
backend origin
  http-reuse always
  server origin 127.0.0.1:${upstreamPort}
`,
    );
    const lines = fs.openSync(path.join(folder, 'calls.log'), 'w');
    const child = spawnOn(where, haproxy, ['-db', '-f', file], { stdio: ['ignore', lines, 'inherit'] });
    fs.closeSync(lines);
    await until('HAProxy', () => isUp(port), 10_000, child);
    return { port, pids: () => familyOf(child.pid ?? 0), stop: () => stopChild(child, 'SIGTERM', 2_000) };
  });
}

/** `BENCH_REPLY_FROM`: a folder with `@fastify/reply-from` in its node_modules. */
function startFastify({ directory, where, upstreamPort, digest, limit }: EqualWork): Promise<EqualPeer> | undefined {
  const modules = process.env.BENCH_REPLY_FROM;
  if (!modules) return undefined;
  return freePorts(1).then(async ([port = 0]) => {
    const settings = { port, upstreamPort, digest, limit, modules, authorization: AUTHORIZATION, log: path.join(directory, 'fastify.log') };
    const leash = pathToFileURL(path.join(root, 'scripts/exit-with-supervisor.ts')).href;
    const file = path.join(root, 'scripts/bench/fastify-peer.ts');
    const env = { ...process.env, NODE_ENV: 'production' as const };
    const child = spawnOn(where, process.execPath, [`--import=${leash}`, file, JSON.stringify(settings)], {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await until('Fastify', () => isUp(port), 30_000, child);
    return { port, pids: () => familyOf(child.pid ?? 0), stop: () => stopChild(child, 'SIGTERM', 2_000) };
  });
}

/** As the distribution has it: it compares the key itself, and has neither digests nor limits, so it does less than the others. */
function startCaddy({ directory, where, upstreamPort, key }: EqualWork): Promise<EqualPeer> | undefined {
  const caddy = findTool('caddy');
  if (!caddy) return undefined;
  return freePorts(1).then(async ([port = 0]) => {
    const folder = path.join(directory, 'caddy');
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(folder, 'Caddyfile');
    fs.writeFileSync(
      file,
      `{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  log {
    output file ${path.join(folder, 'calls.log')}
    format json
  }
  @known header X-Svc-Key ${key}
  handle @known {
    reverse_proxy 127.0.0.1:${upstreamPort} {
      header_up Authorization "${AUTHORIZATION}"
      header_up -X-Svc-Key
      transport http {
        keepalive_idle_conns 128
        keepalive_idle_conns_per_host 128
      }
    }
  }
  handle {
    respond 401
  }
}
`,
    );
    const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, GOMAXPROCS: '1' };
    const started = fs.openSync(path.join(folder, 'caddy.log'), 'w');
    const child = spawnOn(where, caddy, ['run', '--config', file, '--adapter', 'caddyfile'], {
      env: env as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', started, started],
    });
    fs.closeSync(started);
    await until('Caddy', () => isUp(port), 15_000, child);
    return { port, pids: () => familyOf(child.pid ?? 0), stop: () => stopChild(child, 'SIGTERM', 2_000) };
  });
}

/** Any answer: without a key it is a refusal. */
const isUp = (port: number): Promise<boolean> =>
  get(`http://127.0.0.1:${port}/small`).then(
    () => true,
    () => false,
  );
