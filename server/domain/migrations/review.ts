import type { z } from 'zod';
import { digest } from '#server/crypto/tokens.ts';
import { appendAllCritical } from '#server/domain/audit-logs/service.ts';
import { canonicalHostPin, lockedSecret } from '#server/domain/secrets/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { completeIfDecided, rejectRows } from './deciding.ts';
import { takenNames } from './items.ts';
import type { ApprovedTarget, ApproveItem, ApproveItems, RejectItem, RejectItems, RevealItem } from './schema.ts';
import { type Item, itemById, itemNotFound, itemsById, lockedItems, lockedMigration, migrationById } from './store.ts';
import { openItem, valueUnavailable } from './values.ts';

/** Every look at a value and every decision is a Class B use of people who review migrations (interface rule 32 rows 16 and 17). */
const REVIEW = { class: 'B', scope: 'secret.migration', policy: 'migration:review', reviewers: true } as const;

export const revealOfItem: Reveal<z.output<typeof RevealItem>> = {
  ...REVIEW,
  subject: async (ctx, input) => {
    const item = await read(ctx, (tx) => itemById(tx, ctx, input));
    return {
      resource_type: 'secret_migration_item',
      resource_id: item.id,
      details: { migration_id: item.migration_id, mode: modeOf(input) },
    };
  },
  state: async (ctx, input) => {
    const item = await read(ctx, (tx) => itemById(tx, ctx, input));
    if (!item.value_ct) throw valueUnavailable();
    return { source_ref: item.source_ref };
  },
  critical: (_ctx, input, { source_ref }) => [
    {
      action: 'migration.item.reveal',
      resource_type: 'secret_migration_item',
      resource_id: input.itemId,
      details: { mode: modeOf(input), migration_id: input.id, source_ref },
    },
  ],
};

const modeOf = ({ full }: { full: boolean }) => (full ? ('full' as const) : ('obfuscated' as const));

/** The value whose reveal was audited, in full or as its two ends. @throws Refusal value_unavailable, tenant_sealed */
export async function revealItem(ctx: Ctx, input: z.output<typeof RevealItem>) {
  const item = await read(ctx, (tx) => itemById(tx, ctx, input));
  const bytes = await openItem(ctx, item);
  try {
    const text = bytes.toString('utf8');
    await noteReveal(ctx, item.migration_id);
    return {
      id: item.id,
      value: input.full ? text : obfuscated(text, item.kind),
      value_length: item.value_length ?? bytes.byteLength,
      value_sha256_prefix: digest(bytes).toString('hex').slice(0, 16),
      mode: modeOf(input),
    };
  } finally {
    bytes.fill(0);
  }
}

const DOTS = '••••';

/** The first and last four characters; of short values and of bytes neither. */
export function obfuscated(text: string, kind: string): string {
  const characters = [...text];
  if (kind === 'binary' || characters.length < 12) return DOTS;
  return `${characters.slice(0, 4).join('')}${DOTS}${characters.slice(-4).join('')}`;
}

/** Counted for the hourly mail to the Owners. */
const noteReveal = (ctx: Ctx, migrationId: string) =>
  inTransaction(
    ctx,
    (tx) => tx.$executeRaw`
      insert into secret_migration_notices (migration_id, user_id, tenant_id, sandbox, reveals)
      values (${migrationId}::uuid, ${ctx.actor.id}::uuid, ${ctx.tenant_id}::uuid, ${ctx.sandbox}, 1)
      on conflict (migration_id, user_id) do update set reveals = secret_migration_notices.reveals + 1`,
  );

/** The migration of a decision over several items; what it decides is looked at again under locks. */
const deciding = <I extends { id: string }>(itemsOf: (input: I) => readonly string[], statuses: readonly string[]): Reveal<I> => ({
  ...REVIEW,
  subject: async (ctx, input) => {
    const row = await read(ctx, async (tx) => {
      const migration = await migrationById(tx, ctx, input.id);
      await itemsById(tx, ctx, input.id, itemsOf(input));
      return migration;
    });
    const [only, more] = itemsOf(input);
    return more === undefined && only !== undefined
      ? { resource_type: 'secret_migration_item', resource_id: only, details: { migration_id: row.id } }
      : { resource_type: 'secret_migration', resource_id: row.id, details: { items: itemsOf(input).length } };
  },
  state: async (ctx, input) => {
    const ids = itemsOf(input);
    if (new Set(ids).size < ids.length) throw invalid('items', 'must name each item once');
    await read(ctx, async (tx) => {
      for (const item of await itemsById(tx, ctx, input.id, ids)) assertDecidable(item, statuses);
    });
    return {};
  },
});

const PENDING = ['pending_review'];
const OPEN = ['pending_review', 'approved'];

