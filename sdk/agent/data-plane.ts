import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import http, { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, BlockList } from 'node:net';
import { type Counters, noteDuration } from './forward-proxy.ts';
import { headerValueOf, InjectionFault, injectedQuery, isPinnedTo, renderedText } from './injection.ts';
import { isLinkHost, lookupOffLink } from './link-addresses.ts';
import type { Bundle, ServedRoute, WrappedSecret } from './protocol.ts';

export type DataPlaneOptions = {
  /** Undefined once it has expired: nothing is served then. */
  bundle(): Bundle | undefined;
  /** Opens a secret of the bundle for this one use. */
  open(secret: WrappedSecret): string;
  /** What callers say in X-Svc-Key; undefined where everybody who reaches the listener may call. */
  callerKey: string | undefined;
  counters: Counters;
  /** Each call that ended: metadata alone. */
  note(call: ServedCall): void;
};
export type ServedCall = {
  at: string;
  method: string;
  host: string | null;
  path: string;
  status: number;
  duration_ms: number;
  route_id: string | null;
  environment: string | null;
  error: string | null;
};
export type DataPlane = { host: string; port: number; close(): Promise<void> };

/** Of the connection, of the service, or of a proxy before us: what a caller sends of them counts for nothing. */
const NOT_PASSED =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|host|expect|http2-settings|proxy-.{0,100}|x-svc-.{0,100})$/;
const PLANE_IDLE_MS = 300_000;
const ROUTE_METHODS = /^[A-Z]{1,16}$/;

/**
 * Serves the routes of the bundle inside the customer's network: `/<route's slug>/<path>` goes to the route's target with its secrets, which are opened here
 * for this one call. What this program can't do as the service does it isn't served at all. Fails closed without a bundle.
 */
