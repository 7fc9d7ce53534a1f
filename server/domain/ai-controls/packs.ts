import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { PACK_DEFINITIONS, type Pack, type PackRecognizer } from './pack-definitions.ts';
import { assertRuns, recognizerEntry } from './recognizers.ts';
import { type CompliancePack, type InstallCompliancePack, PACKS } from './schema.ts';
import { piiPolicyEntry } from './service.ts';
import { creatorOf, type PiiPolicyRow, type RecognizerRow, shownPiiPolicy, shownRecognizer } from './store.ts';

/** Every pack, and the policy that it made here. */
export const listPacks = (ctx: Ctx): Promise<z.input<typeof CompliancePack>[]> =>
  read(ctx, async (tx) => {
    const made = await tx.ai_pii_policies.findMany({
      where: { ...own(ctx), managed_by: { in: [...PACKS] } },
      orderBy: { created_at: 'asc' },
    });
    return PACKS.map((id) => {
      const { name, description, default_action, entities, recognizers } = PACK_DEFINITIONS[id];
      return {
        id,
        name,
        description,
        default_action,
        entities: [...entities],
        recognizers: recognizers.map((one) => ({ name: one.name, description: one.description })),
        policy_id: made.find(({ managed_by }) => managed_by === id)?.id ?? null,
      };
    });
  });

type Steps = { created: RecognizerRow[]; upgraded: RecognizerRow[]; kept: RecognizerRow[] };

/**
 * Creates what the pack has and this space hasn't. What is there is brought up to date, unless someone has edited it. Agents that are named get the pack's policy.
 * @throws Refusal not_found, validation_error for agents of someone else, conflict when a name of the pack is taken
 */
export async function installPack(ctx: Ctx, { pack: name, attach_to_agent_ids }: z.output<typeof InstallCompliancePack>) {
  const id = PACKS.find((one) => one === name);
  if (!id) throw notFound();
  for (const recognizer of PACK_DEFINITIONS[id].recognizers) await assertRuns({ ...ctx, warnings: [] }, settingsOf(recognizer));
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `compliance-pack:${ctx.tenant_id}:${ctx.sandbox}:${id}`);
    const pack = PACK_DEFINITIONS[id];
    const steps = await installRecognizers(tx, ctx, id, pack);
    const all = [...steps.created, ...steps.upgraded, ...steps.kept];
    const { policy, entries } = await installPolicy(tx, ctx, id, pack, steps);
    const attached = await attach(tx, ctx, policy, attach_to_agent_ids);
    const names = (rows: RecognizerRow[]) => rows.map(({ name }) => name);
    return audited(
      {
        pack: id,
        policy: shownPiiPolicy(policy),
        recognizers: all.map(shownRecognizer),
        created: names(steps.created),
        upgraded: names(steps.upgraded),
        kept: names(steps.kept),
        attached_agent_ids: attach_to_agent_ids,
      },
      ...([
        ...entries,
        ...steps.created.map((row) => recognizerEntry('create', row)),
        ...steps.upgraded.map((row) => recognizerEntry('update', row)),
        ...attached,
      ] as [AuditEntry, ...AuditEntry[]]),
    );
  });
}

const settingsOf = ({ description: _, ...settings }: PackRecognizer) => ({ ...settings, context_words: [...settings.context_words] });

async function installRecognizers(tx: Tx, ctx: Ctx, id: Pack, { recognizers }: (typeof PACK_DEFINITIONS)[Pack]): Promise<Steps> {
  const steps: Steps = { created: [], upgraded: [], kept: [] };
  for (const definition of recognizers) {
    const data = settingsOf(definition);
    const row = await tx.ai_pii_recognizers.findFirst({ where: { ...own(ctx), name: definition.name } });
    if (!row) {
      const at = { created_at: ctx.now, updated_at: ctx.now };
      steps.created.push(
        await tx.ai_pii_recognizers.create({
          data: { ...own(ctx), ...data, ...at, id: newId(), managed_by: id, created_by: creatorOf(ctx) },
        }),
      );
    } else if (row.managed_by !== id)
      throw new Refusal('conflict', `A recognizer named ${row.name} already exists. Rename it, then install the pack again.`);
    // An upgrade keeps the time, so that only people's edits move it.
    else if (row.updated_at.getTime() === row.created_at.getTime() && differs(row, definition))
      steps.upgraded.push(
        await tx.ai_pii_recognizers.update({ where: { id: row.id, ...own(ctx) }, data: { ...data, updated_at: row.created_at } }),
      );
    else steps.kept.push(row);
  }
  return steps;
}

