import type { AccountKey } from '#server/crypto/acme/account-key.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Actor, type Ctx, type MintedBy, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { notThere, type ProblemDocument } from './problem.ts';
import {
  type AccountState,
  type AuthorizationState,
  authorizationState,
  type ChallengeState,
  type OrderState,
  orderState,
} from './states.ts';

type Row<M extends keyof Rows> = Rows[M];
type Rows = {
  account: Prisma.acme_accountsGetPayload<object>;
  order: Prisma.acme_ordersGetPayload<object>;
  authorization: Prisma.acme_authorizationsGetPayload<object>;
  challenge: Prisma.acme_challengesGetPayload<object>;
};

export type AccountRow = Omit<Row<'account'>, 'status' | 'jwk'> & { status: AccountState; jwk: AccountKey | null };
export type ChallengeType = 'http-01' | 'dns-01' | 'tls-alpn-01';
export type ChallengeRow = Omit<Row<'challenge'>, 'status' | 'type' | 'error'> & {
  status: ChallengeState;
  type: ChallengeType;
  error: ProblemDocument | null;
};
/** As it is now: what has expired says so. */
export type AuthorizationRow = Omit<Row<'authorization'>, 'status'> & { status: AuthorizationState; challenges: ChallengeRow[] };
/** As it is now, by its authorizations and its time. */
export type OrderRow = Omit<Row<'order'>, 'status' | 'error'> & {
  status: OrderState;
  error: ProblemDocument | null;
  authorizations: AuthorizationRow[];
};

const WITH_CHALLENGES = { challenges: { orderBy: { id: 'asc' } } } as const;
const WHOLE = { authorizations: { orderBy: { id: 'asc' }, include: WITH_CHALLENGES } } as const;

/** An order of this account. @throws AcmeProblem for one that is unknown or another's */
export async function orderOf(tx: Tx, ctx: Ctx, account: { id: string }, id: string): Promise<OrderRow> {
  const row = isUuid(id) ? await tx.acme_orders.findFirst({ where: { ...own(ctx), id, account_id: account.id }, include: WHOLE }) : null;
  if (!row) throw notThere();
  const authorizations = row.authorizations.map((one) => current(one, ctx.now));
  const states = authorizations.map(({ status }) => status);
  return {
    ...row,
    status: orderState(row.status as OrderState, row.expires_at, states, ctx.now),
    error: row.error as ProblemDocument | null,
    authorizations,
  };
}

/** As `orderOf`, holding the row until the transaction ends. */
export async function lockedOrder(tx: Tx, ctx: Ctx, account: { id: string }, id: string): Promise<OrderRow> {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from acme_orders where id = ${id}::uuid and account_id = ${account.id}::uuid for no key update`;
  return orderOf(tx, ctx, account, id);
}

/** An authorization of this account. @throws AcmeProblem for one that is unknown or another's */
export async function authorizationOf(tx: Tx, ctx: Ctx, account: { id: string }, id: string): Promise<AuthorizationRow> {
  const where = { ...own(ctx), id, account_id: account.id };
  const row = isUuid(id) ? await tx.acme_authorizations.findFirst({ where, include: WITH_CHALLENGES }) : null;
  if (!row) throw notThere();
  return current(row, ctx.now);
}

/** A challenge of this account and its authorization. @throws AcmeProblem for one that is unknown or another's */
export async function challengeOf(tx: Tx, ctx: Ctx, account: { id: string }, id: string) {
  const where = { ...own(ctx), account_id: account.id, challenges: { some: { id } } };
  const row = isUuid(id) ? await tx.acme_authorizations.findFirst({ where, include: WITH_CHALLENGES }) : null;
  const authorization = row && current(row, ctx.now);
  const challenge = authorization?.challenges.find((one) => one.id === id);
  if (!authorization || !challenge) throw notThere();
  return { authorization, challenge };
}

const current = (row: Row<'authorization'> & { challenges: Row<'challenge'>[] }, now: Date): AuthorizationRow => ({
  ...row,
  status: authorizationState(row.status as AuthorizationState, row.expires_at, now),
  challenges: row.challenges as ChallengeRow[],
});

/** Where the HMAC key of an account lies. */
export const placeOf = ({ tenant_id, sandbox, id }: Pick<AccountRow, 'tenant_id' | 'sandbox' | 'id'>) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'acme_hmac', row_id: id }) as const;

/** What a used key leaves. */
export const ERASED = { value_ct: null, cek_wrapped: null, tmk_version: null } as const;

/** An account as a caller. Audit entries name the credential that answers for it, and the account. */
export const actorOf = (account: Pick<AccountRow, 'id' | 'label' | 'minted_by_type' | 'minted_by_id' | 'minted_by_label'>): Actor => ({
  type: 'acme_account',
  id: account.id,
  label: `ACME account ${account.label ?? account.id}`,
  minted_by: mintedBy(account),
  capabilities: new Set(['pki:sign']),
});

export const mintedBy = (row: Pick<AccountRow, 'minted_by_type' | 'minted_by_id' | 'minted_by_label'>): MintedBy => ({
  type: row.minted_by_type as MintedBy['type'],
  id: row.minted_by_id,
  label: row.minted_by_label,
});
