import { entitled } from '../entitled.ts';
import { type EqualPeer, type EqualWork, equalPeers, type StartPeer } from './equal-peers.ts';
import { get } from './http.ts';
import { cores, median } from './machine.ts';
import { startUpstream } from './nginx.ts';
import { type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { type Installation, install } from './service.ts';

const rounds = 3;
const shape: Shape = { connections: 32, seconds: 4 };
const LIMIT = 1_000_000;
type Peer = keyof typeof equalPeers;
type Name = 'sallyport' | Peer;
type Contender = { url: string; headers: Record<string, string>; pids: () => number[] };

/** Most of what a call may cost beside that peer; HAProxy is told for information. */
const MOST: Readonly<Record<Peer, number | null>> = { nginx: 2.5, HAProxy: null, Fastify: 1, Caddy: 1 };

/**
 * CPU of a small GET beside gateways that do the same for it: the key judged by its digest, a limit of its own, an injected header, a line of the log. Ours has
 * the answer's block and a log row in the database besides, and the limit of the workspace.
 */
export async function measureEqual(directory: string): Promise<Row[]> {
  const origin = await startUpstream(directory, cores.others);
  const installation = await install(directory);
  const stops = [installation.stop, origin.stop];
  try {
    const { key, digest, host } = await makeCaller(installation, origin.port);
    const gateway = await installation.startGateway();
    const contenders = new Map<Name, Contender>();
    const headers = { 'X-Svc-Key': key };
    contenders.set('sallyport', {
      url: `http://127.0.0.1:${installation.ports.proxy}/equal`,
      headers: { ...headers, Host: host },
      pids: () => [gateway.pid ?? 0],
    });
    const work: EqualWork = { directory, where: cores.measured, upstreamPort: origin.port, key, digest, limit: LIMIT };
    for (const [name, { start, missing }] of Object.entries(equalPeers) as [Peer, { start: StartPeer; missing: string }][]) {
      const peer: EqualPeer | undefined = await start(work);
      if (!peer) {
        say(`${name}: skipped, there is no ${missing}`);
        continue;
      }
      stops.unshift(peer.stop);
      contenders.set(name, { url: `http://127.0.0.1:${peer.port}`, headers, pids: peer.pids });
    }
    for (const [name, contender] of contenders) await requireSameWork(name, contender);
    const measured = await inTurns(contenders, directory);
    return rowsOf(measured);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function requireSameWork(name: Name, { url, headers }: Contender): Promise<void> {
  const good = await get(`${url}/small`, headers);
  const bad = await get(`${url}/small`, { ...headers, 'X-Svc-Key': `${headers['X-Svc-Key']}x` });
  if (good.status !== 200 || bad.status !== 401)
    throw new Error(`${name} answers ${good.status} to the key and ${bad.status} to another: ${good.body.slice(0, 300)}`);
}

async function inTurns(contenders: ReadonlyMap<Name, Contender>, directory: string): Promise<Map<Name, Measured[]>> {
  const measured = new Map<Name, Measured[]>();
  for (let round = 0; round <= rounds; round++)
    for (const [name, contender] of contenders) {
      const seconds = round === 0 ? 10 : shape.seconds; // a process that has just begun still compiles
      const result = await measure(contender, '/small', { ...shape, seconds }, directory);
      if (round === 0) continue;
      measured.set(name, [...(measured.get(name) ?? []), result]);
      say(
        `equal work, round ${round}, ${name}: ${micros(result.cpu)}, ${Math.round(result.requests / seconds)} calls/s, p50 ${result.p50} ms`,
      );
    }
  return measured;
}

function rowsOf(measured: ReadonlyMap<Name, Measured[]>): Row[] {
  const ours = measured.get('sallyport') ?? [];
  const what = 'small GET for equal work, CPU a call';
  return (Object.keys(MOST) as Peer[]).map((name): Row => {
    const theirs = measured.get(name);
    const most = MOST[name];
    const target = most === null ? '' : most === 1 ? 'below' : `<= ${most} x`;
    const cost = micros(median(ours.map(({ cpu }) => cpu)));
    if (!theirs) return { what, measured: cost, against: `${name} skipped`, value: '', target, pass: null };
    const ratio = median(ours.map(({ cpu }, round) => cpu / (theirs[round]?.cpu ?? Number.NaN)));
    return {
      what,
      measured: cost,
      against: `${name} ${micros(median(theirs.map(({ cpu }) => cpu)))}`,
      value: times(ratio),
      target,
      pass: most === null ? null : most === 1 ? ratio < 1 : ratio <= most,
    };
  });
}

/** A workspace with one key and a route that counts each caller. */
export async function makeCaller({ ports }: Installation, upstreamPort: number, slug = 'equal') {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createSecret } = await import('../../server/domain/secrets/service.ts');
  const { createRoute } = await import('../../server/domain/routes/service.ts');
  const { CreateRoute } = await import('../../server/domain/routes/schema.ts');
  const { digest } = await import('../../server/crypto/tokens.ts');
  const { env } = await import('../../server/platform/env.ts');
  const tenant = await operator.provisionTenant({ slug, plan: 'enterprise', starter: false });
  await operator.setLimit({ slug, kind: 'tenant_rps', value: 1_000_000, reason: 'benchmark' });
  const ctx = () => entitled(operator.operatorCtx(tenant.id, 'live'));
  await createSecret(ctx(), { name: 'UPSTREAM_KEY', value: 'sk_live_0123456789abcdef0123456789abcdef' });
  await createRoute(
    ctx(),
    CreateRoute.parse({
      name: slug,
      slug,
      target_base_url: `http://127.0.0.1:${upstreamPort}`,
      inject_headers_json: { Authorization: 'Bearer {{secret:UPSTREAM_KEY}}' },
      rate_limit_enabled: true,
      rate_limit_per_client: true,
      rate_limit_requests: LIMIT,
      rate_limit_window_sec: 1,
    }),
  );
  const { api_key: key } = await operator.createKey({ slug, space: 'live', role: 'Key - Infrastructure' });
  return { tenant, key, digest: digest(key).toString('hex'), host: `${slug}.${env.PROXY_BASE_HOST}:${ports.proxy}` };
}
