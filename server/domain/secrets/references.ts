import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** How many shares of each of these secrets are offered or active. */
export async function shareCounts(tx: Tx, ctx: Ctx, secrets: readonly { id: string }[]): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ id: string; n: number }[]>`
    select secret_id::text as id, count(*)::int as n from secret_shares s
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = any(${secrets.map(({ id }) => id)}::uuid[])
      and share_state(s, ${ctx.now}::timestamptz) in ('pending', 'active') group by 1`;
  return new Map(rows.map((row) => [row.id, row.n]));
}

export type Named = { kind: string; id: string; name: string; secret_id: string; field: string; environment: string | null };

/**
 * What names these secrets in columns of its own: AI agents, gateway tokens, what an on-host agent serves from them, and migrations that have yet to commit
 * into one. Asked of those rows themselves, so nothing has to be kept in step.
 */
export const namedByColumns = (tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Named[]> =>
  tx.$queryRaw<Named[]>`
    with ids as (select unnest(${ids}::uuid[]) as secret_id)
    select 'ai_agent' as kind, a.id::text, a.name, i.secret_id::text, f.field, null as environment from ai_agents a
      cross join lateral (select 'upstream_secret_ids' as field, unnest(a.upstream_secret_ids) as secret_id
        union all select 'guardrail_webhook_secret_id', a.guardrail_webhook_secret_id) f join ids i using (secret_id)
      where a.tenant_id = ${ctx.tenant_id}::uuid and a.sandbox = ${ctx.sandbox} and a.status <> 'archived'
    union all
    select 'wrap_token', w.id::text, coalesce(nullif(w.label, ''), w.host), w.secret_id::text, 'secret_id', null from wrap_tokens w join ids i using (secret_id)
      where w.tenant_id = ${ctx.tenant_id}::uuid and w.sandbox = ${ctx.sandbox} and w.revoked_at is null and (w.expires_at is null or w.expires_at > ${ctx.now})
    union all
    select 'intercept_rule', r.id::text, r.match_host, r.committed_secret_id::text, 'committed_secret_id', r.environment from migration_intercept_rules r
      join ids i on i.secret_id = r.committed_secret_id where r.tenant_id = ${ctx.tenant_id}::uuid and r.sandbox = ${ctx.sandbox}
    union all
    select 'db_proxy_route', d.id::text, d.upstream_host, d.committed_secret_id::text, 'committed_secret_id', null from migration_db_routes d
      join ids i on i.secret_id = d.committed_secret_id where d.tenant_id = ${ctx.tenant_id}::uuid and d.sandbox = ${ctx.sandbox}
    union all
    select 'migration', m.id::text, m.source_name, m.target->>'existing_secret_id', 'existing_secret_id', m.target->>'environment' from secret_migration_items m
      join ids i on i.secret_id::text = m.target->>'existing_secret_id'
      where m.tenant_id = ${ctx.tenant_id}::uuid and m.sandbox = ${ctx.sandbox} and m.status = 'approved'
    order by 1, 3, 2`;

/** How many places refer to each of these secrets; two queries for a page of them. */
export async function referenceCounts(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ id: string; n: number }[]>`
    select secret_id::text as id, count(distinct referrer_id)::int as n from (
      select secret_id, referrer_id from secret_references where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = any(${ids}::uuid[])
      union all
      select secret_id, id from collection_variables where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = any(${ids}::uuid[])
    ) r group by 1`;
  const counts = new Map(rows.map((row) => [row.id, row.n]));
  const named = new Set((await namedByColumns(tx, ctx, ids)).map(({ secret_id, kind, id }) => `${secret_id} ${kind} ${id}`));
  for (const [id] of [...named].map((one) => one.split(' '))) counts.set(id as string, (counts.get(id as string) ?? 0) + 1);
  return counts;
}
