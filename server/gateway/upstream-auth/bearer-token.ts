import { uuidV7 } from '#server/crypto/random.ts';
import { signJwt } from '#server/crypto/transit/jwt.ts';
import { signBearerJwt, UnusableMaterial } from '#server/crypto/upstream-auth/bearer-jwt.ts';
import { findKey } from '#server/custody/keys.ts';
import { material as openedMaterial } from '#server/custody/material.ts';
import { recordUse } from '#server/custody/uses.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { KEY_TYPES } from '#server/kernel/key-types.ts';
import { log } from '#server/platform/log.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { UpstreamSigning } from '../snapshot/model.ts';
import { valueIn } from '../snapshot/secrets.ts';
import type { TemplateCall } from '../templates/template-call.ts';
import { type Signed, type SigningAuth, unusable } from './signed.ts';

type JwtAuth = Extract<SigningAuth, { type: 'jwt_bearer' }>;
type Token = { materialId: string; text: string; until: number };

/** A token isn't sent when it would expire on its way. */
const MARGIN_MS = 30_000;

/** The last token of each setting, until the setting or its material changes. */
const minted = new WeakMap<UpstreamSigning, Token>();

/** A JWT as the credential of the call. Material and key are looked up for every call, so none is sent after a secret expired or a key went. */
export function bearerToken(
  call: TemplateCall,
  signing: UpstreamSigning,
  auth: JwtAuth,
  name: string,
  material: string | undefined,
): Signed | Refused | Promise<Signed | Refused> {
  return auth.key_name === undefined ? bySecret(call, signing, auth, name, material) : byKey(call, signing, auth, auth.key_name);
}

function bySecret(
  call: TemplateCall,
  signing: UpstreamSigning,
  auth: JwtAuth,
  name: string,
  material: string | undefined,
): Signed | Refused {
  if (material === undefined) return unusable(name, 'is missing');
  const secret = call.snapshot.secretById(auth.secret_id ?? '');
  const materialId = (secret && valueIn(secret, call.state.environmentName)?.id) ?? '';
  const now = Date.now();
  const known = minted.get(signing);
  if (known && known.materialId === materialId && known.until > now) return carrying(auth, name, known.text);
  try {
    const text = signBearerJwt(material, auth.algorithm, claimsOf(auth, now));
    minted.set(signing, { materialId, text, until: now + auth.ttl_seconds * 1000 - MARGIN_MS });
    return carrying(auth, name, text);
  } catch (error) {
    if (error instanceof UnusableMaterial) return unusable(`The secret ${name}`, error.message);
    throw error;
  }
}

/** Signed by a crypto key, whose private half stays where keys are kept. */
async function byKey(call: TemplateCall, signing: UpstreamSigning, auth: JwtAuth, name: string): Promise<Signed | Refused> {
  const { tenant, sandbox } = call.snapshot;
  const now = new Date();
  try {
    const key = await findKey({ tenant_id: tenant.id, sandbox }, name);
    if (!key) return unusable(`The crypto key ${name}`, "doesn't exist");
    const { kind, jwt } = KEY_TYPES[key.key_type];
    if (!(jwt as readonly string[]).includes(auth.algorithm))
      return unusable(`The crypto key ${name}`, `is of type ${key.key_type}, which has no ${auth.algorithm}`);
    const version = key.jwt && now < key.jwt.until ? key.jwt.version : key.current_version;
    // Refuses a version that was destroyed, also while a token of it is still good.
    const opened = await openedMaterial(key, version);
    const materialId = `${key.id}:${version}`;
    const known = minted.get(signing);
    if (known && known.materialId === materialId && known.until > now.getTime()) return carrying(auth, name, known.text);
    const claims = claimsOf(auth, now.getTime());
    const header_overrides = kind === 'rsa' ? { alg: auth.algorithm } : undefined;
    const { token } = await signJwt(opened, { key_id: key.id, version }, { claims, header_overrides }, now);
    recordUse(contextOf(call, now), {
      action: 'execute',
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { operation: 'jwt_sign', key_version: version, alg: auth.algorithm, jti: claims.jti, route_id: call.state.route?.id },
    });
    minted.set(signing, { materialId, text: token, until: now.getTime() + auth.ttl_seconds * 1000 - MARGIN_MS });
    return carrying(auth, name, token);
  } catch (error) {
    if (error instanceof Refusal) return refusedBy(error, name);
    log.debug({ err: error, request_id: call.requestId }, 'a crypto key could not be read');
    return refused('dependency_unavailable', "The gateway can't read the crypto key of this route. Try again shortly.");
  }
}

function refusedBy(error: Refusal, name: string): Refused {
  if (error.type === 'tenant_sealed') return refused('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.");
  if (error.type === 'audit_unavailable')
    return refused('dependency_unavailable', "The use of a key can't be recorded. Try again shortly.");
  return unusable(`The crypto key ${name}`, 'has a version that was destroyed or disabled');
}

/** The route signs, whoever calls it. */
const contextOf = (call: TemplateCall, now: Date): HotCtx => ({
  tenant_id: call.snapshot.tenant.id,
  sandbox: call.snapshot.sandbox,
  actor: { type: 'system', id: null, label: `route ${call.state.route?.name ?? ''}`, capabilities: new Set() },
  plan: call.snapshot.tenant.plan,
  request_id: call.requestId,
  ip: call.sourceAddress,
  user_agent: call.userAgent,
  now,
  warnings: [],
});

function claimsOf({ issuer, subject, audience, ttl_seconds, extra_claims }: JwtAuth, now: number): Record<string, unknown> {
  const iat = Math.floor(now / 1000);
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(subject === undefined ? {} : { sub: subject }),
    ...(audience === undefined ? {} : { aud: audience }),
    iat,
    exp: iat + ttl_seconds,
    jti: uuidV7(),
    ...extra_claims,
  };
}

const carrying = ({ header_name, value_prefix }: JwtAuth, name: string, token: string): Signed => ({
  headers: [header_name, `${value_prefix}${token}`],
  credentials: new Map([[`${name}.token`, token]]),
});
