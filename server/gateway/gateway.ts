import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { uuidV7 } from '#server/crypto/random.ts';
import type { Network } from '#server/platform/http-out/networks.ts';
import { asksForControl, type ControlSockets } from './agents/control-sockets.ts';
import { asksForTunnel, type Tunnels } from './agents/tunnels.ts';
import { bareHeaders } from './core/bare-refusal.ts';
import { newCall, type Upgrade } from './core/call.ts';
import { countRefusal } from './core/call-meter.ts';
import { type RequestOrigin, requestOrigin } from './core/client-address.ts';
import { afterReads } from './core/event-loop-turn.ts';
import { GatewayResponse } from './core/gateway-response.ts';
import { type Health, needsOf } from './core/health.ts';
import { type HostConfig, type PlaneMatch, type PortPlane, planeOf, within } from './core/hosts.ts';
import { type Http2Door, openHttp2 } from './core/http2/http2-door.ts';
import { createListener, type HeadRefusal, inspectHead, type ListenerOptions } from './core/listener.ts';
import type { Pipeline } from './core/pipeline.ts';
import { type Refused, refused } from './core/refusal.ts';
import type { Runtime } from './core/runtime.ts';
import { stampVersion } from './core/service-version.ts';
import { refuseUntenanted as refuseWithoutTenant } from './core/untenanted-refusal.ts';
import { isHandshake } from './core/websocket/handshake.ts';
import { forwardDevSocket } from './front-door/dev-socket.ts';
import type { FrontDoor } from './front-door/front-door.ts';
import { standardHeaders } from './front-door/headers.ts';
import { writeRefusal } from './front-door/refusal.ts';
import type { WebHealth } from './front-door/web-health.ts';
import { aiRefusal, asAiRefusal } from './governance/envelope.ts';
import { refuseUntenanted, tenantOf } from './governance/untenanted.ts';
import { bare, tellReadiness } from './plain-answers.ts';

export type GatewayOptions = {
  runtime: Runtime;
  /** Of each plane, in the order in which planes are asked whether a request is theirs. */
  pipelines: readonly Pipeline[];
  frontDoor: FrontDoor;
  hosts: HostConfig;
  trustedProxies: readonly Network[];
  adminUrl: string;
  /** The web process's socket in development: its hot-reload connection is piped through. */
  devSocket?: string | undefined;
  /** Connections that on-host agents hold open. */
  tunnels: Tunnels;
  /** Connections over which they send their heartbeats. */
  controlSockets: ControlSockets;
  /** Told to load balancers by /readyz. */
  health(): Health;
  webHealth: WebHealth;
};

export type Gateway = {
  /** Opens one public port; `plane` null tells planes apart by Host alone. */
  listen(plane: PortPlane, port: number, address: string): Promise<AddressInfo>;
  /** From now on /readyz says no and answers end their connections, while everything is served on: load balancers get time to look elsewhere. */
  leave(): void;
  /** Takes no new connections, lets running calls finish for at most `ms`, then hangs up. */
  close(ms: number): Promise<void>;
};

/** The public side: steps 1 and 2 of every request, then the data plane or the front door. */
export function createGateway(options: GatewayOptions): Gateway {
  const servers = new Set<Server>();
  const doors = new Set<Http2Door>();
  let leaving = false;
  return {
    async listen(portPlane, port, address) {
      const server = createListener({
        onRequest: (req, res, arrivedAt) => receive(options, portPlane, req, res, arrivedAt, leaving),
        isApi: portPlane === 'api' || portPlane === 'sandbox',
        trustedProxies: options.trustedProxies,
        ...upgradesOf(options, portPlane, () => leaving),
      });
      servers.add(server);
      if (options.trustedProxies.length > 0) {
        const onRequest = (req: IncomingMessage, res: GatewayResponse, arrivedAt: number) =>
          receive(options, portPlane, req, res, arrivedAt, leaving, undefined, true);
        doors.add(openHttp2(server, { onRequest, trustedProxies: options.trustedProxies }));
      }
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, address, () => resolve());
      });
      return server.address() as AddressInfo; // a TCP listener
    },
    leave() {
      leaving = true;
    },
    async close(ms) {
      leaving = true;
      options.runtime.webSockets.endAll();
      for (const door of doors) door.close();
      const all = [...servers].map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeIdleConnections();
          }),
      );
      // A connection whose last call began before the end was in sight becomes idle without having heard of it.
      const sweep = setInterval(() => {
        for (const server of servers) server.closeIdleConnections();
      }, 100);
      const late = setTimeout(() => {
        for (const server of servers) server.closeAllConnections();
        for (const door of doors) door.destroy();
      }, ms);
      await Promise.all(all);
      clearInterval(sweep);
      clearTimeout(late);
    },
  };
}

