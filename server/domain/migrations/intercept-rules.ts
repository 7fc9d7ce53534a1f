import type { z } from 'zod';
import { environmentByName } from '#server/domain/environments/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { advanceClock } from '#server/kernel/precondition.ts';
import { assertCommittedHere } from './committed-secrets.ts';
import { requireReviewer } from './review.ts';
import type { CreateRule, InterceptRule, UpdateRule } from './schema.ts';
import { lockedMigration, migrationById } from './store.ts';

type Row = Awaited<ReturnType<typeof lockedRule>>;

/** @throws Refusal migration_not_found */
export const listRules = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const { id: migration_id } = await migrationById(tx, ctx, id);
    const rows = await tx.migration_intercept_rules.findMany({
      where: { ...own(ctx), migration_id },
      orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
    });
    return { rules: rows.map(shown) };
  });

/** One rule, as the guard of edits shows it. @throws Refusal migration_not_found, not_found */
export const getRule = (ctx: Ctx, input: { id: string; ruleId: string }) => read(ctx, async (tx) => shown(await ruleById(tx, ctx, input)));

const shown = (row: Omit<Row, 'allowed_uids'> & { allowed_uids: bigint[] }) =>
  ({ ...row, allowed_uids: row.allowed_uids.map(Number) }) as unknown as z.input<typeof InterceptRule>;

/** @throws Refusal migration_not_found, conflict, validation_error */
export function createRule(ctx: Ctx, { id, ...input }: z.output<typeof CreateRule>) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, id);
    if (migration.status === 'cancelled') throw new Refusal('conflict', 'This migration is cancelled, so it can have no rules.');
    await assertRule(tx, ctx, migration.id, input);
    const row = await tx.migration_intercept_rules.create({
      data: {
        ...own(ctx),
        ...input,
        id: newId(),
        migration_id: migration.id,
        allowed_uids: input.allowed_uids.map(BigInt),
        created_by: ctx.actor.id,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    return audited(shown(row), entryOf('create', row, { migration_id: migration.id, committed_secret_id: row.committed_secret_id }));
  });
}

/** @throws Refusal migration_not_found, not_found, validation_error */
export function updateRule(ctx: Ctx, { id, ruleId, ...input }: z.output<typeof UpdateRule>) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const before = await lockedRule(tx, ctx, { id, ruleId });
    const { allowed_uids, ...plain } = input;
    await assertRule(tx, ctx, before.migration_id, { ...before, ...plain });
    const row = await tx.migration_intercept_rules.update({
      where: { id: before.id },
      data: { ...plain, ...(allowed_uids ? { allowed_uids: allowed_uids.map(BigInt) } : {}), updated_at: ctx.now },
    });
    const given = Object.keys(input).filter((name) => input[name as keyof typeof input] !== undefined);
    const changes = changesOf(shown(before), shown(row), given);
    return audited(shown(row), { ...entryOf('update', row, { migration_id: before.migration_id }), changes });
  });
}

/** @throws Refusal migration_not_found, not_found */
export function deleteRule(ctx: Ctx, input: { id: string; ruleId: string }) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const row = await lockedRule(tx, ctx, input);
    await tx.migration_intercept_rules.delete({ where: { id: row.id }, select: { id: true } });
    return audited({ deleted: true as const }, entryOf('delete', row, { migration_id: row.migration_id }));
  });
}

async function ruleById(tx: Tx, ctx: Ctx, { id, ruleId }: { id: string; ruleId: string }) {
  const { id: migration_id } = await migrationById(tx, ctx, id);
  const row = isUuid(ruleId) ? await tx.migration_intercept_rules.findFirst({ where: { ...own(ctx), id: ruleId, migration_id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** @throws Refusal migration_not_found, not_found */
export async function lockedRule(tx: Tx, ctx: Ctx, input: { id: string; ruleId: string }) {
  const { id } = await ruleById(tx, ctx, input);
  await tx.$queryRaw`select 1 from migration_intercept_rules where id = ${id}::uuid for update`;
  const row = await ruleById(tx, ctx, input);
  advanceClock(ctx, row);
  return row;
}

/** Exact hosts of the stores that an agent may answer for; a wildcard would catch traffic that is none of a migration's. */
const HOSTS = [
  /^secretsmanager\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com$/,
  /^ssm\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com$/,
  /^[a-z][a-z0-9-]{1,22}[a-z0-9]\.vault\.azure\.net$/,
  /^secretmanager\.googleapis\.com$/,
];

async function assertRule(
  tx: Tx,
  ctx: Ctx,
  migrationId: string,
  rule: { match_host: string; committed_secret_id: string; environment: string | null },
) {
  if (!HOSTS.some((host) => host.test(rule.match_host)))
    throw invalid('match_host', 'must be the host of a supported store, such as secretsmanager.us-east-1.amazonaws.com');
  if (rule.environment !== null && !(await environmentByName(tx, ctx, rule.environment)))
    throw invalid('environment', 'no such environment');
  await assertCommittedHere(tx, ctx, migrationId, rule.committed_secret_id);
}

const entryOf = (action: 'create' | 'update' | 'delete', row: { id: string; match_host: string }, details: Record<string, unknown>) => ({
  action,
  resource_type: 'migration_intercept_rule',
  resource_id: row.id,
  name: row.match_host,
  details,
});
