import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { randomBase62 } from '#server/crypto/random.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { type Db, read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { log } from '#server/platform/log.ts';
import { bucketOf, kindOf, splitKeys } from './classify.ts';
import { openGrant } from './credentials.ts';
import { deniedOf } from './denying.ts';
import type { Pattern } from './denylist.shared.ts';
import { denylistOf } from './denylist.ts';
import { beat, failed, finished, giveBack, LeaseLost, type Run, takeLease, underLease } from './discovery-lease.ts';
import { type CallPace, paced } from './pace.ts';
import type { Grant } from './provider-input.ts';
import { type Cursor, isTransient, type Provider, ProviderFault, type SourceEntry, TooLarge } from './providers/provider.ts';
import { MOST_ITEMS } from './register.shared.ts';
import { openStore } from './stores.ts';
import { suggestedEnvironment, suggestedName } from './suggest.ts';
import { sealItem } from './values.ts';

export type DiscoveryOptions = {
  signal?: AbortSignal;
  /** Calls to the store a second. */
  rate?: number;
  /** Epoch ms after which the rest is left to the next run; never when absent. */
  until?: number;
  /** Instead of the store that the grant names. */
  open?: (grant: Grant) => Promise<Provider>;
};

/** Calls to a store a second (interface rule 35 §6.3). */
const RATE = 10;

/**
 * Reads the store of one migration, from where it stopped. One worker at a time by lease; killed at any step, the next one goes on without loss and
 * without a second item for the same version. Of the store's values one is in memory at a time.
 * @returns items added; null when somebody else is at work, or there is nothing to do
 */
export async function discover(db: Db, migrationId: string, options: DiscoveryOptions = {}): Promise<number | null> {
  const owner = randomBase62(20);
  const migration = await takeLease(db, migrationId, owner, new Date());
  if (!migration) return null;
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, ...(options.signal ? [options.signal] : [])]);
  const ctx = (): Ctx => systemContext(db, { ...own(migration), now: new Date(), label: 'migration discovery' });
  const run: Run = { db, ctx, migrationId, owner };
  const heartbeat = setInterval(() => void beat(run).catch((error: unknown) => stopped.abort(error)), 15_000);
  let provider: Provider | undefined;
  try {
    const grant = await read(ctx(), (tx) => openGrant(tx, ctx(), migrationId));
    if (!grant) throw new ProviderFault('access_denied', 'The grant of this migration has expired.');
    provider = await (options.open ?? ((one) => openStore(one, { tenant_id: migration.tenant_id, space: spaceOf(migration.sandbox) })))(
      grant,
    );
    const reading = new Reading(run, migration, provider, paced(options.rate ?? RATE, signal), grant, options.until);
    const added = await reading.all(signal);
    await finished(run);
    return added;
  } catch (error) {
    await ended(run, error, signal);
    return null;
  } finally {
    clearInterval(heartbeat);
    await provider?.close().catch(() => {});
  }
}

async function ended(run: Run, error: unknown, signal: AbortSignal): Promise<void> {
  if (error instanceof LeaseLost) return; // canceled, or taken over
  if (signal.aborted || error instanceof SliceOver) return giveBack(run);
  const fault = error instanceof ProviderFault ? error : undefined;
  if (!fault && !(error instanceof TenantKeyUnavailable))
    log.error({ err: error, migration_id: run.migrationId }, 'discovery of a migration failed');
  await failed(run, {
    permanent: !isTransient(error),
    details: {
      code: fault?.reason ?? 'internal_error',
      message: fault?.message ?? "Reading the store failed on our side. It's tried again.",
      ...(fault?.provider_request_id === undefined ? {} : { provider_request_id: fault.provider_request_id }),
    },
  });
}

/** Others have waited for their turn; the next run goes on. */
class SliceOver extends Error {}

type Migration = NonNullable<Awaited<ReturnType<typeof takeLease>>>;

class Reading {
  readonly #run: Run;
  readonly #migration: Migration;
  readonly #provider: Provider;
  readonly #pace: CallPace;
  readonly #prefixes: readonly string[];
  readonly #until: number;
  #calls = 0;
  #patterns: readonly Pattern[] = [];
  #environments: ReadonlySet<string> = new Set();
  #added = 0;

  constructor(run: Run, migration: Migration, provider: Provider, pace: CallPace, grant: Grant, until = Number.POSITIVE_INFINITY) {
    this.#run = run;
    this.#migration = migration;
    this.#provider = provider;
    this.#pace = pace;
    this.#until = until;
    this.#prefixes = 'path_prefixes' in grant ? grant.path_prefixes : [];
  }

