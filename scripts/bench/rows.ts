import pg from 'pg';
import { bucketOf, LATENCY_BUCKETS } from '#server/domain/request-logs/buckets.ts';
import type { Place } from './list-cases.ts';

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
    for (const text of inserts)
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
const filled = ['routes', 'secrets', 'clients', 'collections', 'audit_logs'];

/** All calls of a minute in the bucket of a duration. */
const histogram = (ms: number) =>
  `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => (i === bucketOf(ms) ? 'count(*)' : 0)).join(', ')}]::int[]`;

/** `i` runs from 1 to $count; ids are in the order of time, as the product's are. */
const inserts = [
  `create temporary table made on commit drop as select i, ${born} as at, uuidv7(${born} - now()) as id, uuidv7(${born} - now()) as child, gen_random_uuid() as value
    from generate_series(1, $count) as i`,
  `insert into collections (id, tenant_id, sandbox, name, slug, created_at, updated_at)
    select id, $tenant::uuid, false, 'Team ' || md5(i::text), 'team-' || i, at, at from made`,
  // One in fifty is a member, one in twenty is off: what a filter narrows to grows with the workspace.
  `create temporary table placed on commit drop as select made.*, case when i % 50 = 0 then c.id end as team
    from made, (select id from made where i = 1) as c`,
  `insert into routes (id, tenant_id, sandbox, name, slug, enabled, base_environment_id, collection_id, created_at, updated_at)
    select id, $tenant::uuid, false, 'Route ' || md5(i::text), 'route-' || i, i % 20 <> 0, $environment::uuid, team, at, at from placed`,
  `insert into route_environment_configs (id, tenant_id, sandbox, route_id, environment_id, environment_name, is_base, target_base_url, inject_headers_json, created_at, updated_at)
    select child, $tenant::uuid, false, id, $environment::uuid, $name, true, 'https://api' || i || '.example.com', '{"X-From": "bench"}', at, at from made`,
  `insert into secrets (id, tenant_id, sandbox, name, shortcode_name, base_environment, collection_id, tags, expires_at, created_at, updated_at)
    select id, $tenant::uuid, false, 'SECRET_' || upper(md5(i::text)), 'SECRET_' || upper(md5(i::text)), $name, team,
      case when i % 20 = 0 then '{bench,pci}'::text[] else '{bench}' end, case when i % 50 = 0 then now() + interval '3 days' when i % 10 = 0 then now() + interval '90 days' end, at, at from placed`,
  `insert into secret_environments (id, tenant_id, sandbox, secret_id, environment_name, value_version, current_value_id, created_at, updated_at)
    select child, $tenant::uuid, false, id, $name, 1, value, at, at from made`,
  `insert into secret_values (id, tenant_id, sandbox, secret_environment_id, value_version, value_ct, cek_wrapped, tmk_version, created_at)
    select value, $tenant::uuid, false, child, 1, decode(repeat(md5(i::text), 3), 'hex'), decode(repeat(md5(i::text), 3), 'hex'), 1, at from made`,
  `insert into clients (id, tenant_id, sandbox, name, type, ip_address, enabled, collection_id, created_at, updated_at)
    select id, $tenant::uuid, false, 'client ' || md5(i::text), case when i % 20 = 0 then 'user' else 'server' end, ip, i % 20 <> 0, team, at, at
    from (select *, host('10.0.0.0'::inet + i) as ip from placed) m`,
  `insert into client_credentials (id, tenant_id, sandbox, client_id, kind, label, data, ip_range, is_primary, created_at, updated_at)
    select child, $tenant::uuid, false, id, 'ip', 'primary', jsonb_build_object('value', ip), ip, true, at, at from (select *, host('10.0.0.0'::inet + i) as ip from made) m`,
  `insert into api_keys (id, tenant_id, sandbox, key_id, key_prefix, digest, key_type, name, active, role_ids, created_at, updated_at)
    select id, $tenant::uuid, false, key_id, left(key_id, 12), sha256(key_id::bytea), case when i % 20 = 0 then 'access_key' else 'standard' end, 'key ' || i, i % 20 <> 0, role_ids, at, at
    from (select *, 'tk_live_' || translate(left(md5(i::text || $tenant), 16), '0189', 'wxyz') as key_id from made) m,
      (select role_ids from api_keys where tenant_id = $tenant::uuid and not sandbox limit 1) k`,
  `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip) select id, $tenant::uuid, false, at, '127.0.0.1' from made where i % 2 = 0`,
  `insert into audit_logs (id, tenant_id, sandbox, action, resource_type, resource_id, details, actor_type, actor_id, actor_label, request_id, created_at)
    select id, $tenant::uuid, false, (array['create', 'update', 'delete'])[1 + i % 3], (array['route', 'secret', 'client', 'api_key'])[1 + i % 4], id::text,
      jsonb_build_object('name', 'thing ' || md5(i::text)), 'api_key', 'k' || i % 20, 'key ' || i % 20, gen_random_uuid()::text, at from made`,
  `insert into request_logs (request_id, tenant_id, route_id, method, status_code, src_ip, environment, sandbox, ts, path, latency_ms, upstream_host, proxy_mode, origin,
      upstream_status, upstream_ms, attempts, request_bytes, response_bytes, slug, route_name, user_agent, node_id, injected)
    select id, $tenant::uuid, $route::uuid, case when i % 20 = 0 then 'POST' else 'GET' end, case when i % 20 = 0 then 502 else 200 end, '127.0.0.1', $name, false, at, '/v1/charges/' || i, 12, 'api.example.com', 'route', 'upstream', 200, 11, 1, 0, 512,
      'orders', 'orders', 'bench/1', 'bench', '{header:authorization}' from made`,
  `insert into request_rollups (tenant_id, sandbox, minute, route_id, environment, status_class, count, errors, bytes_out, latency, upstream)
    select $tenant::uuid, false, date_trunc('minute', at), $route::uuid, $name, case when i % 20 = 0 then 5 else 2 end, count(*),
      count(*) filter (where i % 20 = 0), count(*) * 512, ${histogram(12)}, ${histogram(11)} from made group by 3, 6`,
  `insert into route_log_totals (tenant_id, sandbox, route_id, environment, status_code, method, n)
    select tenant_id, sandbox, route_id, environment, status_code, method, count(*) from request_logs where tenant_id = $tenant::uuid and not sandbox group by 1, 2, 3, 4, 5, 6`,
  ...filled.map(
    (
      kind,
    ) => `insert into row_counts (tenant_id, sandbox, kind, n) select $tenant::uuid, false, '${kind}', count(*) from ${kind} where tenant_id = $tenant::uuid and not sandbox
      on conflict (tenant_id, sandbox, kind) do update set n = excluded.n`,
  ),
  ...Object.entries({ api_keys: 'active', api_keys_all: 'true' }).map(
    ([
      kind,
      which,
    ]) => `insert into row_counts (tenant_id, sandbox, kind, n) select $tenant::uuid, false, '${kind}', count(*) from api_keys where tenant_id = $tenant::uuid and not sandbox and ${which}
      on conflict (tenant_id, sandbox, kind) do update set n = excluded.n`,
  ),
];
