import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Space } from '#server/kernel/context.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { log } from '#server/platform/log.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { compileSpace } from './compile.ts';
import type { Disk } from './disk.ts';
import type { SpaceSnapshot } from './model.ts';
import { fingerprints, loadRows, type SpaceRows, type TenantRow } from './rows.ts';

export type SnapshotOptions = {
  pool: Pool;
  egress: EgressSettings;
  disk?: Disk | undefined;
  /** A snapshot that nobody could confirm for this long serves no more. */
  maxAgeMs: number;
  pollMs?: number | undefined;
  /** Told of every tenant whose keys or standing may have changed, before the new picture is served. */
  onTenant?: ((tenantId: string) => void) | undefined;
};

/** Both spaces of one workspace. The fields are replaced, what they hold never changes. */
export type TenantEntry = { row: TenantRow; live: SpaceSnapshot; test: SpaceSnapshot };

const SPACES = ['live', 'test'] as const satisfies readonly Space[];
const TENANTS_PER_LOAD = 200;
const LONGEST_RETRY_MS = 5_000;

/**
 * What this gateway knows of all workspaces. Changes arrive by LISTEN within milliseconds; a look at every workspace's fingerprint each
 * 30 s finds what was not heard, and is the proof that what is served is still true. Losing the database stops neither serving nor trying.
 */
