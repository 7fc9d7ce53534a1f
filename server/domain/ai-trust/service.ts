import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { changed, type Looser, loosened, losesOne, raised, turnedOn } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { countBy } from '#server/platform/lists/sql.ts';
import { assertTrustworthy } from './rules.ts';
import {
  type AiOidcBinding,
  type ClaimRule,
  type CreateAiOidcBinding,
  type ListAiOidcBindings,
  MOST_BINDINGS,
  type UpdateAiOidcBinding,
} from './schema.ts';

export { AiExchangeRefused, exchangeForCapability } from './exchange.ts';

export type BindingRow = Prisma.ai_oidc_bindingsGetPayload<object>;
const shown = (row: BindingRow) => row as unknown as z.input<typeof AiOidcBinding>;

export const listBindings = (ctx: Ctx, query: z.output<typeof ListAiOidcBindings>) =>
  read(ctx, async (tx) => {
    const all = { where: () => 'true', count: countBy((_, mine) => `select count(*) from ai_oidc_bindings where ${mine}`) };
    const { ids, total } = await listIds(tx, ctx, { ...query, table: 'ai_oidc_bindings', filters: [all] });
    const rows = await tx.ai_oidc_bindings.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, rows).map(shown), total, query);
  });

/** @throws Refusal not_found */
export const getBinding = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => shown(await bindingById(tx, ctx, id)));

async function bindingById(tx: Tx, ctx: Ctx, id: string): Promise<BindingRow> {
  const row = isUuid(id) ? await tx.ai_oidc_bindings.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** Holds the row until the transaction ends. @throws Refusal not_found */
export async function lockedBinding(tx: Tx, ctx: Ctx, id: string): Promise<BindingRow> {
  const { id: found } = await bindingById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_oidc_bindings where id = ${found}::uuid for no key update`;
  return bindingById(tx, ctx, found);
}

/** A binding mints tokens, so it takes the capability to mint too. @throws Refusal validation_error, conflict for one too many */
export async function createBinding(ctx: Ctx, input: z.output<typeof CreateAiOidcBinding>) {
  const merged = { agent_id: null, kind: input.agent_id == null ? ('tool' as const) : ('agent' as const), ...input };
  assertConsistent(merged);
  await assertTrustworthy(input.issuer, input.claim_rules);
  return mutate(ctx, async (tx) => {
    if ((await tx.ai_oidc_bindings.count({ where: own(ctx) })) >= MOST_BINDINGS)
      throw new Refusal('conflict', `A space can have at most ${MOST_BINDINGS} bindings. Delete one first.`);
    await assertOwn(tx, ctx, merged);
    const row = await tx.ai_oidc_bindings.create({
      data: {
        ...own(ctx),
        ...columnsOf(merged),
        id: newId(),
        created_by: creator(ctx),
        created_at: ctx.now,
        updated_at: ctx.now,
      } as Prisma.ai_oidc_bindingsUncheckedCreateInput,
    });
    return audited(shown(row), entryOf('create', row, { issuer: row.issuer, kind: row.kind, agent_id: row.agent_id }));
  });
}

/** @throws Refusal as creating, not_found */
export async function updateBinding(ctx: Ctx, { id, ...input }: z.output<typeof UpdateAiOidcBinding>) {
  const known = await read(ctx, (tx) => bindingById(tx, ctx, id));
  await assertTrustworthy(input.issuer ?? known.issuer, input.claim_rules ?? (known.claim_rules as ClaimRule[]));
  return mutate(ctx, async (tx) => {
    const before = await lockedBinding(tx, ctx, id);
    const defined = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const merged = { ...before, ...defined } as BindingRow;
    assertConsistent(merged);
    if (input.agent_id !== undefined) await assertOwn(tx, ctx, merged);
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, BINDING_PROTECTIONS));
    const row = await tx.ai_oidc_bindings.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...(columnsOf(input) as Prisma.ai_oidc_bindingsUncheckedUpdateInput), updated_at: ctx.now },
    });
    const changes = changesOf(before, row, Object.keys(input));
    return changes.length === 0 ? unchanged(shown(row)) : audited(shown(row), { ...entryOf('update', row), changes });
  });
}

/** Which changes let somebody else get a token, or a token do something else. */
export const BINDING_PROTECTIONS: Looser<Omit<z.output<typeof UpdateAiOidcBinding>, 'id'>> = {
  name: 'harmless',
  issuer: changed,
  audience: 'harmless',
  claim_rules: losesOne,
  agent_id: changed,
  kind: changed,
  scope: changed,
  token_ttl_seconds: raised,
  enabled: turnedOn,
};

/** Tokens that it has minted live to their end, an hour at most. @throws Refusal not_found */
export const deleteBinding = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedBinding(tx, ctx, id);
    await tx.ai_oidc_bindings.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const }, entryOf('delete', row));
  });

type Settings = { agent_id: string | null; kind: string; scope?: unknown; gateway_id: string };

/** @throws Refusal validation_error */
function assertConsistent({ agent_id, kind, scope }: Settings): void {
  if (agent_id === null && kind !== 'tool') throw invalid('agent_id', `is required for tokens of kind ${kind}`);
  if (agent_id !== null && kind === 'tool') throw invalid('agent_id', 'must not be sent for tokens of kind tool: they are of the gateway');
  if ((scope as { resource?: unknown } | undefined)?.resource !== undefined)
    throw invalid('scope.resource', 'must not be set: whoever exchanges a token names its resource');
}

async function assertOwn(tx: Tx, ctx: Ctx, { gateway_id, agent_id }: Settings): Promise<void> {
  const here = { ...own(ctx), status: { not: 'archived' } };
  const gateway = await tx.ai_gateways.findFirst({ where: { ...here, id: gateway_id }, select: { id: true } });
  if (!gateway) throw invalid('gateway_id', 'foreign_reference: names no gateway of this space');
  if (agent_id === null) return;
  const agent = await tx.ai_agents.findFirst({ where: { ...here, id: agent_id, gateway_id }, select: { id: true } });
  if (!agent) throw invalid('agent_id', 'foreign_reference: names no agent of this gateway');
}

const columnsOf = <T extends object>(input: T) => ({ ...input });

const creator = ({ actor }: Ctx): string | null => (actor.type === 'oauth_token' ? (actor.user_id ?? actor.id) : actor.id);

const entryOf = (action: string, row: BindingRow, details: Record<string, unknown> = {}): AuditEntry => ({
  action,
  resource_type: 'ai_oidc_binding',
  resource_id: row.id,
  name: row.name,
  details: { gateway_id: row.gateway_id, ...details },
});
