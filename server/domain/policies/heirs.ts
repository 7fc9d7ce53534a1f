import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { PolicySubjects } from './rules.shared.ts';

/**
 * Policies that name an API key, or the OAuth client that mirrors it, name its successor too, in the transaction of the rotation: a rotation is no way out of a
 * policy. Call `forgetRules` after the commit. @returns an audit entry for each policy that changed
 */
export async function bindSuccessor(tx: Tx, ctx: Ctx, key: { from: string; to: string }): Promise<AuditEntry[]> {
  const mirrors = await tx.oauth_clients.findMany({
    where: { ...own(ctx), source_api_key_id: { in: [key.from, key.to] } },
    select: { id: true, source_api_key_id: true },
  });
  const mirrorOf = (id: string) => mirrors.find((one) => one.source_api_key_id === id)?.id;
  await tx.$queryRaw`select 1 from tenant_policies where tenant_id = ${ctx.tenant_id}::uuid order by id for no key update`;
  const entries: AuditEntry[] = [];
  for (const { id, name, subjects: stored } of await tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id } })) {
    const before = stored as PolicySubjects;
    const after = {
      ...before,
      ...joined(before, 'api_key_ids', key.from, key.to),
      ...joined(before, 'oauth_client_ids', mirrorOf(key.from), mirrorOf(key.to)),
    };
    if (JSON.stringify(after) === JSON.stringify(before)) continue;
    await tx.tenant_policies.update({
      where: { id, tenant_id: ctx.tenant_id },
      data: { subjects: after, updated_at: ctx.now },
      select: { id: true },
    });
    entries.push({
      action: 'update',
      resource_type: 'policy',
      resource_id: id,
      name,
      workspace_level: true,
      changes: [{ field: 'subjects', from: before, to: after }],
      details: { via: 'key_rotated', api_key_id: key.to },
    });
  }
  return entries;
}

function joined(subjects: PolicySubjects, field: 'api_key_ids' | 'oauth_client_ids', from: string | undefined, to: string | undefined) {
  const ids = subjects[field];
  return from === undefined || to === undefined || !ids?.includes(from) || ids.includes(to) ? {} : { [field]: [...ids, to] };
}
