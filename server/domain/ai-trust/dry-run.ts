import type { z } from 'zod';
import { readWorkloadToken, TokenRefused, unverifiedIssuer, useDigest } from '#server/crypto/workload-token.ts';
import { claimTexts } from '#server/domain/trust-bindings/claims.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { IssuerFault, keySource, verifiedWorkload } from '#server/platform/connect/issuer-keys.ts';
import { throttled } from '#server/platform/throttle.ts';
import { judgedRules } from './rules.ts';
import type { ClaimRule, TestAiOidcToken } from './schema.ts';

/** Each may make an issuer be asked for its keys. */
const MOST_TESTS = { limit: 60, window_sec: 300 };

/**
 * What an exchange of this token would do. It is read, never kept, and stays worth its one exchange. Only issuers that a binding trusts are asked for keys.
 * @throws Refusal rate_limit_exceeded
 */
export async function testToken(ctx: Ctx, { subject_token }: z.output<typeof TestAiOidcToken>) {
  await throttled([{ what: 'ai_trust_test', subject: ctx.tenant_id, ...MOST_TESTS }], ctx.now, 'rate_limit_exceeded');
  const issuer = unverifiedIssuer(subject_token);
  const { bindings, exchanged } = await read(ctx, async (tx) => ({
    bindings: await tx.ai_oidc_bindings.findMany({ where: own(ctx), orderBy: [{ created_at: 'desc' }, { id: 'desc' }] }),
    exchanged: await tx.ai_exchange_claims.findFirst({
      where: { ...own(ctx), hash: new Uint8Array(useDigest(subject_token)) },
      select: { hash: true },
    }),
  }));
  const trusted = bindings.some((binding) => binding.issuer === issuer);
  const { problem, claims } = await judged(subject_token, trusted, ctx.now);
  const results = bindings.map((binding) => {
    const rules = [
      {
        claim: 'iss',
        op: 'eq',
        expected: [binding.issuer],
        actual: issuer === null ? [] : [issuer.slice(0, 255)],
        matches: binding.issuer === issuer,
      },
      ...judgedRules(binding.claim_rules as ClaimRule[], claims),
    ];
    return { binding_id: binding.id, name: binding.name, enabled: binding.enabled, matches: rules.every(({ matches }) => matches), rules };
  });
  const chosen = results.find(({ enabled, matches }) => enabled && matches);
  const { exp, sub } = claims;
  return {
    accepted: problem === null && chosen !== undefined && exchanged === null,
    binding_id: problem === null && chosen ? chosen.binding_id : null,
    problem,
    issuer: issuer?.slice(0, 512) ?? null,
    subject: typeof sub === 'string' ? sub.slice(0, 255) : null,
    audiences: claimTexts(claims, 'aud').map((text) => text.slice(0, 255)),
    expires_at: typeof exp === 'number' && Math.abs(exp) < 1e11 ? new Date(exp * 1000) : null,
    already_exchanged: exchanged !== null,
    bindings: results,
  };
}

/** Whether the token itself is sound, and its claims even if it isn't: an expired token still shows which rules it met. */
async function judged(
  token: string,
  trusted: boolean,
  now: Date,
): Promise<{ problem: string | null; claims: Readonly<Record<string, unknown>> }> {
  let claims: Readonly<Record<string, unknown>> = {};
  try {
    ({ claims } = readWorkloadToken(token));
    if (!trusted) return { problem: 'No binding of this space trusts the issuer of the token.', claims };
    return { problem: null, claims: await verifiedWorkload(keySource(), token, now) };
  } catch (error) {
    if (error instanceof IssuerFault || error instanceof TokenRefused) return { problem: error.message, claims };
    throw error;
  }
}
