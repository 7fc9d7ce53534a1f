import { blindIndex, sealVaultValue } from '#server/crypto/vault-value.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { mapped, nextSlice } from '#server/kernel/slices.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { countUse } from '../counts.ts';
import { keyById } from '../keys.ts';
import { material } from '../material.ts';
import { recordUse } from '../uses.ts';
import { indexKeyOfVault } from './blind-index.ts';
import { funding } from './cards.ts';
import { tokenizeDual } from './dual.ts';
import { transformValues } from './ff1.ts';
import { FORMATS } from './formats/table.ts';
import { freeTokens } from './free-tokens.ts';
import { creatorOf, fingerprintOf, type IssuedToken, overLimit, vaultDisabled } from './issued.ts';
import { type CheckedItem, checkedItem, type Naming, type TokenizeItem } from './items.ts';
import { insertTokens, type NewTokenRow, storeToken, type TokenRow, TokensExceeded, tokensOfValues } from './token-rows.ts';
import { findVault, type UsableVault } from './vaults.ts';

export type { IssuedToken } from './issued.ts';
export type { TokenizeItem } from './items.ts';

type Options = {
  /** What the values are called in the caller's input, for messages: `values[17]`. */
  naming?: Naming;
  /** Further details of the audit entry, such as where the value was met. */
  via?: Readonly<Record<string, unknown>>;
};

/**
 * Exchanges values for tokens, in order: all of them or none. Stored in one statement together with what else arrives at this time; several in one
 * transaction of their own. @throws Refusal validation_error, vault_disabled, token_space_exhausted, conflict for a chosen token that is taken, plan_limit,
 * tenant_sealed
 */
export async function tokenize(
  ctx: HotCtx,
  vault: UsableVault,
  items: readonly TokenizeItem[],
  { naming, via }: Options = {},
): Promise<IssuedToken[]> {
  if (!vault.enabled) throw vaultDisabled();
  const checked = await mapped(items, (item, i) => checkedItem(vault, { ...item, now: ctx.now }, naming?.(i)));
  const issued =
    vault.custody_mode === 'dual'
      ? await tokenizeDual(ctx, vault, checked)
      : vault.token_format === 'ff1'
        ? await transformValues(ctx, vault, checked)
        : await storeValues(ctx, vault, checked, naming);
  const [first] = issued;
  const made = issued.filter(({ reused }) => !reused).length;
  if (made > 0)
    recordUse(ctx, {
      action: 'create',
      resource_type: 'vault_token',
      resource_id: issued.length === 1 ? (first?.id ?? null) : null,
      details: { vault: vault.name, vault_id: vault.id, ...(issued.length === 1 ? { token_id: first?.id } : { count: made }), ...via },
    });
  return issued;
}

async function storeValues(
  ctx: HotCtx,
  vault: UsableVault,
  items: readonly CheckedItem[],
  naming: Naming | undefined,
): Promise<IssuedToken[]> {
  const [key, indexKey, limit] = await Promise.all([
    keyById(ctx, vault.crypto_key_id),
    vault.dedupe ? indexKeyOfVault(vault) : null,
    effectiveLimit(ctx, 'vault_tokens'),
  ]);
  if (!key) throw notFound(); // deleted with its vault a moment ago
  const version = key.current_version;
  const sealingKey = await material(key, version);
  const creator = creatorOf(ctx);
  const drafts = await mapped(items, (item, i): Draft => {
    const id = newId();
    const value_hmac = indexKey && blindIndex(indexKey, item.normalised);
    const plain = Buffer.from(item.stored, 'utf8');
    const wrapped_value = sealVaultValue(sealingKey, { tenant_id: vault.tenant_id, vault_id: vault.id, token_id: id }, plain);
    plain.fill(0);
    const { metadata, expires_at, card_exp } = item;
    const row = {
      id,
      vault_id: vault.id,
      token: '',
      wrapped_value,
      crypto_key_version: version,
      metadata,
      expires_at,
      card_exp,
      value_hmac,
    };
    return { item, row: { ...row, ...creator, created_at: ctx.now }, place: naming?.(i), reused: null };
  });
  try {
    if (drafts.length === 1) await settle(ctx, vault, drafts, (rows) => storeOne(ctx, rows, limit), null);
    else
      await inOwnTransaction(ctx, async (client) => {
        for (const draft of drafts) draft.reused = null;
        await settle(ctx, vault, drafts, (rows) => insertTokens(client, ctx, rows, limit), client);
      });
  } catch (error) {
    throw error instanceof TokensExceeded ? overLimit(ctx, limit ?? 0, error.used) : error;
  }
  countUse(ctx, key, 'encrypt', drafts.length, version);
  return mapped(drafts, ({ row, reused }) => issuedOf(reused ?? row, vault, reused !== null));
}

/** A value on its way to a row. `reused` is the row that it turned out to have. */
type Draft = { item: CheckedItem; row: NewTokenRow; place: string | undefined; reused: TokenRow | null };
type Store = (rows: readonly NewTokenRow[]) => Promise<ReadonlySet<string>>;

