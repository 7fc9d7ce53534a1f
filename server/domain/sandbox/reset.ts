import type { z } from 'zod';
import { firstEnvironment } from '#server/domain/environments/service.ts';
import { confirmPassword } from '#server/domain/people/service.ts';
import { STARTER_ROUTE, STARTER_SECRET, seedStarter } from '#server/domain/signup/service.ts';
import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { withExclusiveTestLock } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited } from '#server/kernel/mutate.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { deleteSpace } from './delete-space.ts';
import { lockSandbox } from './lock.ts';
import type { ResetTest, TestWasReset } from './schema.ts';

/** A sign-in so fresh counts as one for this (interface rule 22 §5.2 has the same ten minutes). */
const FRESH_MS = 10 * 60_000;

/**
 * Everything of Test goes but the audit log, keys included: they are refused on the next call. Then the starter is there again. Calls of Test and
 * their figures follow within moments. @throws Refusal step_up_required, invalid_credentials, validation_error for another name
 */
export async function resetTest(
  ctx: Ctx,
  input: z.output<typeof ResetTest>,
  families: readonly Family[],
): Promise<z.input<typeof TestWasReset>> {
  await confirmed(ctx, input.password);
  const result = await acrossSpaces(ctx, async (within, tx) => {
    const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true } });
    if (input.confirm_name.trim() !== tenant.name) throw invalid('confirm_name', 'must be the name of this workspace');
    await lockSandbox(tx, ctx);
    await withExclusiveTestLock(tx, ctx);
    const told = await within(true, async (tx, test) => {
      const deleted = await deleteSpace(tx, test, families);
      await firstEnvironment(tx, test.tenant_id, true, test.now);
      const starter = await seedStarter(tx, test.tenant_id, test.now);
      const entry = resetEntry(deleted);
      const made = { via: 'sandbox_reset' };
      return audited(
        { deleted, starter, entry },
        entry,
        { action: 'create', resource_type: 'secret', resource_id: starter.secret_id, name: STARTER_SECRET, details: made },
        { action: 'create', resource_type: 'route', resource_id: starter.route_id, name: STARTER_ROUTE, details: made },
      );
    });
    await within(false, async (tx) => {
      await tx.tenants.update({ where: { id: ctx.tenant_id }, data: { test_reset_at: ctx.now }, select: { id: true } });
      return audited(undefined, told.entry);
    });
    return { deleted: told.deleted, starter: told.starter };
  });
  // The hourly pruning finds the time of the reset too, should the queue not take it.
  await addJob(null, 'delete_reset_calls', { tenant_id: ctx.tenant_id }, { job_key: `delete_reset_calls:${ctx.tenant_id}` }).catch(
    (error: unknown) => log.warn({ err: error, tenant_id: ctx.tenant_id }, 'the calls of a reset Test are removed within the hour'),
  );
  return result;
}

/** Whoever has no second factor to confirm with signed in within ten minutes, or gives the password again. */
async function confirmed(ctx: Ctx, password: string | undefined): Promise<void> {
  const { actor } = ctx;
  if (actor.type !== 'member') throw new Refusal('role_denied', 'Only a signed-in user can reset Test.');
  if (ctx.step_up) return;
  if (password !== undefined) return confirmPassword(ctx, actor.id, password);
  if (ctx.now.getTime() - actor.signed_in_at.getTime() <= FRESH_MS) return;
  throw new Refusal('step_up_required', 'Your sign-in is older than ten minutes. Enter your password or sign in again.', {
    extra: { requires_step_up: true, action_scope: 'sandbox.reset', allowed_methods: ['password'] },
  });
}

const resetEntry = (deleted: Deleted): AuditEntry => ({
  action: 'reset',
  resource_type: 'sandbox',
  resource_id: newId(),
  name: 'Test',
  details: { deleted },
});

type Deleted = z.input<typeof TestWasReset>['deleted'];
