import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { PolicySubjects } from './rules.shared.ts';

type Named = { from: string | undefined; to: string | undefined };

/**
 * Policies that name an API key, or the OAuth client that mirrors it, as their subject or as a resource name its successor too, in the transaction of the
 * rotation: a rotation is no way out of a policy. Keys that have ended leave the list, so that it doesn't grow. Call `forgetRules` after the commit.
 * @returns an audit entry for each policy that changed
 */
export async function bindSuccessor(
  tx: Tx,
  ctx: Ctx,
  key: { from: string; to: string; key_ids: readonly [from: string, to: string] },
): Promise<AuditEntry[]> {
  const mirrors = await tx.oauth_clients.findMany({
    where: { ...own(ctx), source_api_key_id: { in: [key.from, key.to] } },
    select: { id: true, source_api_key_id: true },
  });
  const mirrorOf = (id: string) => mirrors.find((one) => one.source_api_key_id === id)?.id;
  await tx.$queryRaw`select 1 from tenant_policies where tenant_id = ${ctx.tenant_id}::uuid order by id for no key update`;
  const ended = await endedKeys(tx, ctx);
  const entries: AuditEntry[] = [];
  for (const { id, name, ...stored } of await tx.tenant_policies.findMany({ where: { tenant_id: ctx.tenant_id } })) {
    const named = stored.subjects as PolicySubjects;
    const before = { subjects: named, resources: stored.resources };
    const after = {
      subjects: {
        ...named,
        ...joined(named, 'api_key_ids', key, ended),
        ...joined(named, 'oauth_client_ids', { from: mirrorOf(key.from), to: mirrorOf(key.to) }, ended),
      },
      resources: successors(stored.resources, [key, { from: key.key_ids[0], to: key.key_ids[1] }], ended),
    };
    const changes = changesOf(before, after, ['subjects', 'resources']);
    if (changes.length === 0) continue;
    await tx.tenant_policies.update({
      where: { id, tenant_id: ctx.tenant_id },
      data: { ...after, updated_at: ctx.now },
      select: { id: true },
    });
    entries.push({
      ...{ action: 'update', resource_type: 'policy', resource_id: id, name, workspace_level: true, changes },
      details: { via: 'key_rotated', api_key_id: key.to },
    });
  }
  return entries;
}

const joined = (subjects: PolicySubjects, field: 'api_key_ids' | 'oauth_client_ids', named: Named, ended: ReadonlySet<string>) =>
  subjects[field] ? { [field]: successors(subjects[field], [named], ended) } : {};

/** The list with each successor whose predecessor it names, and then without keys that have ended. */
function successors(ids: readonly string[], pairs: readonly Named[], ended: ReadonlySet<string>): string[] {
  const has = (id: string | undefined) => id !== undefined && ids.some((one) => one.toLowerCase() === id.toLowerCase());
  const added = pairs.flatMap(({ from, to }) => (to !== undefined && has(from) && !has(to) ? [to] : []));
  return added.length === 0 ? [...ids] : [...ids.filter((id) => !ended.has(id.toLowerCase())), ...added];
}

/** Rotated keys of this space that work no more, by every name that policies have for them. */
async function endedKeys(tx: Tx, ctx: Ctx): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRaw<{ id: string; key_id: string; client: string | null }[]>`
    select k.id::text, k.key_id, c.id::text as client from api_keys k left join oauth_clients c on c.source_api_key_id = k.id
    where k.tenant_id = ${ctx.tenant_id}::uuid and k.sandbox = ${ctx.sandbox} and (k.revoked_at is not null or k.expires_at <= ${ctx.now} or k.revoke_at <= ${ctx.now})
      and exists (select from api_keys n where n.tenant_id = k.tenant_id and n.replaces_key_id = k.key_id)`;
  return new Set(rows.flatMap(({ id, key_id, client }) => [id, key_id, client]).flatMap((one) => (one ? [one.toLowerCase()] : [])));
}
