import pg from 'pg';
import { entitled } from '../entitled.ts';
import { median } from './machine.ts';
import { type Row, say, times } from './report.ts';
import { install } from './service.ts';

const ROUNDS = 3;
const MINTS = 50;
/** Of the time that the same statements take by hand, logging in included. */
const MOST_OF_HAND = 1.5;
const LEASES = Number(process.env.BENCH_LEASES ?? 10_000);
const CONNECTIONS = 20;
/** Five sessions on each of ten connections at once. */
const MOST_SESSIONS = 50;

/** Minting a PostgreSQL user beside running its statements by hand, and a sweep of ten thousand users whose leases ended together. */
export async function measureDatabases(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgresServer } = await import('../../server/platform/databases/postgres/server.fixture.ts');
    const server = await postgresServer((stop) => stops.push(stop));
    const operator = await import('../../server/domain/operator/service.ts');
    const { CreateDynDbConnection, CreateDynDbRole } = await import('../../server/domain/dyn-db/schema.ts');
    const { createConnection } = await import('../../server/domain/dyn-db/connections.ts');
    const { createRole } = await import('../../server/domain/dyn-db/roles.ts');
    const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
    const ctx = () => entitled(operator.operatorCtx(tenant.id, 'live'));
    const names = Array.from({ length: CONNECTIONS }, (_, i) => `bench-${i}`);
    for (const name of names) {
      const { host, admin } = server;
      const input = {
        name,
        engine: 'postgres',
        host,
        database_name: 'shop',
        admin_username: admin.username,
        admin_password: admin.password,
      };
      await createConnection(ctx(), CreateDynDbConnection.parse(input));
      await createRole(ctx(), CreateDynDbRole.parse({ connection: name, name: 'reader', template: 'readonly' }));
    }
    const { backgroundSettled } = await import('../../server/platform/background.ts');
    await backgroundSettled();
    return [await minting(server, names, ctx), await sweeping(server, tenant.id)];
  } finally {
    for (const stop of stops) await stop();
    await installation.stop();
  }
}

type Server = { host: string; admin: { username: string; password: string }; query(text: string): Promise<pg.QueryResult> };
type Ctx = ReturnType<typeof import('../../server/domain/operator/service.ts')['operatorCtx']>;

async function minting(server: Server, names: readonly string[], ctx: () => Ctx): Promise<Row> {
  const { mintCredential } = await import('../../server/domain/dyn-db/minting.ts');
  const ours: number[] = [];
  const hand: number[] = [];
  const ratios: number[] = [];
  for (let i = 0; i < 10; i++) await mintCredential(ctx(), { connection: names[0] as string, role: 'reader' });
  for (let round = 1; round <= ROUNDS; round++) {
    const connection = names[round] as string; // each mints sixty times a minute
    const [a, b]: [number[], number[]] = [[], []];
    for (let i = 0; i < MINTS; i++) {
      a.push(await timed(() => mintCredential(ctx(), { connection, role: 'reader' })));
      b.push(await timed(() => byHand(server)));
    }
    say(`mint, round ${round}: p50 ${median(a).toFixed(1)} ms, by hand ${median(b).toFixed(1)} ms`);
    ours.push(median(a));
    hand.push(median(b));
    ratios.push(median(a) / median(b));
  }
  const ratio = median(ratios);
  return {
    what: 'mint of a PostgreSQL user, p50',
    measured: `${median(ours).toFixed(1)} ms`,
    against: `statements by hand ${median(hand).toFixed(1)} ms`,
    value: times(ratio),
    target: `<= ${MOST_OF_HAND} x`,
    pass: ratio <= MOST_OF_HAND,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** What somebody with psql would do: log in, one transaction, and out. */
async function byHand({ host, admin }: Server): Promise<void> {
  const { builtInTemplate, SAMPLE_VALUES } = await import('../../server/domain/dyn-db/templates.shared.ts');
  const { renderStatements } = await import('../../server/domain/dyn-db/placeholders.shared.ts');
  const { mintedUsername } = await import('../../server/domain/dyn-db/usernames.ts');
  const text = builtInTemplate('readonly', 'postgres')?.creation ?? '';
  const statements = renderStatements(text, 'postgres', {
    ...SAMPLE_VALUES,
    username: mintedUsername('hand', new Date()),
    database: 'shop',
  });
  const client = new pg.Client({
    ...{ host, port: 5432, user: admin.username, password: admin.password, database: 'shop' },
    ssl: { rejectUnauthorized: false },
  });
  await client.connect();
  await client.query('BEGIN');
  for (const statement of statements) await client.query(statement);
  await client.query('COMMIT');
  await client.end();
}

async function sweeping(server: Server, tenantId: string): Promise<Row> {
  const { sql } = await import('../../server/platform/sql.ts');
  const { db } = await import('../../server/platform/db.ts');
  const { sweepLeases } = await import('../../server/domain/leases/service.ts');
  const { leases } = await import('../../server/domain/dyn-db/leases.ts');
  // As the admin itself, who then may remove them.
  await server.query(`SET ROLE ${server.admin.username}; DO $$ BEGIN FOR i IN 1..${LEASES} LOOP
    EXECUTE format('CREATE ROLE %I LOGIN', 'svc_bench_' || translate(lpad(to_hex(i), 10, '0'), '0189', 'wxyz') || '_t8aeo0'); END LOOP; END $$`);
  await sql().query(
    `insert into dyn_db_leases (id, number, tenant_id, sandbox, connection_id, role_id, connection_name, role_name, engine, execution_mode, username, status, phase,
        ttl_seconds, issued_at, expires_at, max_expires_at, renewable, minted_by_type, minted_by_label)
      select gen_random_uuid(), 1000 + i, $1, false, c.id, r.id, c.name, r.name, 'postgres', 'direct',
        'svc_bench_' || translate(lpad(to_hex(i), 10, '0'), '0189', 'wxyz') || '_t8aeo0', 'active', 'none', 60,
        now() - interval '2 minutes', now() - interval '1 minute', now() - interval '1 minute', true, 'system', 'bench'
      from generate_series(1, ${LEASES}) i
      join (select *, row_number() over (order by name) - 1 as nth from dyn_db_connections where tenant_id = $1) c on c.nth = i % ${CONNECTIONS}
      join dyn_db_roles r on r.connection_id = c.id`,
    [tenantId],
  );
  let most = 0;
  const watching = setInterval(async () => {
    const { rows } = await server.query(`select count(*)::int as n from pg_stat_activity where usename = '${server.admin.username}'`);
    most = Math.max(most, rows[0].n);
  }, 250);
  const began = performance.now();
  const left = async () =>
    (await db().dyn_db_leases.count({ where: { tenant_id: tenantId, ended_at: null, expires_at: { lt: new Date() } } })) as number;
  while ((await left()) > 0) {
    await sweepLeases(leases, { db: db(), now: new Date() });
    say(`${await left()} leases left after ${Math.round((performance.now() - began) / 1_000)} s`);
  }
  clearInterval(watching);
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await server.query(`select count(*)::int as n from pg_roles where rolname like 'svc\\_bench\\_%'`);
  return {
    what: `sweep of ${LEASES.toLocaleString('en')} ended leases on ${CONNECTIONS} connections`,
    measured: `${seconds.toFixed(0)} s, ${((seconds / LEASES) * 1_000).toFixed(1)} ms each`,
    against: `${rows[0].n} users left`,
    value: `${most} sessions at most`,
    target: `<= ${MOST_SESSIONS}, 0 left`,
    pass: most <= MOST_SESSIONS && rows[0].n === 0,
  };
}
