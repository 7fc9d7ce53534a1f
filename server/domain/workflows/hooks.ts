import type { z } from 'zod';
import { mintMailToken } from '#server/crypto/tokens.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { hookSettingsOf } from './hook-settings.shared.ts';
import type { WorkflowRef } from './schema.ts';
import { entryOf, lockedWorkflow, workflowById } from './store.ts';

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Input = z.output<typeof WorkflowRef>;

/** A workflow with a webhook trigger has a URL from its first definition on; it stays the same until it is rotated. @throws Refusal tenant_sealed */
export async function ensureHook(tx: Tx, ctx: Ctx, workflowId: string): Promise<void> {
  const known = await tx.workflow_hooks.findFirst({ where: { ...own(ctx), workflow_id: workflowId }, select: { id: true } });
  if (!known) await createHook(tx, ctx, workflowId);
}

async function createHook(tx: Tx, ctx: Ctx, workflow_id: string): Promise<void> {
  const { token, digest } = mintMailToken();
  const id = newId();
  const bytes = Buffer.from(token);
  const sealed = await keyring().sealValue(placeOf(ctx, id), bytes).catch(whenSealed);
  bytes.fill(0);
  await tx.workflow_hooks.create({
    data: { ...own(ctx), ...(sealed as HookColumns), id, workflow_id, token_hash: Uint8Array.from(digest), created_at: ctx.now },
  });
}
type HookColumns = { value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };

const placeOf = ({ tenant_id, sandbox }: Place, row_id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'workflow_hook', row_id }) as const;

/** Row 4 of interface rule 32 §2. */
export const revealOfHook: Reveal<Input> = {
  class: 'A',
  scope: 'plaintext.reveal',
  policy: 'workflow:reveal_webhook_url',
  subject: async (ctx, { id }) => {
    const row = await read(ctx, (tx) => workflowById(tx, ctx, id));
    return { resource_type: 'workflow', resource_id: row.id, name: row.name };
  },
  state: async (ctx, { id }) => {
    await read(ctx, (tx) => hookOf(tx, ctx, id));
    return {};
  },
};

/** The URL whose reveal was audited. */
export const revealHook = (ctx: Ctx, { id }: Input) =>
  read(ctx, async (tx) => {
    const { hook, method } = await hookOf(tx, ctx, id);
    const bytes = await keyring().openValue(placeOf(ctx, hook.id), hook).catch(whenSealed);
    const url = `${env.PUBLIC_HOOKS_URL}/wf/${bytes.toString('utf8')}`;
    bytes.fill(0);
    return { url, method };
  });

async function hookOf(tx: Tx, ctx: Ctx, id: string) {
  const row = await workflowById(tx, ctx, id);
  const hook = await tx.workflow_hooks.findFirst({ where: { ...own(ctx), workflow_id: row.id } });
  if (!hook || row.trigger_type !== 'webhook')
    throw new Refusal('conflict', 'This workflow has no webhook trigger. Set its trigger to webhook and publish it first.');
  return { hook, method: hookSettingsOf(row.definition)?.method ?? 'POST' };
}

/** A new URL; the old one ends at once. Nobody sees it but by a reveal. @throws Refusal not_found, conflict without a webhook trigger, tenant_sealed */
export const rotateHook = (ctx: Ctx, { id }: Input) =>
  mutate(ctx, async (tx) => {
    const row = await lockedWorkflow(tx, ctx, id);
    await hookOf(tx, ctx, id);
    await tx.workflow_hooks.deleteMany({ where: { ...own(ctx), workflow_id: row.id } });
    await createHook(tx, ctx, row.id);
    return audited({ id: row.id, rotated_at: ctx.now }, entryOf('rotate', row, { field: 'webhook_url' }));
  });