/** WebSockets of planes that have them, and tunnels and control connections of on-host agents; on the dashboard's own port the hot reload of development. */
function upgradesOf(
  options: GatewayOptions,
  portPlane: PortPlane,
  isLeaving: () => boolean,
): Pick<ListenerOptions, 'upgrades' | 'onUpgrade'> {
  if (options.devSocket && portPlane === 'admin')
    return { upgrades: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket', onUpgrade: forwardDevSocket(options.devSocket) };
  const matchOf = (req: IncomingMessage, target: string) =>
    planeOf({ portPlane, host: requestOrigin(req, options.trustedProxies).host, target }, options.hosts);
  return {
    upgrades(req) {
      const head = inspectHead(req);
      if (!head.ok) return false;
      const match = matchOf(req, head.target);
      // On a host of a workspace every path is a route's.
      if (match.plane === 'api') return asksForTunnel(req) || asksForControl(req);
      return match.plane === 'tenant' && isHandshake(req) && pipelineOf(options, match)?.plane.stands !== undefined;
    },
    onUpgrade(req, socket, first) {
      // A handshake behind a call that isn't answered yet: nobody can tell the two answers apart.
      if ((socket as Socket & { _httpMessage?: unknown })._httpMessage) {
        socket.destroy();
        return;
      }
      const match = matchOf(req, req.url ?? '');
      if (match.plane === 'api') {
        const from = { space: match.space, origin: requestOrigin(req, options.trustedProxies) };
        const taken = asksForControl(req)
          ? options.controlSockets.take(req, socket, first, from)
          : options.tunnels.take(req, socket, match.space);
        taken.catch(() => socket.destroy());
        return;
      }
      const res = answerOn(req, socket);
      afterReads(() => receive(options, portPlane, req, res, performance.now(), isLeaving(), { socket, first }));
    },
  };
}

/** A response to a handshake, whose connection ends with it unless it becomes a WebSocket. */
function answerOn(req: IncomingMessage, socket: Duplex): GatewayResponse {
  socket.on('error', () => socket.destroy());
  const res = new GatewayResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Socket);
  res.once('finish', () => {
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), 500).unref();
  });
  return res;
}

function receive(
  options: GatewayOptions,
  portPlane: PortPlane,
  req: IncomingMessage,
  res: GatewayResponse,
  arrivedAt: number,
  leaving: boolean,
  upgrade?: Upgrade,
  http2 = false,
) {
  // Bytes after a malformed request may be part of it, although node has already parsed them as a request: they are ignored.
  if (spoiled.has(req.socket)) return;
  const requestId = uuidV7();
  const head = inspectHead(req);
  if (leaving) res.setHeader('Connection', 'close');
  if (!head.ok) spoil(req, res);
  const origin = requestOrigin(req, options.trustedProxies);
  if (!head.ok) return refuseHead(options, portPlane, req, res, arrivedAt, requestId, origin.address, origin.host, head);
  if (head.target === '/healthz') return bare(req, res, 200, { status: 'ok' }, requestId);
  const match = planeOf({ portPlane, host: origin.host, target: head.target }, options.hosts);
  if (head.target === '/readyz' || head.target === '/readyz?only=calls')
    return void tellReadiness(options, needsOf(portPlane, match, head.target), req, res, requestId, leaving);
  const pipeline = pipelineOf(options, match);
  const fault = stampMatch(req, res, match, head.target);
  if (match.plane === 'unknown' || (match.plane === 'wrap' && !pipeline))
    // A directory that calls the wrong host is told in its own words, the same as by every other host without SCIM.
    return within('/scim', head.target)
      ? writeRefusal(req, res, NO_SCIM, requestId, standardHeaders('scim', origin.proto))
      : bare(req, res, 404, { error: { type: 'not_found', message: NOTHING_HERE, request_id: requestId } }, requestId);
  if (pipeline?.plane.identify) return void identifiedCall(options, pipeline, match, req, res, arrivedAt, requestId, origin, fault);
  if (match.plane === 'wrap') return;
  if (match.plane === 'api' && pipeline)
    return void untenantedCall(options, pipeline, match, req, res, arrivedAt, requestId, origin, fault);
  if (match.plane !== 'tenant' || !pipeline) return options.frontDoor.serve(req, res, { match, head, requestId, origin, fault });
  return tenantCall(options, pipeline, match, req, res, arrivedAt, requestId, origin.address, origin.host, upgrade, http2, fault);
}

