import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { Keyring, type TenantKeyRow } from '#server/crypto/keyring.ts';
import { writeCounts } from '#server/custody/counts.ts';
import { publishedBundle } from '#server/custody/portable.ts';
import { flushUses } from '#server/custody/uses.ts';
import { writeVersions } from '#server/domain/api-keys/versions/tally.ts';
import { writeDenials } from '#server/domain/policies/denials.ts';
import { flushStandings } from '#server/platform/counters/kept.ts';
import { memoryCounters } from '#server/platform/counters/memory.ts';
import { openCounters } from '#server/platform/counters.ts';
import { egress } from '#server/platform/egress.ts';
import { env } from '#server/platform/env.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import { openPool } from '#server/platform/healing-pool.ts';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import { kmsOptions, keyring as platformKeyring, rootKeys } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { connection } from '#server/platform/sql.ts';
import { sharedWindowCounter } from '#server/platform/window-counter.ts';
import { createControlSockets } from './agents/control-sockets.ts';
import { asksForTunnel, createTunnels } from './agents/tunnels.ts';
import { aiPlane } from './ai/plane.ts';
import { agentTests } from './ai/test-agent.ts';
import { bodyMemory } from './core/body-memory.ts';
import { startEcho } from './core/echo.ts';
import { afterResponses, flushTurn } from './core/event-loop-turn.ts';
import { createInProcess, type InProcess } from './core/in-process.ts';
import { createJournal } from './core/log/journal.ts';
import { createSpill } from './core/log/spill.ts';
import { usageStamps } from './core/log/usage-stamps.ts';
import { createLogWriter } from './core/log/writer.ts';
import { monthlyCounters } from './core/monthly.ts';
import { Pipeline } from './core/pipeline.ts';
import type { Plane } from './core/plane.ts';
import { quota } from './core/quota.ts';
import type { Runtime } from './core/runtime.ts';
import { secretValues } from './core/secret-values.ts';
import { shareGuard } from './core/share-guard.ts';
import { tlsContexts } from './core/tls-contexts.ts';
import { WebSockets } from './core/websocket/web-sockets.ts';
import { credentials } from './credentials/credentials.ts';
import { createElements } from './elements/elements.ts';
import { proxyPlane } from './ephemeral/proxy-plane.ts';
import { proxyTests } from './ephemeral/test-call.ts';
import { wrapPlane } from './ephemeral/wrap-plane.ts';
import { createFrontDoor } from './front-door/front-door.ts';
import { webCalls } from './front-door/web-calls.ts';
import { createWebForward } from './front-door/web-forward.ts';
import { webHealth } from './front-door/web-health.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { gatewayHealth } from './gateway-health.ts';
import { measureGateway } from './gateway-meters.ts';
import { writeAiDenials } from './governance/denials.ts';
import { flushCalls, journalCalls } from './governance/log/writer.ts';
import { inboundOrders } from './inbound/inbound-orders.ts';
import { mcpPlane } from './mcp/plane.ts';
import { createHotOAuth } from './oauth/hot.ts';
import { capturePlane } from './payload-capture/plane.ts';
import { createPayloadWriter } from './route/payloads/writer.ts';
import { routePlane } from './route/plane.ts';
import { type ControlSocket, createControlSocket } from './route/test-requests/control-socket.ts';
import { createDisk } from './snapshot/disk.ts';
import { Snapshots } from './snapshot/store.ts';
import type { TenantRow } from './snapshot/tenant.ts';
import { createHotV1 } from './v1/hot.ts';
import { workflowRequests } from './workflows/route-order.ts';

export type Assembly = {
  gateway: Gateway;
  /** Takes orders of the web process once it listens. */
  controlSocket: ControlSocket;
  runtime: Runtime;
  /** Writes what is queued: logs, counters, stamps. */
  flush(): Promise<void>;
  /** Orderly end: running calls get `drainMs`, then everything queued is written. */
  close(drainMs: number): Promise<void>;
};

/** In the order in which they are asked whether a request is theirs. */
export const PLANES: readonly Plane[] = [routePlane, aiPlane, mcpPlane(routesWithin), proxyPlane, wrapPlane];
/** Of what callers may wait for. */
export const LONGEST_STATEMENT_MS = 15_000;
const USAGE_RELOAD_MS = 30_000;
const USAGE_PATIENCE_MS = 2_000;
/** Bytes of payloads on their way to the log: of one workspace, and of all. */
const CAPTURED_OF_WORKSPACE = 8 * 1024 * 1024;
const CAPTURED = 32 * 1024 * 1024;

/** Bytes of bodies whose callers only their signature can admit: of one workspace, and of all. */
const UNADMITTED_OF_WORKSPACE = 32 * 1024 * 1024;
const UNADMITTED = 128 * 1024 * 1024;

