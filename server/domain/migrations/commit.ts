import type { z } from 'zod';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { defaultEnvironment } from '#server/domain/environments/service.ts';
import { countOf, limitOf } from '#server/domain/plans/service.ts';
import { insertCertificate } from '#server/domain/secrets/certificates/service.ts';
import { insertSecrets, insertVersion, type ManySecrets } from '#server/domain/secrets/service.ts';
import { parseLossless } from '#server/kernel/bounded-text.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { completeIfDecided } from './deciding.ts';
import { takenNames } from './items.ts';
import { namesOf, partName } from './review.ts';
import { ApprovedTarget, type CommitItems } from './schema.ts';
import { type Item, itemsById, lockedItems, lockedMigration, migrationById } from './store.ts';
import { openItem } from './values.ts';

const MOST_AT_ONCE = 500;

export const commitGate: Reveal<z.output<typeof CommitItems>> = {
  class: 'B',
  scope: 'secret.migration',
  policy: 'migration:commit',
  reviewers: true,
  subject: async (ctx, { id }) => {
    const row = await read(ctx, (tx) => migrationById(tx, ctx, id));
    return { resource_type: 'secret_migration', resource_id: row.id };
  },
  state: async (ctx, input) => {
    const { planned } = await read(ctx, (tx) => planOf(tx, ctx, input));
    return { items: planned.length };
  },
};

type Target = z.output<typeof ApprovedTarget> & { target_name: string };
type Planned = { item: Item; target: Target };
type Made = { item_id: string; secret_id: string; name: string; environment: string };

/**
 * Turns approved items into secrets, all of them in one transaction or none. Items that an earlier commit made are reported and not made again.
 * @throws Refusal item_not_pending, commit_conflict, plan_limit, tenant_sealed, conflict
 */
export function commitItems(ctx: Ctx, input: z.output<typeof CommitItems>) {
  return mutate(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, input.id);
    const { planned, done } = await planOf(tx, ctx, { ...input, id: migration.id }, true);
    const before = await madeBefore(tx, ctx, done);
    if (planned.length === 0) return unchanged({ committed: 0, secrets: before, migration_status: migration.status as 'completed' });
    await assertNoConflict(tx, ctx, planned);
    await assertRoom(tx, ctx, planned);
    const { made, entries } = await makeSecrets(tx, ctx, planned);
    await tx.$executeRaw`
      update secret_migration_items i
      set status = 'committed', value_ct = null, cek_wrapped = null, tmk_version = null, committed_secret_ids = m.ids, updated_at = ${ctx.now}
      from (select item_id, array_agg(secret_id) as ids
        from unnest(${made.map((one) => one.item_id)}::uuid[], ${made.map((one) => one.secret_id)}::uuid[]) as v(item_id, secret_id) group by 1) m
      where i.id = m.item_id and i.migration_id = ${migration.id}::uuid`;
    await appendCritical(tx, ctx, {
      action: 'migration.commit',
      resource_type: 'secret_migration',
      resource_id: migration.id,
      details: { item_ids: planned.map(({ item }) => item.id), secret_ids: made.map(({ secret_id }) => secret_id) },
    });
    const migration_status = (await completeIfDecided(tx, ctx, migration.id)) as 'completed';
    const answer = { committed: planned.length, secrets: [...before, ...made], migration_status };
    const [first, ...rest] = entries as [AuditEntry, ...AuditEntry[]];
    return audited(answer, first, rest);
  });
}

/** The items of a commit: what is to be made, and what an earlier one made. @throws Refusal item_not_found, item_not_pending, conflict */
async function planOf(
  tx: Tx,
  ctx: Ctx,
  { id, item_ids }: z.output<typeof CommitItems>,
  locked = false,
): Promise<{ planned: Planned[]; done: Item[] }> {
  const migration = await migrationById(tx, ctx, id);
  const ids = item_ids ? [...new Set(item_ids)] : await approvedIds(tx, ctx, migration.id);
  const rows: Item[] = locked ? await lockedItems(tx, ctx, migration.id, ids) : await itemsById(tx, ctx, migration.id, ids);
  const done = rows.filter(({ status }) => status === 'committed');
  const open = rows.filter(({ status }) => status !== 'committed');
  if (open.length > 0 && migration.status !== 'awaiting_review')
    throw new Refusal(
      'conflict',
      `Items can be committed once the migration awaits review. It is ${migration.status.replaceAll('_', ' ')}.`,
    );
  const wrong = open.find(({ status, expires_at }) => status !== 'approved' || (expires_at !== null && expires_at <= ctx.now));
  if (wrong)
    throw new Refusal('item_not_pending', `The item ${wrong.source_name} is not approved, so nothing was committed.`, {
      extra: { item_id: wrong.id },
    });
  return { planned: open.map((item) => ({ item, target: targetOf(item) })), done };
}

