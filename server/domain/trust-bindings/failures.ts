import type { TokenReason } from '#server/crypto/signed-token.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import type { IssuerFault } from '#server/platform/connect/issuer-keys.ts';
import { log } from '#server/platform/log.ts';
import { network, take } from '#server/platform/throttle.ts';
import { type Candidate, candidatesFor, type Hints } from './candidates.ts';
import { type Condition, claimTexts, conditionsOf } from './claims.shared.ts';

/** Why an exchange was refused: in the audit log only. */
export type FailureReason =
  | TokenReason
  | IssuerFault['reason']
  | 'no_match'
  | 'ambiguous'
  | 'already_exchanged'
  | 'invalid_scope'
  | 'dpop_required'
  | 'disabled';

export type Failure = {
  reason: FailureReason;
  issuer: string;
  /** Of a token whose signature held. */
  claims?: Readonly<Record<string, unknown>>;
};

/** What a refusal says about a workspace: its binding that came closest, and what didn't hold. */
type Concern = Pick<Candidate, 'tenant_id' | 'sandbox'> & { binding: Candidate | null; failing?: Condition[] };
type Context = (at: { tenant_id: string; sandbox: boolean }) => Ctx;

/** One entry per workspace, reason and network in ten minutes: nobody fills an audit log with tokens that he makes up. */
const EVERY_SEC = 600;
/** All that strangers can write into one workspace's log in that time. */
const MOST_ENTRIES = 100;
/** Of an issuer that many trust, only those that the token nearly fitted are told. */
const MOST_TOLD = 3;

/** Tells the workspaces that the refused token was meant for, when that can be said: the one that was named, the only one, or those that it nearly fitted. */
export async function recordFailure(failure: Failure, hints: Hints, contextOf: Context): Promise<void> {
  for (const concern of await concerned(failure, hints)) await tell(failure, concern, contextOf(concern));
}

/** The same where the binding is known. */
export const recordFailureOf = (failure: Failure, binding: Candidate, contextOf: Context): Promise<void> =>
  tell(failure, { ...binding, binding }, contextOf(binding));

async function concerned({ issuer, claims }: Failure, hints: Hints): Promise<Concern[]> {
  const candidates = await candidatesFor(issuer, hints, undefined, 500);
  if (!claims) {
    const [first, ...others] = candidates;
    if (!first || others.some(({ tenant_id }) => tenant_id !== first.tenant_id)) return [];
    return [{ ...first, binding: others.length === 0 ? first : null }];
  }
  const judged = candidates.map((binding) => ({
    ...binding,
    binding,
    failing: conditionsOf(binding, claims).filter(({ matches }) => !matches),
  }));
  const alone = new Set(judged.map(({ tenant_id }) => tenant_id)).size === 1;
  const near = judged.filter((one) => alone || isNear(one)).sort((a, b) => b.failing.length - a.failing.length);
  return [...new Map(near.map((one) => [one.tenant_id, one])).values()].slice(0, MOST_TOLD);
}

/** The same workload for another audience, branch or environment. A stranger's token, whatever it says beside, is nobody's business. */
const isNear = ({ subject, failing }: { subject: string | null; failing: readonly Condition[] }): boolean =>
  subject === null ? failing.every(({ claim }) => claim === 'aud') : failing.every(({ claim }) => claim !== 'sub');

async function tell({ reason, issuer, claims }: Failure, { tenant_id, binding, failing }: Concern, ctx: Ctx): Promise<void> {
  const rule = (what: string, subject: string, limit: number) => ({
    what: `exchange_failed_${what}`,
    subject,
    limit,
    window_sec: EVERY_SEC,
  });
  const [own, all] = [`${tenant_id}:${reason}:${binding?.id}:${network(ctx.ip)}`, tenant_id];
  if (!(await take(rule('reason', own, 1), ctx.now)).allowed || !(await take(rule('tenant', all, MOST_ENTRIES), ctx.now)).allowed) {
    log.info({ tenant_id, reason }, 'a refused token exchange was not audited again');
    return;
  }
  await inTransaction(ctx, (tx) =>
    writeAudit(tx, ctx, {
      action: 'login_failed',
      resource_type: 'trust_binding',
      resource_id: binding?.id ?? null,
      ...(binding ? { name: binding.name } : {}),
      details: {
        reason,
        issuer,
        ...(binding ? { client_id: binding.client_id } : {}),
        ...(claims ? { subject: shortened(claims.sub), audiences: claimTexts(claims, 'aud').map(shortened) } : {}),
        ...(failing
          ? { not_matching: failing.map(({ claim, expected, actual }) => ({ claim, expected, actual: actual.map(shortened) })) }
          : {}),
      },
    }),
  );
}

const shortened = (text: unknown): string => String(text).slice(0, 255);
