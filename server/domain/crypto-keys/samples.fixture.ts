import { flushUses } from '#server/custody/uses.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { KEY_PROTECTIONS } from './changes.ts';

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

const encryptedOnce: Sample = async (ctx) => {
  const key = await keyNamed(cryptoKey)(ctx);
  const { ciphertext } = await made(ctx, 'crypto_keys.encrypt', { ...key, plaintext: 'Jane Doe, 415-555-9311' });
  await flushUses(); // its entry is not that of the call under test
  return { ...key, ciphertext };
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
  'crypto_keys.encrypt': async (ctx) => ({ ...(await keyNamed(cryptoKey)(ctx)), plaintext: 'Jane Doe, 415-555-9311' }),
  'crypto_keys.decrypt': encryptedOnce,
  'crypto_keys.rewrap': encryptedOnce,
  'crypto_keys.datakey': keyNamed(cryptoKey),
  'crypto_keys.sign': async (ctx) => ({ ...(await keyNamed(signingKey)(ctx)), data: 'hello' }),
  'crypto_keys.verify': async (ctx) => {
    const key = await keyNamed(signingKey)(ctx);
    const { signature } = await made(ctx, 'crypto_keys.sign', { ...key, data: 'hello' });
    await flushUses();
    return { ...key, data: 'hello', signature };
  },
  'crypto_keys.jwt': async (ctx) => ({ ...(await keyNamed(signingKey)(ctx)), claims: { sub: 'user_1' }, ttl_seconds: 3_600 }),
  'crypto_keys.verify_jwt': async (ctx) => {
    const key = await keyNamed(signingKey)(ctx);
    const { token } = await made(ctx, 'crypto_keys.jwt', { ...key, claims: { sub: 'user_1' } });
    await flushUses();
    return { ...key, token };
  },
  'crypto_keys.webhook_sign': async (ctx) => ({
    ...(await keyNamed(async () => ({ name: fresh('key'), key_type: 'hmac-sha256' }))(ctx)),
    payload: '{"id":"evt_1"}',
  }),
  'crypto_keys.reveal_decrypt': encryptedOnce,
  'crypto_keys.reveal_rewrap': encryptedOnce,
  'crypto_keys.usage': nothing,
  'crypto_keys.activity': keyNamed(cryptoKey),
};

export const confirmedSamples: Fixture['confirmedSamples'] = {
  'crypto_keys.update': async (ctx) => ({ ...(await keyNamed(cryptoKey)(ctx)), deletion_allowed: true }),
};
export const dependsOnState = [
  /the active version/,
  /has no public key set/,
  /needs a key that encrypts|needs derived|can only be bundled/,
  /^Send exactly one of/,
  /can't be (?:sent|set|chosen)/,
  /must be (?:standard base64|a ciphertext as|a signature as)/,
  /^(?:claims|header_overrides|hash|rsa_padding)\b/,
  /^batch: every item failed/,
  /: is required$/,
  /can't be used for/,
];
export const secretInput = {
  'crypto_keys.encrypt': ['batch[].plaintext', 'batch[].plaintext_b64', 'plaintext', 'plaintext_b64'],
};
export const shownOnce = {
  'crypto_keys.decrypt': ['plaintext', 'plaintext_b64'],
  'crypto_keys.datakey': ['plaintext_b64'],
};
export const revealed: Fixture['revealed'] = {
  'crypto_keys.reveal_decrypt': ({ plaintext, plaintext_b64 }) => [plaintext, plaintext_b64],
};

export const grantless = {
  'crypto_keys.rotate': 'a new version of the key, which nobody sees',
};

export const loosening: Fixture['loosening'] = {
  'crypto_keys.update': {
    rules: KEY_PROTECTIONS,
    of: async (ctx) => {
      const { name } = await keyNamed(cryptoKey)(ctx);
      await made(ctx, 'crypto_keys.rotate', { name });
      return { name };
    },
    pairs: {
      auto_rotate_days: { strict: { auto_rotate_days: 30 }, loose: { auto_rotate_days: null } },
      min_decryption_version: { strict: { min_decryption_version: 2 }, loose: { min_decryption_version: 1 } },
      min_encryption_version: { strict: { min_encryption_version: 2 }, loose: { min_encryption_version: 1 } },
    },
  },
};