const approvedIds = async (tx: Tx, ctx: Ctx, migrationId: string): Promise<string[]> =>
  (
    await tx.secret_migration_items.findMany({
      where: { ...own(ctx), migration_id: migrationId, status: 'approved' },
      orderBy: [{ source_name: 'asc' }, { id: 'asc' }],
      take: MOST_AT_ONCE,
      select: { id: true },
    })
  ).map(({ id }) => id);

const targetOf = (item: Item): Target => ApprovedTarget.parse(item.target) as Target;

const plannedNames = ({ item, target }: Planned): string[] => namesOf(target, (item.suggested as { split_keys: string[] }).split_keys);

export type Conflict = { id: string; code: 'name_taken' | 'name_given_twice' | 'secret_missing'; name: string };

async function conflictsOf(tx: Tx, ctx: Ctx, planned: readonly Planned[]): Promise<Conflict[]> {
  const names = planned.flatMap(plannedNames);
  const taken = await takenNames(tx, ctx, names);
  const times = Map.groupBy(names, (name) => name.toLowerCase());
  const existing = planned.flatMap(({ target }) => target.existing_secret_id ?? []);
  const rows = await tx.secrets.findMany({
    where: { ...own(ctx), id: { in: existing }, secret_type: 'string', linked_share_id: null },
    select: { id: true },
  });
  const known = new Set(rows.map(({ id }) => id));
  return planned.flatMap((one): Conflict[] => {
    const { item, target } = one;
    if (target.action === 'new_version')
      return known.has(target.existing_secret_id ?? '') ? [] : [{ id: item.id, code: 'secret_missing', name: target.target_name }];
    const name = plannedNames(one).find((wanted) => taken.has(wanted.toLowerCase()));
    if (name) return [{ id: item.id, code: 'name_taken', name }];
    const twice = plannedNames(one).find((wanted) => (times.get(wanted.toLowerCase())?.length ?? 0) > 1);
    return twice ? [{ id: item.id, code: 'name_given_twice', name: twice }] : [];
  });
}

async function assertNoConflict(tx: Tx, ctx: Ctx, planned: readonly Planned[]): Promise<void> {
  const conflicts = await conflictsOf(tx, ctx, planned);
  if (conflicts.length === 0) return;
  throw new Refusal(
    'commit_conflict',
    `${conflicts.length === 1 ? 'One item conflicts' : `${conflicts.length} items conflict`} with a secret, so nothing was committed. Give it another name, or commit without it.`,
    {
      extra: { items: conflicts.map(({ id, code }) => ({ id, code })) },
    },
  );
}

/** @throws Refusal plan_limit {needed, available} */
async function assertRoom(tx: Tx, ctx: Ctx, planned: readonly Planned[]): Promise<void> {
  const { needed, available } = await roomFor(tx, ctx, planned);
  if (available === null || needed <= available) return;
  throw new Refusal(
    'plan_limit',
    `This commit needs ${needed} secrets and the ${ctx.plan} plan has room for ${available}. Commit fewer items or ${moreRoom(ctx.plan)}.`,
    {
      extra: { needed, available },
    },
  );
}

async function roomFor(tx: Tx, ctx: Ctx, planned: readonly Planned[]): Promise<{ needed: number; available: number | null }> {
  const limit = await limitOf(tx, ctx, 'secrets');
  return {
    needed: planned.flatMap(plannedNames).length,
    available: limit === null ? null : Math.max(0, limit - (await countOf(tx, ctx, 'secrets'))),
  };
}

