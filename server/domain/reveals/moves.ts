import { denyingPolicy } from '#server/domain/policies/service.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { confirmChange } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { reasonOf } from './reason.shared.ts';
import { asksForReason, missingRight } from './rights.ts';
import { type MemberCtx, takeRoom } from './spend.ts';

export type Move = {
  /** Fields that say where the credential goes and differ from what is stored, as the input calls them. */
  moved: readonly string[];
  /** Stored credentials that would be sent to the new place, because this request doesn't give them anew. */
  kept: readonly string[];
  /** Fields of this input that give them anew; none when another operation sets them. */
  again: readonly string[];
  /** What a reveal of the credential takes. Credentials that no page shows are class B. */
  reveal: { class: 'A' | 'B'; policy: Capability };
  /** What policies may name. */
  about: readonly { id: string; name?: string }[];
  /** The operation, as the reveal ledger names it. */
  route: string;
};

/**
 * Call it in the transaction of an edit, before anything is written. Passes when nothing moves or no stored credential would follow. Otherwise a person who
 * may reveal the credential confirms it, which counts towards their reveal budget; everybody else is refused. @returns details of the audit entry
 * @throws Refusal validation_error naming the first moved field, mfa_required, step_up_required, reveal_budget_exceeded, reveal_reason_required, invalid
 */
export async function confirmMove(
  tx: Tx,
  ctx: Ctx,
  move: Move,
): Promise<{ moved?: readonly string[]; kept?: readonly string[]; reason?: string }> {
  const { moved, kept, route } = move;
  if (moved.length === 0 || kept.length === 0) return {};
  const member = await personWhoMayReveal(ctx, move);
  if (!member) throw refused(ctx, move);
  await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL, 'credential.move');
  if (!ctx.step_up?.used) throw new Error(`the row of ${route} does not let its verb ask for credential.move`);
  const reason = reasonOf(ctx, await asksForReason(tx, ctx), reasonWanted(move));
  await takeRoom(tx, member, route);
  return { moved, kept, ...(reason === undefined ? {} : { reason }) };
}

/** Machines never reveal, nor do tokens of a person: they carry no session that confirms anything. */
async function personWhoMayReveal(ctx: Ctx, { reveal, about }: Move): Promise<MemberCtx | null> {
  if (ctx.actor.type !== 'member') return null;
  if (missingRight(ctx.actor, { capabilities: [reveal.policy], of: reveal.class })) return null;
  for (const one of about) if (await denyingPolicy(ctx, reveal.policy, one)) return null;
  return ctx as MemberCtx;
}

function refused({ actor }: Ctx, { moved, kept, again }: Move): Refusal {
  const others = actor.type === 'member' ? 'ask an Owner or Admin to make it' : 'make it in the dashboard as an Owner or Admin';
  const instead = again.length > 0 ? `Send ${listOf(again)} again with this change, or ${others}.` : `For this change, ${others}.`;
  return new Refusal(
    'validation_error',
    `${moved[0]}: can't be changed here while ${listOf(kept)} ${kept.length > 1 ? 'stay' : 'stays'} stored: a stored credential isn't sent to another place. ${instead}`,
    { extra: { moved, again } },
  );
}

const reasonWanted = ({ kept, again }: Move): string =>
  `This workspace asks why ${listOf(kept)} ${kept.length > 1 ? 'go' : 'goes'} to another place. Give a reason${again.length > 0 ? `, or send ${listOf(again)} again` : ''}.`;

const listOf = (names: readonly string[]) => new Intl.ListFormat('en').format(names);
