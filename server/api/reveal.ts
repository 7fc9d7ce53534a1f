import type { z } from 'zod';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { denyingPolicy, recordDenial } from '#server/domain/policies/service.ts';
import { asksForReason, type MemberCtx, missingRight, reasonOf, recordFailure, spend } from '#server/domain/reveals/service.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { parsedInput } from './parse.ts';

/**
 * The one gate before every stored plaintext: the steps of interface rule 32 §4, in their order, which is product behaviour. `decrypt` runs only after
 * the budget's unit, the verification and the audit entry were committed together; what refuses before that spends nothing.
 */
export async function throughGate<I extends z.ZodType, T>(
  op: AnyOperation,
  ctx: Ctx,
  raw: unknown,
  decrypt: (ctx: Ctx, input: z.output<I>) => Promise<T>,
): Promise<T> {
  const gate: Reveal<z.output<I>> | undefined = op.reveal;
  if (!gate) throw new Error(`${op.id} shows a secret and declares no gate`);
  const { member, input, entry, also, critical } = await checked<I>(op, gate, ctx, raw).catch(failedCheck);
  const beside: Parameters<typeof spend>[0]['beside'] = (tx, granted) => gate.beside?.(tx, ctx, input, granted) ?? Promise.resolve();
  const { granted, left } = await spend({ ctx: member, scope: gate.scope, route: pathOf(op), entry, also, critical, beside }); // 7 to 10
  ctx.reveals_left = left;
  const shown: Ctx = { ...ctx, granted: granted.details ?? {} };
  try {
    const answer = await decrypt(shown, input); // 11
    if (shown.changed_elsewhere) ctx.changed_elsewhere = shown.changed_elsewhere;
    return answer;
  } catch (error) {
    const refusal = asRefusal(sealed(error));
    await recordFailure(ctx, granted, { error: refusal.type }).catch((cause: unknown) =>
      log.error({ err: cause, request_id: ctx.request_id }, 'a failed reveal has no second audit entry'),
    );
    throw refusal;
  }
}

/** Steps 1 to 6: they spend nothing. */
async function checked<I extends z.ZodType>(op: AnyOperation, gate: Reveal<z.output<I>>, ctx: Ctx, raw: unknown) {
  const member = requireMember(ctx); // 1
  const parsed = attempt(() => parsedInput<I>(op.input, raw));
  // 2: an input that names nothing is refused with the other parameters, after the person's rights.
  const subject = 'value' in parsed ? await gate.subject(ctx, parsed.value) : undefined;
  requireRole(op, gate, member.actor); // 3a, 3b
  await requireNoPolicy(ctx, gate.policy, subject); // 4
  if (!(await hasFactor(ctx.db, member.actor.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL); // 5a
  if (!('value' in parsed)) throw parsed.refusal; // 5b, and the rest of it
  const reason = reasonOf(ctx, await read(ctx, (tx) => asksForReason(tx, ctx)));
  if (op.feature) requireFeature(ctx, op.feature);
  const state = await gate.state?.(ctx, parsed.value);
  await keyring()
    .activeTmk(ctx.tenant_id)
    .catch((error: unknown) => {
      throw sealed(error); // 6
    });
  const { details, ...resource } = subject as NonNullable<typeof subject>; // an accepted input has named it
  const [http_method] = op.http.split(' ');
  const entry = {
    ...resource,
    ...(reason === undefined ? {} : { reason }),
    details: { kind: op.id, class: gate.class, route: pathOf(op), http_method, ...details, ...state },
  };
  const and = [ctx, parsed.value, state ?? {}] as const;
  return { member, input: parsed.value, entry, also: gate.also?.(...and) ?? [], critical: gate.critical?.(...and) ?? [] };
}

/** Whatever fails unforeseen before anything is spent is one answer. */
function failedCheck(error: unknown): never {
  if (error instanceof Refusal) throw error;
  throw new Refusal(
    'reveal_check_failed',
    "The reveal couldn't be checked. Nothing was shown. Try again, or contact support with the request ID.",
    {
      cause: error,
    },
  );
}

const pathOf = (op: AnyOperation) => op.http.slice(op.http.indexOf(' ') + 1);

function attempt<T>(work: () => T): { value: T } | { refusal: unknown } {
  try {
    return { value: work() };
  } catch (refusal) {
    return { refusal };
  }
}

/** Only people reveal, and operators of the platform never do. */
function requireMember(ctx: Ctx): MemberCtx {
  if (ctx.actor.type === 'operator')
    throw new Refusal('operator_custody_blocked', "Platform operators can't see the values of a workspace. Ask one of its members.");
  if (ctx.actor.type !== 'member') throw new Refusal('not_authenticated', 'Sign in to continue.');
  return ctx as MemberCtx;
}

function requireRole(op: AnyOperation, gate: Pick<Reveal<unknown>, 'class' | 'reviewers'>, actor: MemberCtx['actor']): void {
  const { role, migration_reviewer } = actor;
  const missing = missingRight(actor, { capabilities: capabilitiesOf(op.needs), of: gate.class });
  if (missing === 'role') throw new Refusal('reveal_role_denied', `Your role (${role}) can't reveal this. Ask an Owner or Admin.`);
  if (gate.reviewers && !migration_reviewer)
    throw new Refusal('reveal_role_denied', 'Your membership lacks Review migrations. Ask an Owner to turn it on under Team.');
  if (missing === 'tick')
    throw new Refusal('reveal_tick_required', 'Your membership lacks Reveal secrets. Ask an Owner or Admin to turn it on under Team.');
}

/** Policies that can't be read are a check that failed: nothing is shown (interface rule 24 §6). */
async function requireNoPolicy(ctx: Ctx, capability: Capability, subject: { resource_id: string; name?: string } | undefined) {
  const about = subject && { id: subject.resource_id, ...(subject.name === undefined ? {} : { name: subject.name }) };
  const policy = await denyingPolicy(ctx, capability, about).catch((cause: unknown) => {
    throw new Error('the policies of the workspace could not be read', { cause });
  });
  if (!policy) return;
  recordDenial(ctx, policy, capability);
  throw new Refusal(
    'reveal_policy_denied',
    `The workspace's policy ${policy.name} doesn't allow this. Ask an Owner or Admin to change it.`,
    {
      extra: { policy_action: capability, policy: { id: policy.id, name: policy.name } },
    },
  );
}

/** The workspace's key can't be had: sealed by its owners, or revoked. */
const sealed = (error: unknown) =>
  error instanceof TenantKeyUnavailable
    ? new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Nothing was shown. Try again later.", {
        retryAfter: 30,
        cause: error,
      })
    : error;

/** The row that answers a call: a reveal hands a call that shows nothing withheld to an ordinary row. When in doubt the gate stands. */
export async function answeringRow(op: AnyOperation, ctx: Ctx, raw: unknown): Promise<AnyOperation> {
  if (!op.reveal?.unguarded) return op;
  const input = op.input.safeParse(raw);
  const other = input.success ? await op.reveal.unguarded(ctx, input.data).catch(() => null) : null;
  return other ?? op;
}
