import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { get } from './http.ts';
import { cores, median, residentMiB } from './machine.ts';
import { startUpstream } from './nginx.ts';
import { measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { type Installation, install } from './service.ts';

const rounds = 5;
const target = 1.1;
const shape: Shape = { connections: 32, seconds: 4 };
const FEW = 10;
const MANY = 10_000;

type Made = { slug: string; host: string; keys: string[]; routes: string[] };
type Side = 'few' | 'many' | 'all';

/**
 * CPU of a small GET in a workspace of 10,000 routes and keys, beside one of 10: ten callers with ten routes in both, so that what is written of their calls is
 * the same and only what they are looked up in is larger. For information, the same with all 10,000 in turn: then no two calls of a batch share a line of the rollups.
 */
export async function measureMany(directory: string): Promise<Row[]> {
  const origin = await startUpstream(directory, cores.others);
  const installation = await install(directory);
  try {
    const few = await makeWorkspace(installation, 'few', FEW, origin.port);
    const many = await makeWorkspace(installation, 'many', MANY, origin.port);
    const gateway = await installation.startGateway();
    const pids = () => [gateway.pid ?? 0];
    const url = `http://127.0.0.1:${installation.ports.proxy}`;
    const began = performance.now();
    const first = await get(`${url}/${many.routes.at(-1)}/small`, { Host: many.host, 'X-Svc-Key': many.keys.at(-1) ?? '' });
    if (first.status !== 200) throw new Error(`The workspace isn't served: ${first.status} ${first.body.slice(0, 300)}`);
    say(
      `${MANY} routes and keys: first call after ${Math.round(performance.now() - began)} ms, ${Math.round(residentMiB(pids()[0] ?? 0))} MiB`,
    );
    const sides: Record<Side, { made: Made; every: number }> = {
      few: { made: few, every: 1 },
      many: { made: many, every: MANY / FEW },
      all: { made: many, every: 1 },
    };
    const cpu: Record<Side, number[]> = { few: [], many: [], all: [] };
    for (let round = 0; round <= rounds; round++)
      for (const [side, { made, every }] of Object.entries(sides) as [Side, (typeof sides)[Side]][]) {
        const picked = <T>(list: readonly T[]) => list.filter((_, i) => i % every === every - 1);
        const rotating = { name: 'X-Svc-Key', values: picked(made.keys), paths: picked(made.routes).map((slug) => `/${slug}/small`) };
        const seconds = round === 0 ? 10 : shape.seconds; // a process that has just begun still compiles
        const result = await measure({ url, headers: { Host: made.host }, pids }, '/', { ...shape, seconds, rotating }, directory);
        if (round === 0) continue;
        cpu[side].push(result.cpu);
        say(`${side}, round ${round}: ${micros(result.cpu)}, ${Math.round(result.requests / seconds)} calls/s, p50 ${result.p50} ms`);
      }
    const row = (side: Side, what: string, most: number | null): Row => {
      const ratio = median(cpu[side].map((us, round) => us / (cpu.few[round] ?? Number.NaN)));
      return {
        what,
        measured: micros(median(cpu[side])),
        against: `of 10 ${micros(median(cpu.few))}`,
        value: times(ratio),
        target: most === null ? '' : `<= ${most} x`,
        pass: most === null ? null : ratio <= most,
      };
    };
    return [
      row('many', 'small GET by 10 of 10,000 routes and keys, CPU a call', target),
      row('all', 'the same by all 10,000 in turn', null),
    ];
  } finally {
    await installation.stop();
    await origin.stop();
  }
}

/** So many keys and routes of one shape, the first made as customers do and the others its copies, straight into the tables: by the API it would take minutes. */
async function makeWorkspace({ ports, url }: Installation, slug: string, count: number, upstreamPort: number): Promise<Made> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createRoute } = await import('../../server/domain/routes/service.ts');
  const { CreateRoute } = await import('../../server/domain/routes/schema.ts');
  const { mintApiKey } = await import('../../server/crypto/tokens.ts');
  const { env } = await import('../../server/platform/env.ts');
  const tenant = await operator.provisionTenant({ slug, plan: 'enterprise', starter: false });
  await operator.setLimit({ slug, kind: 'tenant_rps', value: 1_000_000, reason: 'benchmark' });
  const settings = { target_base_url: `http://127.0.0.1:${upstreamPort}`, inject_headers_json: { 'X-From': 'bench' } };
  const name = `${slug}-route-0`;
  const route = await createRoute(operator.operatorCtx(tenant.id, 'live'), CreateRoute.parse({ name, slug: name, ...settings }));
  const { id, api_key } = await operator.createKey({ slug, space: 'live', role: 'Key - Infrastructure' });
  const minted = Array.from({ length: count - 1 }, () => mintApiKey('live'));
  const names = minted.map((_, i) => `${slug}-route-${i + 1}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin; set local session_replication_role = replica');
    await client.query(
      `insert into api_keys select (jsonb_populate_record(k, jsonb_build_object('id', made.id, 'key_id', made.key_id, 'key_prefix', left(made.key_id, 12),
          'digest', '\\x' || made.digest, 'name', made.key_id))).*
        from api_keys k, unnest($2::uuid[], $3::text[], $4::text[]) as made(id, key_id, digest) where k.id = $1`,
      [id, minted.map(() => randomUUID()), minted.map(({ key_id }) => key_id), minted.map(({ digest }) => digest.toString('hex'))],
    );
    const ids = names.map(() => randomUUID());
    const routes = await columnsOf(client, 'routes');
    await client.query(
      `insert into routes (${routes}) select ${routes} from (select (jsonb_populate_record(r, jsonb_build_object('id', made.id, 'name', made.name, 'slug', made.name))).*
        from routes r, unnest($2::uuid[], $3::text[]) as made(id, name) where r.id = $1) copies`,
      [route.id, ids, names],
    );
    const configs = await columnsOf(client, 'route_environment_configs');
    await client.query(
      `insert into route_environment_configs (${configs}) select ${configs} from (select (jsonb_populate_record(c, jsonb_build_object('id', made.id, 'route_id', made.route))).*
        from route_environment_configs c, unnest($2::uuid[], $3::uuid[]) as made(id, route) where c.route_id = $1) copies`,
      [route.id, ids.map(() => randomUUID()), ids],
    );
    await client.query('commit');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
  return {
    slug,
    host: `${slug}.${env.PROXY_BASE_HOST}:${ports.proxy}`,
    keys: [api_key, ...minted.map(({ token }) => token)],
    routes: [name, ...names],
  };
}

/** All that aren't written by PostgreSQL. */
async function columnsOf(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
      where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows[0]?.names ?? '';
}
