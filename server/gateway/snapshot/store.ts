import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Space } from '#server/kernel/context.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { log } from '#server/platform/log.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import type { Disk } from './disk.ts';
import { type Fingerprint, readAllFingerprints } from './fingerprints.ts';
import { type Changes, loadChanges, SPACES } from './load.ts';
import type { RowLists } from './slice.ts';
import { type AnySlice, compileParts, composeSpace, type Parts, SLICES, type SpaceRows, type SpaceSnapshot } from './slices.ts';
import type { TenantRow } from './tenant.ts';

export type SnapshotOptions = {
  pool: Pool;
  egress: EgressSettings;
  disk?: Disk | undefined;
  /** A snapshot that wasn't confirmed for this long is no longer served. */
  maxAgeMs: number;
  pollMs?: number | undefined;
  /** Rejects while the database's rows may not be taken in: with another root key, the copy on disk would be replaced by one that nobody can open. */
  mayRead?: (() => Promise<void>) | undefined;
  /** Called for every workspace whose keys or standing may have changed, before the new picture is served. */
  onTenant?: ((tenantId: string) => void) | undefined;
};

/** Both spaces of one workspace. The fields are replaced, what they hold never changes. */
export type TenantEntry = { row: TenantRow; live: SpaceSnapshot; test: SpaceSnapshot };

/** One workspace, and what its entry was made from. */
type Held = {
  entry: TenantEntry;
  /** Undefined for a copy from disk: everything may have changed since. */
  fingerprint: Fingerprint | undefined;
  spaces: Record<Space, HeldSpace>;
};
type Reload = { running: Promise<void>; next: Promise<void> | undefined };
type HeldSpace = { rows: SpaceRows; parts: Parts; snapshot: SpaceSnapshot };

const TENANTS_PER_LOAD = 200;
const POLL_MS = 30_000;
const LONGEST_RETRY_MS = 5_000;

/**
 * What this gateway knows of all workspaces. An announcement says that a workspace has changed; its fingerprint says which slices, and only they are
 * loaded and compiled anew. A look at all fingerprints every 30 s finds changes whose announcement was lost, and confirms that what is served is
 * still true. Losing the database stops neither serving nor trying.
 */
export class Snapshots {
  readonly #options: SnapshotOptions;
  readonly #held = new Map<string, Held>();
  readonly #bySlug = new Map<string, TenantEntry>();
  readonly #reloads = new Map<string, Reload>();
  #confirmedAt = 0;
  /** The same on a clock that nobody sets. */
  #confirmedTick = 0;
  #complete = true;
  #listener: Listener | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #awaySince: Date | null = null;
  #version = 0;
  #closed = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** Loads the copy on disk, then the database; resolves as soon as either can serve. */
  async start(patienceMs = 2_000): Promise<void> {
    const copy = this.#options.disk?.read();
    if (copy) {
      const whole = this.#putCopies(copy.spaces);
      this.#confirmedAt = copy.confirmedAt;
      this.#confirmedTick = performance.now() - (Date.now() - copy.confirmedAt);
      this.#complete = whole && copy.complete;
      if (!this.#complete)
        log.error('some of the configuration snapshot on disk is missing: its workspaces are served when the database is there');
    }
    this.#listener = listen({
      channels: ['config_changed', 'tenant_changed'],
      onMessage: (_, payload) => this.#heard(payload),
      onConnect: () => void this.poll(),
      onLost: () => void this.poll(),
    });
    const first = this.poll();
    // An empty disk leaves nothing to serve, so there is nothing to gain from not waiting.
    if (this.#held.size > 0) await Promise.race([first, sleep(patienceMs, undefined, { ref: false })]);
    else await first;
  }

  bySlug(slug: string): TenantEntry | undefined {
    return this.#bySlug.get(slug);
  }

  byId(id: string): TenantEntry | undefined {
    return this.#held.get(id)?.entry;
  }

