import type { z } from 'zod';
import { parsePortable } from '#server/crypto/portable/text.ts';
import { digestEquals } from '#server/crypto/tokens.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import { openValue } from '#server/custody/portable.ts';
import { lookUp, open } from '#server/custody/vaults/detokenize.ts';
import { vaultDisabled } from '#server/custody/vaults/issued.ts';
import { checkedItem } from '#server/custody/vaults/items.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import { jsonOf } from '#server/domain/encryption/service.ts';
import { type Actor, type Ctx, own } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { jsonText } from '#server/kernel/json-text.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { payloadDigest } from './minting.ts';
import { attemptFailed, recordRefusal } from './refused-spends.ts';
import type { CheckClientToken, SpendOnPayload, SpendOnValue } from './schema.ts';

// Steps 4 to 7 of interface rule 41 §12. Before them the plane has looked the token up and judged its state, its action and the page's origin.

type Spender = Extract<Actor, { type: 'client_token' }>;

/**
 * What a hosted field asks before it sends anything: whether the token is of the field's own workspace. State, action and page were judged before. A token of
 * another workspace is like an unknown one. @throws Refusal invalid_client_token
 */
export async function checkClientToken(ctx: Ctx, { workspace }: z.output<typeof CheckClientToken>) {
  if (ctx.tenant_id === workspace) return { valid: true as const };
  await recordRefusal(ctx, spenderOf(ctx).id, 'invalid_client_token');
  throw invalidClientToken();
}

/** @throws Refusal client_token_payload_mismatch, client_token_used, audit_unavailable; once spent, those of opening */
export async function spendOnSealedValue(ctx: Ctx, { data }: z.output<typeof SpendOnPayload>) {
  const spender = spenderOf(ctx);
  await assertPayload(ctx, spender, data);
  const version = parsePortable(data)?.key_ref.key_version;
  await consume(ctx, spender, {
    action: 'transit.decrypt',
    resource_type: 'crypto_key',
    resource_id: spender.bound.key_id,
    details: { leaves: 1, key_version: version, ...(spender.bound.role === null ? {} : { role: spender.bound.role }) },
  });
  const { datatype, bytes } = await openValue(ctx, data, { role: spender.bound.role ?? undefined });
  try {
    return { plaintext: jsonText(jsonOf(datatype, bytes)) };
  } finally {
    bytes.fill(0);
  }
}

/** @throws Refusal client_token_payload_mismatch, plan_limit, client_token_used, audit_unavailable; once spent, those of detokenize */
export async function spendOnToken(ctx: Ctx, { data }: z.output<typeof SpendOnPayload>) {
  const spender = spenderOf(ctx);
  await assertPayload(ctx, spender, data);
  await takeDetokenization(ctx);
  const { vault_id, token_id } = spender.bound;
  await consume(ctx, spender, {
    action: 'vault.detokenize',
    resource_type: 'vault_token',
    resource_id: token_id,
    details: { vault_id, token_id, via: 'client' },
  });
  const { value } = await open(ctx, await lookUp(ctx, null, data));
  return { value };
}

/**
 * Puts one value into the vault. The token is spent first and given back when the vault refuses the value: a process that is killed in between leaves a spent
 * token and no value, never two values. @throws Refusal validation_error, vault_disabled, client_token_used, token_space_exhausted, plan_limit
 */
export async function spendOnValue(ctx: Ctx, { token: _, ...item }: z.output<typeof SpendOnValue>) {
  const spender = spenderOf(ctx);
  const vault = await findVault(ctx, spender.bound.vault_id ?? '');
  if (!vault) throw invalidClientToken();
  if (!vault.enabled) throw vaultDisabled();
  checkedItem(vault, item);
  await consume(ctx, spender, {
    action: 'update',
    resource_type: 'client_token',
    resource_id: spender.id,
    details: { outcome: 'spent', vault_id: vault.id },
  });
  try {
    const [issued] = await tokenize(ctx, vault, [item], { via: { via: 'client', client_token_id: spender.id, origin: spender.origin } });
    if (!issued) throw new Error('a value was tokenized into nothing');
    const { token, expires_at, card_expires_on } = issued;
    return { token, expires_at, card_expires_on };
  } catch (error) {
    await giveBack(ctx, spender, error);
    throw error;
  }
}

export const invalidClientToken = () =>
  new Refusal('invalid_client_token', 'The client token is unknown, malformed or no longer valid. Ask your backend for a new one.', {
    headers: { 'www-authenticate': 'Bearer realm="client", error="invalid_token"' },
  });
export const usedClientToken = () =>
  new Refusal('client_token_used', 'The client token was used already: each works once. Ask your backend for a new one.', {
    headers: { 'www-authenticate': 'Bearer realm="client", error="invalid_token"' },
  });

function spenderOf({ actor }: Ctx): Spender {
  if (actor.type !== 'client_token') throw new Error('only a client token spends');
  return actor;
}

/** Compared in constant time. A wrong payload counts against the token. @throws Refusal client_token_payload_mismatch */
async function assertPayload(ctx: Ctx, { id, bound }: Spender, data: string): Promise<void> {
  if (bound.payload_sha256 && digestEquals(payloadDigest(data), bound.payload_sha256)) return;
  await attemptFailed(ctx, id);
  await recordRefusal(ctx, id, 'client_token_payload_mismatch');
  throw new Refusal(
    'client_token_payload_mismatch',
    'The client token is bound to another value. Send exactly the text it was minted for.',
  );
}

/**
 * Spends the token and writes the audit entry in one transaction: of parallel spends one finds the row unspent, and without its entry nothing is spent.
 * @throws Refusal client_token_used, audit_unavailable
 */
async function consume(ctx: Ctx, { id, origin }: Spender, entry: AuditEntry): Promise<void> {
  const details = { ...entry.details, client_token_id: id, ip: ctx.ip, origin };
  try {
    await mutate(ctx, async (tx) => {
      const spent = await tx.$executeRaw`
        update client_tokens set consumed_at = ${ctx.now}, consumed_ip = ${ctx.ip}, consumed_origin = ${origin}
        where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and consumed_at is null and burned_at is null and revoked_at is null
          and expires_at > now()`;
      if (spent !== 1) throw usedClientToken();
      return audited(undefined, { ...entry, details });
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('audit_unavailable', "The audit log can't be written, so nothing was opened and the token isn't used. Try again.", {
      retryAfter: 5,
      cause: error,
    });
  }
}

/** The vault refused the value: the same spend may come again. */
async function giveBack(ctx: Ctx, { id, origin }: Spender, error: unknown): Promise<void> {
  const reason = error instanceof Refusal ? error.type : 'internal_error';
  await mutate(ctx, async (tx) => {
    await tx.client_tokens.updateMany({
      where: { ...own(ctx), id, consumed_at: ctx.now },
      data: { consumed_at: null, consumed_ip: null, consumed_origin: null },
    });
    return audited(undefined, {
      action: 'update',
      resource_type: 'client_token',
      resource_id: id,
      details: { outcome: 'refused', reason, ip: ctx.ip, origin },
    });
  });
}

/** @throws Refusal plan_limit */
async function takeDetokenization(ctx: Ctx): Promise<void> {
  if (ctx.sandbox) return;
  const limit = await effectiveLimit(ctx, 'vault_detokenize');
  const { allowed } = await takeFromMonth(ctx.tenant_id, 'vault_detokenize', 1, limit, ctx.now);
  if (!allowed) throw new Refusal('plan_limit', 'This workspace has detokenized as often this month as its plan allows.');
}