/** The secrets of these items. Values are in memory from here to the end of this call, and buffers of them no longer. */
async function makeSecrets(tx: Tx, ctx: Ctx, planned: readonly Planned[]): Promise<{ made: Made[]; entries: AuditEntry[] }> {
  const fallback = (await defaultEnvironment(tx, ctx)).name;
  const made: Made[] = [];
  const entries: AuditEntry[] = [];
  const note = (item: Item, { entry, ...secret }: { entry: AuditEntry; id: string; name: string }, environment: string) => {
    made.push({ item_id: item.id, secret_id: secret.id, name: secret.name, environment });
    const details = { source: 'migration', migration_id: item.migration_id, source_ref: item.source_ref };
    entries.push({ ...entry, details: { ...entry.details, ...details } });
  };
  const created: { item: Item; secret: ManySecrets }[] = [];
  for (const { item, target } of planned) {
    const environment = target.environment ?? fallback;
    const bytes = await openItem(ctx, item);
    try {
      if (target.action === 'new_version') {
        const id = target.existing_secret_id as string;
        note(item, await insertVersion(tx, ctx, { id, environment, value: bytes }), environment);
      } else if (target.secret_type === 'certificate') {
        note(item, await certificateOf(tx, ctx, { ...target, environment }, { item, pem: bytes.toString('utf8') }), environment);
      } else {
        const { collection_id, tags, expires_at, allowed_hosts } = target;
        for (const part of partsOf(item, target, bytes))
          created.push({ item, secret: { ...part, environment, collection_id, tags, expires_at, allowed_hosts } });
      }
    } finally {
      bytes.fill(0);
    }
  }
  const rows = await insertSecrets(
    tx,
    ctx,
    created.map(({ secret }) => secret),
  );
  for (const [i, row] of rows.entries()) note(created[i]?.item as Item, row, row.environment);
  return { made, entries };
}

/** What a PEM file holds is known once it is opened, so it may turn out only here that it is no certificate. @throws Refusal commit_conflict */
async function certificateOf(tx: Tx, ctx: Ctx, target: Target & { environment: string }, { item, pem }: { item: Item; pem: string }) {
  const { target_name: name, environment, collection_id, tags, expires_at, allowed_hosts } = target;
  const certificate = { name, environment, collection_id, tags, expires_at, allowed_hosts, pem };
  return insertCertificate(tx, ctx, certificate).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.type !== 'validation_error') throw error;
    throw new Refusal(
      'commit_conflict',
      `${item.source_name} is not a certificate that can be read, so nothing was committed. Approve it as a string, or commit without it.`,
      { extra: { items: [{ id: item.id, code: 'not_a_certificate' }] }, cause: error },
    );
  });
}

function partsOf(item: Item, target: Target, bytes: Buffer): { name: string; value: string }[] {
  const text = bytes.toString('utf8');
  if (target.split === 'none') return [{ name: target.target_name, value: text }];
  const { split_keys } = item.suggested as { split_keys: string[] };
  // A number is the digits that the store had: a double would change an account number beyond 2^53 without a word.
  const object = parseLossless(text, 1) as Record<string, unknown>;
  return split_keys.map((key) => ({ name: partName(target.target_name, key), value: String(object[key]) }));
}

/** What an earlier commit made of these items, as far as it still exists. */
async function madeBefore(tx: Tx, ctx: Ctx, done: readonly Item[]): Promise<Made[]> {
  const ids = done.flatMap((item) => item.committed_secret_ids);
  if (ids.length === 0) return [];
  const rows = await tx.secrets.findMany({
    where: { ...own(ctx), id: { in: ids } },
    select: { id: true, name: true, base_environment: true },
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return done.flatMap((item) =>
    item.committed_secret_ids.flatMap((id) => {
      const row = byId.get(id);
      const environment = (item.target as { environment?: string } | null)?.environment ?? row?.base_environment ?? '';
      return row ? [{ item_id: item.id, secret_id: id, name: row.name, environment }] : [];
    }),
  );
}

/** What a commit of all approved items would do. @throws Refusal migration_not_found */
export const previewCommit = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const migration = await migrationById(tx, ctx, id);
    const rows = await tx.secret_migration_items.findMany({
      where: { ...own(ctx), migration_id: migration.id, status: 'approved' },
      orderBy: [{ source_name: 'asc' }, { id: 'asc' }],
      take: MOST_AT_ONCE,
      omit: { value_ct: true, cek_wrapped: true },
    });
    const planned = rows.map((row) => ({ item: row as Item, target: targetOf(row as Item) }));
    const { needed, available } = await roomFor(tx, ctx, planned);
    const new_versions = planned.filter(({ target }) => target.action === 'new_version').length;
    return {
      creates: planned.length - new_versions,
      new_versions,
      secrets_needed: needed,
      secrets_available: available,
      conflicts: await conflictsOf(tx, ctx, planned),
    };
  });
