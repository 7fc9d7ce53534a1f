import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Change } from '../../server/testing/chaos/history.ts';
import { json, until } from '../running-system.ts';
import type { Cluster } from './cluster.ts';

export const SLUG = 'chaos';
export const ROUTES = ['moving-0', 'moving-1'] as const;
export const LIMITED = { slug: 'limited', most: 40, share: 20 };

export type Workload = {
  calls: Call[];
  changes: Change[];
  /** Name to ID of the clients that were acknowledged, and the names of all that were asked for. */
  acknowledged: Map<string, string>;
  begun: Set<string>;
  revoked: { at: number; calls: Call[] }[];
  /** Answers that no caller should ever get. */
  garbage: string[];
  received: { resource: string; event: string }[];
  stop: () => Promise<void>;
  close: () => void;
};

const now = () => performance.now();

/**
 * What callers and managers of one workspace do all day, over both machines: calls through routes whose configuration changes under way, calls of a route with a
 * limit, writes with idempotency keys that are repeated on the other machine until they are acknowledged, keys that are made, used and revoked.
 */
export async function startWorkload(cluster: Cluster): Promise<Workload> {
  const seen = new Map<string, readonly [number, number]>();
  const work: Workload = {
    calls: [],
    changes: [],
    acknowledged: new Map(),
    begun: new Set(),
    revoked: [],
    garbage: [],
    received: [],
    stop: async () => {},
    close: () => upstream.close(),
  };
  const upstream = await startUpstream((id, versions) => seen.set(id, versions), work.received);
  await cluster.command(['create-tenant', '--slug', SLUG]);
  const { api_key: key = '' } = await cluster.command(['create-key', '--slug', SLUG, '--space', 'live', '--role', 'Key - Infrastructure']);
  let running = true;
  let serial = 0;

  const call = (gateway: number, route: string, credential: string): Promise<Call> =>
    new Promise((resolve) => {
      const from = now();
      const id = `call-${serial++}`;
      const end = (status: number | string, headers: http.IncomingHttpHeaders = {}) => {
        const told = /limit=(\d+), remaining=(\d+)/.exec(String(headers['x-svc-ratelimit-route'] ?? ''));
        resolve({
          id,
          gateway,
          route,
          from,
          to: now(),
          status,
          requestId: String(headers['x-svc-request-id'] ?? ''),
          ...(seen.has(id) && { seen: seen.get(id) as readonly [number, number] }),
          ...(told && { limit: { most: Number(told[1]), remaining: Number(told[2]) } }),
        });
      };
      const req = http.get(
        {
          host: '127.0.0.1',
          port: cluster.gateways[gateway]?.ports.proxy,
          path: `/p/${SLUG}/${route}`,
          headers: { 'x-svc-key': credential, 'x-call': id },
          agent: false,
          timeout: 60_000,
        },
        (res) => {
          res
            .on('error', (error) => end(error.message))
            .on('end', () => end(res.complete ? (res.statusCode ?? 0) : 'cut off', res.headers));
          res.resume();
        },
      );
      req.on('timeout', () => req.destroy(new Error('no answer within a minute')));
      req.on('error', (error) => end((error as NodeJS.ErrnoException).code ?? error.message));
    });

  /** One write, repeated with its key on one machine after the other until it gets the answer; undefined for one that can't be. */
  const write = async (method: string, path: string, body: unknown, once: string) => {
    for (let attempt = serial++; ; attempt++) {
      const gateway = cluster.gateways[attempt % 2];
      const answer = await json(`http://127.0.0.1:${gateway?.ports.api}/v1${path}`, {
        method,
        key,
        ...(body === undefined ? {} : { body }),
        headers: { 'idempotency-key': once },
        timeout: 30_000,
      }).catch(() => null);
      if (answer && answer.status < 300) return answer.body;
      const type = answer?.body?.error?.type;
      if (answer && answer.status < 500 && type !== 'request_in_progress') {
        work.garbage.push(`${method} ${path}: ${answer.status} ${answer.text}`);
        return undefined;
      }
      // A web process that is killed takes along whether it did what was asked: the front door says so, and the key makes a repetition safe.
      if (answer && !['dependency_unavailable', 'request_in_progress'].includes(type))
        work.garbage.push(`${method} ${path}: ${answer.status} ${answer.text}`);
      await sleep(100);
    }
  };

  const target = (version: number) => ({
    target_base_url: `${upstream.url}/v${version}`,
    inject_headers_json: { 'x-version': String(version) },
  });
  const ids = new Map<string, string>();
  for (const route of ROUTES) {
    const change: Change = { route, version: 1, from: now() };
    work.changes.push(change);
    const made = await write('POST', '/routes', { name: route, slug: route, ...target(1) }, `route-${route}`);
    ids.set(route, made.data.id);
    change.to = now();
  }
  await write(
    'POST',
    '/routes',
    {
      name: LIMITED.slug,
      slug: LIMITED.slug,
      target_base_url: `${upstream.url}/v0`,
      rate_limit_enabled: true,
      rate_limit_requests: LIMITED.most,
      rate_limit_window_sec: 86_400,
    },
    'route-limited',
  );
  const hook = { name: 'Writes', url: `${upstream.url}/hook`, event_types: ['audit.event'], filters: { audit: ['client.create'] } };
  await write('POST', '/webhooks', hook, 'webhook');
  for (const gateway of [0, 1])
    await until('both gateways know the routes', async () => (await call(gateway, LIMITED.slug, 'none')).status === 401);
  for (const gateway of [0, 1])
    for (const route of ROUTES) await until('both let the key in', async () => (await call(gateway, route, key)).status === 200);

  const loop = async (step: (turn: number) => Promise<void>, pauseMs: number) => {
    for (let turn = 0; running; turn++) {
      await step(turn);
      await sleep(pauseMs);
    }
  };
  const caller = (gateway: number, route: string, pauseMs: number) =>
    loop(async () => void work.calls.push(await call(gateway, route, key)), pauseMs);
  const changer = (route: string) =>
    loop(async (turn) => {
      const version = turn + 2;
      const change: Change = { route, version, from: now() };
      work.changes.push(change);
      if (await write('PATCH', `/routes/${ids.get(route)}`, target(version), `${route}-${version}`)) change.to = now();
    }, 300);
  const writer = (n: number) =>
    loop(async (turn) => {
      const name = `write-${n}-${turn}`;
      work.begun.add(name);
      const made = await write('POST', '/clients', { name, ip_address: '203.0.113.7' }, name);
      if (made) work.acknowledged.set(name, made.data.id);
    }, 200);
  const revoker = loop(async (turn) => {
    const made = await write('POST', '/api-keys', { name: `key-${turn}` }, `key-${turn}`);
    if (!made) return;
    const history = { at: Number.POSITIVE_INFINITY, calls: [] as Call[] };
    const tried = async (gateway: number) => {
      const one = await call(gateway, ROUTES[0], made.data.api_key);
      history.calls.push(one);
      return one.status;
    };
    const both = (status: number) =>
      until(`both gateways answer ${status}`, async () => (await tried(0)) === status && (await tried(1)) === status);
    await both(200);
    await write('DELETE', `/api-keys/${made.data.id}`, undefined, `revoke-${turn}`);
    history.at = now();
    work.revoked.push(history);
    await both(401);
    for (const gateway of [0, 1, 0, 1]) await tried(gateway);
  }, 1_000);

  const loops = [
    ...[0, 1].flatMap((gateway) => ROUTES.map((route) => caller(gateway, route, 50))),
    ...[0, 1].map((gateway) => caller(gateway, LIMITED.slug, 100)),
    ...ROUTES.map(changer),
    ...[0, 1].map(writer),
    revoker,
  ];
  const failed = Promise.all(loops);
  failed.catch(() => {}); // told by stop
  work.stop = async () => {
    running = false;
    await failed;
    // The newest version of each route is the one that everybody serves in the end.
    for (const gateway of [0, 1])
      for (const route of ROUTES) {
        const newest = work.changes.filter((change) => change.route === route).at(-1)?.version;
        await until(`gateway ${gateway} serves version ${newest} of ${route}`, async () => {
          const last = await call(gateway, route, key);
          work.calls.push(last);
          return last.seen?.[0] === newest;
        });
      }
  };
  return work;
}

/** The upstream and receiver of webhooks: notes the version that a call came with in its path and in its header, and the client that an event is about. */
async function startUpstream(note: (id: string, versions: readonly [number, number]) => void, received: Workload['received']) {
  const server = http.createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray().catch(() => [])).toString();
    if (req.url?.startsWith('/hook')) {
      const [, resource = ''] = /"resource_id":"([0-9a-f-]{36})"/.exec(body) ?? [];
      received.push({ resource, event: String(req.headers['x-webhook-id']) });
    } else note(String(req.headers['x-call']), [Number(/\/v(\d+)/.exec(req.url ?? '')?.[1]), Number(req.headers['x-version'])]);
    res.end('ok');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
