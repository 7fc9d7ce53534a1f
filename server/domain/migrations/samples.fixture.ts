import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, operationById, type Sample } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor } from '#server/testing/workspace.ts';
import { DENYLIST_PROTECTIONS } from './denylist.ts';
import { discover } from './discovery.ts';

/** The text of a file as people have them. */
export const envText = (lines: readonly string[] = ['API_KEY=sk_live_AbCdEfGhIjKl', 'DATABASE_URL=postgres://a:b@db/x']): string =>
  `${lines.join('\n')}\n`;

/** A workspace has five that run at once; the suites make more, one after the other. */
const file: Sample = async (ctx) => {
  const live = { tenant_id: ctx.tenant_id, status: { in: ['pending', 'discovering', 'awaiting_review'] } };
  if ((await db().secret_migrations.count({ where: live })) >= 4)
    await db().secret_migrations.updateMany({ where: live, data: { status: 'completed' } });
  return { provider: 'env_file', content: envText(), file_name: `${fresh('app')}.env` };
};

/** A migration of a file that was read and waits for review, with its items by name. */
export async function reviewed(ctx: Ctx, lines?: readonly string[], more: object = {}) {
  const { id } = await made(ctx, 'migrations.create', { ...(await file(ctx)), ...(lines ? { content: envText(lines) } : {}), ...more });
  await discover(db(), id, { rate: 10_000 });
  const rows = await db().secret_migration_items.findMany({ where: { migration_id: id }, orderBy: { source_name: 'asc' } });
  return { id: id as string, items: rows };
}

/** Runs an operation behind the gate as a person who has confirmed it. */
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
export async function confirmed(ctx: Ctx, id: string, input: Record<string, unknown>): Promise<any> {
  await verified(ctx, 'secret.migration');
  return made({ ...ctx, warnings: [] }, operationById(id).id, input);
}

/** Somebody else of the workspace: what a sample needs is made without touching the factors of the person who is tested. */
const colleague = (ctx: Ctx): Ctx => ({ ...ctx, actor: memberActor('owner') });

/** A migration with one committed secret. */
export async function committed(ctx: Ctx) {
  const { id, items } = await reviewed(ctx, [`${fresh('KEY').replaceAll('-', '_')}=a value nobody sees`]);
  const itemId = items[0]?.id as string;
  await confirmed(colleague(ctx), 'migrations.approve_item', { id, itemId });
  const { secrets } = await confirmed(colleague(ctx), 'migrations.commit', { id });
  return { id, itemId, committed_secret_id: secrets[0].secret_id as string };
}

const migration: Sample = async (ctx) => ({ id: (await made(ctx, 'migrations.create', await file(ctx))).id });
const item: Sample = async (ctx) => {
  const { id, items } = await reviewed(ctx);
  return { id, itemId: items[0]?.id };
};
const approved: Sample = async (ctx) => {
  const { id, items } = await reviewed(ctx, [`${fresh('KEY').replaceAll('-', '_')}=a value nobody sees`]);
  // As an approval leaves it; through the gate it would spend a verification that the suites count.
  const target = { target_name: items[0]?.source_name };
  await db().secret_migration_items.update({ where: { id: items[0]?.id as string }, data: { status: 'approved', target } });
  return { id, itemId: items[0]?.id };
};
const rule = async (ctx: Ctx) => {
  const { id, committed_secret_id } = await committed(ctx);
  const match = { match_host: 'secretsmanager.us-east-1.amazonaws.com', match_secret_ref: 'arn:aws:secretsmanager:us-east-1:1:secret:a' };
  return { id, committed_secret_id, ...match, response_format: 'aws_sm' };
};
const ruleId = async (ctx: Ctx) => {
  const input = await rule(ctx);
  return { id: input.id, ruleId: (await confirmed(colleague(ctx), 'migrations.intercept_rules.create', input)).id };
};
let port = 15_432;
const dbRoute = async (ctx: Ctx) => {
  const { id, committed_secret_id } = await committed(ctx);
  return { id, committed_secret_id, protocol: 'postgres', upstream_host: 'db.internal', upstream_port: 5432, local_port: port++ };
};

