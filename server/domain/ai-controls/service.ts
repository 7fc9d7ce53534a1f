import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { PII_POLICY_PROTECTIONS } from './protections.ts';
import type { CreatePiiPolicy, ListPiiPolicies, UpdatePiiPolicy } from './schema.ts';
import { attachedTo, creatorOf, lockedPiiPolicy, type PiiPolicyRow, piiPolicyById, releaseArchived, shownPiiPolicy } from './store.ts';
import { assertPolicyWords } from './word-budget.ts';

export const listPiiPolicies = (ctx: Ctx, query: z.output<typeof ListPiiPolicies>) =>
  read(ctx, async (tx) => {
    const total = await tx.ai_pii_policies.count({ where: own(ctx) });
    const rows = await pagedRows(
      query,
      total,
      [{ [query.sort]: query.order }, { id: query.order }],
      (window) => tx.ai_pii_policies.findMany({ where: own(ctx), ...window, select: { id: true } }),
      (ids) => tx.ai_pii_policies.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(shownPiiPolicy), total, query);
  });

/** @throws Refusal not_found */
export const getPiiPolicy = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await piiPolicyById(tx, ctx, id);
    return { ...shownPiiPolicy(row), attached_to: await attachedTo(tx, ctx, 'pii_redact_policy_id', row.id) };
  });

/** @throws Refusal conflict when the name is taken, validation_error for a recognizer of someone else */
export const createPiiPolicy = (ctx: Ctx, input: z.output<typeof CreatePiiPolicy>) =>
  mutate(ctx, async (tx) => {
    await assertOwnRecognizers(tx, ctx, input.recognizer_ids);
    await assertPolicyWords(tx, ctx, input.recognizer_ids);
    warnOfWhitelist(ctx, input.default_action);
    const at = { created_at: ctx.now, updated_at: ctx.now };
    const row = await tx.ai_pii_policies
      .create({ data: { ...own(ctx), ...input, ...at, id: newId(), created_by: creatorOf(ctx) } })
      .catch(onUnique('A PII policy with this name already exists.'));
    return audited(shownPiiPolicy(row), piiPolicyEntry('create', row, { default_action: row.default_action }));
  });

/** In place; the version stays. @throws Refusal not_found, validation_error */
export const updatePiiPolicy = (ctx: Ctx, { id, ...input }: z.output<typeof UpdatePiiPolicy>) =>
  mutate(ctx, async (tx) => {
    const before = await lockedPiiPolicy(tx, ctx, id);
    if (input.recognizer_ids) {
      await assertOwnRecognizers(tx, ctx, input.recognizer_ids);
      await assertPolicyWords(tx, ctx, input.recognizer_ids, before.recognizer_ids);
    }
    if (input.recognizer_ids?.length === 0 && before.recognizer_ids.length > 0)
      ctx.warnings.push('This policy now runs every enabled recognizer.');
    warnOfWhitelist(ctx, input.default_action);
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, PII_POLICY_PROTECTIONS));
    const after = await tx.ai_pii_policies.update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } });
    const changes = changesOf(before, after, Object.keys(input));
    return changes.length === 0
      ? unchanged(shownPiiPolicy(after))
      : audited(shownPiiPolicy(after), { ...piiPolicyEntry('update', after), changes });
  });

/** @throws Refusal not_found, in_use: detaching it silently would switch redaction off */
export const deletePiiPolicy = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedPiiPolicy(tx, ctx, id);
    assertUnused('policy_in_use', await attachedTo(tx, ctx, 'pii_redact_policy_id', row.id));
    await releaseArchived(tx, ctx, 'pii_redact_policy_id', row.id);
    await tx.ai_pii_policies.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const, id: row.id }, piiPolicyEntry('delete', row));
  });

/** @throws Refusal in_use */
export function assertUnused(prefix: string, users: readonly { name: string }[]): void {
  if (users.length === 0) return;
  const names = users.slice(0, 5).map(({ name }) => name);
  throw new Refusal('in_use', `${prefix}: still used by ${names.join(', ')}${users.length > 5 ? ' and more' : ''}. Detach it there first.`);
}

export const piiPolicyEntry = (action: string, row: PiiPolicyRow, details?: Record<string, unknown>): AuditEntry => ({
  action,
  resource_type: 'pii_policy',
  resource_id: row.id,
  name: row.name,
  ...(details ? { details } : {}),
});

/** One answer for unknown IDs and those of others. */
async function assertOwnRecognizers(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // Held, so that none is deleted before the policy names it.
  const found = await tx.$queryRaw<{ id: string }[]>`
    select id from ai_pii_recognizers where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${[...ids]}::uuid[]) order by id for share`;
  if (found.length < ids.length) throw invalid('recognizer_ids', 'recognizer_not_found: names no recognizer of this space');
}

function warnOfWhitelist(ctx: Ctx, action: string | undefined): void {
  if (action === 'whitelist' || action === 'warn')
    ctx.warnings.push('Under this policy, what built-in detectors find is sent on unchanged. Only credentials are still redacted.');
}
