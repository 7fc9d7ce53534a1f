import http, { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { TLSSocket } from 'node:tls';
import { hostName, isSchemePort, portOf, rewritten, routesByHost, ruleFor } from './hosts.ts';
import { peerUid } from './peer-uid.ts';
import type { InterceptRule, Manifest, Route } from './protocol.ts';

export type ForwardProxyOptions = {
  manifest(): Manifest | undefined;
  /** Undefined once the session has expired: covered calls fail closed then. */
  token(): string | undefined;
  agentId: string;
  leaf(host: string): SecureContext;
  /** Answers a call to a secret store by a rule; undefined when the rule's secret isn't there, and the call passes. */
  answerStore(rule: InterceptRule, request: { host: string; target: string; body: string }): StoreAnswer | undefined;
  counters: Counters;
  /** Accounts whose programs may use the proxy; all of this host without it. */
  allowedUids?: readonly number[] | undefined;
};
export type StoreAnswer = { status: number; contentType: string; body: string };
export type Counters = {
  requests: number;
  errors: number;
  intercepted: number;
  passed: number;
  /** Milliseconds to the answer’s head, of the newest calls through routes. */
  durations: number[];
};
export type ForwardProxy = { port: number; close(): Promise<void> };

/** Headers of the connection, or of the service: what a program sends of them counts for nothing. */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);
const MAX_STORE_BODY = 64 * 1024;
const IDLE_MS = 300_000;

/**
 * The forward proxy of this host, on 127.0.0.1 alone. Calls to hosts that a route covers go to the service with the agent's own credential; all others
 * pass as they are, without their TLS being opened.
 */
