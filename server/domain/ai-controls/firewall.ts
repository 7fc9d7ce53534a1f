import type { z } from 'zod';
import { problemOf } from '#server/custody/ai/detectors/checks.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { FIREWALL_PROTECTIONS } from './protections.ts';
import type { CreateFirewallPolicy, Heuristic, ListFirewallPolicies, UpdateFirewallPolicy } from './schema.ts';
import { assertUnused } from './service.ts';
import { attachedTo, creatorOf, type FirewallRow, firewallById, lockedFirewall, releaseArchived, shownFirewall } from './store.ts';

/** With `name`, the versions of one policy. */
export const listFirewalls = (ctx: Ctx, { name, ...query }: z.output<typeof ListFirewallPolicies>) =>
  read(ctx, async (tx) => {
    const where = { ...own(ctx), ...(name === undefined ? {} : { name }) };
    const total = await tx.ai_firewall_policies.count({ where });
    const rows = await pagedRows(
      query,
      total,
      [{ [query.sort]: query.order }, { version: 'desc' }, { id: query.order }],
      (window) => tx.ai_firewall_policies.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.ai_firewall_policies.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(shownFirewall), total, query);
  });

/** @throws Refusal not_found */
export const getFirewall = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await firewallById(tx, ctx, id);
    return { ...shownFirewall(row), attached_to: await attachedTo(tx, ctx, 'firewall_policy_id', row.id) };
  });

/** A name that is in use gets its next version as another row; agents stay on the version that they name. @throws Refusal validation_error */
export const createFirewall = async (ctx: Ctx, { heuristics, ...input }: z.output<typeof CreateFirewallPolicy>) => {
  await assertHeuristics(ctx, heuristics);
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `firewall:${ctx.tenant_id}:${ctx.sandbox}:${input.name}`);
    const last = await tx.ai_firewall_policies.aggregate({ where: { ...own(ctx), name: input.name }, _max: { version: true } });
    const version = (last._max.version ?? 0) + 1;
    if (version > MOST_VERSIONS)
      throw new Refusal('conflict', `This policy has ${MOST_VERSIONS} versions. Delete some, or use another name.`);
    const row = await tx.ai_firewall_policies.create({
      data: {
        ...own(ctx),
        ...input,
        heuristics: heuristics as Prisma.InputJsonArray,
        version,
        id: newId(),
        created_by: creatorOf(ctx),
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    return audited(shownFirewall(row), firewallEntry('create', row));
  });
};

/** In place: the version stays. @throws Refusal not_found, validation_error */
export const updateFirewall = async (ctx: Ctx, { id, name: _, heuristics, ...input }: z.output<typeof UpdateFirewallPolicy>) => {
  if (heuristics) await assertHeuristics(ctx, heuristics);
  return mutate(ctx, async (tx) => {
    const before = await lockedFirewall(tx, ctx, id);
    await confirmLoosening(
      tx,
      ctx,
      env.PUBLIC_ADMIN_URL,
      loosened(before, { ...input, ...(heuristics ? { heuristics } : {}) }, FIREWALL_PROTECTIONS),
    );
    const after = await tx.ai_firewall_policies.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...input, ...(heuristics ? { heuristics: heuristics as Prisma.InputJsonArray } : {}), updated_at: ctx.now },
    });
    const changes = changesOf(before, after, ['heuristics', ...Object.keys(input)]);
    if (changes.length === 0) return unchanged(shownFirewall(after));
    return audited(shownFirewall(after), { ...firewallEntry('update', after), changes });
  });
};

/** @throws Refusal not_found, in_use while an agent or MCP server is attached */
export const deleteFirewall = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedFirewall(tx, ctx, id);
    assertUnused('policy_in_use', await attachedTo(tx, ctx, 'firewall_policy_id', row.id));
    await releaseArchived(tx, ctx, 'firewall_policy_id', row.id);
    await tx.ai_firewall_policies.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const, id: row.id }, firewallEntry('delete', row));
  });

/** @throws Refusal validation_error naming the rule */
export async function assertHeuristics({ tenant_id }: Ctx, heuristics: readonly z.output<typeof Heuristic>[]): Promise<void> {
  const problem = await problemOf({ heuristics }, tenant_id);
  if (problem) throw invalid(`heuristics[${problem.index}].pattern`, `regex_unsupported: ${problem.message}`);
}

const firewallEntry = (action: string, row: FirewallRow): AuditEntry => ({
  action,
  resource_type: 'firewall_policy',
  resource_id: row.id,
  name: row.name,
  details: { version: row.version, action: row.action, canary_enabled: row.canary_enabled },
});

const MOST_VERSIONS = 1_000;