/** By the path at its plane: under /v1 of a workspace that is mounted by its path, too. */
const stampMatch = (req: IncomingMessage, res: GatewayResponse, match: PlaneMatch, target: string): Refused | undefined =>
  stampVersion(req, res, 'target' in match ? match.target : target);

function pipelineOf({ pipelines }: GatewayOptions, match: PlaneMatch): Pipeline | undefined {
  for (const pipeline of pipelines) if (pipeline.plane.matches(match)) return pipeline;
  return undefined;
}

const NO_SCIM = { surface: 'scim', status: 404, type: 'not_found', message: '' } as const;

/** Most often a call that left the workspace out of its address. */
const NOTHING_HERE =
  "No workspace is served at this hostname. Use the workspace's own hostname or, if path mode is enabled, /p/{workspace}/{route}.";

/** Connections that carried a request with a refused head (RFC 9112 §6.3: framing that cannot be trusted ends the connection). */
const spoiled = new WeakSet<Duplex>();

function spoil(req: IncomingMessage, res: GatewayResponse): void {
  spoiled.add(req.socket);
  res.setHeader('Connection', 'close');
}

type TenantMatch = Extract<PlaneMatch, { plane: 'tenant' }>;

function tenantCall(
  options: GatewayOptions,
  pipeline: Pipeline,
  match: TenantMatch,
  req: IncomingMessage,
  res: GatewayResponse,
  arrivedAt: number,
  requestId: string,
  sourceAddress: string,
  host: string,
  upgrade: Upgrade | undefined,
  http2: boolean,
  fault: Refused | undefined,
) {
  const { runtime } = options;
  const entry = runtime.snapshots.bySlug(match.slug);
  if (!entry) {
    // Without a confirmed snapshot, the workspace may exist.
    const known = runtime.snapshots.knowsAll;
    const type = known ? 'tenant_not_found' : 'dependency_unavailable';
    countRefusal(type);
    const message = known ? 'No workspace found at this address.' : 'The service is starting. Try again shortly.';
    return bare(req, res, known ? 404 : 503, { error: { type, message, request_id: requestId } }, requestId);
  }
  if (isBrowserAtRoot(match.target, req)) {
    res.writeHead(302, { Location: options.adminUrl, 'Content-Length': 0, ...bareHeaders(requestId) });
    res.end();
    return;
  }
  const test = match.space === 'test';
  const snapshot = test ? entry.test : entry.live;
  const otherSpace = test ? entry.live : entry.test;
  const { plane } = pipeline;
  const { target } = match;
  const state = plane.newState();
  const call = newCall({
    planeName: plane.shownAs,
    state,
    req,
    res,
    arrivedAt,
    requestId,
    snapshot,
    otherSpace,
    target,
    sourceAddress,
    host,
    upgrade,
    http2,
  });
  if (fault) pipeline.refuse(call, fault);
  else pipeline.serve(call);
}

/** A call on the API host, which names no workspace: its credential does. */
async function untenantedCall(
  { runtime }: GatewayOptions,
  pipeline: Pipeline,
  { space, target }: Extract<PlaneMatch, { plane: 'api' }>,
  req: IncomingMessage,
  res: GatewayResponse,
  arrivedAt: number,
  requestId: string,
  { address: sourceAddress, host }: RequestOrigin,
  fault: Refused | undefined,
) {
  const { plane } = pipeline;
  const named = fault
    ? { refusal: asAiRefusal(fault), presented: false }
    : await tenantOf({ req, plane: plane.name, space, sourceAddress, runtime });
  if (res.destroyed) return;
  const entry = 'tenantId' in named ? runtime.snapshots.byId(named.tenantId) : undefined;
  if (!entry) {
    const gone = { refusal: aiRefusal('tenant_unavailable', "This workspace can't be served."), presented: true };
    const challenge = plane.challenge?.(space, target);
    const about = { plane: plane.name, challenge, requestId, began: arrivedAt, sandbox: space === 'test' };
    refuseUntenanted(req, res, about, 'refusal' in named ? named : gone);
    return;
  }
  const [snapshot, otherSpace] = space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
  const state = plane.newState();
  pipeline.serve(
    newCall({ planeName: plane.shownAs, state, req, res, arrivedAt, requestId, snapshot, otherSpace, target, sourceAddress, host }),
  );
}