export const approvalOfItem = deciding<z.output<typeof ApproveItem>>(({ itemId }) => [itemId], PENDING);
export const approvalOfItems = deciding<z.output<typeof ApproveItems>>(({ items }) => items.map(({ id }) => id), PENDING);
export const rejectionOfItem = deciding<z.output<typeof RejectItem>>(({ itemId }) => [itemId], OPEN);
export const rejectionOfItems = deciding<z.output<typeof RejectItems>>(({ items }) => items.map(({ id }) => id), OPEN);

function assertDecidable(item: Item, statuses: readonly string[], now = new Date()): void {
  const over = item.expires_at !== null && item.expires_at <= now;
  if (!statuses.includes(item.status) || over)
    throw new Refusal(
      'item_not_pending',
      `The item ${item.source_name} is ${over ? 'expired' : item.status.replaceAll('_', ' ')} and can't be decided.`,
      {
        extra: { item_id: item.id, status: over ? 'expired' : item.status },
      },
    );
}

type Target = z.output<typeof ApprovedTarget>;

/** @throws Refusal item_not_pending, value_unavailable, name_conflict, validation_error */
export async function approveItem(ctx: Ctx, { id, itemId, ...target }: z.output<typeof ApproveItem>) {
  const { items } = await approveItems(ctx, { id, items: [{ id: itemId, ...target }] });
  return items[0] as (typeof items)[number];
}

/** All of them or none. Nothing is decrypted. */
export function approveItems(ctx: Ctx, { id, items }: z.output<typeof ApproveItems>) {
  const ids = items.map((one) => one.id);
  return decide(ctx, id, ids, async (tx, rows) => {
    const places = await placesOf(tx, ctx);
    const targets: Settled[] = [];
    for (const [i, row] of rows.entries()) {
      const { id: _, ...asked } = items[i] as (typeof items)[number];
      assertDecidable(row, PENDING, ctx.now);
      const target = settled(row, asked, places);
      if (target.action === 'new_version') await assertVersionable(tx, ctx, target);
      targets.push(target);
    }
    await assertFree(tx, ctx, rows, targets);
    await appendAllCritical(
      tx,
      ctx,
      rows.map((row, i) => ({
        action: 'migration.item.approve',
        resource_type: 'secret_migration_item',
        resource_id: row.id,
        details: { migration_id: row.migration_id, target: targets[i]?.target_name, action: targets[i]?.action },
      })),
    );
    const decisions = targets.map(({ action, target_name, environment, split, secret_type, existing_secret_id }) => ({
      ...{ by: ctx.actor.id, at: ctx.now.toISOString(), action, target_name, environment: environment ?? null, split, secret_type },
      ...(existing_secret_id === undefined ? {} : { existing_secret_id }),
    }));
    await tx.$executeRaw`
      update secret_migration_items i set status = 'approved', target = v.target::jsonb, decision = v.decision::jsonb, updated_at = ${ctx.now}
      from unnest(${ids}::uuid[], ${targets.map((one) => JSON.stringify(one))}::text[], ${decisions.map((one) => JSON.stringify(one))}::text[]) as v(id, target, decision)
      where i.id = v.id and i.migration_id = ${id}::uuid`;
    return 'approved' as const;
  });
}

type Settled = Target & { target_name: string };
type Places = { environments: ReadonlySet<string>; collections: ReadonlySet<string> };

async function placesOf(tx: Tx, ctx: Ctx): Promise<Places> {
  const environments = await tx.environments.findMany({ where: own(ctx), select: { name: true } });
  const collections = await tx.collections.findMany({ where: own(ctx), select: { id: true } });
  return { environments: new Set(environments.map(({ name }) => name)), collections: new Set(collections.map((one) => one.id)) };
}

type Suggested = { name: string; environment: string | null; collection: string | null; split_keys: string[] };
const suggestedOf = (row: Pick<Item, 'suggested'>) => row.suggested as Suggested;

/** What an approval asks for, with the suggestion filled in. @throws Refusal */
function settled(row: Item, asked: Target, { environments, collections }: Places): Settled {
  if (!row.value_ct) throw valueUnavailable();
  const suggested = suggestedOf(row);
  const target = {
    ...asked,
    target_name: asked.target_name ?? suggested.name,
    environment: asked.environment ?? suggested.environment ?? undefined,
    collection_id: asked.collection_id === undefined ? suggested.collection : asked.collection_id,
  };
  if (target.environment !== undefined && !environments.has(target.environment)) throw invalid('environment', 'no such environment');
  if (target.collection_id && !collections.has(target.collection_id)) throw invalid('collection_id', 'no such collection');
  for (const [i, host] of (target.allowed_hosts ?? []).entries()) {
    const pin = canonicalHostPin(host);
    if (!pin.ok) throw invalid(`allowed_hosts.${i}`, pin.problem);
  }
  if (target.split === 'json_keys' && suggested.split_keys.length === 0)
    throw invalid('split', 'this value is not a JSON object whose members are all text, numbers or booleans');
  if (target.secret_type === 'certificate' && row.kind !== 'pem') throw invalid('secret_type', 'only PEM values can become certificates');
  if (target.secret_type === 'certificate' && target.action === 'new_version')
    throw invalid('secret_type', 'only works when secrets are created');
  return target;
}

