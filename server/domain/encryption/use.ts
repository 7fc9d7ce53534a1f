import type { z } from 'zod';
import { DecryptFailed } from '#server/crypto/transit/decrypt-failed.ts';
import { countUse } from '#server/custody/counts.ts';
import { keyById, type UsableKey } from '#server/custody/keys.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import { type Opened, type OpenOptions, opener, type Sealer, seal, sealerOf, sealerWith } from '#server/custody/portable.ts';
import { auditFirst, recordUse } from '#server/custody/uses.ts';
import { detokenize } from '#server/custody/vaults/detokenize.ts';
import type { UsableVault } from '#server/custody/vaults/vaults.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { jsonOf, replaceLeaves, sealedLeaves, sealLeaves } from './leaves.ts';
import type { Decrypt, Encrypt, Rewrap } from './schema.ts';

// POST /v1/encrypt, /v1/decrypt and /v1/encrypt/rewrap. Prisma-free: the gateway serves them.

/** @throws Refusal validation_error, forbidden by a tenant policy about the key, plan_limit, key_version_disabled, tenant_sealed, audit_unavailable */
export async function encryptData(ctx: HotCtx, { data, key: name, role, ...picking }: z.output<typeof Encrypt>) {
  const sealer = await sealerOf(ctx, name);
  await admitted(ctx, 'transit:encrypt', sealer.key);
  const sealed = await sealLeaves(data, picking, (value) => seal(sealer, { ...value, role }));
  await countLeaves(ctx, sealed.encrypted);
  const { key, version } = sealer;
  if (sealed.encrypted > 0) {
    countUse(ctx, key, 'encrypt', sealed.encrypted);
    recordUse(ctx, {
      action: 'execute',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { operation: 'encrypt', key_version: version, items: sealed.encrypted, ...(role === undefined ? {} : { role }) },
    });
  }
  return { ...sealed, key: key.name, key_version: version };
}

/** All or nothing. @throws Refusal decrypt_failed and the others of `opener`, each with the place of the leaf; forbidden; audit_unavailable */
export async function decryptData(ctx: HotCtx, { data, role, ...picking }: z.output<typeof Decrypt>) {
  const leaves = sealedLeaves(data, picking);
  const uses = useCounts();
  const { open } = opener(ctx, decryptingFor(ctx));
  const plaintext = await replaceLeaves(data, leaves, 'decrypt', async (sealed) => {
    const opened = await open(sealed, role);
    uses.add(opened);
    return wiped(opened, (bytes) => jsonOf(opened.datatype, bytes));
  });
  // What vaults own has its entries.
  if (uses.list().length > 0 || leaves.length === 0) await auditFirst(ctx, [decryptEntry(uses.list(), role)]);
  for (const { key, count } of uses.list()) countUse(ctx, key, 'decrypt', count);
  return { plaintext, decrypted: leaves.length };
}

/** Opens each sealed value and seals it under the current version of its key; what it holds stays in here. @throws as `decryptData` */
export async function rewrapData(ctx: HotCtx, { data, role, ...picking }: z.output<typeof Rewrap>) {
  const leaves = sealedLeaves(data, picking);
  const uses = useCounts();
  const sealers = new Map<string, Promise<Sealer>>();
  const { open } = opener(ctx, openingFor(ctx, 'transit:rewrap'));
  const ciphertext = await replaceLeaves(data, leaves, 'rewrap', async (sealed) => {
    const opened = await open(sealed, role);
    uses.add(opened);
    const sealer = sealers.get(opened.key.id) ?? currentSealer(ctx, opened.key.id);
    sealers.set(opened.key.id, sealer);
    const under = await sealer;
    return wiped(opened, (bytes) => JSON.stringify(seal(under, { datatype: opened.datatype, role, bytes })));
  });
  for (const { key, version, count } of uses.list()) {
    const to_version = (await sealers.get(key.id))?.version;
    countUse(ctx, key, 'rewrap', count);
    recordUse(ctx, {
      action: 'execute',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { operation: 'rewrap', from_version: version, to_version, items: count },
    });
  }
  return { ciphertext, rewrapped: leaves.length };
}

