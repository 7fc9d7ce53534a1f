import { openUnder, type StoredValue, type TenantKey } from '#server/crypto/envelope.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type Material, openMaterial } from '#server/crypto/transit/material.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { type KeyVersion, type UsableKey, versionOf } from './keys.ts';

/** An opened version lives this long, and never longer than the tenant key it was opened with (interface rule 40 §6.4). */
const LIFETIME_MS = 300_000;
const MOST_HELD = 10_000;

type Held = { material: Material; tenant_id: string; tmk: TenantKey; timer: NodeJS.Timeout };
const cache = processState('key-material', () => ({ held: new Map<string, Held>(), opening: new Map<string, Promise<Material>>() }));

/**
 * The material of a version, opened. `key` is what this very use has read, so that a version destroyed meanwhile is not used. @throws Refusal
 * key_version_destroyed, key_version_disabled while its destruction is scheduled, tenant_sealed
 */
export async function material(key: UsableKey, version: number): Promise<Material> {
  const found = versionOf(key, version);
  if (!found) throw new Error(`the key has no version ${version}`);
  assertUsable(found);
  const held = cache.held.get(found.id);
  if (held && keyring().holds(held.tenant_id, held.tmk)) return held.material;
  let opening = cache.opening.get(found.id);
  if (!opening) {
    opening = open(key, found).finally(() => cache.opening.delete(found.id));
    cache.opening.set(found.id, opening);
  }
  return opening;
}

/** @throws Refusal key_version_destroyed, key_version_disabled */
export function assertUsable({ status, scheduled, version }: KeyVersion): void {
  if (status === 'destroyed') throw destroyed(version);
  if (scheduled) throw new Refusal('key_version_disabled', `Version ${version} of the key is scheduled for destruction.`);
}

const destroyed = (version: number) => new Refusal('key_version_destroyed', `Version ${version} of the key was destroyed.`);

async function open(key: UsableKey, { id, version }: KeyVersion): Promise<Material> {
  const [row] = await ownRows<StoredValue>(key, SEALED, id);
  if (!row) throw destroyed(version);
  const place = { tenant_id: key.tenant_id, space: spaceOf(key.sandbox), purpose: 'transit_key' as const, row_id: id };
  const tmk = await keyring().tmk(key.tenant_id, row.tmk_version).catch(sealedOrRefused);
  const opened = openMaterial(key.key_type, openUnder(tmk, place, row));
  // Not what was destroyed while it was opened.
  if (cache.opening.has(id)) hold(id, { material: opened, tenant_id: key.tenant_id, tmk });
  return opened;
}

function hold(id: string, entry: Omit<Held, 'timer'>): void {
  drop(id);
  const [oldest] = cache.held.keys();
  if (cache.held.size >= MOST_HELD && oldest !== undefined) drop(oldest);
  // An idle key must leave memory as well. OpenSSL clears the bytes of a key object when it is collected.
  const timer = setTimeout(() => drop(id), LIFETIME_MS).unref();
  cache.held.set(id, { ...entry, timer });
}

/** Drops what this process has opened of a version. */
export function forgetMaterial(id: string): void {
  cache.opening.delete(id);
  drop(id);
}

/** How many versions this process holds opened, for tests and metrics. */
export const materialHeld = (): number => cache.held.size;

function drop(id: string): void {
  clearTimeout(cache.held.get(id)?.timer);
  cache.held.delete(id);
}

/** Forgets every opened key, at shutdown. */
export function wipeMaterial(): void {
  for (const id of [...cache.held.keys()]) drop(id);
}

/** An unavailable tenant key, or one that the deployment's root key doesn't open. */
export function sealedOrRefused(error: unknown): never {
  if (!(error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)) throw error;
  throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { retryAfter: 30, cause: error });
}

const SEALED = ownQuery(
  'custody-key-material',
  `select value_ct, cek_wrapped, tmk_version from crypto_key_versions where tenant_id = $1 and sandbox = $2 and id = $3::uuid and status <> 'destroyed'`,
);