export async function startDataPlane(options: DataPlaneOptions, host: string, port: number): Promise<DataPlane> {
  const agents = {
    'https:': new https.Agent({ keepAlive: true, maxSockets: 256 }),
    'http:': new http.Agent({ keepAlive: true, maxSockets: 256 }),
  };
  const limits = createCallLimits();
  const wanted = options.callerKey === undefined ? undefined : sha256Of(options.callerKey);

  const server = http.createServer({ requestTimeout: PLANE_IDLE_MS, maxHeaderSize: 32 * 1024 }, (req, res) => {
    const began = performance.now();
    const call: Pick<ServedCall, 'at' | 'method' | 'path'> & { route?: ServedRoute; target?: URL; error?: string } = {
      at: new Date().toISOString(),
      method: req.method ?? 'GET',
      path: (req.url ?? '/').split('?', 1)[0]?.slice(0, 2_048) ?? '/',
    };
    options.counters.requests++;
    res.on('close', () => {
      const duration_ms = Math.round(performance.now() - began);
      if (call.error !== undefined) options.counters.errors++;
      if (ROUTE_METHODS.test(call.method))
        options.note({
          ...{
            at: call.at,
            method: call.method,
            path: call.path,
            host: call.target?.hostname ?? null,
            status: res.headersSent ? res.statusCode : 499,
          },
          ...{ duration_ms, route_id: call.route?.id ?? null, environment: call.route?.environment ?? null, error: call.error ?? null },
        });
    });
    const refuse = (error: unknown) => {
      const { status, type, message } =
        error instanceof InjectionFault ? error : new InjectionFault(500, 'internal_error', 'The agent could not serve this call.');
      call.error = type;
      if (res.headersSent) return void res.destroy();
      const text = JSON.stringify({ error: { type, message } });
      res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), 'x-svc-error': type });
      res.end(text);
      // What is still being sent is not read.
      if (!req.complete) res.once('finish', () => req.destroy());
    };
    try {
      const bundle = options.bundle();
      if (!bundle)
        throw new InjectionFault(
          503,
          'bundle_expired',
          'The agent has no bundle that still counts. Run `sallyport-agent doctor` on its host.',
        );
      if (wanted && !isWanted(wanted, req.headers['x-svc-key']))
        throw new InjectionFault(401, 'invalid_api_key', 'Send the key of this agent’s operator in X-Svc-Key.');
      const { route, rest } = routeFor(bundle, req.url ?? '/');
      call.route = route;
      assertMayCall(bundle, route, req);
      limits.take(bundle, route, callerAddress(req));
      const target = new URL(route.target_base_url);
      call.target = target;
      const sent = prepared(bundle, route, target, rest, req);
      forwardTo(req, res, target, sent, route, (error) => refuse(error));
    } catch (error) {
      refuse(error);
    }
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  /** Path and headers of the call to the target, with what the route puts in. */
  function prepared(
    bundle: Bundle,
    route: ServedRoute,
    target: URL,
    rest: string,
    req: IncomingMessage,
  ): { path: string; headers: string[] } {
    const facts = { tenant_id: bundle.tenant_id, request_id: randomUUID(), timestamp: new Date().toISOString() };
    const secret = (by: { name: string } | { id: string }): string => {
      const found = bundle.secrets.find(
        (one) => one.environment === route.environment && ('id' in by ? one.id === by.id : one.name === by.name),
      );
      if (!found) throw new InjectionFault(424, 'secret_not_found', 'A secret that this route puts in has no value here.');
      if (!isPinnedTo(found.allowed_hosts, target))
        throw new InjectionFault(403, 'secret_host_not_allowed', `The secret ${found.name} may not be sent to ${target.host}.`);
      return options.open(found);
    };
    const rendered = (rules: Record<string, string | null>) =>
      Object.entries(rules).flatMap(([name, text]) => (text === null ? [] : [[name, renderedText(text, route, facts, secret)] as const]));
    const own = rendered(route.injection_rules.headers).map(([name, value]) => [name, headerValueOf(name, value)] as const);
    const [path = '', query = null] = splitOnce(rest, '?');
    const set = rendered(route.injection_rules.query).sort(([a], [b]) => (a < b ? -1 : 1));
    const asked = injectedQuery(query, set);
    const headers = passedHeaders(req.rawHeaders, new Set(own.map(([name]) => name.toLowerCase())));
    headers.push('Host', target.host);
    if (req.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
    for (const [name, value] of own) headers.push(name, value);
    const base = target.pathname.replace(/\/+$/, '');
    return { path: `${base}${path}${asked === null ? '' : `?${asked}`}` || '/', headers };
  }

  function forwardTo(
    req: IncomingMessage,
    res: ServerResponse,
    target: URL,
    { path, headers }: { path: string; headers: string[] },
    route: ServedRoute,
    fail: (error: InjectionFault) => void,
  ) {
    if (isLinkHost(target.hostname)) throw notThere(target);
    const isSecure = target.protocol === 'https:';
    const began = performance.now();
    const sent = (isSecure ? https : http).request({
      ...{ method: req.method, host: target.hostname.replace(/^\[|\]$/g, ''), port: target.port || (isSecure ? 443 : 80) },
      ...{ path: path.startsWith('/') ? path : `/${path}`, headers: headers as unknown as OutgoingHttpHeaders, setHost: false },
      agent: agents[isSecure ? 'https:' : 'http:'],
      lookup: lookupOffLink,
    });
    let answered = false;
    const timer = setTimeout(() => sent.destroy(Object.assign(new Error('timed out'), { code: 'TIMED_OUT' })), route.timeouts.timeout_ms);
    sent.on('response', (answer) => {
      answered = true;
      clearTimeout(timer);
      noteDuration(options.counters, performance.now() - began);
      answer.setTimeout(PLANE_IDLE_MS, () => answer.destroy());
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedHeaders(answer.rawHeaders, new Set(), false));
      answer.pipe(res);
      answer.on('error', () => res.destroy());
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (answered) return void res.destroy();
      if (error.code === 'TIMED_OUT')
        fail(new InjectionFault(504, 'upstream_timeout', `${target.host} did not answer in ${route.timeouts.timeout_ms} ms.`));
      else if (error.code === 'ELINK') fail(notThere(target));
      else if (/^(?:ERR_TLS|CERT_|UNABLE_|DEPTH_ZERO|SELF_SIGNED|ERR_SSL|EPROTO)/.test(error.code ?? ''))
        fail(new InjectionFault(502, 'upstream_tls_error', `The certificate of ${target.host} isn’t trusted here.`));
      else fail(new InjectionFault(502, 'upstream_unreachable', `${target.host} can’t be reached from this host.`));
    });
    res.on('close', () => {
      clearTimeout(timer);
      sent.destroy();
    });
    req.pipe(sent);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const agent of Object.values(agents)) agent.destroy();
      }),
  };
}

const sha256Of = (text: string): Buffer => createHash('sha256').update(text).digest();
const isWanted = (wanted: Buffer, given: string | string[] | undefined): boolean =>
  typeof given === 'string' && timingSafeEqual(wanted, sha256Of(given));