  async all(signal: AbortSignal): Promise<number> {
    const ctx = this.#run.ctx();
    await read(ctx, async (tx) => {
      const { patterns } = await denylistOf(tx, ctx);
      this.#patterns = [...patterns, ...(this.#migration.denylist as typeof patterns)];
      this.#environments = new Set((await tx.environments.findMany({ where: own(ctx), select: { name: true } })).map(({ name }) => name));
    });
    for (let cursor = this.#migration.cursor as Cursor | null, first = true; first || cursor; first = false) {
      const at: Cursor | null = cursor;
      const page = await this.#call(() => this.#provider.list(at, signal));
      await this.#entries(page.entries, signal);
      cursor = page.next;
      await underLease(this.#run, (tx) =>
        tx.secret_migrations.update({
          where: { id: this.#run.migrationId },
          data: { cursor: cursor as Prisma.InputJsonValue, attempts: 0, next_attempt_at: null },
          select: { id: true },
        }),
      );
    }
    return this.#added;
  }

  /** A provider call: not faster than the pace, and only while the migration is still ours to read. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    // A page and something of it is read in every slice, so that a slow store gets on as well.
    if (this.#calls++ >= 2 && Date.now() >= this.#until) throw new SliceOver();
    return this.#pace(async () => {
      await beat(this.#run);
      return work();
    });
  }

  async #entries(entries: readonly SourceEntry[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < entries.length; at += 500) {
      const part = entries.slice(at, at + 500);
      const known = await this.#known(part);
      const names = part.map(({ name, ref, tags }) => ({ name, ref, tags }));
      const denied = await deniedOf(this.#patterns, names, { owner: this.#run.ctx().tenant_id });
      for (const [i, entry] of part.entries()) {
        const versions = known.get(entry.ref);
        if (versions?.some(({ version, fresh }) => (entry.version === null ? fresh : version === entry.version))) continue;
        await this.#entry(entry, denied[i] === true, signal);
      }
    }
  }

  /** What was found before; `fresh` in this very run, which a resumed one doesn't fetch again. */
  async #known(entries: readonly SourceEntry[]) {
    const ctx = this.#run.ctx();
    const since = this.#migration.run_started_at;
    const rows = await read(ctx, (tx) =>
      tx.secret_migration_items.findMany({
        where: { ...own(ctx), migration_id: this.#run.migrationId, source_ref: { in: entries.map(({ ref }) => ref) } },
        select: { source_ref: true, source_version: true, created_at: true },
      }),
    );
    const found = rows.map((row) => ({
      ref: row.source_ref,
      version: row.source_version,
      fresh: since !== null && row.created_at >= since,
    }));
    return Map.groupBy(found, ({ ref }) => ref);
  }

  async #entry(entry: SourceEntry, denied: boolean, signal: AbortSignal): Promise<void> {
    if (denied) return this.#add(entry, { version: entry.version ?? '', status: 'denylisted', text: null, bytes: null, fetch_error: null });
    try {
      const { version, bytes, binary } = await this.#call(() => this.#provider.readValue(entry, signal));
      try {
        const text = binary ? null : bytes.toString('utf8');
        // What isn't text is kept as base64, like bytes that the store itself calls binary.
        const isText = text !== null && !text.includes('\0') && text.isWellFormed() && Buffer.from(text, 'utf8').equals(bytes);
        const kept = isText ? bytes : Buffer.from(bytes.toString('base64'), 'latin1');
        await this.#add(entry, {
          version,
          status: 'pending_review',
          text: isText ? text : null,
          bytes: kept,
          fetch_error: bytes.byteLength === 0 ? 'empty' : null,
        });
        if (kept !== bytes) kept.fill(0);
      } finally {
        bytes.fill(0);
      }
    } catch (error) {
      const reason =
        error instanceof TooLarge ? 'too_large' : error instanceof ProviderFault && !isTransient(error) ? error.reason : undefined;
      if (reason === undefined) throw error;
      await this.#add(entry, { version: entry.version ?? '', status: 'pending_review', text: null, bytes: null, fetch_error: reason });
    }
  }

  async #add(
    entry: SourceEntry,
    found: { version: string; status: string; text: string | null; bytes: Buffer | null; fetch_error: string | null },
  ) {
    const { version, status, text, bytes, fetch_error } = found;
    const ctx = this.#run.ctx();
    const id = newId();
    const stored = bytes && bytes.byteLength > 0 ? await sealItem(ctx, id, bytes) : null;
    const kind = bytes ? kindOf(text) : 'string';
    const { name_template, review_ttl_hours, default_environment, default_collection_id } = this.#migration;
    const naming = { template: name_template, prefixes: this.#prefixes, region: entry.region };
    const suggested = {
      name: suggestedName(entry.name, naming),
      environment: suggestedEnvironment(entry.name, this.#environments) ?? default_environment,
      collection: default_collection_id,
      tags: [],
      split_keys: splitKeys(kind, text),
    };
    const added = await underLease(this.#run, async (tx, row) => {
      if (row.discovered_count >= MOST_ITEMS) throw new ItemLimit();
      // A newer version takes the place of one that nobody decided; what a person may have looked at goes with its ID.
      await tx.secret_migration_items.deleteMany({
        where: {
          ...own(ctx),
          migration_id: this.#run.migrationId,
          source_ref: entry.ref,
          source_version: { not: version },
          status: 'pending_review',
        },
      });
      const { count } = await tx.secret_migration_items.createMany({
        data: {
          ...own(ctx),
          id,
          migration_id: this.#run.migrationId,
          source_ref: entry.ref,
          source_name: entry.name,
          source_version: version,
          source_region: entry.region,
          source_updated_at: entry.updated_at,
          kind,
          value_length: stored && bytes ? bytes.byteLength : null,
          source_tags: Object.fromEntries(Object.entries(entry.tags).slice(0, 50)),
          discovered_via: 'pull',
          bucket: stored ? bucketOf(kind, text) : null,
          suggested,
          status,
          fetch_error,
          ...(stored ?? {}),
          expires_at: status === 'denylisted' ? null : new Date(ctx.now.getTime() + review_ttl_hours * 3_600_000),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
        skipDuplicates: true,
      });
      return count;
    });
    this.#added += added;
  }
}

/** More secrets than one migration takes. */
class ItemLimit extends ProviderFault {
  constructor() {
    super(
      'misconfigured',
      `The scope holds more than ${grouped(MOST_ITEMS)} secrets. Review these, and create another migration with a narrower scope for the rest.`,
    );
  }
}
