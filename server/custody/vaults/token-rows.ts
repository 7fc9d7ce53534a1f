import type { ClientBase } from 'pg';
import { isUuid } from '#server/kernel/fields.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { batching } from '#server/platform/batching.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { ownSql } from '#server/platform/sql.ts';
import type { VaultSpace } from './vaults.ts';

/** A token that is to be stored. */
export type NewTokenRow = {
  id: string;
  vault_id: string;
  token: string;
  wrapped_value: Buffer | null;
  crypto_key_version: number;
  metadata: Record<string, unknown> | null;
  expires_at: Date | null;
  /** YYYY-MM-DD */
  card_exp: string | null;
  value_hmac: Buffer | null;
  created_by_api_key_id: string | null;
  created_by_user_id: string | null;
  created_at: Date;
};

/** A stored token that is neither deleted nor removed; it may have expired. */
export type TokenRow = Omit<NewTokenRow, 'metadata'> & { metadata: Record<string, unknown> | null };

/** The plan allows no more tokens in this space: how many there are. */
export class TokensExceeded extends Error {
  override readonly name = 'TokensExceeded';
  readonly used: number;

  constructor(used: number) {
    super('more tokens than the plan allows');
    this.used = used;
  }
}

/**
 * Stores one token; false when its text or its value is taken, or the vault doesn't take tokens any more. All that are stored at the same time share one
 * statement and one commit. @throws TokensExceeded
 */
export function storeToken(space: VaultSpace, row: NewTokenRow, limit: number | null): Promise<boolean> {
  return store(`${space.tenant_id}:${space.sandbox}:${limit}`, { space, row, limit }).then((stored) => {
    if (stored instanceof TokensExceeded) throw stored;
    return stored;
  });
}

type Storing = { space: VaultSpace; row: NewTokenRow; limit: number | null };

const store = batching<Storing, boolean | TokensExceeded>('vault-tokens', {
  most: 500,
  async run(items) {
    const [{ space, limit }] = items as readonly [Storing];
    try {
      const stored = await insertTokens(
        ownSql(),
        space,
        items.map(({ row }) => row),
        limit,
      );
      return items.map(({ row }) => stored.has(row.id));
    } catch (error) {
      if (!(error instanceof TokensExceeded)) throw error;
      if (items.length === 1) return [error];
      // Some of them may still fit.
      const results: (boolean | TokensExceeded)[] = [];
      for (const { row } of items)
        results.push(
          await insertTokens(ownSql(), space, [row], limit).then(
            (stored) => stored.has(row.id),
            (failed: unknown) => {
              if (failed instanceof TokensExceeded) return failed;
              throw failed;
            },
          ),
        );
      return results;
    }
  },
});

/**
 * Inserts tokens where neither text nor value is taken. @returns the ids of those that were stored. @throws TokensExceeded, and then nothing is stored
 */
export async function insertTokens(
  client: Pick<ClientBase, 'query'>,
  { tenant_id, sandbox }: VaultSpace,
  rows: readonly NewTokenRow[],
  limit: number | null,
): Promise<Set<string>> {
  // Everybody who stores the same values takes their locks in one order.
  const sorted = rows.length === 1 ? rows : [...rows].sort((a, b) => Buffer.compare(a.value_hmac ?? NOTHING, b.value_hmac ?? NOTHING));
  const stored = new Set<string>();
  for (let from = 0; from < sorted.length; from += AT_ONCE)
    for (const id of await insertSome(client, { tenant_id, sandbox }, sorted.slice(from, from + AT_ONCE), limit)) stored.add(id);
  return stored;
}

/** The driver writes the values of a statement in one go. */
const AT_ONCE = 1_000;

async function insertSome(
  client: Pick<ClientBase, 'query'>,
  { tenant_id, sandbox }: VaultSpace,
  sorted: readonly NewTokenRow[],
  limit: number | null,
): Promise<string[]> {
  const column = <K extends keyof NewTokenRow>(name: K) => sorted.map((row) => row[name]);
  try {
    const { rows: stored } = await client.query<{ id: string }>({
      name: 'vault-tokens-insert',
      text: INSERT,
      values: [
        tenant_id,
        sandbox,
        limit === null ? '' : String(limit),
        column('id'),
        column('vault_id'),
        column('token'),
        column('wrapped_value'),
        column('crypto_key_version'),
        sorted.map(({ metadata }) => (metadata === null ? null : JSON.stringify(metadata))),
        column('expires_at'),
        column('card_exp'),
        column('value_hmac'),
        column('created_by_api_key_id'),
        column('created_by_user_id'),
        column('created_at'),
      ],
    });
    return stored.map(({ id }) => id);
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    throw code === 'SP402' ? new TokensExceeded(Number(detail)) : error;
  }
}

const NOTHING = Buffer.alloc(0);

