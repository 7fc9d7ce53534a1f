import type { z } from 'zod';
import { fingerprint, parsePortable } from '#server/crypto/portable/text.ts';
import { digest, mintToken } from '#server/crypto/tokens.ts';
import { endWithin } from '#server/custody/backing.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import { opener } from '#server/custody/portable.ts';
import { lookUp } from '#server/custody/vaults/detokenize.ts';
import { vaultDisabled } from '#server/custody/vaults/issued.ts';
import { assertNotGuessing, countMisses } from '#server/custody/vaults/misses.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { type Capability, PERSON_FORBIDDEN } from '#server/kernel/capabilities.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { canonicalOrigins } from '#server/kernel/page-origins.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { type ClientTokenAction, MAX_TTL_SECONDS, type MintClientToken } from './schema.ts';

type Input = z.output<typeof MintClientToken>;

/** What a token exercises, and therefore what minting it takes: else a credential could reach by a token what it can't itself. */
export const CAPABILITY_OF: Readonly<Record<ClientTokenAction, Capability>> = {
  decrypt: 'transit:decrypt',
  detokenize: 'vault:detokenize',
  tokenize: 'vault:tokenize',
};

/** @throws Refusal validation_error, forbidden, vault_disabled, plan_limit */
export async function mintClientToken(ctx: Ctx, input: Input) {
  const { action } = input;
  assertHolds(ctx, action);
  const binding = await BINDINGS[action](ctx, input);
  await takeMint(ctx);
  const { token, digest: token_hash } = mintToken('client_token');
  const minter = auditActor(ctx.actor);
  const ttl = Math.min(input.ttl_seconds, MAX_TTL_SECONDS);
  return mutate(ctx, async (tx) => {
    const expires_at = await endWithin(tx, ctx, new Date(ctx.now.getTime() + ttl * 1_000));
    const row = await tx.client_tokens.create({
      data: {
        ...own(ctx),
        ...binding,
        id: newId(),
        token_hash: new Uint8Array(token_hash),
        action,
        role: input.role ?? null,
        minted_by_type: minter.type,
        minted_by_id: minter.id as string,
        minted_by_label: minter.label,
        created_at: ctx.now,
        expires_at,
      },
    });
    const { payload_fp, vault_id, token_id, origins } = row;
    return audited(
      { id: row.id, token, expires_at, action, ...(action === 'tokenize' ? { vault_id: vault_id as string, origins } : {}) },
      {
        action: 'create',
        resource_type: 'client_token',
        resource_id: row.id,
        details: {
          action,
          ...(payload_fp === null ? {} : { payload_fp }),
          ...(vault_id === null ? {} : { vault_id }),
          ...(token_id === null ? {} : { token_id }),
          ...(origins.length === 0 ? {} : { origins }),
          ttl,
          expires_at: expires_at.toISOString(),
        },
      },
    );
  });
}

type Binding = {
  payload_sha256?: Uint8Array<ArrayBuffer>;
  payload_fp?: string;
  key_id?: string;
  vault_id?: string;
  token_id?: string;
  origins?: string[];
};

/** What the token is bound to. Whatever doesn't exist in this space is one answer. */
const BINDINGS: Readonly<Record<ClientTokenAction, (ctx: Ctx, input: Input) => Promise<Binding>>> = {
  async decrypt(ctx, { data = '' }) {
    const parsed = parsePortable(data);
    if (!parsed) throw invalid('data', 'must be a sealed value (kc:…:$)');
    const { find } = opener(ctx, { admit: (key) => assertNoPolicy(ctx, 'decrypt', key) });
    const { key } = await find(data).catch(inBody('data', 'must be a sealed value of this space that can still be opened'));
    if (key.managed_by === 'vault') throw invalid('data', 'belongs to a vault: mint for detokenize');
    return { payload_sha256: payloadDigest(data), payload_fp: fingerprint(parsed), key_id: key.id };
  },
  async detokenize(ctx, { data = '' }) {
    // Whoever mints learns whether the token exists, so guesses count like those of detokenize (interface rule 42 §8.3).
    await assertNotGuessing(ctx);
    const { vault, row } = await lookUp(ctx, null, data, { admit: (one) => assertNoPolicy(ctx, 'detokenize', one) })
      .catch(async (error: unknown) => {
        if (error instanceof Refusal && error.type === 'not_found') await countMisses(ctx, 1);
        throw error;
      })
      .catch(inBody('data', 'must be a vault token of this space that can still be opened'));
    // The ID of a token is not its text.
    if (!row || (vault.custody_mode === 'managed' && row.token !== data)) throw invalid('data', 'must be the text of a vault token');
    return { payload_sha256: payloadDigest(data), vault_id: vault.id, token_id: row.id };
  },
  async tokenize(ctx, { vault: name = '', origins: given = [] }) {
    const vault = await findVault(ctx, name);
    if (!vault) throw invalid('vault', "doesn't exist in this space");
    await assertNoPolicy(ctx, 'tokenize', vault);
    if (!vault.enabled) throw vaultDisabled();
    const origins = canonicalOrigins(given, ctx.sandbox);
    if (!origins.ok) throw invalid('origins', origins.problem);
    return { vault_id: vault.id, origins: origins.value };
  },
};

/** SHA-256 of the exact text. */
export const payloadDigest = (data: string): Uint8Array<ArrayBuffer> => new Uint8Array(digest(data));

/** A name or text in a body that leads nowhere is a wrong field; a disabled vault and a missing right say so. */
function inBody(field: string, problem: string) {
  return (error: unknown): never => {
    if (!(error instanceof Refusal) || error.status >= 500 || KEPT.has(error.type)) throw error;
    throw invalid(field, problem);
  };
}
const KEPT: ReadonlySet<string> = new Set(['forbidden', 'vault_disabled', 'rate_limit_exceeded']);

/** People never hold what only a reveal gives them, so they mint nothing that would. @throws Refusal forbidden, role_denied */
function assertHolds({ actor }: Ctx, action: ClientTokenAction): void {
  const capability = CAPABILITY_OF[action];
  const isPerson = actor.type === 'member' || (actor.type === 'oauth_token' && actor.user_id !== null);
  if (actor.capabilities.has(capability) && !(isPerson && PERSON_FORBIDDEN.has(capability))) return;
  throw new Refusal(
    actor.type === 'member' ? 'role_denied' : 'forbidden',
    `Minting a token for ${action} takes the capability ${capability}, which this credential lacks.`,
  );
}

async function assertNoPolicy(ctx: Ctx, action: ClientTokenAction, { id, name }: { id: string; name: string }): Promise<void> {
  const policy = await denyingPolicy(ctx, CAPABILITY_OF[action], { id, name });
  if (policy) throw policyDenied(ctx, policy, CAPABILITY_OF[action]);
}

/** Mints count by the month, in Live only. @throws Refusal plan_limit */
async function takeMint(ctx: Ctx): Promise<void> {
  if (ctx.sandbox) return;
  const limit = await effectiveLimit(ctx, 'client_tokens');
  const { allowed } = await takeFromMonth(ctx.tenant_id, 'client_tokens', 1, limit, ctx.now);
  if (!allowed)
    throw new Refusal(
      'plan_limit',
      `The ${ctx.plan} plan allows ${limit} client tokens a month, and all were minted. Wait for the next month or ${moreRoom(ctx.plan)}.`,
    );
}
