import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { bucketOf, kindOf, splitKeys } from './classify.ts';
import { deniedOf } from './denying.ts';
import type { Pattern } from './denylist.shared.ts';
import { denylistOf } from './denylist.ts';
import { MOST_ITEMS } from './register.shared.ts';
import { lockedMigration, migrationById } from './store.ts';
import { suggestedEnvironment, suggestedName } from './suggest.ts';
import { sealItem } from './values.ts';

/** What an on-host agent saw an application read. `value` is the caller's to wipe. */
export type Captured = { source_ref: string; source_version: string; provider_host: string; value: Buffer };

const MOST_BYTES = 65_536;

/**
 * Takes what was seen as items of a migration that captures (interface rule 35 §6.4). A name that is denied is counted and its value forgotten; one that is there
 * already in this version is a duplicate. @throws Refusal migration_not_found, migration_not_capturing, tenant_sealed
 */
export async function acceptCaptured(ctx: Ctx, migrationId: string, items: readonly Captured[]) {
  const { denylist, environments } = await read(ctx, async (tx) => ({
    denylist: [...(await denylistOf(tx, ctx)).patterns, ...((await migrationById(tx, ctx, migrationId)).denylist as Pattern[])],
    environments: new Set((await tx.environments.findMany({ where: own(ctx), select: { name: true } })).map(({ name }) => name)),
  }));
  // Judged before the transaction, in which nothing may wait for a thread; a migration's own list never changes.
  const names = items.map(({ source_ref }) => ({ name: source_ref, ref: source_ref, tags: {} }));
  const denied = await deniedOf(denylist, names, { owner: ctx.tenant_id });
  const sealed = await Promise.all(items.map((item) => sealedItem(ctx, item)));
  return inTransaction(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, migrationId);
    if (!isCapturing(migration))
      throw new Refusal(
        'migration_not_capturing',
        'This migration captures nothing now: its mode is pull, or its capture window has ended.',
      );
    if (migration.discovered_count + items.length > MOST_ITEMS)
      throw new Refusal(
        'migration_not_capturing',
        `This migration already has ${migration.discovered_count} of at most ${grouped(MOST_ITEMS)} items.`,
      );
    if (migration.status === 'pending')
      await tx.secret_migrations.update({
        where: { id: migration.id },
        data: { status: 'discovering', started_at: ctx.now, updated_at: ctx.now },
      });
    let [accepted, denylisted] = [0, 0];
    for (const [i, { item, stored, text }] of sealed.entries()) {
      if (denied[i]) {
        denylisted++;
        continue;
      }
      const kind = kindOf(text);
      const { count } = await tx.secret_migration_items.createMany({
        data: {
          ...own(ctx),
          ...stored,
          migration_id: migration.id,
          source_ref: item.source_ref,
          source_name: item.source_ref,
          source_version: item.source_version,
          kind,
          value_length: item.value.byteLength,
          discovered_via: 'capture',
          bucket: bucketOf(kind, text),
          suggested: {
            name: suggestedName(item.source_ref, { template: migration.name_template, prefixes: [], region: migration.region }),
            environment: suggestedEnvironment(item.source_ref, environments) ?? migration.default_environment,
            collection: migration.default_collection_id,
            tags: [],
            split_keys: splitKeys(kind, text),
          },
          status: 'pending_review',
          expires_at: new Date(ctx.now.getTime() + migration.review_ttl_hours * 3_600_000),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
        skipDuplicates: true,
      });
      accepted += count;
    }
    return { accepted, duplicates: items.length - accepted - denylisted, denylisted };
  });
}

const isCapturing = ({ mode, status }: { mode: string; status: string }): boolean =>
  mode !== 'pull' && (status === 'discovering' || status === 'awaiting_review' || (mode === 'capture' && status === 'pending'));

/** What isn't text is kept as base64. */
async function sealedItem(ctx: Ctx, item: Captured) {
  if (item.value.byteLength === 0 || item.value.byteLength > MOST_BYTES)
    throw new Refusal('validation_error', `items: a value must have 1 to ${MOST_BYTES} bytes`);
  const text = item.value.toString('utf8');
  const isText = !text.includes('\0') && text.isWellFormed() && Buffer.from(text, 'utf8').equals(item.value);
  const kept = isText ? item.value : Buffer.from(item.value.toString('base64'), 'latin1');
  const id = newId();
  try {
    return { item, text: isText ? text : null, stored: { id, ...(await sealItem(ctx, id, kept)) } };
  } finally {
    if (kept !== item.value) kept.fill(0);
  }
}
