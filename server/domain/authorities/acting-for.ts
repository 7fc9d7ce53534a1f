import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { Acting } from './acting.shared.ts';

/** What is turned on and calls routes in the name of this key. */
export function actingFor(tx: Tx, ctx: Ctx, key: { id: string }): Promise<Acting[]> {
  const { tenant_id, sandbox } = own(ctx);
  const ours = (
    alias: string,
  ) => Prisma.sql`${Prisma.raw(alias)}.tenant_id = ${tenant_id}::uuid and ${Prisma.raw(alias)}.sandbox = ${sandbox}
    and ${Prisma.raw(alias)}.enabled and ${Prisma.raw(alias)}.authority->>'id' in (select id::text from names)`;
  return tx.$queryRaw<Acting[]>`
    with names as (select ${key.id}::uuid as id union all select id from oauth_clients where source_api_key_id = ${key.id}::uuid and tenant_id = ${tenant_id}::uuid)
    select 'workflow' as type, w.id, w.name from workflows w where ${ours('w')}
    union all select 'inbound_webhook', i.id, i.name from inbound_webhooks i where ${ours('i')} and i.forward_route_id is not null
    order by type desc, name`;
}

/**
 * What calls routes in the name of a key, or of its mirrored client, calls them in the name of its successor from then on, in the transaction of the rotation,
 * so that a rotation stops nothing. Runs that haven't ended go along.
 * @returns an audit entry for each that changed
 */
export async function passOn(tx: Tx, ctx: Ctx, key: { from: string; to: string }): Promise<AuditEntry[]> {
  const { tenant_id, sandbox } = own(ctx);
  const mirrors = await tx.oauth_clients.findMany({
    where: { ...own(ctx), source_api_key_id: { in: [key.from, key.to] } },
    select: { id: true, source_api_key_id: true },
  });
  const mirrorOf = (id: string) => mirrors.find((one) => one.source_api_key_id === id)?.id;
  const pairs = [key, { from: mirrorOf(key.from), to: mirrorOf(key.to) }].flatMap(({ from, to }) => (from && to ? [{ from, to }] : []));
  const entries: AuditEntry[] = [];
  for (const { from, to } of pairs) {
    const where = Prisma.sql`tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox}`;
    const heir = Prisma.sql`authority || jsonb_build_object('id', ${to}::text)`;
    const changed = await tx.$queryRaw<Acting[]>`
      with w as (update workflows set authority = ${heir}, updated_at = ${ctx.now} where ${where} and authority->>'id' = ${from} returning id, name),
        i as (update inbound_webhooks set authority = ${heir}, updated_at = ${ctx.now} where ${where} and authority->>'id' = ${from} returning id, name)
      select 'workflow' as type, id, name from w union all select 'inbound_webhook', id, name from i`;
    await tx.$executeRaw`
      update workflow_executions set authorities = (
          select jsonb_agg(case when a.one->>'id' = ${from} then a.one || jsonb_build_object('id', ${to}::text) else a.one end order by a.n)
          from jsonb_array_elements(authorities) with ordinality a (one, n))
      where ${where} and completed_at is null and authorities @> jsonb_build_array(jsonb_build_object('id', ${from}::text))`;
    for (const { type, id, name } of changed)
      entries.push({
        ...{ action: 'update', resource_type: type, resource_id: id, name, changes: [{ field: 'authority', changed: true as const }] },
        details: { via: 'key_rotated', api_key_id: key.to },
      });
  }
  return entries;
}