export async function startForwardProxy(options: ForwardProxyOptions, port: number): Promise<ForwardProxy> {
  const { counters } = options;
  const secure = new https.Agent({ keepAlive: true, maxSockets: 100 });
  const plain = new http.Agent({ keepAlive: true, maxSockets: 100 });
  const open = new Set<Duplex>();
  let routes = new Map<string, Route[]>();
  let made: Manifest | undefined;

  function coveredAt(host: string, hostPort: number): Route[] | undefined {
    const manifest = options.manifest();
    if (manifest !== made) {
      made = manifest;
      routes = routesByHost(manifest);
    }
    return isSchemePort(hostPort) ? routes.get(hostName(host)) : undefined;
  }
  const rulesAt = (host: string) =>
    (options.manifest()?.intercept_rules ?? []).filter((rule) => rule.match_host.toLowerCase() === host.toLowerCase());

  /** One call whose host and path are known, in the clear. `scheme` is that of the call it would have been without us. */
  function serve(
    req: IncomingMessage,
    res: ServerResponse,
    scheme: 'http' | 'https',
    host: string,
    hostPort: number,
    target: string,
    local: Socket,
  ) {
    counters.requests++;
    const rules = scheme === 'https' ? rulesAt(host) : [];
    if (rules.length > 0) return void serveStore(req, res, rules, host, hostPort, target, local);
    const manifest = options.manifest();
    const covered = coveredAt(host, hostPort);
    const url = manifest && covered && rewritten(covered, req.method ?? 'GET', target, manifest.proxy_url);
    if (url === undefined) {
      counters.passed++;
      return forward(req, res, `${scheme}://${host}:${hostPort}${target}`, {}, host, hostPort, scheme);
    }
    const token = options.token();
    if (token === undefined)
      return refuse(
        res,
        503,
        'bundle_expired',
        'The agent has no session with the control plane. Run `sallyport-agent doctor` on this host.',
      );
    counters.intercepted++;
    const own: OutgoingHttpHeaders = { 'X-Svc-Agent-Id': options.agentId, 'X-Svc-Agent-Token': token };
    if (manifest?.environment) own['X-Svc-Environment'] = manifest.environment;
    forward(req, res, url, own);
  }

  /** Sends the call on and its answer back, both as streams. Without `host` the URL names it. */
  function forward(
    req: IncomingMessage,
    res: ServerResponse,
    url: string,
    own: OutgoingHttpHeaders,
    host?: string,
    hostPort?: number,
    scheme?: 'http' | 'https',
    body?: Buffer,
  ) {
    const at = new URL(url);
    const path = pathOf(url);
    const isSecure = at.protocol === 'https:';
    const headers = headersOf(req.rawHeaders, own, host !== undefined);
    headers.push('Host', host === undefined ? at.host : hostHeader(host, hostPort ?? 0, scheme ?? 'https'));
    for (const [name, value] of Object.entries(own)) headers.push(name, String(value));
    const settings: RequestOptions = {
      method: req.method,
      host: at.hostname,
      port: portOf(at),
      path,
      headers: headers as unknown as OutgoingHttpHeaders,
      agent: isSecure ? secure : plain,
    };
    const hasBody = req.headers['transfer-encoding'] !== undefined;
    if (hasBody && !body) headers.push('Transfer-Encoding', 'chunked');
    const sent = isSecure ? https.request(settings) : http.request(settings);
    sent.setTimeout(IDLE_MS, () => sent.destroy(new Error('timed out')));
    const began = performance.now();
    sent.on('response', (answer) => {
      if (host === undefined) noteDuration(counters, performance.now() - began);
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage, headersOf(answer.rawHeaders, {}, true, false));
      answer.pipe(res);
      answer.on('error', () => res.destroy());
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      counters.errors++;
      if (res.headersSent) return res.destroy();
      refuse(res, 502, 'agent_upstream_unreachable', `${at.host} can’t be reached: ${error.code ?? error.message}.`);
    });
    res.on('close', () => sent.destroy());
    if (body) sent.end(body);
    else req.pipe(sent);
  }

  /** A call to a secret store: its body says which secret it is about. */
  async function serveStore(
    req: IncomingMessage,
    res: ServerResponse,
    rules: InterceptRule[],
    host: string,
    hostPort: number,
    target: string,
    local: Socket,
  ) {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of req) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_STORE_BODY) return refuse(res, 413, 'payload_too_large', 'A call to a secret store has at most 64 KiB.');
    }
    const body = Buffer.concat(chunks);
    const rule = ruleFor(rules, host, target, `${target} ${body.toString()}`);
    const allowed = rule && (!rule.allowed_uids?.length || rule.allowed_uids.includes(peerUid(local) ?? -1));
    const answer = rule && allowed ? options.answerStore(rule, { host, target, body: body.toString() }) : undefined;
    if (!answer) {
      counters.passed++;
      return forward(req, res, `https://${host}:${hostPort}${target}`, {}, host, hostPort, 'https', body);
    }
    counters.intercepted++;
    res.writeHead(answer.status, { 'content-type': answer.contentType, 'content-length': Buffer.byteLength(answer.body) }).end(answer.body);
  }

  // The calls inside of opened TLS connections.
  const inner = http.createServer((req, res) => {
    const { agentTarget, agentLocal } = req.socket as Socket & { agentTarget: { host: string; port: number }; agentLocal: Socket };
    serve(req, res, 'https', agentTarget.host, agentTarget.port, req.url ?? '/', agentLocal);
  });
  inner.on('clientError', (_error, socket) => socket.destroy());

  const server = http.createServer((req, res) => {
    const at = absolute(req.url ?? '');
    if (!at) return refuse(res, 400, 'not_a_proxy_call', 'This port is a forward proxy. Set HTTPS_PROXY to it; it serves no pages.');
    serve(req, res, 'http', at.hostname, portOf(at), pathOf(req.url ?? ''), req.socket);
  });
  server.on('connect', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    const [, host = '', given = '443'] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(req.url ?? '') ?? [];
    const hostPort = Number(given);
    if (host === '' || hostPort < 1 || hostPort > 65_535) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const isCovered = hostPort === 443 && (coveredAt(host, hostPort) !== undefined || rulesAt(host).length > 0);
    if (!isCovered) return passThrough(socket, head, host, hostPort);
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const opened = new TLSSocket(socket as Socket, { isServer: true, secureContext: options.leaf(host), ALPNProtocols: ['http/1.1'] });
    Object.assign(opened, { agentTarget: { host, port: hostPort }, agentLocal: socket });
    opened.on('error', () => opened.destroy());
    inner.emit('connection', opened);
  });
  server.on('connection', (socket: Socket) => {
    // Before a byte is read: an account that isn't listed learns nothing.
    if (options.allowedUids && !options.allowedUids.includes(peerUid(socket) ?? -1)) socket.destroy();
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  function passThrough(socket: Duplex, head: Buffer, host: string, hostPort: number) {
    counters.requests++;
    counters.passed++;
    const upstream = net.connect(hostPort, host.replace(/^\[|\]$/g, ''));
    open.add(upstream);
    upstream.on('close', () => {
      open.delete(upstream);
      socket.destroy();
    });
    upstream.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => {
      counters.errors++;
      if (upstream.connecting || upstream.bytesRead === 0) socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    socket.on('close', () => upstream.destroy());
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of open) socket.destroy();
        inner.closeAllConnections();
        secure.destroy();
        plain.destroy();
      }),
  };
}

const MOST_DURATIONS = 1_000;

export function noteDuration({ durations }: Counters, ms: number): void {
  durations.push(Math.round(ms));
  if (durations.length > MOST_DURATIONS) durations.shift();
}

/** In order and as spelt, as a flat list, without what belongs to the connection; of requests also without the service's own names. */
function headersOf(raw: readonly string[], own: OutgoingHttpHeaders, keepsLength: boolean, isRequest = true): string[] {
  const replaced = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const named = new Set<string>();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection') for (const name of (raw[i + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const lower = name.toLowerCase();
    if (DROPPED.has(lower) || named.has(lower) || replaced.has(lower)) continue;
    if (isRequest && lower.startsWith('x-svc-agent-')) continue;
    if (!keepsLength && isRequest && lower === 'x-svc-key') continue;
    kept.push(name, raw[i + 1] ?? '');
  }
  return kept;
}

const hostHeader = (host: string, port: number, scheme: 'http' | 'https') =>
  port === (scheme === 'https' ? 443 : 80) ? host : `${host}:${port}`;

/** Path and query of a URL, byte for byte: the URL class would write them anew. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

function absolute(url: string): URL | undefined {
  if (!/^http:\/\//i.test(url)) return undefined;
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function refuse(res: ServerResponse, status: number, type: string, message: string): void {
  const text = JSON.stringify({ error: { type, message } });
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), 'x-svc-error': type }).end(text);
}