async function storeOne(ctx: HotCtx, rows: readonly NewTokenRow[], limit: number | null): Promise<ReadonlySet<string>> {
  const [row] = rows as [NewTokenRow];
  return (await storeToken(ctx, row, limit)) ? new Set([row.id]) : new Set();
}

/** Random tokens are tried so often before free ones are looked for (interface rule 42 §3.1). */
const TRIES = 20;
/** Free tokens are found one moment and taken the next: so often they are looked for again. */
const SEARCHES = 5;

/** Gives every value a token: a new one, or with dedupe the one it has. */
async function settle(
  ctx: HotCtx,
  vault: UsableVault,
  drafts: readonly Draft[],
  store: Store,
  client: Parameters<typeof tokensOfValues>[0],
): Promise<void> {
  // Most values of a vault with dedupe are known: then nothing is written.
  let left = vault.dedupe ? await withoutKnown(ctx, drafts, client) : [...drafts];
  for (let attempt = 1; left.length > 0; attempt++) {
    for (const [i, draft] of left.entries()) {
      draft.row.token = await candidate(ctx, vault, draft, attempt);
      if (i % 64 === 63) await nextSlice();
    }
    const stored = await store(left.map(({ row }) => row));
    left = left.filter(({ row }) => !stored.has(row.id));
    if (left.length === 0) return;
    if (vault.dedupe) left = await withoutKnown(ctx, left, client);
    const taken = left.find(({ item }) => item.token !== null);
    if (taken) await refuseTaken(ctx, vault, taken);
    if (left.length > 0 && attempt % TRIES === 1) await assertStillOpen(ctx, vault);
  }
}

/** A token that isn't the value. After many tries, or where few tokens exist, a free one. @throws Refusal token_space_exhausted */
async function candidate(ctx: HotCtx, vault: UsableVault, { item }: Draft, attempt: number): Promise<string> {
  if (item.token !== null) return item.token;
  const format = FORMATS[vault.token_format as keyof typeof FORMATS];
  if (attempt > TRIES + SEARCHES) throw exhausted(vault);
  if (attempt <= TRIES)
    for (let i = 0; i < TRIES; i++) {
      const token = format.token(item.normalised);
      if (token !== item.normalised && token !== item.stored) return token;
    }
  const free = format.space ? await freeTokens(ctx, format.space, item.normalised, item.stored) : null;
  if (free === null) throw exhausted(vault);
  return free;
}

const exhausted = (vault: UsableVault) =>
  new Refusal(
    'token_space_exhausted',
    `No ${vault.token_format} token is left for this value: every token of its shape is in use. Delete tokens that you don't need, or use another format.`,
  );

/** Values that have a token keep it. A token that has expired gives its place up. */
async function withoutKnown(ctx: HotCtx, drafts: readonly Draft[], client: Parameters<typeof tokensOfValues>[0]): Promise<Draft[]> {
  const rows = await tokensOfValues(
    client,
    ctx,
    drafts.flatMap(({ row: { vault_id, value_hmac } }) => (value_hmac ? [{ vault_id, value_hmac }] : [])),
  );
  const byValue = new Map(rows.map((row) => [(row.value_hmac as Buffer).toString('base64'), row]));
  const ended: string[] = [];
  const left = drafts.filter((draft) => {
    const known = byValue.get(draft.row.value_hmac?.toString('base64') ?? '');
    if (!known) return true;
    if (known.expires_at !== null && known.expires_at <= ctx.now) {
      ended.push(known.id);
      return true;
    }
    draft.reused = known;
    return false;
  });
  if (ended.length > 0) {
    const release = {
      name: 'vault-tokens-release-value',
      text: 'update vault_tokens set value_hmac = null where id = any($1::uuid[]) and expires_at <= $2',
      values: [ended, ctx.now],
    };
    await (client ? client.query(release) : inOwnTransaction(ctx, (own) => own.query(release)));
  }
  return left;
}

/** A chosen token is taken, unless it is the vault that is gone. */
async function refuseTaken(ctx: HotCtx, vault: UsableVault, { place }: Draft): Promise<never> {
  await assertStillOpen(ctx, vault);
  throw new Refusal('conflict', `${place === undefined ? '' : `${place}: `}token: this text is already a token in this space.`);
}

/** What was open when the call began may have been disabled or deleted since. @throws Refusal not_found, vault_disabled */
async function assertStillOpen(ctx: HotCtx, vault: UsableVault): Promise<void> {
  const now = await findVault(ctx, vault.id);
  if (!now) throw notFound();
  if (!now.enabled) throw vaultDisabled();
}

const issuedOf = (row: NewTokenRow | TokenRow, vault: UsableVault, reused: boolean): IssuedToken => ({
  id: row.id,
  token: row.token,
  expires_at: row.expires_at,
  created_at: row.created_at,
  card_expires_on: row.card_exp,
  ...funding,
  ...(vault.dedupe && row.value_hmac ? { fingerprint: fingerprintOf(row.value_hmac) } : {}),
  ...(reused ? { reused: true as const } : {}),
});