// The settings of row-level security are made by the statement for the statement, as in `ownQuery`: the lateral join makes PostgreSQL set them before it
// looks at the vault. A vault that was disabled or deleted a moment ago takes no token.
const INSERT = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox,
      set_config('app.vault_token_limit', $3::text, true) as most)
  insert into vault_tokens (id, tenant_id, sandbox, vault_id, token, wrapped_value, crypto_key_version, metadata, expires_at, card_exp, value_hmac,
    created_by_api_key_id, created_by_user_id, created_at)
  select g.id, $1::uuid, $2::boolean, live.id, g.token, g.wrapped, g.key_version, g.metadata::jsonb, g.expires_at, g.card_exp, g.hmac, g.api_key, g.person, g.created_at
  from own cross join unnest($4::uuid[], $5::uuid[], $6::text[], $7::bytea[], $8::int[], $9::text[], $10::timestamptz[], $11::date[], $12::bytea[],
      $13::uuid[], $14::uuid[], $15::timestamptz[])
    with ordinality as g (id, vault_id, token, wrapped, key_version, metadata, expires_at, card_exp, hmac, api_key, person, created_at, nth)
  cross join lateral (
    select v.id from vaults v where v.id = g.vault_id and v.tenant_id = $1 and v.sandbox = $2 and v.deleted_at is null and v.enabled
      and own.tenant is not null and own.sandbox is not null and own.most is not null offset 0) live
  order by g.nth
  on conflict do nothing returning id`;

const COLUMNS = `t.id, t.vault_id, t.token, t.wrapped_value, t.crypto_key_version, t.metadata::text as metadata, t.expires_at, t.card_exp::text as card_exp, t.value_hmac,
  t.created_by_api_key_id, t.created_by_user_id, t.created_at`;

type Question = { space: VaultSpace; ref: string };

/** The live row of a token's text; of an ID when no token has that text. Questions that arrive together share one statement. */
export const findToken = async (space: VaultSpace, ref: string): Promise<TokenRow | null> =>
  // PostgreSQL refuses such text, and with it every question of the same statement.
  ref.includes('\0') || !ref.isWellFormed() ? null : read(`${space.tenant_id}:${space.sandbox}`, { space, ref });

const read = batching<Question, TokenRow | null>('vault-token-rows', {
  most: 1_000,
  async run(questions) {
    const [{ space }] = questions as readonly [Question];
    const refs = [...new Set(questions.map(({ ref }) => ref))];
    const rows = exact(await ownRows<TokenRow>(space, BY_REF, refs, refs.filter(isUuid)));
    // Texts come last in the map, so that they win over IDs.
    const found = new Map([...rows.map((row) => [row.id, row] as const), ...rows.map((row) => [row.token, row] as const)]);
    return questions.map(({ ref }) => found.get(ref) ?? (isUuid(ref) ? found.get(ref.toLowerCase()) : undefined) ?? null);
  },
});

const BY_REF = ownQuery(
  'vault-tokens-by-ref',
  `select ${COLUMNS} from vault_tokens t where t.tenant_id = $1 and t.sandbox = $2 and t.deleted_at is null and t.token = any($3::text[])
   union all select ${COLUMNS} from vault_tokens t where t.tenant_id = $1 and t.sandbox = $2 and t.deleted_at is null and t.id = any($4::uuid[])`,
);

type Value = { vault_id: string; value_hmac: Buffer };

/** The tokens of values, in vaults with dedupe; those that have none are left out. Without a transaction, questions that arrive together share one statement. */
export async function tokensOfValues(
  client: Pick<ClientBase, 'query'> | null,
  space: VaultSpace,
  values: readonly Value[],
): Promise<TokenRow[]> {
  if (!client) {
    const found = await Promise.all(values.map((value) => readValue(`${space.tenant_id}:${space.sandbox}`, { space, value })));
    return found.filter((row) => row !== null);
  }
  const { rows } = await client.query<TokenRow>({ ...BY_VALUE, values: [space.tenant_id, space.sandbox, ...columnsOf(values)] });
  return exact(rows);
}

/** Metadata is read as text: the driver would read its numbers as doubles. */
const exact = (rows: readonly TokenRow[]): TokenRow[] =>
  rows.map((row) => ({ ...row, metadata: jsonOfColumn(row.metadata) as TokenRow['metadata'] }));

const columnsOf = (values: readonly Value[]) => [values.map(({ vault_id }) => vault_id), values.map(({ value_hmac }) => value_hmac)];
const nameOf = ({ vault_id, value_hmac }: { vault_id: string; value_hmac: Buffer | null }) =>
  `${vault_id} ${value_hmac?.toString('base64')}`;

const readValue = batching<{ space: VaultSpace; value: Value }, TokenRow | null>('vault-tokens-of-values', {
  most: 1_000,
  async run(questions) {
    const [{ space }] = questions as readonly [{ space: VaultSpace; value: Value }];
    const asked = new Map(questions.map(({ value }) => [nameOf(value), value]));
    const rows = exact(await ownRows<TokenRow>(space, BY_VALUE, ...columnsOf([...asked.values()])));
    const found = new Map(rows.map((row) => [nameOf(row), row]));
    return questions.map(({ value }) => found.get(nameOf(value)) ?? null);
  },
});

const BY_VALUE = ownQuery(
  'vault-tokens-by-value',
  `select ${COLUMNS} from unnest($3::uuid[], $4::bytea[]) as g (vault_id, hmac)
    join vault_tokens t on t.vault_id = g.vault_id and t.value_hmac = g.hmac and t.tenant_id = $1 and t.sandbox = $2`,
);

/** Which of these texts are taken in the space, also by tokens that were deleted. */
export async function takenTexts(space: VaultSpace, texts: readonly string[]): Promise<Set<string>> {
  const rows = await ownRows<{ token: string }>(space, TAKEN, texts);
  return new Set(rows.map(({ token }) => token));
}

const TAKEN = ownQuery(
  'vault-tokens-taken',
  'select token from vault_tokens where tenant_id = $1 and sandbox = $2 and token = any($3::text[])',
);