/** `/slug`, `/slug/path` and `/slug?query`; the rest byte for byte. Throws for what two readers could understand differently. */
function routeFor(bundle: Bundle, url: string): { route: ServedRoute; rest: string } {
  const [path = '', query = null] = splitOnce(url, '?');
  const isOdd = /[^!-[\]-~]|%(?:2f|5c|00)/i.test(path) || /\/\.{1,2}(?:\/|$)/.test(path.replace(/%2e/gi, '.'));
  if (!path.startsWith('/') || url.includes('#') || isOdd)
    throw new InjectionFault(400, 'invalid_path', 'The path has dot segments, or characters that must not be in one.');
  const end = path.indexOf('/', 1);
  const slug = path.slice(1, end === -1 ? undefined : end);
  const route = (bundle.routes as ServedRoute[]).find((one) => one.slug === slug && one.injection_rules !== null);
  if (!route) throw new InjectionFault(404, 'route_not_found', `This agent serves no route ${slug.slice(0, 64)}.`);
  if (route.unserved)
    throw new InjectionFault(
      424,
      'route_misconfigured',
      `The route uses ${route.unserved}, which agents don’t serve. Call it through the service.`,
    );
  return { route, rest: `${end === -1 ? '' : path.slice(end)}${query === null ? '' : `?${query}`}` };
}

function assertMayCall(bundle: Bundle, route: ServedRoute, req: IncomingMessage): void {
  const address = callerAddress(req);
  if (route.ip_allowlist.length > 0 && !isWithin(route.ip_allowlist, address))
    throw new InjectionFault(403, 'ip_not_allowed', "This IP address is not on the route's allowlist.");
  if (route.allowed_methods && !route.allowed_methods.includes(req.method ?? ''))
    throw new InjectionFault(405, 'method_not_allowed', `This route doesn't accept ${req.method} requests.`);
  const assigned = bundle.clients.filter(({ id }) => route.client_ids.includes(id));
  if (route.requires_clients && !assigned.some(({ ip_ranges }) => isWithin(ip_ranges, address)))
    throw new InjectionFault(403, 'client_not_authorized', 'This route is for its clients, and this address belongs to none.');
}

const callerAddress = (req: IncomingMessage): string => (req.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');

function isWithin(ranges: readonly string[], address: string): boolean {
  const kind = net.isIPv6(address) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  for (const range of ranges) {
    const [from = '', bits] = range.split('/');
    const family = net.isIPv6(from) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(from, family);
    else list.addSubnet(from, Number(bits), family);
  }
  return net.isIP(address) !== 0 && list.check(address, kind);
}

/** In order and as spelt, without what belongs to the connection or the service, and without what the route sets itself. */
function passedHeaders(raw: readonly string[], replaced: ReadonlySet<string>, isRequest = true): string[] {
  const named = new Set<string>();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection') for (const name of (raw[i + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const [name = '', lower = ''] = [raw[i], raw[i]?.toLowerCase()];
    if (NOT_PASSED.test(lower) || named.has(lower) || replaced.has(lower)) continue;
    // Servers that read an underscore as a hyphen would take it for the route's own.
    if (isRequest && replaced.has(lower.replaceAll('_', '-'))) continue;
    kept.push(name, raw[i + 1] ?? '');
  }
  return kept;
}

const splitOnce = (text: string, by: string): [string, string | null] => {
  const at = text.indexOf(by);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
};

const notThere = (target: URL) =>
  new InjectionFault(403, 'upstream_not_allowed', `${target.hostname} is no address that a route may lead to.`);

type CallWindow = { index: number; before: number; now: number };

/** The limits of routes, and of the workspace by the second, over this process: sliding windows of two numbers, as the service counts. */
function createCallLimits() {
  const windows = new Map<string, CallWindow>();
  const admits = (key: string, limit: number, lengthMs: number, at: number): boolean => {
    const index = Math.floor(at / lengthMs);
    const held = windows.get(key);
    const window = held?.index === index ? held : { index, before: held?.index === index - 1 ? held.now : 0, now: 0 };
    const weight = Math.floor(window.before * (1 - (at - index * lengthMs) / lengthMs)) + window.now;
    if (weight >= limit) return false;
    window.now++;
    windows.delete(key);
    windows.set(key, window);
    if (windows.size > 10_000) windows.delete(windows.keys().next().value as string);
    return true;
  };
  return {
    take(bundle: Bundle, { id, rate_limit }: ServedRoute, address: string): void {
      const at = Date.now();
      const perSecond = bundle.limits.requests_per_second;
      if (perSecond !== null && !admits('tenant', perSecond, 1_000, at))
        throw new InjectionFault(429, 'tenant_rate_limit_exceeded', 'The workspace makes more calls a second than its plan has.');
      if (!rate_limit) return;
      const key = rate_limit.per_client ? `${id} ${address}` : id;
      if (!admits(key, rate_limit.requests, rate_limit.window_sec * 1_000, at))
        throw new InjectionFault(
          429,
          'route_rate_limit_exceeded',
          `This route takes ${rate_limit.requests} calls in ${rate_limit.window_sec} s.`,
        );
    },
  };
}