export const samples: Record<string, Sample> = {
  'migrations.list': nothing,
  'migrations.setup': nothing,
  'migrations.get': migration,
  'migrations.create': file,
  'migrations.cancel': migration,
  'migrations.retry': async (ctx) => {
    const { id } = await migration(ctx);
    await db().secret_migrations.update({ where: { id: id as string }, data: { status: 'failed' } });
    return { id };
  },
  'migrations.finish_capture': async (ctx) => {
    const { id } = await migration(ctx);
    await db().secret_migrations.update({
      where: { id: id as string },
      data: { status: 'discovering', mode: 'both', pull_finished_at: new Date() },
    });
    return { id };
  },
  'migrations.items': async (ctx) => ({ id: (await item(ctx)).id }),
  'migrations.reveal_item': async (ctx) => ({ ...(await item(ctx)), full: true }),
  'migrations.approve_item': item,
  'migrations.reject_item': async (ctx) => ({ ...(await item(ctx)), reason: 'not used any more' }),
  'migrations.approve_items': async (ctx) => {
    const { id, itemId } = await item(ctx);
    return { id, items: [{ id: itemId }] };
  },
  'migrations.reject_items': async (ctx) => {
    const { id, itemId } = await item(ctx);
    return { id, items: [{ id: itemId, reason: 'not used any more' }] };
  },
  'migrations.unapprove_item': approved,
  'migrations.commit': async (ctx) => ({ id: (await approved(ctx)).id }),
  'migrations.commit_preview': migration,
  'migrations.denylist.get': nothing,
  'migrations.denylist.put': async () => ({ patterns: [{ pattern: 'internal/*', kind: 'glob' }] }),
  'migrations.verification.get': migration,
  'migrations.verification.confirm': migration,
  'migrations.intercept_rules.list': migration,
  'migrations.intercept_rules.get': ruleId,
  'migrations.intercept_rules.create': rule,
  'migrations.intercept_rules.update': async (ctx) => ({ ...(await ruleId(ctx)), match_path_prefix: '/other' }),
  'migrations.intercept_rules.delete': ruleId,
  'migrations.db_routes.list': migration,
  'migrations.db_routes.create': dbRoute,
  'migrations.db_routes.delete': async (ctx) => {
    const input = await dbRoute(ctx);
    return { id: input.id, routeId: (await confirmed(colleague(ctx), 'migrations.db_routes.create', input)).id };
  },
};

export const revealed: Fixture['revealed'] = { 'migrations.reveal_item': ({ value }) => [value] };
export const secretInput = { 'migrations.create': ['content', 'credentials.auth.token'] };

const ofNewSecret = 'pins of a secret that the commit creates; a new version leaves those of its secret alone';
const confirmedRule = 'every rule and route is confirmed as secret.migration by a reviewer, and names a secret of this migration';
export const movesNothing = {
  'migrations.approve_item allowed_hosts': ofNewSecret,
  'migrations.approve_items items.allowed_hosts': ofNewSecret,
  ...Object.fromEntries(
    [
      ...['agent_id', 'local_port', 'upstream_host', 'upstream_port'].map((field) => `migrations.db_routes.create ${field}`),
      ...['create', 'update'].flatMap((verb) => ['agent_id', 'match_host'].map((field) => `migrations.intercept_rules.${verb} ${field}`)),
    ].map((field) => [field, confirmedRule]),
  ),
};

export const grantless = {
  'migrations.create': 'reads a store with credentials that come with the request',
};

export const loosening: Fixture['loosening'] = {
  'migrations.denylist.put': {
    rules: DENYLIST_PROTECTIONS,
    of: async () => ({}),
    pairs: { patterns: { strict: { patterns: [{ pattern: 'internal/*', kind: 'glob' }] }, loose: { patterns: [] } } },
  },
};
