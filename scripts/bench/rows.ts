import pg from 'pg';
import { familyBenches, type Place } from './family-bench.ts';

/**
 * Fills a workspace with `count` rows behind every list, straight into the tables: through the API 100,000 rows would take an hour.
 * Triggers are off meanwhile (one announcement a row would come to 900,000), so the live counts they keep are written at the end.
 */
export async function fillWorkspace(databaseUrl: string, slug: string, count: number): Promise<Place> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ tenant: string; environment: string; name: string; route: string }>(
      `select t.id as tenant, e.id as environment, e.name, r.id as route from tenants t
        join environments e on e.tenant_id = t.id and not e.sandbox and e.is_default
        join routes r on r.tenant_id = t.id and not r.sandbox where t.slug = $1 limit 1`,
      [slug],
    );
    const place = rows[0];
    if (!place) throw new Error(`The workspace ${slug} doesn't exist.`);
    await client.query('begin; set local session_replication_role = replica');
    for (const text of await inserts())
      await client.query(
        text
          .replaceAll('$count', String(count))
          .replace(/\$(tenant|environment|name|route)\b/g, (_, key: keyof typeof place) => pg.escapeLiteral(place[key])),
      );
    await client.query('commit');
    await client.query(
      `insert into late_quarters (tenant_id, sandbox, quarter)
        select distinct tenant_id, sandbox, date_bin('15 minutes', minute, 'epoch') from request_rollups where tenant_id = $1`,
      [place.tenant],
    );
    const { downsampleRollups } = await import('../../server/domain/request-logs/downsampling.ts');
    await downsampleRollups();
    // What autovacuum does within a minute of such a change.
    await client.query('vacuum analyze');
    const oldest = async (table: string) =>
      (
        await client.query<{ id: string }>(`select id from ${table} where tenant_id = $1 and not sandbox order by created_at, id limit 1`, [
          place.tenant,
        ])
      ).rows[0]?.id ?? '';
    const [secretId, clientId, collectionId] = [await oldest('secrets'), await oldest('clients'), await oldest('collections')];
    return { count, routeId: place.route, secretId, clientId, collectionId, environment: place.name };
  } finally {
    await client.end();
  }
}

const born = `now() - ($count - i) * interval '20 seconds'`;

/** `i` runs from 1 to $count; ids are in the order of time, as the product's are. */
const made = [
  `create temporary table made on commit drop as select i, ${born} as at, uuidv7(${born} - now()) as id, uuidv7(${born} - now()) as child, gen_random_uuid() as value
    from generate_series(1, $count) as i`,
  // One in fifty is a member, one in twenty is off: what a filter narrows to grows with the workspace.
  `create temporary table placed on commit drop as select made.*, case when i % 50 = 0 then c.id end as team
    from made, (select id from made where i = 1) as c`,
];

const countOf = (kind: string, rows: string) =>
  `insert into row_counts (tenant_id, sandbox, kind, n)
    select $tenant::uuid, false, '${kind}', count(*) from (select * from ${rows}) counted where tenant_id = $tenant::uuid and not sandbox
    on conflict (tenant_id, sandbox, kind) do update set n = excluded.n`;

/** All that fills a workspace. No rule holds between tables meanwhile, so families need no order. */
async function inserts(): Promise<string[]> {
  const benches = await familyBenches();
  const counts = benches.flatMap((bench) => Object.entries(bench.counts ?? {}));
  return [...made, ...benches.flatMap((bench) => bench.rows ?? []), ...counts.map(([kind, rows]) => countOf(kind, rows))];
}
