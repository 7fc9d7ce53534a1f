import { openLeaf, type SealingBundle, sealLeaf } from '#server/crypto/portable/seal.ts';
import { type Datatype, isMarkedPortable, type Portable, parsePortable, requirePortable } from '#server/crypto/portable/text.ts';
import { DecryptFailed } from '#server/crypto/transit/decrypt-failed.ts';
import type { Material } from '#server/crypto/transit/material.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { keyTypeCan } from '#server/kernel/key-types.ts';
import { processState } from '#server/kernel/process-state.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { DEFAULT_SEALING_KEY, makeDefaultKey } from './default-key.ts';
import { findKey, type KeySpace, keyById, type UsableKey, versionOf } from './keys.ts';
import { assertUsable, material } from './material.ts';

export { type Datatype, isMarkedPortable, parsePortable };

// Sealed values (interface rule 41 §1-5): found key, checks of space, version and owner, and the cipher of server/crypto/portable.

/** A key with all that sealing under its active version takes. Sealing needs the public half alone. */
export type Sealer = { key: UsableKey; version: number; bundle: SealingBundle };

/**
 * The key to seal under, by name; the default key, made on first use, when none is named.
 * @throws Refusal validation_error when there is no such key, it can't seal or a vault owns it; key_version_disabled, tenant_sealed
 */
export async function sealerOf(ctx: HotCtx, name: string | undefined = undefined): Promise<Sealer> {
  const key = name === undefined || name === DEFAULT_SEALING_KEY ? await defaultKey(ctx) : await findKey(ctx, name);
  if (!key) throw invalid('key', "doesn't exist in this space");
  if (!keyTypeCan(key.key_type, 'seal')) throw invalid('key', `must be of type ecdh-p256; this one is of type ${key.key_type}`);
  if (key.managed_by === 'vault') throw invalid('key', 'belongs to a vault: tokenize the value instead');
  return sealerWith(key);
}

/** The same for a key that was found already, such as a vault's own. */
export async function sealerWith(key: UsableKey): Promise<Sealer> {
  const active = versionOf(key, key.current_version);
  if (!active) throw new Error('a key has no active version');
  assertUsable(active);
  return { key, version: active.version, bundle: await bundleOf(key, active) };
}

/**
 * The public half of the key of this name or ID, for callers who show no credential; null when the space has no such key that seals. Unlike `sealerOf` it
 * makes no key.
 */
export async function publishedBundle(space: KeySpace, ref: string): Promise<SealingBundle | null> {
  const key = await findKey(space, ref);
  if (!key || !keyTypeCan(key.key_type, 'seal') || key.managed_by === 'vault') return null;
  return sealerWith(key).then(
    ({ bundle }) => bundle,
    (error: unknown) => {
      // A version that is disabled or destroyed seals nothing.
      if (error instanceof Refusal && error.status < 500) return null;
      throw error;
    },
  );
}

async function defaultKey(ctx: HotCtx): Promise<UsableKey | null> {
  const found = await findKey(ctx, DEFAULT_SEALING_KEY);
  if (found) return found;
  await makeDefaultKey(ctx);
  return findKey(ctx, DEFAULT_SEALING_KEY);
}

/** Seals one value. @throws Refusal validation_error for a malformed role */
export const seal = ({ bundle }: Sealer, value: { role?: string | undefined; datatype: Datatype; bytes: Uint8Array }): string =>
  sealLeaf({ ...value, role: value.role, bundle });

/** Finds the key and seals one value. @throws as `sealerOf` */
export async function sealValue(
  ctx: HotCtx,
  { key: name, ...value }: { key?: string | undefined; role?: string | undefined; datatype: Datatype; bytes: Uint8Array },
): Promise<{ text: string; key: UsableKey; version: number }> {
  const sealer = await sealerOf(ctx, name);
  return { text: seal(sealer, value), key: sealer.key, version: sealer.version };
}

export type Opened = {
  datatype: Datatype;
  /** The caller's to wipe. */
  bytes: Buffer;
  key: UsableKey;
  version: number;
  /** Set when a vault owns the key: its checks passed, and its own audit entry is written. */
  vault_id?: string;
};

