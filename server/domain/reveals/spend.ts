import { appendAllCritical } from '#server/domain/audit-logs/service.ts';
import { type ActionScope, confirmationOf } from '#server/kernel/action-scopes.ts';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import { enter, type Tx } from '#server/kernel/database.ts';
import { type ErrorType, Refusal } from '#server/kernel/errors.ts';
import { runInFairQueue } from '#server/kernel/fair-queue.ts';
import { type AuditEntry, writeAudit, writeAudits } from '#server/kernel/mutate.ts';
import type { CriticalEntry } from '#server/kernel/operation.ts';
import { useVerification } from '#server/kernel/step-up.ts';

/** Reveals of one person in any window of so many seconds, over all workspaces and sessions (interface rule 32 §5.1). */
export const REVEAL_BUDGET = { reveals: 60, window_sec: 300 } as const;

/** What a reveal is, apart from what the spent verification adds. */
export type RevealAudit = Omit<AuditEntry, 'action' | 'details'> & { details: Record<string, unknown> };

export type MemberCtx = Ctx & { actor: Extract<Actor, { type: 'member' }> };

type Spending = {
  ctx: MemberCtx;
  scope: ActionScope;
  /** The operation's path, as the ledger and the audit entry name it. */
  route: string;
  entry: RevealAudit;
  /** Entries of the operation itself, which commit with it. */
  also?: readonly AuditEntry[];
  /** Entries of the critical chain, likewise; the chain's lock comes last. */
  critical?: readonly CriticalEntry[];
  /** What else commits with them. */
  beside?: (tx: Tx, granted: AuditEntry) => Promise<void>;
};

/**
 * Steps 7 to 10 of interface rule 32 §4: one unit of the budget, one verification and the audit entry commit together, or none of them does.
 * Returns the entry that was committed, and how many reveals are left in this window. @throws Refusal reveal_budget_exceeded, reveal_step_up_required, reveal_budget_unavailable,
 * reveal_audit_unavailable, reveal_check_failed
 */
export async function spend({
  ctx,
  scope,
  route,
  entry,
  also = [],
  critical = [],
  beside,
}: Spending): Promise<{ granted: AuditEntry; left: number }> {
  const phase: Phase = { failure: 'reveal_budget_unavailable' };
  try {
    return await runInFairQueue(`reveal:${ctx.actor.id}`, () =>
      ctx.db.$transaction(
        async (tx) => {
          await tx.$queryRaw`select set_config('statement_timeout', '3s', true), set_config('lock_timeout', '2s', true)`;
          const left = await takeRoom(tx, ctx, route);
          phase.failure = 'reveal_check_failed';
          const verification = await takeVerification(tx, ctx, scope);
          phase.failure = 'reveal_audit_unavailable';
          const granted: AuditEntry = {
            ...entry,
            action: 'plaintext.reveal',
            details: { ...entry.details, scope, ...verification, outcome: 'granted' },
          };
          await enter(tx, ctx);
          await writeAudits(tx, ctx, [granted, ...also]);
          await beside?.(tx, granted);
          // The declared rows name actions of the closed list; the chain refuses any other type at compile time where they are declared.
          await appendAllCritical(tx, ctx, critical as Parameters<typeof appendAllCritical>[2]);
          return { granted, left };
        },
        { maxWait: 5_000, timeout: 15_000 },
      ),
    );
  } catch (error) {
    // Of what is thrown in here only these two are the person's doing; a lost database or a full queue is a failure of its phase.
    if (error instanceof Refusal && (error.type === 'reveal_budget_exceeded' || error.type === 'reveal_step_up_required')) throw error;
    throw new Refusal(phase.failure, FAILED[phase.failure], {
      cause: error,
      ...(phase.failure === 'reveal_check_failed' ? {} : { retryAfter: 5 }),
    });
  }
}

/** What a statement that fails now is called (interface rule 32 §4). */
type Phase = { failure: keyof typeof FAILED };
const FAILED = {
  reveal_budget_unavailable: "The reveal budget couldn't be checked. Nothing was shown, and your confirmation is still valid. Try again.",
  reveal_check_failed: "The reveal couldn't be checked. Nothing was shown. Try again, or contact support with the request ID.",
  reveal_audit_unavailable: "The audit log couldn't be written, so nothing was shown. Your confirmation is still valid. Try again.",
} as const satisfies Partial<Record<ErrorType, string>>;

/** One unit of the person's budget, counted over all workspaces; reveals of one person queue up for it. @returns what is left after this one */
export async function takeRoom(tx: Tx, ctx: MemberCtx, route: string): Promise<number> {
  const { reveals, window_sec } = REVEAL_BUDGET;
  const [window] = await tx.$queryRaw<{ taken: number; wait: number | null }[]>`
    select taken, wait from take_reveal_room(${ctx.actor.id}::uuid, ${ctx.tenant_id}::uuid, ${route}, ${ctx.request_id}, ${reveals}::int, ${window_sec}::int)`;
  if (!window) throw new Error('the reveal budget has no count');
  if (window.taken < reveals) return reveals - window.taken - 1;
  const retryAfter = Math.max(1, Math.ceil(window.wait ?? window_sec));
  throw new Refusal(
    'reveal_budget_exceeded',
    `You revealed ${reveals} values in 5 minutes. Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
    { retryAfter },
  );
}

/** Uses up the verification that X-Svc-StepUp names, else the oldest that fits. The wait for the lock counts against its lifetime. */
async function takeVerification(tx: Tx, ctx: MemberCtx, scope: ActionScope) {
  const { actor, tenant_id, request_id, step_up_digest } = ctx;
  const wanted = { user_id: actor.id, session_id: actor.session_id, tenant_id, scope, token_digest: step_up_digest ?? null, request_id };
  const used = await useVerification(tx, { ...wanted, now: new Date() });
  if (used) return used;
  throw new Refusal('reveal_step_up_required', confirmationOf(scope), {
    extra: { requires_step_up: true, action_scope: scope, allowed_methods: ['passkey', '2fa'] },
  });
}

/** The second entry of a reveal whose verification was spent and whose value could not be shown (interface rule 32 §4, step 11). */
export async function recordFailure(ctx: Ctx, granted: AuditEntry, request: { error: string }): Promise<void> {
  await runInFairQueue(ctx.tenant_id, () =>
    ctx.db.$transaction(async (tx) => {
      await enter(tx, ctx);
      await writeAudit(tx, ctx, { ...granted, details: { ...granted.details, outcome: 'failed', error: request.error } });
    }),
  );
}
