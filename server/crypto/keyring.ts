import type { KeyObject } from 'node:crypto';
import type { SealedPlace } from './aad.ts';
import {
  openSmallUnder,
  openUnder,
  rewrapUnder,
  type SealedSmall,
  type SealedValue,
  type StoredContentKey,
  type StoredSmall,
  type StoredValue,
  sealSmallUnder,
  sealUnder,
  type TenantKey,
  type WrappedContentKey,
} from './envelope.ts';
import type { RootKeys } from './root-key.ts';
import { secretKey } from './secret-key.ts';
import { unwrapTenantKey } from './tenant-key.ts';

/** A row of tenant_master_keys. */
export type TenantKeyRow = {
  version: number;
  wrap_method: 'global' | 'operator_kms' | 'customer_kms';
  wrapped_key: Uint8Array | null;
  root_key_id: string | null;
  status?: string;
  /** Where a KMS holds the key that wraps it, as it was when it was wrapped. */
  kms?: KmsPlace | null;
  /** Why the workspace is sealed; null or absent while it isn't. */
  sealed?: string | null;
};

/** A key of a customer's KMS. `config` holds roles and IDs, never credentials. */
export type KmsPlace = {
  provider: string;
  key_ref: string;
  config: Readonly<Record<string, string>>;
  /** The version that wrapped it, where the provider needs it to unwrap. */
  key_version: string | null;
};

/** Reads one row, or null. What it throws (a sealed tenant, a lost database) reaches the caller and is remembered for 5 s. */
export type LoadTenantKey = (tenantId: string, version: number | 'active') => Promise<TenantKeyRow | null>;

/** There is no key to decrypt with: no such version, or its bytes were erased (revoked). Not a wrong or damaged blob. */
export class TenantKeyUnavailable extends Error {
  override readonly name = 'TenantKeyUnavailable';
  readonly reason: 'missing' | 'revoked' | 'no_kms' | 'sealed';

  constructor(reason: 'missing' | 'revoked' | 'no_kms' | 'sealed', options?: ErrorOptions) {
    super(`the tenant key is unavailable (${reason})`, options);
    this.reason = reason;
  }
}

/** The workspace is sealed: the KMS that holds its key refuses, or doesn't answer (interface rule 31 §9). It ends when the KMS answers again. */
export class TenantSealed extends TenantKeyUnavailable {
  constructor(options?: ErrorOptions) {
    super('sealed', options);
  }
}

