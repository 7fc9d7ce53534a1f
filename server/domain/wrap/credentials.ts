import type { z } from 'zod';
import { confirmPins, insertSecret, lockedSecret, removeSecret } from '#server/domain/secrets/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { isOwnHost, upstreamHost } from '#server/kernel/upstream-url.ts';
import { egress } from '#server/platform/egress.ts';
import { notifyHostsAdded } from './notices.ts';
import type { CreateWrapCredential, DeleteWrapCredential, ListWrapCredentials, UpdateWrapCredential } from './schema.ts';
import { credentialById, detailOf, findPage } from './store.ts';
import { revokeTokens } from './tokens.ts';

/** A page of the wrap credentials of this space; never a value. */
export const listWrapCredentials = (ctx: Ctx, query: z.output<typeof ListWrapCredentials>) =>
  read(ctx, async (tx) => {
    const { rows, total } = await findPage(tx, ctx, query);
    return pageOf(rows, total, query);
  });

/** @throws Refusal not_found, for ordinary secrets too */
export const getWrapCredential = (ctx: Ctx, { secret_id }: { secret_id: string }) =>
  read(ctx, async (tx) => detailOf(tx, ctx, await credentialById(tx, ctx, secret_id)));

/** Stores a provider's key as a secret that only leaves for its hosts. @throws Refusal plan_limit, conflict, tenant_sealed, validation_error */
export async function createWrapCredential(ctx: Ctx, input: z.output<typeof CreateWrapCredential>) {
  // Without either the caller's scheme decides (interface rule 33 §2.1).
  const { provider, hosts, header_name = null, value_prefix = null, ...secret } = input;
  const allowed_hosts = exactHosts(hosts);
  assertKeyFits(ctx, input.value);
  return mutate(ctx, async (tx) => {
    const { row } = await insertSecret(tx, ctx, { ...secret, allowed_hosts });
    await tx.secrets.update({
      where: { id: row.id, ...own(ctx) },
      data: { is_escrow: true, provider_label: provider, header_name, value_prefix, updated_at: ctx.now },
      select: { id: true },
    });
    return audited(
      { secret_id: row.id, name: row.name, provider, allowed_hosts, sandbox: ctx.sandbox },
      {
        action: 'create',
        resource_type: 'wrap_credential',
        resource_id: row.id,
        name: row.name,
        details: { provider, allowed_hosts, header_name, environment: row.base_environment },
      },
    );
  });
}

/**
 * A host that is taken away takes its tokens with it, in the same transaction; a host that is added widens where the key may go, so that it is
 * confirmed as a reveal is, and Owners are mailed. @throws Refusal not_found, validation_error, what `confirmPins` throws
 */
export async function updateWrapCredential(ctx: Ctx, { secret_id, ...input }: z.output<typeof UpdateWrapCredential>) {
  const allowed_hosts = input.hosts && exactHosts(input.hosts);
  let mailed = () => {};
  const result = await mutate(ctx, async (tx) => {
    const before = await lockedCredential(tx, ctx, secret_id);
    const move = allowed_hosts
      ? await confirmPins(tx, ctx, [{ before, after: allowed_hosts }], { field: 'hosts', route: 'wrap.update_credential' })
      : {};
    const after = await tx.secrets.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        ...(input.provider !== undefined && { provider_label: input.provider }),
        ...(input.header_name !== undefined && { header_name: input.header_name }),
        ...(input.value_prefix !== undefined && { value_prefix: input.value_prefix }),
        ...(allowed_hosts && { allowed_hosts }),
        updated_at: ctx.now,
      },
    });
    const had = before.allowed_hosts as string[];
    const added = allowed_hosts?.filter((host) => !had.includes(host)) ?? [];
    const removed = allowed_hosts ? had.filter((host) => !allowed_hosts.includes(host)) : [];
    const revoked =
      removed.length === 0 ? [] : await revokeTokens(tx, ctx, { secret_id: before.id, host: { in: removed } }, 'host_removed');
    if (added.length > 0) mailed = await notifyHostsAdded(tx, ctx, { id: before.id, name: before.name, added });
    return audited(
      await detailOf(tx, ctx, after),
      {
        action: 'update',
        resource_type: 'wrap_credential',
        resource_id: before.id,
        name: before.name,
        changes: changesOf(before, after, ['provider_label', 'allowed_hosts', 'header_name', 'value_prefix']),
        details: move,
      },
      revoked,
    );
  });
  mailed();
  return result;
}

/** @throws Refusal not_found, in_use while configuration refers to it, or a token stands for it and `revoke_tokens` isn't asked for */
export const deleteWrapCredential = (ctx: Ctx, { secret_id, revoke_tokens }: z.output<typeof DeleteWrapCredential>) =>
  mutate(ctx, async (tx) => {
    const credential = await lockedCredential(tx, ctx, secret_id, 'delete');
    const revoked = revoke_tokens ? await revokeTokens(tx, ctx, { secret_id: credential.id }, 'credential_deleted') : [];
    await removeSecret(tx, ctx, credential);
    return audited(
      { deleted: true as const },
      { action: 'delete', resource_type: 'wrap_credential', resource_id: credential.id, name: credential.name },
      revoked,
    );
  });

/** Secrets that are no wrap credentials are not told apart from those that don't exist. */
export async function lockedCredential(tx: Tx, ctx: Ctx, id: string, lock: 'change' | 'delete' = 'change') {
  const row = await lockedSecret(tx, ctx, id, { for: lock });
  if (!row.is_escrow) throw notFound();
  return row;
}

/** @throws Refusal validation_error for what is no exact public DNS name, and for hosts of this service */
function exactHosts(hosts: readonly string[]): string[] {
  const exact = hosts.map((text, i) => {
    const host = upstreamHost(text);
    if (host === undefined)
      throw invalid(`hosts.${i}`, 'must be a hostname such as api.example.com, without scheme, port, path or wildcard');
    if (isOwnHost(host, 443, egress().settings.ownHosts)) throw invalid(`hosts.${i}`, 'belongs to this service');
    return host;
  });
  return [...new Set(exact)];
}

/** The mistakes that are seen at a key itself: one of the other mode, or one that is public. */
function assertKeyFits({ sandbox }: Ctx, value: string): void {
  const problem = /^pk_/.test(value)
    ? "is a publishable key, which needs no protection and can't authenticate a server"
    : sandbox
      ? /^[sr]k_live_/.test(value) && 'is a live key; keep it in the Live space'
      : /^[sr]k_test_/.test(value) && 'is a test key; keep it in the Test space';
  if (problem) throw new Refusal('validation_error', `value: ${problem}`);
}
