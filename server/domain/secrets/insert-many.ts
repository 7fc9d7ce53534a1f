import { withinPlan } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { canonicalHostPin } from './hosts.ts';
import { environmentFor, requireCollection } from './scope.ts';
import { sealNewValue } from './values.ts';

export type ManySecrets = {
  name: string;
  value: string | Uint8Array;
  environment: string;
  collection_id?: string | null | undefined;
  tags?: readonly string[] | undefined;
  expires_at?: Date | null | undefined;
  allowed_hosts?: readonly string[] | null | undefined;
};

/**
 * New string secrets inside another verb's transaction, in as many statements as for one; that verb hands the entries to its own `audited`.
 * @throws Refusal plan_limit, conflict when a name is taken, tenant_sealed, validation_error
 */
export async function insertSecrets(tx: Tx, ctx: Ctx, secrets: readonly ManySecrets[]) {
  if (secrets.length === 0) return [];
  await withinPlan(tx, ctx, 'secrets', secrets.length);
  for (const environment of new Set(secrets.map((one) => one.environment))) await environmentFor(tx, ctx, environment);
  for (const id of new Set(secrets.map((one) => one.collection_id ?? null))) await requireCollection(tx, ctx, id);
  const rows: (ManySecrets & { id: string; environment_id: string; sealed: Awaited<ReturnType<typeof sealNewValue>> })[] = [];
  for (const one of secrets) rows.push({ ...one, id: newId(), environment_id: newId(), sealed: await sealNewValue(ctx, one.value) });
  const at = { created_at: ctx.now, updated_at: ctx.now };
  await tx.secrets
    .createMany({
      data: rows.map(({ id, name, environment, collection_id = null, tags = [], expires_at = null, allowed_hosts = null }) => ({
        ...own(ctx),
        ...at,
        ...{ id, name, shortcode_name: name, base_environment: environment, collection_id, tags: [...tags], expires_at },
        allowed_hosts: allowed_hosts === null ? Prisma.DbNull : [...new Set(allowed_hosts.map(pinOf))],
        created_by: ctx.actor.id,
      })),
    })
    .catch(onUnique('A secret with one of these names was created at the same time. Try again.'));
  await tx.secret_environments.createMany({
    data: rows.map(({ id, environment_id, environment, sealed }) => ({
      ...own(ctx),
      ...at,
      ...{ id: environment_id, secret_id: id, environment_name: environment, value_version: 1, current_value_id: sealed.id },
    })),
  });
  await tx.secret_values.createMany({
    data: rows.map((r) => ({ ...own(ctx), ...r.sealed, secret_environment_id: r.environment_id, value_version: 1, created_at: ctx.now })),
  });
  return rows.map(({ id, name, environment }) => {
    const entry: AuditEntry = {
      action: 'create',
      resource_type: 'secret',
      resource_id: id,
      name,
      details: { environment, value_version: 1 },
    };
    return { id, name, environment, entry };
  });
}

function pinOf(host: string): string {
  const pin = canonicalHostPin(host);
  if (!pin.ok) throw invalid('allowed_hosts', pin.problem);
  return pin.value;
}
