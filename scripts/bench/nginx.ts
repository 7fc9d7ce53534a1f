import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { freePorts } from '../ports.ts';
import { answers } from './http.ts';
import { familyOf, findTool, spawnOn, stopChild, until } from './machine.ts';

// nginx twice: as the upstream of everybody, and as the peer to be compared with.

export type Nginx = {
  port: number;
  /** Whose CPU time is its. */
  pids: () => number[];
  stop: () => Promise<void>;
};

/** A public name that the bench maps to the upstream's TLS port. */
export const SECURE_HOST = 'api.upstream.example';

/** `/small` 210 bytes of JSON, `/large` 100 KB, `/sink` takes a body whole and answers like `/small`. */
export async function startUpstream(directory: string, where: string): Promise<Nginx & { securePort: number; root: string }> {
  const files = path.join(directory, 'files');
  fs.mkdirSync(files, { recursive: true });
  fs.writeFileSync(path.join(files, 'large'), Buffer.alloc(100 * 1024, '{"some":"json"}\n'));
  const [port, inner, securePort] = (await freePorts(3)) as [number, number, number];
  const certificate = selfSigned(directory);
  const small = JSON.stringify({ id: 'ch_1', object: 'charge', amount: 2000, currency: 'eur', note: 'x'.repeat(210 - 73) });
  const answer = `default_type application/json; return 200 '${small}';`;
  const upstream = await startNginx(directory, 'upstream', where, port, [
    LARGE_BUFFERS,
    `upstream small { server 127.0.0.1:${inner}; keepalive 64; }`,
    `server { listen 127.0.0.1:${inner}; access_log off; keepalive_requests 1000000000; location / { ${answer} } }`,
    `server { listen 127.0.0.1:${port} backlog=1024; access_log off; keepalive_requests 1000000000;`,
    `  location /small { ${answer} }`,
    `  location /large { root ${files}; default_type application/octet-stream; sendfile on; tcp_nopush on; open_file_cache max=10; }`,
    // Passing it on is what makes nginx wait for the whole body before it answers.
    '  location /sink { proxy_pass http://small; proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_set_header Connection ""; proxy_http_version 1.1; }',
    '}',
    `server { listen 127.0.0.1:${securePort} ssl backlog=1024; access_log off; keepalive_requests 1000000000;`,
    `  ssl_certificate ${certificate}.pem; ssl_certificate_key ${certificate}.key; location /small { ${answer} } }`,
  ]);
  return { ...upstream, securePort, root: `${certificate}.pem` };
}

/** A certificate for SECURE_HOST that is its own root. */
function selfSigned(directory: string): string {
  const name = path.join(directory, 'upstream');
  const made = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${SECURE_HOST} -addext subjectAltName=DNS:${SECURE_HOST}`;
  execFileSync('openssl', [...made.split(' '), '-keyout', `${name}.key`, '-out', `${name}.pem`], { stdio: 'pipe' });
  return name;
}

/** proxy_pass with kept-alive connections and one injected header; all else as nginx comes. */
export const startPeer = (directory: string, where: string, upstreamPort: number) => startProxy(directory, where, upstreamPort, 'peer', []);

/** The same with buffers that hold a body of 100 KB, which nginx by itself cuts into 4 KB pieces or puts into a file. */
export const startTunedPeer = (directory: string, where: string, upstreamPort: number) =>
  startProxy(directory, where, upstreamPort, 'tuned', [LARGE_BUFFERS]);

const LARGE_BUFFERS = 'client_body_buffer_size 256k; proxy_buffer_size 16k; proxy_buffers 16 16k; proxy_busy_buffers_size 64k;';

async function startProxy(directory: string, where: string, upstreamPort: number, name: string, more: readonly string[]): Promise<Nginx> {
  const [port] = (await freePorts(1)) as [number];
  return startNginx(directory, name, where, port, [
    ...more,
    `upstream origin { server 127.0.0.1:${upstreamPort}; keepalive 128; }`,
    `server { listen 127.0.0.1:${port} backlog=1024; access_log off; keepalive_requests 1000000000;`,
    '  location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";',
    '    proxy_set_header Authorization "Bearer sk_live_0123456789abcdef0123456789abcdef"; proxy_set_header X-Svc-Key ""; }',
    '}',
  ]);
}

/** One process with the given contents of its `http` block; `modules` are files. */
export async function startNginx(
  directory: string,
  name: string,
  where: string,
  port: number,
  http: readonly string[],
  modules: readonly string[] = [],
  readyAt = '/small',
): Promise<Nginx> {
  const folder = path.join(directory, `nginx-${name}`);
  fs.mkdirSync(folder, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  const config = [
    ...modules.map((file) => `load_module ${file};`),
    ...(process.getuid?.() === 0 ? ['user root;'] : []), // else its workers could not enter this folder
    `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log warn;`,
    'events { worker_connections 2048; }',
    `http { ${temporary.join(' ')} tcp_nodelay on;`,
    'client_max_body_size 10m;',
    ...http,
    '}',
  ];
  const file = path.join(folder, 'nginx.conf');
  fs.writeFileSync(file, `${config.join('\n')}\n`);
  const nginx = findTool('nginx') ?? 'nginx';
  const child = spawnOn(where, nginx, ['-p', folder, '-e', path.join(folder, 'error.log'), '-c', file]);
  await until(`nginx (${name})`, () => answers(`http://127.0.0.1:${port}${readyAt}`), 10_000, child);
  const pids = () => familyOf(child.pid ?? 0);
  return { port, pids, stop: () => stopChild(child, 'SIGQUIT', 2_000) };
}