export class Snapshots {
  readonly #options: SnapshotOptions;
  readonly #byId = new Map<string, TenantEntry>();
  readonly #bySlug = new Map<string, TenantEntry>();
  readonly #reloads = new Map<string, { running: Promise<void>; next: Promise<void> | undefined; spaces: Set<Space> }>();
  #prints = new Map<string, string>();
  #confirmedAt = 0;
  #listener: Listener | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** Loads the copy on disk, then the database; resolves as soon as either can serve. */
  async start(patienceMs = 2_000): Promise<void> {
    const copy = this.#options.disk?.read();
    if (copy) {
      for (const rows of copy.spaces) this.#put(rows);
      this.#confirmedAt = copy.confirmedAt;
    }
    this.#listener = listen({
      channels: ['config_changed', 'tenant_changed'],
      onMessage: (channel, payload) => this.#heard(channel, payload),
      onConnect: () => void this.poll(),
    });
    const first = this.poll();
    // An empty disk leaves nothing to serve, so there is nothing to gain from not waiting.
    if (this.#byId.size > 0) await Promise.race([first, sleep(patienceMs, undefined, { ref: false })]);
    else await first;
  }

  bySlug(slug: string): TenantEntry | undefined {
    return this.#bySlug.get(slug);
  }

  byId(id: string): TenantEntry | undefined {
    return this.#byId.get(id);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Milliseconds since what is served was last known to be what the database holds. */
  ageMs(now = Date.now()): number {
    return now - this.#confirmedAt;
  }

  /** Whether calls may be served: something was confirmed recently enough. */
  get fresh(): boolean {
    return this.ageMs() <= this.#options.maxAgeMs;
  }

  /** Resolves when what was committed before this call is served. Rejects when the database cannot be asked. */
  async refresh(tenantId: string, space: Space): Promise<void> {
    return this.#reload(tenantId, [space]);
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
    const { pool, disk, pollMs = 30_000 } = this.#options;
    let next = pollMs;
    try {
      const asked = Date.now();
      const prints = await fingerprints(pool);
      const changed = [...prints].filter(([id, print]) => this.#prints.get(id) !== print).map(([id]) => id);
      for (const id of this.#byId.keys()) if (!prints.has(id)) this.#remove(id);
      for (let i = 0; i < changed.length; i += TENANTS_PER_LOAD) {
        for (const rows of await loadRows(pool, changed.slice(i, i + TENANTS_PER_LOAD), SPACES)) this.#put(rows);
      }
      this.#prints = prints;
      this.#confirmedAt = asked;
      if (this.#failures > 0) log.info({ workspaces: this.#byId.size }, 'the configuration is confirmed again');
      this.#failures = 0;
      void disk?.confirm(asked);
    } catch (error) {
      this.#failures++;
      next = Math.min(100 * 2 ** this.#failures, LONGEST_RETRY_MS);
      if (this.#failures === 1 || this.#failures % 60 === 0)
        log.warn(
          { err: error, age_ms: this.#confirmedAt ? this.ageMs() : null },
          'cannot confirm the configuration; serving the last snapshot',
        );
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.poll(), next);
  }

  #heard(channel: string, payload: string): void {
    const [tenantId = '', space] = payload.split(':');
    const spaces = channel === 'config_changed' && (space === 'live' || space === 'test') ? ([space] as const) : SPACES;
    // A failed reload is not lost: the fingerprint still differs, so the next poll finds it.
    this.#reload(tenantId, spaces).catch(() => void this.poll());
  }

  /** One load per workspace at a time; what is asked for meanwhile is loaded once more afterwards. */
  #reload(tenantId: string, spaces: readonly Space[]): Promise<void> {
    const current = this.#reloads.get(tenantId);
    if (current) {
      for (const space of spaces) current.spaces.add(space);
      current.next ??= current.running.then(
        () => this.#startReload(tenantId, [...current.spaces]),
        () => this.#startReload(tenantId, [...current.spaces]),
      );
      return current.next;
    }
    return this.#startReload(tenantId, spaces);
  }

  #startReload(tenantId: string, spaces: readonly Space[]): Promise<void> {
    const load = async () => {
      // A workspace seen for the first time needs both spaces, or its host would serve half of it.
      const loaded = await loadRows(this.#options.pool, [tenantId], this.#byId.has(tenantId) ? spaces : SPACES);
      if (loaded.length === 0) this.#remove(tenantId);
      for (const rows of loaded) this.#put(rows);
    };
    const entry = { running: load(), next: undefined, spaces: new Set<Space>() };
    this.#reloads.set(tenantId, entry);
    const done = () => {
      if (this.#reloads.get(tenantId) === entry && entry.next === undefined) this.#reloads.delete(tenantId);
    };
    entry.running.then(done, done);
    return entry.running;
  }

  #put(rows: SpaceRows): void {
    const { egress, disk, onTenant } = this.#options;
    const { tenant, space } = rows;
    const before = this.#byId.get(tenant.id);
    if (before && JSON.stringify(before.row) !== JSON.stringify(tenant)) onTenant?.(tenant.id);
    const snapshot = compileSpace(rows, egress);
    const other = space === 'live' ? 'test' : 'live';
    // Until its own rows arrive a few milliseconds later, the other space of a new workspace is empty.
    const entry: TenantEntry = before ?? {
      row: tenant,
      live: snapshot,
      test: snapshot,
      [other]: compileSpace({ ...emptyRows(rows), space: other }, egress),
    };
    entry.row = tenant;
    entry[space] = snapshot;
    if (before && this.#bySlug.get(tenant.slug) !== entry)
      for (const [slug, held] of this.#bySlug) if (held === entry) this.#bySlug.delete(slug);
    this.#bySlug.set(tenant.slug, entry);
    this.#byId.set(tenant.id, entry);
    void disk?.keep(rows);
  }

  #remove(tenantId: string): void {
    const entry = this.#byId.get(tenantId);
    if (!entry) return;
    this.#byId.delete(tenantId);
    if (this.#bySlug.get(entry.row.slug) === entry) this.#bySlug.delete(entry.row.slug);
    this.#prints.delete(tenantId);
    this.#options.onTenant?.(tenantId);
    void this.#options.disk?.forget(tenantId);
  }
}

function emptyRows({ tenant, space }: SpaceRows): SpaceRows {
  return {
    tenant,
    space,
    routes: [],
    configs: [],
    assignments: [],
    client_ranges: [],
    api_keys: [],
    collections: [],
    variables: [],
    secrets: [],
    secret_values: [],
  };
}