/** Builds the gateway of this deployment from its settings and loads what it serves; opens no public port yet. `pollMs` and `mayRead`: see `Snapshots`. */
export async function assemble(planes: readonly Plane[] = PLANES, pollMs?: number, mayRead?: () => Promise<void>): Promise<Assembly> {
  const pool = openPool({ ...connection(), max: 6, query_timeout: LONGEST_STATEMENT_MS, application_name: 'sallyport-gateway' });
  const roots = rootKeys();
  const resolver = egress();

  const keyring = new Keyring(async (tenantId, version) => keyRow(snapshots.byId(tenantId)?.row, version), roots, {
    ...kmsOptions(),
    onDrop: (tenantId) => secrets.forget(tenantId),
  });
  const secrets = secretValues(keyring);
  const shares = shareGuard(pool);
  const snapshots = new Snapshots({
    pool,
    egress: resolver.settings,
    disk: createDisk(path.join(env.DATA_DIR, 'snapshot'), roots),
    maxAgeMs: env.SNAPSHOT_MAX_AGE_SECONDS * 1000,
    pollMs,
    mayRead,
    onTenant(tenantId) {
      keyring.evict(tenantId);
      platformKeyring().evict(tenantId); // what custody opens keys with
      secrets.forget(tenantId);
      tls.forget(tenantId);
    },
  });

  const counters = await openCounters({ redisUrl: env.REDIS_URL, gateways: env.SVC_GATEWAYS });
  const monthly = monthlyCounters(pool);
  const failures = memoryCounters();
  const pools = createUpstreamPools({ resolver });
  const tls = tlsContexts(pools);
  const echo = await startEcho();
  // Named after the root key: two installations of one machine must not take each other's rows for their own.
  const spill = createSpill(path.join(env.LOG_SPILL_DIR, `sallyport-log-spill-${roots.current.id}-${env.PLANE_PORTS.proxy ?? env.PORT}`));
  const { DATA_DIR, REQUEST_LOG_JOURNAL: journaling } = env;
  const journal = journaling === 'off' ? undefined : createJournal(path.join(DATA_DIR, 'request-log'), journaling);
  const endCallJournal = journaling === 'off' ? undefined : journalCalls(path.join(DATA_DIR, 'ai-calls'));
  const logs = createLogWriter({ pool, spill, journal, stamps: usageStamps(pool), nodeId: hostname() });
  const payloads = createPayloadWriter({ pool, keyring });
  const known = credentials({ stale_ms: env.SNAPSHOT_MAX_AGE_SECONDS * 1000 });
  const trustedProxies = parseNetworks(env.TRUSTED_PROXIES);
  const runtime: Runtime = {
    snapshots,
    counters,
    monthly,
    failures,
    webSockets: new WebSockets(),
    grpcCalls: new WebSockets(),
    inFlight: new Map(),
    maxInFlight: env.MAX_INFLIGHT_PER_TENANT,
    bodies: bodyMemory(),
    strangers: quota(UNADMITTED_OF_WORKSPACE, UNADMITTED),
    captures: quota(CAPTURED_OF_WORKSPACE, CAPTURED),
    secrets,
    shares,
    tls,
    resolver,
    pools,
    echo: echo.pool,
    tokens: known.tokens,
    capabilities: known.capabilities,
    keys: known.keys,
    wraps: known.wraps,
    agents: known.agents,
    keyring,
    privateHeaders: new Set(env.CLIENT_CERT_HEADER === undefined ? [] : [hyphenated(env.CLIENT_CERT_HEADER)]),
    certificateHeader: env.CLIENT_CERT_HEADER === undefined ? null : { name: env.CLIENT_CERT_HEADER, trustedProxies },
    journaled: journal !== undefined,
    record: (call, plane) =>
      afterResponses(() => {
        try {
          if (call.capture !== null) payloads.take(call);
        } finally {
          logs.record(call, plane); // its answer waits for it
        }
      }),
  };

  const loadUsage = () => monthly.load().catch((error: unknown) => log.debug({ err: error }, 'cannot read the usage counters'));
  // What the month holds is not waited for longer than the snapshot: it is read again, and with the first sum that is written.
  await Promise.all([snapshots.start(), Promise.race([loadUsage(), sleep(USAGE_PATIENCE_MS, undefined, { ref: false })])]);
  const usageTimer = setInterval(() => void loadUsage(), USAGE_RELOAD_MS);
  usageTimer.unref();

  const endMeters = measureGateway({ runtime, logs, spill, journal, pool });

  const web = createWebForward({ socketPath: env.WEB_SOCKET });
  const tunnels = createTunnels(known.agents, frontDoorToken(roots.current));
  const controlSockets = createControlSockets({ callWeb: webCalls(web, frontDoorToken(roots.current)), agents: known.agents });
  const controlSocket = createControlSocket({
    handshakes: {
      asks: asksForTunnel,
      take: (req, socket, head) => void tunnels.order(req, socket, head).catch(() => socket.destroy()),
    },
    pipeline: new Pipeline(routePlane, runtime),
    token: frontDoorToken(roots.current),
    baseHost: env.PROXY_BASE_HOST,
    orders: new Map([
      ['/agent-tests', agentTests(runtime, env.PROXY_BASE_HOST)],
      ['/proxy-tests', proxyTests(runtime, env.PROXY_BASE_HOST)],
      ['/inbound-calls', inboundOrders(runtime, { routes: routesWithin(runtime), take: logs.take, baseHost: env.PROXY_BASE_HOST })],
      ['/workflow-requests', workflowRequests(runtime, routesWithin(runtime), env.PROXY_BASE_HOST)],
    ]),
  });
  const frontDoor = createFrontDoor({
    web,
    token: frontDoorToken(roots.current),
    trustedProxies,
    hot: createHotV1({ ...known, count: sharedWindowCounter }),
    hotOAuth: createHotOAuth({ ...known, count: sharedWindowCounter }),
    elements: createElements({
      snapshots,
      apiOrigins: { live: env.PUBLIC_API_URL, test: env.PUBLIC_SANDBOX_API_URL },
      adminOrigin: env.PUBLIC_ADMIN_URL,
      bundleOf: publishedBundle,
    }),
    databaseAway: () => snapshots.awaySince !== null,
    onChanged: async (value) => {
      const [tenantId = '', space] = value.split(':');
      known.forget(tenantId);
      if (space === 'live' || space === 'test') await snapshots.refresh(tenantId);
    },
  });
  const gateway = createGateway({
    runtime,
    pipelines: [...planes, capturePlane({ pool, keyring })].map((plane) => new Pipeline(plane, runtime)),
    frontDoor,
    hosts: {
      apiUrl: env.PUBLIC_API_URL,
      sandboxUrl: env.PUBLIC_SANDBOX_API_URL,
      adminUrl: env.PUBLIC_ADMIN_URL,
      hooksUrl: env.PUBLIC_HOOKS_URL,
      baseHost: env.PROXY_BASE_HOST,
      wrapBaseHost: env.WRAP_BASE_HOST,
      pathMode: env.PROXY_PATH_MODE,
    },
    trustedProxies,
    tunnels,
    controlSockets,
    devSocket: env.NODE_ENV === 'production' ? undefined : env.WEB_SOCKET,
    adminUrl: env.PUBLIC_ADMIN_URL,
    health: () => gatewayHealth(runtime, logs),
    webHealth: webHealth(web),
  });

  return {
    gateway,
    controlSocket,
    runtime,
    flush: async () => {
      flushTurn();
      await Promise.all([
        logs.flush(),
        payloads.flush(),
        monthly.flush(),
        writeVersions(),
        writeDenials(),
        writeAiDenials(),
        flushCalls(),
        flushUses(),
        writeCounts(),
        flushCalls(),
        shares.flush(),
        flushStandings(),
      ]);
    },
    async close(drainMs) {
      clearInterval(usageTimer);
      endMeters();
      web.endStreams();
      tunnels.close();
      controlSockets.close();
      await Promise.all([gateway.close(drainMs), controlSocket.close()]);
      web.close();
      await Promise.race([pools.close(), new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
      await echo.close();
      flushTurn();
      await Promise.allSettled([
        logs.close(),
        payloads.close(),
        monthly.close(),
        writeVersions(),
        writeDenials(),
        writeAiDenials(),
        flushCalls(),
        flushUses(),
        writeCounts(),
        flushCalls(),
        shares.close(),
        flushStandings(),
        known.close(),
      ]);
      endCallJournal?.();
      await snapshots.close();
      counters.close();
      failures.close();
      secrets.wipe();
      tls.wipe();
      keyring.wipe();
      await pool.end();
    },
  };
}

const inProcess = new WeakMap<Runtime, InProcess>();

/** Calls of the route plane from within this process. */
function routesWithin(runtime: Runtime): InProcess {
  const known = inProcess.get(runtime) ?? createInProcess(new Pipeline(routePlane, runtime));
  inProcess.set(runtime, known);
  return known;
}

/** The tenant key as the snapshot holds it, so that secrets open while the database is away. */
function keyRow(tenant: TenantRow | undefined, version: number | 'active'): TenantKeyRow | null {
  const row = tenant?.keys.find((key) => (version === 'active' ? key.status === 'active' : key.version === version));
  if (!row) return null;
  const { version: number, wrap_method, root_key_id, status, kms, wrapped_key } = row;
  // A copy on disk may come from before there were seals.
  const held = { version: number, wrap_method, root_key_id, status, kms: kms ?? null, sealed: tenant?.sealed ?? null };
  return { ...held, wrapped_key: wrapped_key === null ? null : Buffer.from(wrapped_key, 'base64') };
}
