import { invalid } from '#server/kernel/errors.ts';
import { compactJson, isJsonText, type JsonText, jsonText, textOfJson, withMembers } from '#server/kernel/json-text.ts';
import { type JwtAlgorithm, type JwtFault, KEY_TYPES, type KeyType, MAX_CLAIMS_BYTES, MAX_TOKEN_LENGTH } from '#server/kernel/key-types.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { type CompactJws, compactJws, jsonObject, parseCompactJws, signingInput } from '../compact-jws.ts';
import { kidOf, parseKid } from './key-ids.ts';
import { assertKeyTypeCan, type Material } from './material.ts';
import { type SigningOptions, signBytes, verify } from './signatures.ts';

// JSON Web Tokens of crypto keys (interface rule 40 §5.3 and §5.4).

export type Claims = Readonly<Record<string, unknown>>;

export type JwtInput = {
  /** A text is signed digit for digit and name by name, in its order. */
  claims: Claims | JsonText;
  header_overrides?: Claims | undefined;
  /** Seconds until the token expires; only without an `exp` of its own. */
  ttl_seconds?: number | undefined;
};

/** The token and what may be said of it in an audit entry. */
export type SignedJwt = { token: string; alg: JwtAlgorithm; claims: Claims };

/** @throws Refusal validation_error */
export async function signJwt(
  material: Material,
  { key_id, version }: { key_id: string; version: number },
  { claims: given, header_overrides, ttl_seconds }: JwtInput,
  now: Date,
): Promise<SignedJwt> {
  assertKeyTypeCan(material.type, 'jwt');
  const header = headerOf(material.type, kidOf(key_id, version), header_overrides ?? {});
  const text = isJsonText(given) ? compactJson(textOfJson(given)) : JSON.stringify(given);
  const { claims, added } = withTimes(text, ttl_seconds, Math.floor(now.getTime() / 1000));
  const signed = signingInput(header, withMembers(text, added));
  const signature = await signBytes(material, signed, JWT_SIGNING[header.alg]);
  return { token: compactJws(signed, signature), alg: header.alg, claims };
}

function withTimes(text: string, ttl: number | undefined, now: number): { claims: Claims; added: Claims } {
  if (Buffer.byteLength(text) > MAX_CLAIMS_BYTES) throw invalid('claims', `must be at most ${grouped(MAX_CLAIMS_BYTES)} bytes as JSON`);
  const given = parseExact(text) as Claims;
  for (const name of ['exp', 'nbf', 'iat'])
    if (Object.hasOwn(given, name) && !Number.isSafeInteger(given[name]))
      throw invalid(`claims.${name}`, 'must be whole seconds since 1970');
  if (ttl !== undefined && Object.hasOwn(given, 'exp')) throw invalid('ttl_seconds', "can't be sent together with an exp claim");
  const iat = Object.hasOwn(given, 'iat') ? (given.iat as number) : now;
  const added = { ...(Object.hasOwn(given, 'iat') ? {} : { iat }), ...(ttl === undefined ? {} : { exp: iat + ttl }) };
  return { claims: Object.assign(given, added), added };
}

const MAX_OVERRIDES = 10;
const MAX_OVERRIDE_LENGTH = 256;
/** A verifier might take its key or its rules from these, so a caller can't set them. */
const FIXED = new Set('kid jku jwk x5u x5c x5t x5t#S256 crit b64 zip enc epk apu apv iv tag p2s p2c url nonce ppt iss sub aud'.split(' '));

