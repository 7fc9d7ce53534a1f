import { claimTexts } from '#server/domain/trust-bindings/claims.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { network, take } from '#server/platform/throttle.ts';
import { judgedRules } from './rules.ts';
import type { ClaimRule } from './schema.ts';

type Refusal = {
  reason: string;
  issuer: string;
  /** Of a token whose signature held. */
  claims: Readonly<Record<string, unknown>> | undefined;
  binding: { id: string; name: string; claim_rules: ClaimRule[] } | null;
};

/** One entry per reason, binding and network in ten minutes, and 100 of a workspace: nobody fills an audit log with tokens that he makes up. */
const WINDOW = { window_sec: 600 };

/** Tells the workspace why a token wasn't accepted, which the caller isn't told. */
export async function recordRefusal(ctx: Ctx, { reason, issuer, claims, binding }: Refusal): Promise<void> {
  const own = `${ctx.tenant_id}:${reason}:${binding?.id}:${network(ctx.ip)}`;
  if (!(await take({ what: 'ai_exchange_refused', subject: own, limit: 1, ...WINDOW }, ctx.now)).allowed) return;
  if (!(await take({ what: 'ai_exchange_refusals', subject: ctx.tenant_id, limit: 100, ...WINDOW }, ctx.now)).allowed) return;
  const failing = binding && claims ? judgedRules(binding.claim_rules, claims).filter(({ matches }) => !matches) : [];
  await inTransaction(ctx, (tx) =>
    writeAudit(tx, ctx, {
      action: 'login_failed',
      resource_type: 'ai_oidc_binding',
      resource_id: binding?.id ?? null,
      ...(binding ? { name: binding.name } : {}),
      details: {
        reason,
        issuer,
        ...(claims
          ? { subject: String(claims.sub).slice(0, 255), audiences: claimTexts(claims, 'aud').map((text) => text.slice(0, 255)) }
          : {}),
        ...(failing.length > 0 ? { not_matching: failing.map(({ claim, expected, actual }) => ({ claim, expected, actual })) } : {}),
      },
    }),
  );
}
