import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { type AuditedCall, auditPerson, type Doer, tenantIdsWithin } from './audit.ts';
import { renewToken } from './sessions.ts';

/** Why a person's sessions and the logins of their applications ended, as the rows of those logins keep it. */
export type PersonEnd =
  | 'password_reset'
  | 'password_changed'
  | 'sessions_ended'
  | 'email_undone'
  | 'factors_reset'
  | 'key_copied'
  | 'account_taken_over';

/** How much worked until now. `apps` are logins of applications, by workspace. */
export type Ended = { sessions: number; apps: Readonly<Record<string, number>> };

/** The same as a person may see it: of all workspaces together. */
export const endedInAll = ({ sessions, apps }: Ended) => ({ sessions, apps: Object.values(apps).reduce((sum, n) => sum + n, 0) });

/** The same for the answer of a call: the gateway forgets the tokens of these workspaces before it relays it. */
export function endedBy(ctx: Pick<PersonCtx, 'changes'>, ended: Ended) {
  for (const id of Object.keys(ended.apps)) ctx.changes.push(`${id}:live`, `${id}:test`);
  return endedInAll(ended);
}

/**
 * Ends everything that stands for a person, in the transaction of what causes it: sessions but for `kept`, sign-ins on their way, challenges and confirmations,
 * mailed codes and links, and what applications hold or are about to get (`end_person`, which says more). Every way to throw out a thief ends here.
 */
export async function endPerson(
  tx: Tx,
  { user_id, kept = null, reason, now }: { user_id: string; kept?: string | null; reason: PersonEnd; now: Date },
): Promise<Ended> {
  const [ended] = await tx.$queryRaw<Ended[]>`select sessions, apps from end_person(${user_id}::uuid, ${kept}::uuid, ${reason}, ${now})`;
  if (!ended) throw new Error('end_person answers one row');
  return ended;
}

/**
 * Ends everything that stands for a person but the session that calls, within its reach. That session goes on under a new token, for the answer and
 * its cookie: whoever copied the old one is thrown out with the rest.
 */
export async function endOthers(tx: Tx, ctx: SignedInCtx, reason: PersonEnd, reach: string | null = null) {
  const ending = { user_id: ctx.user.id, kept: ctx.session.id, reason, now: ctx.now };
  const ended = reach === null ? await endPerson(tx, ending) : await endWithin(tx, { ...ending, tenant_id: reach });
  const renewed = await renewToken(tx, ctx.session);
  ctx.cookies.session = renewed;
  return { all: ended, token: renewed.token };
}

/** Writes what ended into every workspace of the person, or into that within reach. A workspace hears of the logins of applications there, and of no others. */
export async function auditEnding(
  tx: Tx,
  ctx: AuditedCall,
  doer: Doer,
  entry: AuditEntry,
  { sessions, apps }: Ended,
  reach: string | null = null,
): Promise<void> {
  for (const id of await tenantIdsWithin(tx, doer.id, reach))
    await auditPerson(tx, ctx, doer, [id], { ...entry, details: { ...entry.details, ended: { sessions, apps: apps[id] ?? 0 } } });
}

/** The same within one workspace: sessions that are bound to it, and applications there. */
async function endWithin(
  tx: Tx,
  { user_id, kept, tenant_id, reason, now }: { user_id: string; kept: string; tenant_id: string; reason: PersonEnd; now: Date },
): Promise<Ended> {
  const [grants] = await tx.$queryRaw<{ apps: number }[]>`
    select apps from end_grants(${user_id}::uuid, ${tenant_id}::uuid, ${kept}::uuid, ${reason}, ${now})`;
  await tx.pending_logins.deleteMany({ where: { user_id, scope_tenant_id: tenant_id } });
  const { count: sessions } = await tx.sessions.updateMany({
    where: { user_id, scope_tenant_id: tenant_id, revoked_at: null, expires_at: { gt: now }, NOT: { id: kept } },
    data: { revoked_at: now },
  });
  return { sessions, apps: { [tenant_id]: grants?.apps ?? 0 } };
}

/** How many applications are logged in in the name of the person: everywhere, or within reach. */
export const loggedInApps = (tx: Tx, userId: string, reach: string | null, now: Date): Promise<number> =>
  tx.oauth_families.count({
    where: { user_id: userId, revoked_at: null, expires_at: { gt: now }, ...(reach === null ? {} : { tenant_id: reach }) },
  });

/**
 * Holds the person until the end of the transaction that is about to sign them in, or an application in their name. Whatever ends them at the same time waits
 * and then ends this too, or has come first: then what the caller reads next is over. `judged` is the `login_epoch` at which a password, code or passkey was
 * judged in advance; null when it is judged after this call. @returns whether they may still be signed in
 */
export async function holdPerson(tx: Tx, userId: string, judged: number | null = null): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ epoch: number | null }[]>`select hold_person(${userId}::uuid) as epoch`;
  const epoch = row?.epoch ?? null;
  return epoch !== null && (judged === null || judged === epoch);
}

/** Changes of one person take turns. Taken before any other row, so that no two of them wait for each other. */
export const lockPerson = (tx: Tx, userId: string) => tx.$queryRaw`select 1 from users where id = ${userId}::uuid for no key update`;

/**
 * The same for a change that a session makes, or an application that it lets in: a session that has ended meanwhile changes nothing any more.
 * @throws Refusal not_authenticated
 */
export async function lockSignedIn(tx: Tx, ctx: SignedInCtx): Promise<void> {
  await lockPerson(tx, ctx.user.id);
  const session = await tx.sessions.findFirst({ where: { id: ctx.session.id, revoked_at: null }, select: { id: true } });
  if (!session) throw new Refusal('not_authenticated', 'This session has ended. Sign in again.');
}

/**
 * Signs a member out of the workspace of the context: sessions that are bound to it, or act in it now, and applications in both spaces.
 * @returns how many of each
 */
export async function signOutMember(tx: Tx, ctx: Pick<Ctx, 'now'>, userId: string): Promise<{ sessions: number; apps: number }> {
  const apps = await endMemberLogins(tx, ctx, userId, 'signed_out');
  const [row] = await tx.$queryRaw<{ n: number }[]>`select end_workspace_sessions(${userId}::uuid, ${ctx.now}) as n`;
  return { sessions: row?.n ?? 0, apps };
}

/** What a membership leaves behind of logins, in a transaction of Live: sessions bound to the workspace end, any other goes on elsewhere. */
export async function endLoginsOfLeaver(tx: Tx, ctx: Pick<Ctx, 'now' | 'sandbox'>, userId: string): Promise<Record<string, number>> {
  if (ctx.sandbox) return {}; // neither belongs to a space
  const oauth_grants = await endMemberLogins(tx, ctx, userId, 'member_removed');
  const [row] = await tx.$queryRaw<{ n: number }[]>`select leave_workspace_sessions(${userId}::uuid, ${ctx.now}) as n`;
  return { oauth_grants, sessions: row?.n ?? 0 };
}

/** Ends what applications hold in the name of a member, in both spaces. Before any session: an ending of the whole person locks the person first, too. */
async function endMemberLogins(tx: Tx, ctx: Pick<Ctx, 'now'>, userId: string, reason: 'member_removed' | 'signed_out'): Promise<number> {
  const [row] = await tx.$queryRaw<{ n: number }[]>`select end_member_logins(${userId}::uuid, ${reason}, ${ctx.now}) as n`;
  return row?.n ?? 0;
}
