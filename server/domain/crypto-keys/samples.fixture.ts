import { type Ctx, own } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';

export const cryptoKey: Sample = async () => ({ name: fresh('key') });
const signingKey: Sample = async () => ({ name: fresh('key'), key_type: 'ed25519' });

/** The name of a key that was just made, of any type. */
export const keyNamed =
  (input: Sample): Sample =>
  async (ctx) => ({ name: (await made(ctx, 'crypto_keys.create', await input(ctx))).name });

/** A key with versions 1 and 2 that may be destroyed. */
const unlatched = async (ctx: Ctx) => {
  const { name } = (await keyNamed(cryptoKey)(ctx)) as { name: string };
  await made(ctx, 'crypto_keys.rotate', { name });
  // Not by the operation: a person would have to confirm it, and some suites need one who never confirmed anything.
  await db().crypto_keys.updateMany({ where: { ...own(ctx), name }, data: { deletion_allowed: true } });
  return { name };
};

export const samples: Record<string, Sample> = {
  'crypto_keys.list': nothing,
  'crypto_keys.create': cryptoKey,
  'crypto_keys.get': keyNamed(cryptoKey),
  'crypto_keys.update': async (ctx) => ({ ...(await keyNamed(cryptoKey)(ctx)), description: 'changed' }),
  'crypto_keys.delete': unlatched,
  'crypto_keys.rotate': keyNamed(cryptoKey),
  'crypto_keys.destroy_version': async (ctx) => ({ ...(await unlatched(ctx)), n: '1' }),
  'crypto_keys.schedule_destruction': async (ctx) => ({ ...(await unlatched(ctx)), n: '1', days: 7 }),
  'crypto_keys.cancel_destruction': async (ctx) => {
    const { name } = await unlatched(ctx);
    const at = { ...own(ctx), version: 1, key: { name } };
    await db().crypto_key_versions.updateMany({ where: at, data: { destroy_after: new Date(Date.now() + 86_400_000) } });
    return { name, n: '1' };
  },
  'crypto_keys.trim': async (ctx) => ({ ...(await unlatched(ctx)), min_available_version: 2 }),
  'crypto_keys.public_key': keyNamed(signingKey),
  'crypto_keys.jwks': keyNamed(signingKey),
  'crypto_keys.usage': nothing,
  'crypto_keys.activity': keyNamed(cryptoKey),
};

export const confirmedSamples: Fixture['confirmedSamples'] = {
  'crypto_keys.update': async (ctx) => ({ ...(await keyNamed(cryptoKey)(ctx)), deletion_allowed: true }),
};
export const dependsOnState = [/the active version/, /has no public key set/];