async function assertVersionable(tx: Tx, ctx: Ctx, { existing_secret_id, split }: Target): Promise<void> {
  if (existing_secret_id === undefined) throw invalid('existing_secret_id', 'is required for a new version');
  if (split !== 'none') throw invalid('split', 'only works when secrets are created');
  const secret = await lockedSecret(tx, ctx, existing_secret_id, { for: 'change' }).catch(() => {
    throw invalid('existing_secret_id', 'no such secret');
  });
  if (secret.linked_share_id !== null) throw invalid('existing_secret_id', 'must not be a secret that another workspace shares');
  if (secret.secret_type !== 'string' || secret.is_escrow) throw invalid('existing_secret_id', 'must be a secret of type string');
}

/** @throws Refusal name_conflict {secret_id} */
async function assertFree(tx: Tx, ctx: Ctx, rows: readonly Item[], targets: readonly Settled[]): Promise<void> {
  const names = targets.flatMap((target, i) => namesOf(target, suggestedOf(rows[i] as Item).split_keys));
  const [taken] = (await takenNames(tx, ctx, names)).values();
  if (taken)
    throw new Refusal('name_conflict', `A secret named ${taken.name} already exists. Choose another name, or add a new version to it.`, {
      extra: { secret_id: taken.secret_id },
    });
}

/** The names that an approved item asks for; of a split value those of the keys that its discovery saw. */
export function namesOf({ action, split, target_name }: Settled, keys: readonly string[]): string[] {
  if (action === 'new_version') return [];
  return split === 'json_keys' ? keys.map((key) => partName(target_name, key)) : [target_name];
}

/** The name of the secret that one key of a split value becomes. */
export const partName = (target: string, key: string): string => `${target}_${key.replaceAll(/[^A-Za-z0-9_.-]+/g, '_')}`.slice(0, 128);

/** @throws Refusal item_not_pending */
export async function rejectOne(ctx: Ctx, { id, itemId, reason }: z.output<typeof RejectItem>) {
  const { items } = await rejectItems(ctx, { id, items: [{ id: itemId, reason }] });
  return items[0] as (typeof items)[number];
}

/** All of them or none; their values are gone with the same commit. */
export function rejectItems(ctx: Ctx, { id, items }: z.output<typeof RejectItems>) {
  return decide(
    ctx,
    id,
    items.map((one) => one.id),
    async (tx, rows) => {
      for (const row of rows) assertDecidable(row, OPEN, ctx.now);
      await rejectRows(
        tx,
        ctx,
        rows.map((row, i) => ({ row, reason: items[i]?.reason ?? '' })),
      );
      return 'rejected' as const;
    },
  );
}

/** A decision over items of one migration, which may be its last. */
function decide<S extends string>(ctx: Ctx, id: string, itemIds: readonly string[], work: (tx: Tx, rows: Item[]) => Promise<S>) {
  return inTransaction(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, id);
    const status = await work(tx, await lockedItems(tx, ctx, migration.id, itemIds));
    await completeIfDecided(tx, ctx, migration.id);
    return { items: itemIds.map((itemId) => ({ id: itemId, status })) };
  });
}

/** Back to review: a change of mind that keeps the value. @throws Refusal item_not_found, item_not_pending */
export function unapproveItem(ctx: Ctx, { id, itemId }: { id: string; itemId: string }) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, id);
    const { id: known } = await itemById(tx, ctx, { id: migration.id, itemId });
    const [row] = await lockedItems(tx, ctx, migration.id, [known]);
    if (!row) throw itemNotFound();
    assertDecidable(row, ['approved'], ctx.now);
    await tx.secret_migration_items.update({
      where: { id: row.id },
      data: { status: 'pending_review', target: Prisma.DbNull, decision: Prisma.DbNull, updated_at: ctx.now },
      select: { id: true },
    });
    return audited(
      { id: row.id, status: 'pending_review' as const },
      {
        action: 'update',
        resource_type: 'secret_migration_item',
        resource_id: row.id,
        name: row.source_name,
        details: { change: 'unapprove', migration_id: row.migration_id },
      },
    );
  });
}

/** Deciding anything about a migration is for reviewers (interface rule 35 §3). @throws Refusal reveal_role_denied */
export function requireReviewer({ actor }: Ctx): void {
  if (actor.type === 'member' && !actor.migration_reviewer)
    throw new Refusal('reveal_role_denied', 'Your membership lacks Review migrations. Ask an Owner to turn it on under Team.');
}