async function currentSealer(ctx: HotCtx, id: string): Promise<Sealer> {
  const key = await keyById(ctx, id);
  if (!key) throw new Error('a key that has just opened a value is gone');
  return sealerWith(key);
}

/** What a caller may open: keys that no tenant policy keeps them from. */
const openingFor = (ctx: HotCtx, capability: Capability): OpenOptions => ({ admit: (key) => admitted(ctx, capability, key) });

/** The same for decryption, which also opens what a vault owns: with that vault's right, checks and audit entry (interface rule 42 §6). */
export const decryptingFor = (ctx: HotCtx): OpenOptions => ({
  ...openingFor(ctx, 'transit:decrypt'),
  ofVault: async (text, role) => {
    // A vault binds no role.
    if (role !== undefined) throw new DecryptFailed();
    const { value, vault_id } = await detokenize(ctx, null, text, {
      admit: (vault) => mayDetokenize(ctx, vault),
      details: { via: 'decrypt' },
    });
    return { bytes: Buffer.from(value), vault_id };
  },
});

/** @throws Refusal forbidden */
export async function mayDetokenize(ctx: HotCtx, { id, name }: UsableVault): Promise<void> {
  if (!ctx.actor.capabilities.has('vault:detokenize')) throw lacking('vault:detokenize');
  const policy = await denyingPolicy(ctx, 'vault:detokenize', { id, name });
  if (policy) throw policyDenied(ctx, policy, 'vault:detokenize');
}

const lacking = (capability: Capability) =>
  new Refusal('forbidden', `A vault owns this value, and this credential lacks the capability ${capability}.`);

/** A policy may be about single keys, which only the values name. @throws Refusal forbidden */
async function admitted(ctx: HotCtx, capability: Capability, { id, name }: UsableKey): Promise<void> {
  const policy = await denyingPolicy(ctx, capability, { id, name });
  if (policy) throw policyDenied(ctx, policy, capability);
}

/** Leaves count by the month, in Live only (interface rule 64 §4). @throws Refusal plan_limit */
async function countLeaves(ctx: HotCtx, n: number): Promise<void> {
  if (ctx.sandbox || n === 0) return;
  const limit = await effectiveLimit(ctx, 'encryption_leaves');
  const { allowed, used } = await takeFromMonth(ctx.tenant_id, 'encryption_leaves', n, limit, ctx.now);
  if (allowed) return;
  throw new Refusal(
    'plan_limit',
    `The ${ctx.plan} plan allows ${limit} encrypted values a month. ${used} were encrypted, and this call has ${n}. Wait for the next month or ${moreRoom(ctx.plan)}.`,
  );
}

type KeyUse = { key: UsableKey; version: number; count: number };

/** How many values each version of each key opened. */
export function useCounts() {
  const uses = new Map<string, KeyUse>();
  return {
    add({ key, version, vault_id }: Pick<Opened, 'key' | 'version' | 'vault_id'>): void {
      // A vault writes its own entry.
      if (vault_id !== undefined) return;
      const use = uses.get(`${key.id} ${version}`) ?? { key, version, count: 0 };
      use.count += 1;
      uses.set(`${key.id} ${version}`, use);
    },
    list: () => [...uses.values()],
  };
}

/** One entry for a call, whatever it opened. */
export const decryptEntry = (uses: readonly KeyUse[], role: string | undefined) => {
  const [first] = uses;
  return {
    action: 'transit.decrypt',
    resource_type: 'crypto_key',
    resource_id: uses.length === 1 && first ? first.key.id : null,
    ...(uses.length === 1 && first ? { name: first.key.name } : {}),
    details: {
      leaves: uses.reduce((sum, { count }) => sum + count, 0),
      keys: uses.map(({ key, version, count }) => ({ key: key.name, version, count })),
      ...(role === undefined ? {} : { role }),
    },
  };
};

function wiped<T>({ bytes }: Opened, work: (bytes: Buffer) => T): T {
  try {
    return work(bytes);
  } finally {
    bytes.fill(0);
  }
}
