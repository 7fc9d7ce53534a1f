import type { z } from 'zod';
import { coveredScopes } from '#server/domain/api-keys/service.ts';
import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { assertEditable, clientByRef, lockedClient } from '#server/domain/oauth-clients/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { assertTrustworthy, type Defined, defined } from './rules.ts';
import { type CreateTrustBinding, MOST_BINDINGS, type UpdateTrustBinding } from './schema.ts';
import { type Binding, bindingById, bindingOf, bindingsOfClient } from './store.ts';
import { bindingWarnings } from './warnings.shared.ts';

export { ExchangeRefused, exchangeToken } from './exchange.ts';
export { assertCallable as assertCallableIssuer } from './rules.ts';

type Client = Awaited<ReturnType<typeof clientByRef>>;

/** The bindings of a client, newest first. @throws Refusal not_found */
export const listBindings = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => bindingsOfClient(tx, ctx, (await clientByRef(tx, ctx, input.id)).id));

/** @throws Refusal not_found */
export const getBinding = (ctx: Ctx, input: { id: string; binding_id: string }) =>
  read(ctx, async (tx) => bindingById(tx, ctx, (await clientByRef(tx, ctx, input.id)).id, input.binding_id));

/**
 * Trusts the tokens of an issuer that meet conditions, for at most what the caller and the client may do themselves.
 * @throws Refusal validation_error, privilege_escalation, system_client_protected, not_found, conflict for one too many or a client without the grant
 */
export async function createBinding(ctx: Ctx, { id, name, scopes: asked, ...input }: z.output<typeof CreateTrustBinding>) {
  const settings = defined(input);
  await assertTrustworthy(settings);
  const scopes = await coveredScopes(ctx, asked, 'binding');
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    assertCanTrust(client);
    assertWithin(client, scopes);
    if ((await tx.oauth_trust_bindings.count({ where: { ...own(ctx), client_row_id: client.id } })) >= MOST_BINDINGS)
      throw new Refusal('conflict', `A client can have at most ${MOST_BINDINGS} trust bindings. Delete one first.`);
    const row = await tx.oauth_trust_bindings.create({
      data: {
        ...own(ctx),
        ...columnsOf(settings),
        ...{ id: newId(), client_row_id: client.id, name, scopes, created_at: ctx.now, updated_at: ctx.now },
      },
    });
    await warn(tx, ctx, client, bindingOf(row));
    const { issuer, audience, subject, claims, provider, single_use } = settings;
    return audited(bindingOf(row), {
      ...entryOf(row, client, 'create'),
      details: { client_id: client.client_id, provider, issuer, audience, subject, claims, scopes, single_use },
    });
  });
}

/**
 * Whoever points a binding elsewhere could use what it grants, so an edit takes the same grants as creating it anew; a name or an end takes none.
 * @throws Refusal validation_error, privilege_escalation, system_client_protected, not_found, conflict
 */
export function updateBinding(ctx: Ctx, { id, binding_id, name, scopes, ...input }: z.output<typeof UpdateTrustBinding>) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    const before = await bindingById(tx, ctx, client.id, binding_id);
    assertEditable(client);
    const settings = defined({ ...input, provider: input.provider ?? before.provider }, before);
    const only = Object.values(input).every((value) => value === undefined) || isDisabling(input);
    if (!only) await assertTrustworthy(settings);
    if (scopes || !only) await coveredScopes(ctx, scopes ?? before.scopes, 'binding');
    if (scopes) assertWithin(client, scopes);
    const data = {
      ...columnsOf(settings),
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)].sort() }),
    };
    const after = bindingOf(
      await tx.oauth_trust_bindings.update({ where: { id: before.id, ...own(ctx) }, data: { ...data, updated_at: ctx.now } }),
    );
    const ended = before.enabled && !after.enabled ? { tokens_revoked: await endTokens(tx, ctx, before.id) } : {};
    await warn(tx, ctx, client, after);
    const changes = changesOf(before, after, Object.keys(data));
    const switched = before.enabled !== after.enabled && changes.length === 1;
    return audited(after, {
      ...entryOf(after, client, switched ? (after.enabled ? 'enable' : 'disable') : 'update'),
      changes,
      details: { client_id: client.client_id, ...ended },
    });
  });
}

const isDisabling = ({ enabled, ...rest }: { enabled?: boolean | undefined }): boolean =>
  enabled === false && Object.values(rest).every((value) => value === undefined);

/** Ends its tokens as well. @throws Refusal not_found */
export function deleteBinding(ctx: Ctx, { id, binding_id }: { id: string; binding_id: string }) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    const row = await bindingById(tx, ctx, client.id, binding_id);
    await tx.oauth_trust_bindings.delete({ where: { id: row.id, ...own(ctx) } });
    const tokens_revoked = await endTokens(tx, ctx, row.id);
    return audited(
      { deleted: true as const },
      { ...entryOf(row, client, 'delete'), details: { client_id: client.client_id, issuer: row.issuer, tokens_revoked } },
    );
  });
}

/** The binding of an edit; changes of one client and its bindings run one after the other. @throws Refusal not_found */
export async function lockedBinding(tx: Tx, ctx: Ctx, { id, binding_id }: { id: string; binding_id: string }) {
  return bindingById(tx, ctx, (await lockedClient(tx, ctx, id)).id, binding_id);
}

/** After the change of the binding, which waits for exchanges that were under way: their tokens end too. */
async function endTokens(tx: Tx, ctx: Ctx, bindingId: string): Promise<number> {
  const { count } = await tx.oauth_access.updateMany({
    where: { ...own(ctx), binding_id: bindingId, revoked_at: null, expires_at: { gt: ctx.now } },
    data: { revoked_at: ctx.now },
  });
  return count;
}

function assertCanTrust(client: Client): void {
  assertEditable(client);
  if (!client.grant_types.includes(TOKEN_EXCHANGE))
    throw new Refusal('conflict', `This client can't exchange tokens. Create one with the grant ${TOKEN_EXCHANGE}.`);
}

function assertWithin(client: Client, scopes: readonly string[]): void {
  const beyond = scopes.find((scope) => !client.allowed_scopes.includes(scope));
  if (beyond !== undefined) throw invalid('scopes', `the client isn't allowed ${beyond}: add it to the client's allowed_scopes first`);
}

async function warn(tx: Tx, ctx: Ctx, client: Client, binding: Binding): Promise<void> {
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
  ctx.warnings.push(...bindingWarnings(binding, { slug: tenant.slug, step_up_scopes: client.step_up_scopes }));
}

const columnsOf = ({ claims, ...settings }: Defined) => ({ ...settings, claims: claims as Prisma.InputJsonObject });

const entryOf = (row: { id: string; name: string }, client: Client, action: string): AuditEntry => ({
  action,
  resource_type: 'trust_binding',
  resource_id: row.id,
  name: row.name,
  details: { client_id: client.client_id },
});