export type OpenOptions = {
  /** Whether this caller may use a key for this: called once for each key, before anything is opened under it. */
  admit?: (key: UsableKey) => Promise<void>;
  /** Opens a value that a vault owns, with the vault's checks and audit (interface rule 42 §6). Without it such values don't open. */
  ofVault?: (text: string, role: string | undefined) => Promise<{ bytes: Buffer; vault_id: string }>;
};

/** A sealed value whose key was found and may open it. */
export type Found = { parsed: Portable; key: UsableKey; version: number };

export type Opener = {
  /** Everything that refuses a value before its bits do. @throws as `open` */
  find: (text: string) => Promise<Found>;
  open: (text: string, role?: string) => Promise<Opened>;
};

/**
 * Opens the sealed values of one call: keys are read once, whatever the number of values. A value opens under the version that it names, retired ones
 * included. @throws Refusal decrypt_failed for every fault of the text and for keys of others, key_version_destroyed, key_version_disabled, tenant_sealed
 */
export function opener(ctx: KeySpace, { admit, ofVault }: OpenOptions = {}): Opener {
  const keys = new Map<string, Promise<UsableKey | null>>();
  const materials = new Map<string, Promise<Material>>();

  const keyOf = (id: string) =>
    held(keys, id, async () => {
      const key = await keyById(ctx, id);
      if (!key || !keyTypeCan(key.key_type, 'seal')) return null;
      await admit?.(key);
      return key;
    });

  async function find(text: string): Promise<Found> {
    const parsed = requirePortable(text);
    const { tenant_id, app_key_id, key_version: version } = parsed.key_ref;
    const key = tenant_id === ctx.tenant_id ? await keyOf(app_key_id) : null;
    const state = key && versionOf(key, version);
    if (!key || !state) throw new DecryptFailed();
    assertUsable(state);
    if (version < key.min_decryption_version)
      throw new Refusal('key_version_disabled', `Version ${version} of the key is below its minimum version for decryption.`);
    return { parsed, key, version };
  }

  return {
    find,
    open: async (text, role) => {
      const { parsed, key, version } = await find(text);
      const { datatype } = parsed;
      if (key.managed_by === 'vault') {
        if (!ofVault) throw new DecryptFailed();
        return { datatype, key, version, ...(await ofVault(text, role)) };
      }
      const opened = await held(materials, `${key.id} ${version}`, () => material(key, version));
      return { datatype, bytes: openLeaf(opened, parsed, { tenant_id: ctx.tenant_id, role }), key, version };
    },
  };
}

/** Opens one value. @throws as `opener` */
export const openValue = (
  ctx: KeySpace,
  text: string,
  { role, ...options }: OpenOptions & { role?: string | undefined } = {},
): Promise<Opened> => opener(ctx, options).open(text, role);

function held<T>(values: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const value = values.get(name) ?? make();
  values.set(name, value);
  return value;
}

/** Public, and of a version that never changes: kept whatever becomes of the key, whose state each use has read. */
async function bundleOf(key: UsableKey, { id, version }: { id: string; version: number }): Promise<SealingBundle> {
  const known = bundles.get(id);
  if (known) return known;
  const [row] = await ownRows<{ public_key_spki: Buffer | null }>(key, PUBLIC_KEY, id);
  if (!row?.public_key_spki) throw new Refusal('key_version_destroyed', `Version ${version} of the key was destroyed.`);
  const bundle = {
    public_key_raw: row.public_key_spki.subarray(-POINT_BYTES).toString('base64url'),
    key_ref: { tenant_id: key.tenant_id, app_key_id: key.id, key_version: version },
  };
  if (bundles.size >= MOST_BUNDLES) bundles.clear();
  bundles.set(id, bundle);
  return bundle;
}

/** An uncompressed point of P-256 ends its SubjectPublicKeyInfo. */
const POINT_BYTES = 65;
const MOST_BUNDLES = 10_000;
const bundles = processState('sealing-bundles', () => new Map<string, SealingBundle>());

const PUBLIC_KEY = ownQuery(
  'custody-sealing-key',
  'select public_key_spki from crypto_key_versions where tenant_id = $1 and sandbox = $2 and id = $3::uuid',
);