const differs = (row: RecognizerRow, definition: PackRecognizer): boolean =>
  row.pattern !== definition.pattern ||
  row.action !== definition.action ||
  row.format !== definition.format ||
  Number(row.confidence) !== definition.confidence ||
  row.context_words.join('\n') !== definition.context_words.join('\n');

/** A policy that someone has edited gets the new recognizers and stays as it is otherwise. */
async function installPolicy(
  tx: Tx,
  ctx: Ctx,
  id: Pack,
  pack: (typeof PACK_DEFINITIONS)[Pack],
  steps: Steps,
): Promise<{ policy: PiiPolicyRow; entries: AuditEntry[] }> {
  const before = await tx.ai_pii_policies.findFirst({ where: { ...own(ctx), managed_by: id }, orderBy: { created_at: 'asc' } });
  if (!before) {
    if (await tx.ai_pii_policies.findFirst({ where: { ...own(ctx), name: pack.name }, select: { id: true } }))
      throw new Refusal('conflict', `A PII policy named ${pack.name} already exists. Delete it, then install the pack again.`);
    const data: Prisma.ai_pii_policiesUncheckedCreateInput = {
      ...own(ctx),
      id: newId(),
      name: pack.name,
      description: pack.description,
      default_action: pack.default_action,
      recognizer_ids: [...steps.created, ...steps.upgraded, ...steps.kept].map((row) => row.id),
      managed_by: id,
      created_by: creatorOf(ctx),
      created_at: ctx.now,
      updated_at: ctx.now,
    };
    const policy = await tx.ai_pii_policies.create({ data });
    return { policy, entries: [piiPolicyEntry('create', policy, { compliance_pack: id })] };
  }
  const added = steps.created.map((row) => row.id);
  // An empty list stands for every recognizer, which includes the new ones.
  const policy =
    added.length === 0 || before.recognizer_ids.length === 0
      ? before
      : await tx.ai_pii_policies.update({
          where: { id: before.id, ...own(ctx) },
          data: { recognizer_ids: [...before.recognizer_ids, ...added], updated_at: before.updated_at },
        });
  return { policy, entries: [piiPolicyEntry('update', policy, { compliance_pack: id, recognizers_added: added.length })] };
}

async function attach(tx: Tx, ctx: Ctx, policy: PiiPolicyRow, ids: readonly string[]): Promise<AuditEntry[]> {
  if (ids.length === 0) return [];
  const where = { ...own(ctx), id: { in: [...ids] }, status: { not: 'archived' } };
  const agents = await tx.ai_agents.findMany({ where, select: { id: true, name: true, slug: true, pii_redact_policy_id: true } });
  if (agents.length < ids.length) throw invalid('attach_to_agent_ids', 'foreign_reference: names no agent of this space');
  await tx.ai_agents.updateMany({ where, data: { pii_redact_policy_id: policy.id, updated_at: ctx.now } });
  return agents
    .filter(({ pii_redact_policy_id }) => pii_redact_policy_id !== policy.id)
    .map(({ id, name, slug, pii_redact_policy_id }) => ({
      action: 'update',
      resource_type: 'ai_agent',
      resource_id: id,
      name,
      details: { slug, compliance_pack: policy.managed_by },
      changes: [{ field: 'pii_redact_policy_id', from: pii_redact_policy_id, to: policy.id }],
    }));
}
