import { newRequestId } from '#server/crypto/saml.ts';
import { newState } from '#server/crypto/sign-in-attempt.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import type { Identity } from './identities.ts';
import type { SsoReason } from './reasons.shared.ts';
import { connectionById } from './service.ts';

const OPEN_MS = 10 * 60_000;

export type Attempt = {
  tenant_id: string;
  connection_id: string;
  purpose: 'sign_in' | 'test';
  state: string;
  /** Null for a test that no browser has begun yet. */
  browser: string | null;
  request_id?: string | null;
  /** A page of the dashboard. */
  return_to?: string | null;
  now: Date;
};

/** The row of a sign-in on its way; state and browser secret are stored as digests. */
export const createAttempt = (tx: Tx, { state, browser, now, request_id = null, ...attempt }: Attempt) =>
  tx.sso_attempts.create({
    data: {
      ...attempt,
      id: newId(),
      request_id,
      state_digest: digestOf(state),
      browser_digest: browser === null ? null : digestOf(browser),
      created_at: now,
      expires_at: new Date(now.getTime() + OPEN_MS),
    },
    select: { id: true, expires_at: true },
  });

export const digestOf = (text: string) => new Uint8Array(digest(text));
export { newRequestId };

/** A sign-in that changes nothing and shows what the provider says. The address begins it in the browser that opens it first. */
export async function startTest(ctx: Ctx, input: { id: string }) {
  const state = newState();
  const { id, expires_at } = await inTransaction(ctx, async (tx) => {
    const connection = await connectionById(tx, ctx, input.id);
    return createAttempt(tx, {
      tenant_id: ctx.tenant_id,
      connection_id: connection.id,
      purpose: 'test',
      state,
      browser: null,
      now: ctx.now,
    });
  });
  return { id, expires_at, url: `${env.PUBLIC_ADMIN_URL}/auth/sso/start?test=${state}` };
}

/** @throws Refusal not_found */
export async function testResult(ctx: Ctx, input: { id: string }) {
  const row = await read(ctx, (tx) =>
    isUuid(input.id)
      ? tx.sso_attempts.findFirst({ where: { id: input.id, tenant_id: ctx.tenant_id, purpose: 'test' } })
      : Promise.resolve(null),
  );
  if (!row) throw notFound();
  const { id, connection_id, reason, message, outcome, created_at } = row;
  const identity = row.identity as Identity | null;
  const status = reason ? 'failed' : row.outcome ? 'succeeded' : row.expires_at <= ctx.now ? 'expired' : 'waiting';
  return {
    id,
    connection_id,
    status: status as 'failed' | 'succeeded' | 'expired' | 'waiting',
    reason: reason as SsoReason | null,
    message,
    outcome,
    claims: identity && claimsOf(identity),
    created_at,
  };
}

const claimsOf = ({ issuer, subject, email, email_verified, name, methods, mfa }: Identity) => ({
  issuer,
  subject,
  email,
  email_verified,
  name,
  methods,
  mfa,
});

/** Keeps what a SAML response or a test said. */
export const keepIdentity = (tx: Tx, id: string, identity: Identity, now: Date) =>
  tx.sso_attempts.update({ where: { id }, data: { identity: identity as unknown as Prisma.InputJsonValue, answered_at: now } });
