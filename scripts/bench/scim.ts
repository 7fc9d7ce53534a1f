import http from 'node:http';
import pg from 'pg';
import { get } from './http.ts';
import { median, percentile } from './machine.ts';
import { millis, type Row, say, times } from './report.ts';
import { type Installation, install } from './service.ts';

const sizes = { small: 500, large: 50_000 };
const rounds = 5;
/** Each workspace may make 750 calls in 60 seconds. */
const perRound = 18;
const warmUp = 8;

type Side = { token: string; count: number };
type Case = { asks: string; query: (side: Side) => Record<string, string> };

/** Six-digit numbers: a prefix of five finds ten people, however many there are. */
const userName = (n: number) => `person${String(n).padStart(6, '0')}@bench.example`;
const cases: readonly Case[] = [
  { asks: 'userName eq', query: ({ count }) => ({ filter: `userName eq "${userName(count / 2).toUpperCase()}"` }) },
  { asks: 'externalId eq', query: ({ count }) => ({ filter: `externalId eq "external-${count / 2}"` }) },
  {
    asks: 'userName eq or externalId eq',
    query: ({ count }) => ({ filter: `userName eq "${userName(count / 2)}" or externalId eq "external-${count / 2}"` }),
  },
  { asks: 'userName sw', query: () => ({ filter: 'userName sw "person00012"' }) },
  {
    asks: 'emails[type eq "work"].value eq',
    query: ({ count }) => ({ filter: `emails[type eq "work"].value eq "${userName(count / 2)}"` }),
  },
  { asks: 'first page of 100', query: () => ({ count: '100' }) },
  { asks: 'middle page of 100', query: ({ count }) => ({ startIndex: String(count / 2), count: '100' }) },
];

/** What directories ask for, through the front door, of a workspace with 500 provisioned people and of one with 50,000. */
export async function measureScim(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const [small, large] = [
      await makeSide(installation, 'bench-small', sizes.small),
      await makeSide(installation, 'bench-large', sizes.large),
    ];
    say('starting the web process and the gateway');
    await installation.startWeb();
    await installation.startGateway();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const rows: Row[] = [];
    for (const asked of cases) rows.push(await compare(installation, agent, small, large, asked));
    agent.destroy();
    return rows;
  } finally {
    await installation.stop();
  }
}

async function makeSide({ url }: Installation, slug: string, count: number): Promise<Side> {
  say(`inserting ${count} people`);
  const { provisionTenant } = await import('../../server/domain/operator/service.ts');
  const { mintToken } = await import('../../server/crypto/tokens.ts');
  const tenant = await provisionTenant({ slug, plan: 'enterprise', starter: false });
  const { token, digest } = mintToken('scim');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `insert into scim_credentials (id, tenant_id, space, name, digest, prefix, creator_label, expires_at)
        values (uuidv7(), $1, 'live', 'Bench', $2, $3, 'owner@bench.example', now() + interval '1 day')`,
      [tenant.id, digest, `${token.slice(0, 11)}...`],
    );
    await fill(client, tenant.id, slug, count);
  } finally {
    await client.end();
  }
  return { token, count };
}

/** Straight into the tables, without triggers: through the plane this would take an hour. */
async function fill(client: pg.Client, tenantId: string, slug: string, count: number): Promise<void> {
  await client.query('begin; set local session_replication_role = replica');
  await client.query(
    `create temporary table made on commit drop as select i, uuidv7() as id, uuidv7() as user_id, now() - ($1::int - i) * interval '20 seconds' as at,
      'person' || lpad(i::text, 6, '0') || '@bench.example' as name from generate_series(1, $1::int) as i`,
    [count],
  );
  await client.query(
    'insert into users (id, email, full_name, created_at, updated_at) select user_id, $1 || name, name, at, at from made',
    [slug],
  );
  await client.query(
    `insert into memberships (id, tenant_id, user_id, role, source, joined_at) select uuidv7(), $1, user_id, 'member', 'scim', at from made`,
    [tenantId],
  );
  await client.query(
    `insert into scim_users (id, tenant_id, user_id, address, user_name, user_name_folded, external_id, given_name, family_name, display_name, emails, created_at, updated_at)
      select id, $1, user_id, name, name, name, 'external-' || i, 'Given', 'Family ' || i, 'Given Family ' || i,
        jsonb_build_array(jsonb_build_object('value', name, 'type', 'work', 'primary', true)), at, at from made`,
    [tenantId],
  );
  await client.query("insert into row_counts (tenant_id, sandbox, kind, n) values ($1, false, 'scim_users', $2)", [tenantId, count]);
  await client.query('commit');
  // What autovacuum does within a minute of such a change.
  await client.query('vacuum analyze scim_users, users, memberships');
}

/** Calls take turns, so that a slow moment of the machine falls on both. */
async function compare({ ports }: Installation, agent: http.Agent, small: Side, large: Side, { asks, query }: Case): Promise<Row> {
  const one = async (side: Side) => {
    const url = `http://127.0.0.1:${ports.admin}/scim/v2/Users?${new URLSearchParams(query(side))}`;
    const { status, body, ms } = await get(url, { Host: `localhost:${ports.admin}`, Authorization: `Bearer ${side.token}` }, agent);
    if (status !== 200 || JSON.parse(body).itemsPerPage === 0) throw new Error(`${url} answered ${status}: ${body.slice(0, 300)}`);
    return ms;
  };
  for (let i = 0; i < warmUp; i++) for (const side of [small, large]) await one(side);
  const p95 = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const taken = { small: [] as number[], large: [] as number[] };
    for (let i = 0; i < perRound; i++) {
      taken.small.push(await one(small));
      taken.large.push(await one(large));
    }
    p95.small.push(percentile(taken.small, 0.95));
    p95.large.push(percentile(taken.large, 0.95));
  }
  const ratio = median(p95.large.map((ms, round) => ms / (p95.small[round] ?? Number.NaN)));
  say(`SCIM ${asks}: p95 ${millis(median(p95.large))}, at ${sizes.small} people ${millis(median(p95.small))}`);
  return {
    what: `SCIM ${asks}, p95`,
    measured: millis(median(p95.large)),
    against: `${sizes.small} people ${millis(median(p95.small))}`,
    value: times(ratio),
    target: '<= 2.0 x',
    pass: ratio <= 2,
  };
}
