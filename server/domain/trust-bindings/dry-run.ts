import type { z } from 'zod';
import { readWorkloadToken, TokenRefused, unverifiedIssuer } from '#server/crypto/workload-token.ts';
import { clientByRef } from '#server/domain/oauth-clients/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { IssuerFault, keySource, verifiedWorkload } from '#server/platform/connect/issuer-keys.ts';
import { throttled } from '#server/platform/throttle.ts';
import { claimTexts, conditionsOf } from './claims.shared.ts';
import type { TestTrustBindings } from './schema.ts';
import { bindingsOfClient } from './store.ts';

/** Each may make an issuer be asked for its keys. */
const MOST_TESTS = { limit: 60, window_sec: 300 };

/**
 * What an exchange of this token would do with the bindings of one client. The token is read, never kept: it is in no log, no audit entry and no answer.
 * Only issuers that the client trusts are asked for keys. @throws Refusal not_found, rate_limit_exceeded
 */
export async function testBindings(ctx: Ctx, { id, subject_token }: z.output<typeof TestTrustBindings>) {
  const { client, bindings } = await read(ctx, async (tx) => {
    const found = await clientByRef(tx, ctx, id);
    return { client: found, bindings: await bindingsOfClient(tx, ctx, found.id) };
  });
  await throttled([{ what: 'trust_test', subject: ctx.tenant_id, ...MOST_TESTS }], ctx.now, 'rate_limit_exceeded');
  const issuer = unverifiedIssuer(subject_token);
  const { problem, signature_valid, claims } = await judged(
    subject_token,
    bindings.some((binding) => binding.issuer === issuer),
    ctx.now,
  );
  const results = bindings.map((binding) => {
    const conditions = [
      { claim: 'iss', expected: [binding.issuer], actual: issuer === null ? [] : [issuer], matches: binding.issuer === issuer },
      ...conditionsOf(binding, claims),
    ].map(({ expected, actual, ...rest }) => ({ ...rest, expected: [...expected], actual: actual.map((text) => text.slice(0, 255)) }));
    return {
      binding_id: binding.id,
      name: binding.name,
      enabled: binding.enabled,
      matches: conditions.every(({ matches }) => matches),
      conditions,
    };
  });
  const chosen = results.find(({ enabled, matches }) => enabled && matches);
  const { exp, sub } = claims;
  return {
    accepted: problem === null && chosen !== undefined && client.active,
    binding_id: problem === null && chosen ? chosen.binding_id : null,
    problem: problem ?? (client.active ? null : 'The client is turned off.'),
    signature_valid,
    issuer,
    subject: typeof sub === 'string' ? sub.slice(0, 255) : null,
    audiences: claimTexts(claims, 'aud').map((text) => text.slice(0, 255)),
    expires_at: typeof exp === 'number' && Math.abs(exp) < 1e11 ? new Date(exp * 1000) : null,
    bindings: results,
  };
}

type Judged = { problem: string | null; signature_valid: boolean | null; claims: Readonly<Record<string, unknown>> };

/** Whether the token itself is sound, and its claims even if it isn't: an expired token still shows which conditions it met. */
async function judged(token: string, trusted: boolean, now: Date): Promise<Judged> {
  let claims: Judged['claims'] = {};
  try {
    ({ claims } = readWorkloadToken(token));
    if (!trusted) return { problem: 'No binding of this client trusts the issuer of the token.', signature_valid: null, claims };
    return { problem: null, signature_valid: true, claims: await verifiedWorkload(keySource(), token, now) };
  } catch (error) {
    if (error instanceof IssuerFault) return { problem: error.message, signature_valid: null, claims };
    if (!(error instanceof TokenRefused)) throw error;
    const unsigned = error.reason === 'signature' || error.reason === 'unknown_key';
    return {
      problem: error.message,
      signature_valid: unsigned ? false : error.reason === 'malformed' || error.reason === 'algorithm' ? null : true,
      claims,
    };
  }
}