export type KeyringOptions = {
  /** Unwraps operator_kms and customer_kms rows; gives the 32 bytes, which the keyring wipes. */
  unwrapByKms?: (tenantId: string, row: TenantKeyRow) => Promise<Uint8Array>;
  /** Milliseconds that a key under a customer's KMS is kept; 5 minutes. */
  customerLifetime?: number;
  /** A key of the tenant left memory; what was decrypted with it goes too. */
  onDrop?: (tenantId: string) => void;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

const hour = 3_600_000;
const fiveMinutes = 300_000;
const failureLifetime = 5_000;

type Cached = TenantKey & { expires: number; timer: NodeJS.Timeout };

/**
 * Tenant keys of this process, unwrapped at most once an hour (5 minutes under a customer's KMS) and dropped at an absolute
 * time, so that traffic cannot outrun a kill switch. Key bytes are wiped as soon as OpenSSL holds them; an evicted
 * KeyObject is cleared by OpenSSL when it is collected, together with the sub-keys derived from it.
 */
export class Keyring {
  readonly #load: LoadTenantKey;
  readonly #roots: RootKeys;
  readonly #unwrapByKms: KeyringOptions['unwrapByKms'];
  readonly #onDrop: KeyringOptions['onDrop'];
  readonly #now: () => number;
  readonly #lifetime: Readonly<Record<TenantKeyRow['wrap_method'], number>>;
  readonly #keys = new Map<string, Map<number, Cached>>();
  readonly #active = new Map<string, number>();
  readonly #pending = new Map<string, Promise<TenantKey>>();
  readonly #failures = new Map<string, { error: unknown; until: number }>();

  constructor(
    load: LoadTenantKey,
    roots: RootKeys,
    { unwrapByKms, customerLifetime = fiveMinutes, onDrop, now = () => performance.now() }: KeyringOptions = {},
  ) {
    this.#lifetime = { global: hour, operator_kms: hour, customer_kms: customerLifetime };
    this.#load = load;
    this.#roots = roots;
    this.#unwrapByKms = unwrapByKms;
    this.#onDrop = onDrop;
    this.#now = now;
  }

  /** How many keys are in memory. */
  get size(): number {
    let size = 0;
    for (const versions of this.#keys.values()) size += versions.size;
    return size;
  }

  /** The tenant key of a version. Throws TenantKeyUnavailable, DecryptFailed, or what `load` threw. */
  async tmk(tenantId: string, version: number): Promise<TenantKey> {
    return this.#cached(tenantId, version) ?? this.#fetch(tenantId, version);
  }

  /** The version new values are sealed under. */
  async activeTmk(tenantId: string): Promise<TenantKey> {
    const version = this.#active.get(tenantId);
    return (version !== undefined && this.#cached(tenantId, version)) || this.#fetch(tenantId, 'active');
  }

  /** Whether a tenant key that was handed out is still this process's: neither evicted nor past its time. */
  holds(tenantId: string, tmk: TenantKey): boolean {
    return this.#cached(tenantId, tmk.version)?.key === tmk.key;
  }

  async sealValue(place: SealedPlace, plaintext: Uint8Array): Promise<SealedValue> {
    return sealUnder(await this.activeTmk(place.tenant_id), place, plaintext);
  }

  async openValue(place: SealedPlace, sealed: StoredValue): Promise<Buffer> {
    return openUnder(await this.tmk(place.tenant_id, sealed.tmk_version), place, sealed);
  }

  /** `openValue` without waiting, for the proxy's hot path: undefined when the tenant key must be fetched first. */
  openValueSync(place: SealedPlace, sealed: StoredValue): Buffer | undefined {
    const tmk = this.#cached(place.tenant_id, sealed.tmk_version);
    return tmk && openUnder(tmk, place, sealed);
  }

  async sealSmall(place: SealedPlace, plaintext: Uint8Array): Promise<SealedSmall> {
    return sealSmallUnder(await this.activeTmk(place.tenant_id), place, plaintext);
  }

  async openSmall(place: SealedPlace, sealed: StoredSmall): Promise<Buffer> {
    return openSmallUnder(await this.tmk(place.tenant_id, sealed.tmk_version), place, sealed);
  }

  /** The content key under the active version; undefined when it is there already and nothing needs writing. */
  async rewrapCek(place: SealedPlace, wrapped: StoredContentKey): Promise<WrappedContentKey | undefined> {
    const to = await this.activeTmk(place.tenant_id);
    if (wrapped.tmk_version === to.version) return undefined;
    return rewrapUnder(await this.tmk(place.tenant_id, wrapped.tmk_version), to, place, wrapped);
  }

  /** A small value under the active version; undefined when it is there already and nothing needs writing. */
  async rewrapSmall(place: SealedPlace, sealed: StoredSmall): Promise<SealedSmall | undefined> {
    const to = await this.activeTmk(place.tenant_id);
    if (sealed.tmk_version === to.version) return undefined;
    const plaintext = openSmallUnder(await this.tmk(place.tenant_id, sealed.tmk_version), place, sealed);
    try {
      return sealSmallUnder(to, place, plaintext);
    } finally {
      plaintext.fill(0);
    }
  }

  /** Forgets all the tenant's keys at once (rotate, revoke, seal, unseal, onboard). A fetch under way is not kept either. */
  evict(tenantId: string): void {
    for (const version of this.#keys.get(tenantId)?.keys() ?? []) this.#drop(tenantId, version);
    this.#active.delete(tenantId);
    for (const slots of [this.#pending, this.#failures]) {
      for (const slot of slots.keys()) if (slot.startsWith(`${tenantId}/`)) slots.delete(slot);
    }
  }

  /** Forgets everything, at shutdown. */
  wipe(): void {
    for (const tenantId of new Set([...this.#keys.keys(), ...[...this.#pending.keys()].map((slot) => slot.slice(0, slot.indexOf('/')))])) {
      this.evict(tenantId);
    }
  }

  #cached(tenantId: string, version: number): TenantKey | undefined {
    const entry = this.#keys.get(tenantId)?.get(version);
    if (!entry || entry.expires > this.#now()) return entry;
    this.#drop(tenantId, version);
    return undefined;
  }

  /** One fetch per (tenant, version) at a time, however many callers wait for it. */
  async #fetch(tenantId: string, version: number | 'active'): Promise<TenantKey> {
    const slot = `${tenantId}/${version}`;
    const failure = this.#failures.get(slot);
    if (failure && failure.until > this.#now()) throw failure.error;
    this.#failures.delete(slot);
    const running = this.#pending.get(slot);
    if (running !== undefined) return running;
    const promise = this.#unwrap(tenantId, version, () => this.#pending.get(slot) === promise);
    this.#pending.set(slot, promise);
    try {
      return await promise;
    } catch (error) {
      if (this.#pending.get(slot) === promise) this.#remember(slot, error);
      throw error;
    } finally {
      if (this.#pending.get(slot) === promise) this.#pending.delete(slot);
    }
  }

  async #unwrap(tenantId: string, version: number | 'active', wanted: () => boolean): Promise<TenantKey> {
    const started = this.#now();
    const row = await this.#load(tenantId, version);
    if (!row || (version !== 'active' && row.version !== version)) throw new TenantKeyUnavailable('missing');
    const key = await this.#open(tenantId, row);
    // Evicted while it was fetched: those who waited may finish, nobody after them finds it.
    if (wanted()) this.#keep(tenantId, row, key, started, version === 'active');
    return { version: row.version, key };
  }

  async #open(tenantId: string, row: TenantKeyRow): Promise<KeyObject> {
    if (!row.wrapped_key) throw new TenantKeyUnavailable('revoked');
    // Sealed, the workspace opens nothing, versions that another key wraps included. Only the poll asks the KMS meanwhile.
    if (row.sealed) throw new TenantSealed();
    if (row.wrap_method === 'global') {
      return unwrapTenantKey(this.#roots, tenantId, row.version, { wrapped_key: row.wrapped_key, root_key_id: row.root_key_id ?? '' });
    }
    if (!this.#unwrapByKms) throw new TenantKeyUnavailable('no_kms');
    return secretKey(await this.#unwrapByKms(tenantId, row));
  }

  #keep(tenantId: string, row: TenantKeyRow, key: KeyObject, started: number, active: boolean): void {
    this.#drop(tenantId, row.version);
    const ttl = this.#lifetime[row.wrap_method];
    // An idle key must leave memory as well, so its end does not wait for the next look-up.
    const timer = setTimeout(() => this.#drop(tenantId, row.version), ttl).unref();
    const versions = this.#keys.get(tenantId) ?? new Map<number, Cached>();
    this.#keys.set(tenantId, versions);
    versions.set(row.version, { version: row.version, key, expires: started + ttl, timer });
    if (active) this.#active.set(tenantId, row.version);
  }

  #drop(tenantId: string, version: number): void {
    const versions = this.#keys.get(tenantId);
    const entry = versions?.get(version);
    if (!versions || !entry) return;
    clearTimeout(entry.timer);
    versions.delete(version);
    if (versions.size === 0) this.#keys.delete(tenantId);
    if (this.#active.get(tenantId) === version) this.#active.delete(tenantId);
    this.#onDrop?.(tenantId);
  }

  #remember(slot: string, error: unknown): void {
    const now = this.#now();
    for (const [other, { until }] of this.#failures) if (until <= now) this.#failures.delete(other);
    this.#failures.set(slot, { error, until: now + failureLifetime });
  }
}
