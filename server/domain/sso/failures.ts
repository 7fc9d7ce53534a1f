import { SamlRefused } from '#server/crypto/saml.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { OidcFault } from '#server/platform/connect/oidc.ts';
import { env } from '#server/platform/env.ts';
import { network, take, throttled } from '#server/platform/throttle.ts';
import type { Connection } from './connections.ts';
import { refused } from './identities.ts';
import { isSsoReason, SSO_REASONS, type SsoReason } from './reasons.shared.ts';

/** @throws Refusal rate_limited */
export const limited = (ctx: PersonCtx, what: string) =>
  throttled([{ what, subject: network(ctx.ip), limit: 60, window_sec: 300 }], ctx.now, 'rate_limited');

/** Where an Owner sees what a test showed. */
export const testPage = ({ tenant }: Connection, id: string) => `${env.PUBLIC_ADMIN_URL}/${tenant.slug}/settings/sso?test=${id}`;

/**
 * The end of an attempt that failed: a test keeps the details and shows them to the Owner, a sign-in is refused and audited.
 * @throws Refusal sso_refused, or what is no failure of the attempt
 */
export async function failed(ctx: PersonCtx, error: unknown, connection: Connection, testId: string | null): Promise<{ location: string }> {
  const problem = problemOf(error);
  if (testId !== null) {
    await ctx.db.sso_attempts.update({ where: { id: testId }, data: { ...problem, answered_at: ctx.now, used_at: ctx.now } });
    return { location: testPage(connection, testId) };
  }
  await recordFailure(ctx, connection, problem);
  throw refused(problem.reason, SSO_REASONS[problem.reason], error);
}

/** What went wrong, in words for whoever set the connection up. @throws the error when it is a fault of ours or has its own answer */
export function problemOf(error: unknown): { reason: SsoReason; message: string } {
  if (error instanceof SamlRefused || error instanceof OidcFault) return { reason: error.reason, message: error.message };
  if (error instanceof Refusal && error.type === 'sso_refused' && isSsoReason(error.extra?.reason))
    return { reason: error.extra.reason, message: error.message };
  throw error;
}

/** One entry per connection and reason in five minutes, however often somebody tries (interface rule 22 §12). */
async function recordFailure(
  ctx: PersonCtx,
  connection: Connection,
  { reason, message }: { reason: SsoReason; message: string },
): Promise<void> {
  const rule = { what: 'sso-failed-audit', subject: `${connection.id} ${reason}`, limit: 1, window_sec: 300 };
  if (!(await take(rule, ctx.now)).allowed) return;
  const { tenant_id, name } = connection;
  await ctx.db.$transaction((tx) =>
    writeAudit(
      tx,
      {
        ...systemContext(ctx.db, { tenant_id, now: ctx.now, label: 'single sign-on' }),
        request_id: ctx.request_id,
        ip: ctx.ip,
        user_agent: ctx.user_agent,
      },
      {
        action: 'login_failed',
        resource_type: 'session',
        resource_id: null,
        name,
        details: { method: 'sso', connection: name, cause: message, why: reason },
        workspace_level: true,
      },
    ),
  );
}
