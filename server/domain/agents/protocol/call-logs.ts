import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { throttled } from '#server/platform/throttle.ts';
import type { AgentCaller } from './caller.ts';
import type { ReportLogs } from './schema.ts';

/** Rows of the request log can't be older than what partitions are kept for, nor from the future. */
const OLDEST_MS = 24 * 3_600_000;
const AHEAD_MS = 300_000;
const BATCHES_PER_HOUR = 1_200;

/** Calls that the agent served or let pass: metadata, with the query cut off. Routes of others are left out of a row. @throws Refusal rate_limit_exceeded */
export async function acceptLogs(ctx: Ctx, agent: AgentCaller, { rows }: z.output<typeof ReportLogs>) {
  await throttled([{ what: 'agent-logs', subject: agent.id, limit: BATCHES_PER_HOUR, window_sec: 3_600 }], ctx.now, 'rate_limit_exceeded');
  const now = ctx.now.getTime();
  const fresh = rows.filter(({ at }) => at.getTime() > now - OLDEST_MS && at.getTime() < now + AHEAD_MS);
  const ids = [...new Set(fresh.flatMap(({ route_id }) => route_id ?? []))];
  const routes = await read(ctx, (tx) =>
    tx.routes.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, name: true, slug: true } }),
  );
  const known = new Map(routes.map((route) => [route.id, route]));
  const stored = fresh.map((row) => {
    const route = row.route_id ? known.get(row.route_id.toLowerCase()) : undefined;
    return {
      request_id: newId(),
      route_id: route?.id ?? null,
      slug: route?.slug ?? null,
      route_name: route?.name ?? null,
      method: row.method,
      status_code: row.status,
      environment: row.environment ?? null,
      ts: row.at,
      path: row.path.split('?')[0],
      latency_ms: row.duration_ms,
      upstream_host: row.host ?? null,
      error: row.error ?? null,
      request_bytes: row.request_bytes ?? null,
      response_bytes: row.response_bytes ?? null,
    };
  });
  if (stored.length === 0) return { accepted: 0 };
  await sql().query(
    `insert into request_logs (tenant_id, sandbox, src_ip, identification_method, proxy_mode, client_origin, node_id, request_id, route_id, slug, route_name,
       method, status_code, environment, ts, path, latency_ms, upstream_host, error, request_bytes, response_bytes)
     select $1, $2, $3, 'agent', 'route', 'agent', $4, r.* from jsonb_to_recordset($5::jsonb) as r(request_id uuid, route_id uuid, slug text, route_name text,
       method text, status_code int, environment text, ts timestamptz, path text, latency_ms int, upstream_host text, error text, request_bytes bigint, response_bytes bigint)`,
    [ctx.tenant_id, ctx.sandbox, ctx.ip, agent.agent_id, JSON.stringify(stored)],
  );
  return { accepted: stored.length };
}
