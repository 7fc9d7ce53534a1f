import { TokenRefused, unverifiedIssuer, useDigest, type WorkloadClaims } from '#server/crypto/workload-token.ts';
import { clientByRow, type Issued, issueTokens, machineScopes, type OAuthClient } from '#server/domain/oauth-grants/service.ts';
import { type Ctx, type Space, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { IssuerFault, type KeySource, keySource, verifiedWorkload } from '#server/platform/connect/issuer-keys.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { type Candidate, candidatesFor, type Hints } from './candidates.ts';
import { claimTexts, conditionsOf } from './claims.shared.ts';
import { type Failure, type FailureReason, recordFailure, recordFailureOf } from './failures.ts';
import { countUse } from './use-counts.ts';

// The exchange of a workload's token for one of ours (interface rule 21 §4.6). The caller proves nothing but the token, so every refusal reads the same and
// the workspace's audit log says why.

export type Exchange = Hints & {
  subject_token: string;
  /** Scopes asked for; null: all that the binding gives. */
  scopes: readonly string[] | null;
  /** Thumbprint of the key that the new token is bound to. */
  jkt: string | null;
  /** The only space that may be meant. */
  space?: Space | undefined;
  /** The space of the host that was asked: it decides between bindings of both spaces that match alike. */
  host_space: Space;
  /** Called once the client is known. What it throws ends the exchange. */
  admit: (client: OAuthClient) => Promise<void>;
  request_id: string;
  ip: string | null;
  user_agent: string | null;
  now: Date;
};

type Means = { source?: KeySource; database?: Db };
type Running = Exchange & { database: Db };

/** What the caller is told: an OAuth error and its description. */
export class ExchangeRefused extends Error {
  readonly error: 'invalid_grant' | 'invalid_request' | 'invalid_scope' | 'invalid_dpop_proof';
  constructor(error: ExchangeRefused['error'], description: string) {
    super(description);
    this.name = 'ExchangeRefused';
    this.error = error;
  }
}

const NOT_ACCEPTED = 'The subject token is not accepted. The audit log of the workspace says why.';

/** @throws ExchangeRefused; anything else means that a store is away, and nothing was issued */
export async function exchangeToken(asked: Exchange, { source = keySource(), database = db() }: Means = {}): Promise<Issued> {
  const exchange = { ...asked, database };
  const { subject_token, now } = exchange;
  const issuer = unverifiedIssuer(subject_token);
  if (issuer === null) throw new ExchangeRefused('invalid_grant', NOT_ACCEPTED);
  if ((await candidatesFor(issuer, exchange, undefined, 1)).length === 0)
    throw new ExchangeRefused('invalid_grant', 'No trust binding for this issuer.');
  let claims: WorkloadClaims;
  try {
    claims = await verifiedWorkload(source, subject_token, now);
  } catch (error) {
    if (!(error instanceof TokenRefused || error instanceof IssuerFault)) throw error;
    throw await refused(exchange, { reason: error.reason, issuer });
  }
  const binding = await bindingFor(exchange, claims);
  return issue(exchange, binding, claims);
}

/** The one binding that the token fits. @throws ExchangeRefused */
async function bindingFor(exchange: Running, claims: WorkloadClaims): Promise<Candidate> {
  const failure = { issuer: claims.iss, claims };
  const candidates = await candidatesFor(claims.iss, exchange, { audiences: claimTexts(claims, 'aud'), subject: claims.sub });
  const matching = candidates.filter(
    (binding) =>
      (exchange.space === undefined || spaceOf(binding.sandbox) === exchange.space) &&
      conditionsOf(binding, claims).every(({ matches }) => matches),
  );
  const [first] = matching;
  if (!first) throw await refused(exchange, { ...failure, reason: 'no_match' });
  if (matching.some(({ tenant_id }) => tenant_id !== first.tenant_id)) {
    log.info({ issuer: claims.iss, bindings: matching.map(({ id }) => id) }, 'a token exchange was ambiguous');
    throw new ExchangeRefused('invalid_request', 'Several workspaces trust this token: send tenant with the slug of the one you mean.');
  }
  return matching.find(({ sandbox }) => spaceOf(sandbox) === exchange.host_space) ?? first;
}

/** Issues the token in one transaction with its audit entry, and with the mark of a token that may be presented once. @throws ExchangeRefused */
async function issue(exchange: Running, binding: Candidate, claims: WorkloadClaims): Promise<Issued> {
  const { now, jkt } = exchange;
  const stop = async (reason: FailureReason, refusal: ExchangeRefused) => {
    await recordFailureOf({ reason, issuer: claims.iss, claims }, binding, (at) => contextOf(exchange, at));
    return refusal;
  };
  const client = await clientByRow(binding.client_row_id, now);
  if (!client?.active) throw await stop('disabled', new ExchangeRefused('invalid_grant', NOT_ACCEPTED));
  await exchange.admit(client);
  if (client.require_dpop && jkt === null)
    throw await stop('dpop_required', new ExchangeRefused('invalid_dpop_proof', 'This client requires a DPoP proof.'));
  const answer = machineScopes(exchange.scopes, client, binding.scopes);
  if ('problem' in answer) throw await stop('invalid_scope', new ExchangeRefused('invalid_scope', answer.problem));
  if (answer.scopes.length === 0)
    throw await stop('invalid_scope', new ExchangeRefused('invalid_scope', 'Nothing is left of the scopes of the binding and its client.'));

  const ctx = { ...contextOf(exchange, binding), actor: actorOf(binding) };
  let outcome: FailureReason | undefined;
  const issued = await mutate(ctx, async (tx) => {
    outcome = undefined;
    if (!(await stillTrusted(tx, binding))) outcome = 'disabled';
    else if (binding.single_use && !(await markUsed(tx, binding, exchange.subject_token, claims.exp))) outcome = 'already_exchanged';
    if (outcome) throw new NotIssued();
    const subject = { kind: 'workload' as const, binding_id: binding.id };
    const ttl_seconds = Math.min(3600, binding.ttl_seconds);
    const value = await issueTokens(tx, { client, subject, scopes: answer.scopes, jkt, ttl_seconds, now });
    return audited(value, {
      action: 'login',
      resource_type: 'trust_binding',
      resource_id: binding.id,
      name: binding.name,
      details: {
        issuer: claims.iss,
        subject: claims.sub.slice(0, 255),
        client_id: binding.client_id,
        scopes: answer.scopes,
        matched: conditionsOf(binding, claims).map(({ claim, actual }) => ({ claim, actual: actual.map((text) => text.slice(0, 255)) })),
        ...(typeof claims.jti === 'string' ? { jti: claims.jti.slice(0, 255) } : {}),
      },
    });
  }).catch((error: unknown) => {
    if (error instanceof NotIssued) return null;
    throw error;
  });
  if (issued) {
    countUse(binding.id, now);
    return issued;
  }
  const reason = outcome ?? 'disabled';
  throw await stop(
    reason,
    new ExchangeRefused('invalid_grant', reason === 'already_exchanged' ? 'The subject token was already exchanged.' : NOT_ACCEPTED),
  );
}

/** Rolls the transaction back. */
class NotIssued extends Error {}

/** Whoever ends the client or the binding waits for this, and then finds the token to revoke. The same order as an edit takes: first the client. */
async function stillTrusted(tx: Tx, { id, client_row_id }: Candidate): Promise<boolean> {
  const client = await tx.$queryRaw<unknown[]>`
    select 1 from oauth_clients where id = ${client_row_id}::uuid and active and revoked_at is null for share`;
  const binding = await tx.$queryRaw<unknown[]>`select 1 from oauth_trust_bindings where id = ${id}::uuid and enabled for share`;
  return client.length === 1 && binding.length === 1;
}

/** A token is accepted for a minute beyond its end, so it is remembered longer than that. @returns false when it was exchanged before */
async function markUsed(tx: Tx, binding: Candidate, token: string, exp: number): Promise<boolean> {
  const marked = await tx.$executeRaw`
    insert into oauth_assertion_uses (digest, tenant_id, sandbox, binding_id, expires_at)
    values (${new Uint8Array(useDigest(token))}, ${binding.tenant_id}::uuid, ${binding.sandbox}, ${binding.id}::uuid, to_timestamp(${exp + 300}))
    on conflict (digest) do nothing`;
  return marked === 1;
}

/** Tells whom it concerns; the answer is the same for every reason. */
async function refused(exchange: Running, failure: Failure): Promise<ExchangeRefused> {
  await recordFailure(failure, exchange, (at) => contextOf(exchange, at));
  return new ExchangeRefused('invalid_grant', NOT_ACCEPTED);
}

function contextOf(
  { database, request_id, ip, user_agent, now }: Running,
  { tenant_id, sandbox }: { tenant_id: string; sandbox: boolean },
): Ctx {
  return {
    db: database,
    ...{ tenant_id, sandbox, request_id, ip, user_agent, now },
    actor: { type: 'anonymous', id: null, label: 'Token exchange', capabilities: new Set() },
    plan: 'enterprise', // no plan gates an exchange
    warnings: [],
  };
}

/** In the audit log the client acts: it is whose token the workload works with. */
const actorOf = ({ client_row_id, client_id, client_name }: Candidate): Ctx['actor'] => ({
  type: 'oauth_token',
  id: client_row_id,
  label: client_name,
  ...{ client_id, token_id: '', user_id: null, person: null, source_key: null, family_id: null, scopes: [], step_up_at: null },
  capabilities: new Set(),
});