  /** How many workspaces are served, and how much each slice holds of all of them. */
  sizes(): Record<string, number> {
    const sizes: Record<string, number> = { workspaces: this.#held.size };
    for (const { spaces } of this.#held.values())
      for (const slice of SLICES)
        for (const space of SPACES) sizes[slice.name] = (sizes[slice.name] ?? 0) + slice.size(spaces[space].rows as unknown as RowLists);
    return sizes;
  }

  /** How often a workspace was taken in, or forgotten, since the start. */
  get version(): number {
    return this.#version;
  }

  /** Failed looks at the database since the last one that succeeded. */
  get failures(): number {
    return this.#failures;
  }

  /** Since when looks at the database fail; null while they succeed. */
  get awaySince(): Date | null {
    return this.#awaySince;
  }

  /** When what is served was last confirmed; null before the first time. */
  get confirmedAt(): Date | null {
    return this.#confirmedAt > 0 ? new Date(this.#confirmedAt) : null;
  }

  /** Workspaces whose key is out of reach. */
  get sealed(): number {
    let sealed = 0;
    for (const { entry } of this.#held.values()) if (entry.row.sealed !== null && entry.row.sealed !== undefined) sealed++;
    return sealed;
  }

  /** Milliseconds since the snapshot was last confirmed against the database. A clock that was set back makes it no younger, nor does a machine that slept. */
  ageMs(now = Date.now()): number {
    return Math.max(now - this.#confirmedAt, performance.now() - this.#confirmedTick);
  }

  /** Milliseconds after which a confirmation is overdue: two polls have failed. */
  get overdueMs(): number {
    return 2 * (this.#options.pollMs ?? POLL_MS);
  }

  /** Whether calls may be served: something was confirmed recently enough. */
  get fresh(): boolean {
    return this.ageMs() <= this.#options.maxAgeMs;
  }

  /** Whether a workspace that isn't here doesn't exist. */
  get knowsAll(): boolean {
    return this.#complete && this.fresh;
  }

  /** Resolves when everything committed before this call is served. Rejects when the database is unavailable. */
  async refresh(tenantId: string): Promise<void> {
    return this.#reload(tenantId);
  }

  /** Compares every workspace with the database and reloads those that differ. Never rejects; one at a time. */
  poll(): Promise<void> {
    if (this.#polling !== undefined) {
      this.#pollAgain = true;
      return this.#polling;
    }
    this.#polling = this.#pollOnce().finally(() => {
      this.#polling = undefined;
      if (this.#pollAgain && !this.#closed) {
        this.#pollAgain = false;
        void this.poll();
      }
    });
    return this.#polling;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#listener?.close();
    await this.#polling;
    await Promise.allSettled([...this.#reloads.values()].map((reload) => reload.running));
    await this.#options.disk?.settled();
  }

  async #pollOnce(): Promise<void> {
    clearTimeout(this.#timer);
    const { pool, disk, pollMs = POLL_MS } = this.#options;
    let next = pollMs;
    try {
      const asked = Date.now();
      const tick = performance.now();
      await this.#options.mayRead?.();
      const prints = await readAllFingerprints(pool);
      const changed = [...prints].filter(([id, print]) => this.#held.get(id)?.fingerprint?.text !== print).map(([id]) => id);
      for (const id of this.#held.keys()) if (!prints.has(id)) await this.#reload(id);
      for (let i = 0; i < changed.length; i += TENANTS_PER_LOAD) await this.#load(changed.slice(i, i + TENANTS_PER_LOAD));
      this.#confirmedAt = asked;
      this.#confirmedTick = tick;
      this.#complete = true;
      if (this.#failures > 0) log.info(this.sizes(), 'the configuration is confirmed again');
      this.#failures = 0;
      this.#awaySince = null;
      void disk?.confirm(asked);
    } catch (error) {
      this.#failures++;
      this.#awaySince ??= new Date();
      next = Math.min(100 * 2 ** this.#failures, LONGEST_RETRY_MS);
      log.warn(
        { err: error, age_ms: this.#confirmedAt ? this.ageMs() : null },
        'cannot confirm the configuration; serving the last snapshot',
      );
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.poll(), next);
  }

  /** `workspace` or `workspace:space`. */
  #heard(payload: string): void {
    const [tenantId = ''] = payload.split(':');
    // A failed reload is not lost: the fingerprint still differs, so the next poll finds it.
    this.#reload(tenantId).catch(() => void this.poll());
  }

  /** One load per workspace at a time. Requests that come meanwhile share one more load afterwards. */
  #reload(tenantId: string): Promise<void> {
    const current = this.#reloads.get(tenantId);
    if (!current) return this.#startReload(tenantId);
    const again = () => this.#startReload(tenantId);
    current.next ??= current.running.then(again, again);
    return current.next;
  }

  #startReload(tenantId: string): Promise<void> {
    const entry: Reload = { running: this.#load([tenantId]), next: undefined };
    this.#reloads.set(tenantId, entry);
    const done = () => {
      if (this.#reloads.get(tenantId) === entry && entry.next === undefined) this.#reloads.delete(tenantId);
    };
    entry.running.then(done, done);
    return entry.running;
  }

  /** Brings the workspaces up to date. Those that another load has changed meanwhile are loaded again: changes fit only what they were found against. */
  async #load(ids: readonly string[]): Promise<void> {
    const since = new Map(ids.map((id) => [id, this.#held.get(id)?.fingerprint]));
    await this.#options.mayRead?.();
    const changes = await loadChanges(this.#options.pool, since);
    const overtaken: string[] = [];
    for (const [id, fingerprint] of since) {
      const found = changes.get(id);
      if (this.#held.get(id)?.fingerprint !== fingerprint) overtaken.push(id);
      else if (found) this.#put(id, found);
      else this.#remove(id);
    }
    if (overtaken.length > 0) await this.#load(overtaken);
  }

  /** Serves the changes from here on, of both spaces and all slices at once. */
  #put(id: string, { fingerprint, tenant, spaces }: Changes): void {
    const before = this.#held.get(id);
    const row = tenant ?? before?.entry.row;
    if (!row) return; // never: the row of a workspace that is not held is always read
    const renewed = before !== undefined && JSON.stringify(before.entry.row) !== JSON.stringify(row);
    if (renewed) this.#options.onTenant?.(id);
    const made = (space: Space): HeldSpace => {
      const held = before?.spaces[space];
      const { slices, rows } = spaces[space];
      if (held && !renewed && slices.length === 0) return held;
      // Without rows held every slice was loaded, so that no list is missing.
      return this.#compile({ ...held?.rows, ...rows, tenant: row, space } as SpaceRows, slices, held?.parts);
    };
    const after = { live: made('live'), test: made('test') };
    this.#serve(id, row, fingerprint, after);
    for (const space of SPACES) if (after[space] !== before?.spaces[space]) void this.#options.disk?.keep(after[space].rows);
  }

  /** Serves the workspaces whose both spaces were kept: in an empty one every key would be wrong. False when there are others. */
  #putCopies(copies: readonly SpaceRows[]): boolean {
    let whole = true;
    for (const rows of Map.groupBy(copies, ({ tenant }) => tenant.id).values()) {
      const [live, test] = SPACES.map((space) => rows.find((one) => one.space === space));
      if (live && test)
        this.#serve(live.tenant.id, live.tenant, undefined, { live: this.#compile(live, SLICES), test: this.#compile(test, SLICES) });
      else whole = false;
    }
    return whole;
  }

  #compile(rows: SpaceRows, changed: readonly AnySlice[], before: Parts = new Map()): HeldSpace {
    const parts = compileParts(rows, changed, before, this.#options.egress);
    return { rows, parts, snapshot: composeSpace(rows, parts) };
  }

  #serve(id: string, row: TenantRow, fingerprint: Fingerprint | undefined, spaces: Record<Space, HeldSpace>): void {
    const [live, test] = [spaces.live.snapshot, spaces.test.snapshot];
    const before = this.#held.get(id);
    const entry = before?.entry ?? { row, live, test };
    if (before && before.entry.row.slug !== row.slug && this.#bySlug.get(before.entry.row.slug) === entry)
      this.#bySlug.delete(before.entry.row.slug);
    entry.row = row;
    entry.live = live;
    entry.test = test;
    this.#bySlug.set(row.slug, entry);
    this.#held.set(id, { entry, fingerprint, spaces });
    this.#version++;
  }

  #remove(tenantId: string): void {
    const held = this.#held.get(tenantId);
    if (!held) return;
    const { entry } = held;
    this.#held.delete(tenantId);
    this.#version++;
    if (this.#bySlug.get(entry.row.slug) === entry) this.#bySlug.delete(entry.row.slug);
    this.#options.onTenant?.(tenantId);
    void this.#options.disk?.forget(tenantId);
  }
}