function headerOf(type: KeyType, kid: string, overrides: Claims): { alg: JwtAlgorithm } & Claims {
  const names = Object.keys(overrides);
  if (names.length > MAX_OVERRIDES) throw invalid('header_overrides', `must have at most ${MAX_OVERRIDES} parameters`);
  for (const name of names) {
    const field = `header_overrides.${name.slice(0, 64)}`;
    const value = overrides[name];
    if (FIXED.has(name)) throw invalid(field, "can't be set");
    if (!/^[A-Za-z0-9_.:/#-]{1,64}$/.test(name) || name === '__proto__')
      throw invalid('header_overrides', 'has a name that no parameter may have');
    if (typeof value !== 'string' || value.length > MAX_OVERRIDE_LENGTH || !value.isWellFormed())
      throw invalid(field, `must be a string of at most ${MAX_OVERRIDE_LENGTH} characters`);
  }
  const { alg, typ, ...others } = overrides;
  return { alg: algorithmOf(type, alg), typ: typ ?? 'JWT', kid, ...others };
}

function algorithmOf(type: KeyType, wanted: unknown): JwtAlgorithm {
  const { jwt, kind } = KEY_TYPES[type];
  if (wanted === undefined) return jwt[0] as JwtAlgorithm;
  if (kind !== 'rsa') throw invalid('header_overrides.alg', `can't be set for a key of type ${type}`);
  const found = jwt.find((alg) => alg === wanted);
  if (!found) throw invalid('header_overrides.alg', `must be one of ${jwt.join(', ')}`);
  return found;
}

/** How each algorithm signs (RFC 7518 §3, RFC 8037): of ECDSA r and s side by side, not DER. */
export const JWT_SIGNING: Readonly<Record<JwtAlgorithm, SigningOptions>> = {
  HS256: { hash: 'sha256', padding: undefined, ecdsa: 'ieee-p1363' },
  HS512: { hash: 'sha512', padding: undefined, ecdsa: 'ieee-p1363' },
  RS256: { hash: 'sha256', padding: 'pkcs1v15', ecdsa: 'ieee-p1363' },
  RS384: { hash: 'sha384', padding: 'pkcs1v15', ecdsa: 'ieee-p1363' },
  RS512: { hash: 'sha512', padding: 'pkcs1v15', ecdsa: 'ieee-p1363' },
  PS256: { hash: 'sha256', padding: 'pss', ecdsa: 'ieee-p1363' },
  PS384: { hash: 'sha384', padding: 'pss', ecdsa: 'ieee-p1363' },
  PS512: { hash: 'sha512', padding: 'pss', ecdsa: 'ieee-p1363' },
  ES256: { hash: 'sha256', padding: undefined, ecdsa: 'ieee-p1363' },
  ES384: { hash: 'sha384', padding: undefined, ecdsa: 'ieee-p1363' },
  EdDSA: { hash: 'sha512', padding: undefined, ecdsa: 'ieee-p1363' },
};

/** A key as verification needs it. `versions` newest first, and what may not be used says why. */
export type JwtKey = {
  id: string;
  type: KeyType;
  versions: readonly { version: number; state: 'usable' | 'disabled' | 'destroyed' }[];
  material(version: number): Material | Promise<Material>;
};

export type JwtExpected = {
  iss?: string | undefined;
  aud?: string | undefined;
  sub?: string | undefined;
  /** 60 when absent. */
  clock_skew_seconds?: number | undefined;
};

export type JwtVerdict =
  | { valid: true; claims: JsonText; key_version: number; alg: JwtAlgorithm; kid: string }
  | { valid: false; error: JwtFault; kid?: string };

/** Judges a token: form, algorithm, key, signature, then claims. Nothing of a token is told before its signature holds, except the `kid`. */
export async function verifyJwt(key: JwtKey, token: string, expected: JwtExpected, now: Date): Promise<JwtVerdict> {
  assertKeyTypeCan(key.type, 'jwt/verify');
  const jws = token.length <= MAX_TOKEN_LENGTH ? parseCompactJws(token) : undefined;
  if (!jws || 'crit' in jws.header || 'b64' in jws.header) return refused('malformed');
  const { alg, kid } = jws.header;
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 256)) return refused('malformed');
  const allowed = KEY_TYPES[key.type].jwt.find((name) => name === alg);
  if (!allowed) return refused('alg_not_allowed', kid);
  if (jws.signature.length === 0) return refused('malformed', kid);

  const candidates = kid === undefined ? usable(key) : versionOf(key, kid);
  if (typeof candidates === 'string') return refused(candidates, kid);
  const version = await signer(key, candidates, jws, JWT_SIGNING[allowed]);
  if (version === undefined) return refused('bad_signature', kid);
  const claims = jsonObject(jws.payload);
  const fault = claims ? faultOf(claims, expected, now.getTime() / 1000) : 'malformed';
  if (!claims || fault) return refused(fault ?? 'malformed', kid);
  return { valid: true, claims: jsonText(jws.payload.toString('utf8')), key_version: version, alg: allowed, kid: kidOf(key.id, version) };
}

const refused = (error: JwtFault, kid?: string): JwtVerdict => ({ valid: false, error, ...(kid === undefined ? {} : { kid }) });

const usable = (key: JwtKey): number[] => key.versions.filter(({ state }) => state === 'usable').map(({ version }) => version);

function versionOf(key: JwtKey, kid: string): number[] | JwtFault {
  const named = parseKid(kid);
  const version = named?.key_id === key.id ? key.versions.find((candidate) => candidate.version === named.version) : undefined;
  if (!version) return 'unknown_kid';
  return version.state === 'usable' ? [version.version] : `version_${version.state}`;
}

async function signer(key: JwtKey, versions: readonly number[], jws: CompactJws, options: SigningOptions): Promise<number | undefined> {
  for (const version of versions) if (await verify(await key.material(version), jws.signed, jws.signature, options)) return version;
  return undefined;
}

const DEFAULT_SKEW_SEC = 60;

function faultOf(
  claims: Claims,
  { iss, aud, sub, clock_skew_seconds: skew = DEFAULT_SKEW_SEC }: JwtExpected,
  now: number,
): JwtFault | undefined {
  const { exp, nbf } = claims;
  if ([exp, nbf, claims.iat].some((time) => time !== undefined && !Number.isFinite(time))) return 'malformed';
  if (typeof exp === 'number' && exp <= now - skew) return 'expired';
  if (typeof nbf === 'number' && nbf > now + skew) return 'not_yet_valid';
  if (iss !== undefined && claims.iss !== iss) return 'iss_mismatch';
  if (aud !== undefined && !(Array.isArray(claims.aud) ? claims.aud : [claims.aud]).includes(aud)) return 'aud_mismatch';
  return sub !== undefined && claims.sub !== sub ? 'sub_mismatch' : undefined;
}
