import type { z } from 'zod';
import { bytesOfEither } from '#server/crypto/transit/cipher-text.ts';
import { type JwtKey, signJwt as signToken, verifyJwt as verifyToken } from '#server/crypto/transit/jwt.ts';
import type { Material } from '#server/crypto/transit/material.ts';
import { verify as isSignature, parseSignature, signBytes, signingOptions } from '#server/crypto/transit/signatures.ts';
import { signWebhook as signFor } from '#server/crypto/transit/webhook-formats.ts';
import { countUse } from '#server/custody/counts.ts';
import { type UsableKey, versionOf } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { recordUse } from '#server/custody/uses.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { MAX_DATA_BYTES } from '#server/kernel/key-types.ts';
import { type Batch, carriedOut } from './batch.ts';
import { entryOf } from './entries.ts';
import { activeMaterial, keyFor } from './keys-in-use.ts';
import type { Sign, SignItem, SignJwt, SignWebhook, Verify, VerifyItem, VerifyJwt } from './schema.ts';

type Signature = { signature: string; key_version: number };

/** @throws Refusal not_found, tenant_sealed, audit_unavailable, validation_error */
export async function sign(ctx: HotCtx, input: z.output<typeof Sign>): Promise<Signature | Batch<Signature>> {
  const key = await keyFor(ctx, input.name, 'sign');
  const active = await activeMaterial(key);
  const version = key.current_version;
  let bytes = 0;
  const one = (item: SignItem): Signature | Promise<Signature> => {
    const data = bytesOfEither('data', item.data, item.data_b64, MAX_DATA_BYTES);
    const made = signBytes(active, data, signingOptions(key.key_type, item));
    bytes += data.length;
    return made instanceof Promise ? made.then((one) => answerOf(one, version)) : answerOf(made, version);
  };
  const { answer, done, of } = await carriedOut(input, one);
  recordUse(ctx, entryOf(key, { operation: 'sign', key_version: version, bytes, ...of }));
  countUse(ctx, key, 'sign', done.length);
  return answer;
}

const answerOf = (signature: Buffer, version: number): Signature => ({
  signature: `svc:v${version}:${signature.toString('base64')}`,
  key_version: version,
});

type Verdict = { valid: boolean; key_version: number };

/**
 * Whether signatures are the key's. One that names its version is compared with that alone, any other with all that still verify, newest first. What was
 * destroyed, or disabled by the minimum, verifies nothing. Counted, and not audited. @throws Refusal not_found, tenant_sealed, validation_error
 */
export async function verify(ctx: HotCtx, input: z.output<typeof Verify>): Promise<Verdict | Batch<Verdict>> {
  const key = await keyFor(ctx, input.name, 'verify');
  const turn = turnTaker();
  const one = async (item: VerifyItem): Promise<Verdict> => {
    const data = bytesOfEither('data', item.data, item.data_b64, MAX_DATA_BYTES);
    const options = signingOptions(key.key_type, item);
    const { version, bytes } = parseSignature(item.signature);
    for (const candidate of version === undefined ? key.versions.map((known) => known.version) : [version]) {
      await turn();
      const opened = await verifying(key, candidate);
      if (opened && (await isSignature(opened, data, bytes, options))) return { valid: true, key_version: candidate };
    }
    return { valid: false, key_version: version ?? key.current_version };
  };
  const { answer, done } = await carriedOut(input, one);
  countUse(ctx, key, 'verify', done.length);
  return answer;
}

/** The material of a version that still verifies; undefined for any other. */
async function verifying(key: UsableKey, version: number): Promise<Material | undefined> {
  if (stateOf(key, version) !== 'usable') return undefined;
  return material(key, version).catch((error: unknown) => {
    if (asRefusal(error).type === 'key_version_destroyed') return undefined;
    throw error;
  });
}

function stateOf(key: UsableKey, version: number): 'usable' | 'disabled' | 'destroyed' | undefined {
  const found = versionOf(key, version);
  if (!found || found.status === 'destroyed') return found && 'destroyed';
  return found.scheduled || version < key.min_decryption_version ? 'disabled' : 'usable';
}

/** Lets others have the thread between many comparisons. */
function turnTaker(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < 5) return;
    await new Promise(setImmediate);
    since = performance.now();
  };
}

/** @throws Refusal as `sign` */
export async function signJwt(ctx: HotCtx, { name, ...input }: z.output<typeof SignJwt>) {
  const key = await keyFor(ctx, name, 'jwt');
  const version = jwtVersion(key, ctx.now);
  const { token, alg, claims } = await signToken(await material(key, version), { key_id: key.id, version }, input, ctx.now);
  const { sub, jti, exp } = claims;
  recordUse(ctx, entryOf(key, { operation: 'jwt_sign', key_version: version, alg, ...told({ sub, jti, exp }) }));
  countUse(ctx, key, 'jwt_sign', 1);
  return { token, key_version: version, alg };
}

/** Claims may be anything; an audit entry takes text and numbers. */
const told = (claims: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(claims).filter(
      ([, value]) => typeof value === 'number' || (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')),
    ),
  );

/** The active version, or for five minutes after a rotation the one before, when verifiers may hold a key set without it (interface rule 40 §5.6). */
function jwtVersion(key: UsableKey, now: Date): number {
  const { jwt, current_version, min_encryption_version } = key;
  if (!jwt || now >= jwt.until || jwt.version < min_encryption_version) return current_version;
  return stateOf(key, jwt.version) === 'usable' ? jwt.version : current_version;
}

/** @throws Refusal not_found, tenant_sealed, validation_error */
export async function verifyJwt(ctx: HotCtx, { name, token, expected }: z.output<typeof VerifyJwt>) {
  const key = await keyFor(ctx, name, 'jwt/verify');
  const judged: JwtKey = {
    id: key.id,
    type: key.key_type,
    versions: key.versions.map(({ version }) => ({ version, state: stateOf(key, version) ?? 'destroyed' })),
    material: (version) => material(key, version),
  };
  const verdict = await verifyToken(judged, token, expected, ctx.now);
  countUse(ctx, key, 'jwt_verify', 1);
  return verdict;
}

/** @throws Refusal as `sign` */
export async function signWebhook(ctx: HotCtx, input: z.output<typeof SignWebhook>) {
  const key = await keyFor(ctx, input.name, 'webhook-sign');
  const payload = bytesOfEither('payload', input.payload, input.payload_b64, MAX_DATA_BYTES);
  const timestamp_seconds = input.timestamp_seconds ?? Math.floor(ctx.now.getTime() / 1_000);
  const signed = signFor(await activeMaterial(key), input.format, payload, timestamp_seconds);
  const { current_version: key_version } = key;
  recordUse(ctx, entryOf(key, { operation: 'webhook_sign', key_version, format: input.format, bytes: payload.length }));
  countUse(ctx, key, 'webhook_sign', 1);
  return { ...signed, timestamp_seconds, key_version, format: input.format };
}