/** A call whose credential names its workspace, of a plane that reads it itself. */
async function identifiedCall(
  { runtime }: GatewayOptions,
  pipeline: Pipeline,
  match: PlaneMatch,
  req: IncomingMessage,
  res: GatewayResponse,
  arrivedAt: number,
  requestId: string,
  { address: sourceAddress, host, proto }: RequestOrigin,
  fault: Refused | undefined,
) {
  const { plane } = pipeline;
  const state = plane.newState();
  const found = fault
    ? { refusal: fault }
    : runtime.snapshots.fresh
      ? await plane.identify?.({ req, match, proto, sourceAddress, requestId, state }, runtime)
      : { refusal: refused('dependency_unavailable', 'The service is starting. Try again shortly.') };
  if (res.destroyed || found === undefined) return;
  const entry = 'tenantId' in found ? runtime.snapshots.byId(found.tenantId) : undefined;
  if ('refusal' in found || !entry) {
    const refusal = 'refusal' in found ? found.refusal : refused('invalid_api_key', 'Invalid credential.');
    const sandbox = match.plane === 'api' && match.space === 'test';
    return refuseWithoutTenant(req, res, { plane: plane.name, requestId, began: arrivedAt, sandbox }, refusal);
  }
  const [snapshot, otherSpace] = found.space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
  const target = found.target ?? ('target' in match ? match.target : '/');
  const start = { planeName: plane.shownAs, state, req, res, arrivedAt, requestId, snapshot, otherSpace, target, sourceAddress };
  pipeline.serve(newCall({ ...start, host: found.host ?? host }));
}

/** A head no plane may see, answered in the words of the plane or surface that it was for. On a tenant host it is logged. */
function refuseHead(
  options: GatewayOptions,
  portPlane: PortPlane,
  req: IncomingMessage,
  res: GatewayResponse,
  arrivedAt: number,
  requestId: string,
  sourceAddress: string,
  host: string,
  fault: HeadRefusal,
) {
  const target = req.url?.startsWith('/') ? req.url : '/';
  const match = planeOf({ portPlane, host, target }, options.hosts);
  stampMatch(req, res, match, target);
  const pipeline = pipelineOf(options, match);
  const entry = match.plane === 'tenant' && pipeline ? options.runtime.snapshots.bySlug(match.slug) : undefined;
  if (entry && pipeline && match.plane === 'tenant') {
    const [snapshot, otherSpace] = match.space === 'test' ? [entry.test, entry.live] : [entry.live, entry.test];
    const { plane } = pipeline;
    const state = plane.newState();
    const call = newCall({ planeName: plane.shownAs, state, req, res, requestId, snapshot, otherSpace, target, sourceAddress, host });
    return pipeline.refuse(call, refused(fault.type, fault.message));
  }
  countRefusal(fault.type);
  if (pipeline && match.plane !== 'tenant') {
    const { plane } = pipeline;
    const sandbox = match.plane === 'api' && match.space === 'test';
    const about = { plane: plane.name, requestId, began: arrivedAt, sandbox };
    const refusal = refused(fault.type, fault.message);
    if (plane.identify) return refuseWithoutTenant(req, res, about, refusal);
    return refuseUntenanted(req, res, { ...about, challenge: undefined }, { refusal: asAiRefusal(refusal), presented: false });
  }
  if (!pipeline && match.plane !== 'unknown' && match.plane !== 'wrap')
    return options.frontDoor.refuse(req, res, { match, requestId }, fault);
  bare(req, res, fault.status, { error: { type: fault.type, message: fault.message, request_id: requestId } }, requestId);
}

/** A person opened the host in a browser. */
function isBrowserAtRoot(target: string, req: IncomingMessage): boolean {
  if (target !== '/' || req.method !== 'GET') return false;
  const { headers } = req;
  if (
    headers['x-svc-key'] !== undefined ||
    headers['x-svc-route'] !== undefined ||
    headers.authorization !== undefined ||
    headers['x-api-key'] !== undefined
  )
    return false;
  return headers.accept?.includes('text/html') ?? false;
}
