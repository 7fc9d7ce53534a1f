import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base32 } from './base32.ts';
import { randomBase32, randomBase62, randomBase64url, randomBuffer, randomOf } from './random.ts';

/** A credential at its birth: `token` is shown once, `digest` (SHA-256 of the whole text, 32 bytes) is stored. */
export type Minted = { token: string; digest: Buffer };

/** An API key or access key at its birth; `key_id` and `key_prefix` are public, `digest` is stored. */
export type MintedKey = Minted & { key_id: string; key_prefix: string };

type Space = 'live' | 'test';
type Body = { length: number; alphabet: 'base62' | 'base64url'; crc: boolean };

const checked: Body = { length: 43, alphabet: 'base62', crc: true };
const opaque: Body = { length: 43, alphabet: 'base64url', crc: false };

/** Prefixed single-part credentials (interface rule 01 §15). API keys, access keys, AI and gateway tokens have shapes of their own. */
const families = {
  oauth_token_live: { prefix: 'svc_live_', ...checked },
  oauth_token_test: { prefix: 'svc_test_', ...checked },
  refresh_token_live: { prefix: 'svcr_live_', ...checked },
  refresh_token_test: { prefix: 'svcr_test_', ...checked },
  authorization_code: { prefix: 'svcc_', ...checked },
  device_code: { prefix: 'svcd_', ...checked },
  client_secret: { prefix: 'svcs_', ...checked },
  session: { prefix: 'ses_', ...checked },
  scim: { prefix: 'scim_', ...checked },
  step_up: { prefix: 'stp_', ...opaque },
  claim_handle: { prefix: 'sck_', ...opaque },
  share_claim: { prefix: 'shc_', ...opaque },
  client_token: { prefix: 'kct_', ...opaque },
  webhook_secret: { prefix: 'whsec_', ...opaque },
  agent_secret: { prefix: 'svc_as_', ...opaque },
  agent_install: { prefix: 'svc_ait_', ...opaque },
  agent_session: { prefix: 'svc_ast_', ...opaque },
} as const satisfies Record<string, Body & { prefix: string }>;

export type TokenFamily = keyof typeof families;

/** A new token of the family; 256 bits. */
export function mintToken(family: TokenFamily): Minted {
  const { prefix, length, alphabet, crc } = families[family];
  const body = prefix + (alphabet === 'base62' ? randomBase62(length) : randomBase64url(32));
  return minted(crc ? withChecksum(body) : body);
}

/** The unprefixed 43 base64url characters of mailed links, invitations and one-time URLs; 256 bits. */
export function mintMailToken(): Minted {
  return minted(randomBase64url(32));
}

/** `tk_live_…` or `tk_test_…`, 72 characters. */
export function mintApiKey(space: Space): MintedKey {
  return mintedKey(`tk_${space}_${randomBase62(12)}`, `_${randomBase62(45)}`);
}

/** `AKE<16>:<40>`, 60 characters; Live only. */
export function mintAccessKey(): MintedKey {
  return mintedKey(`AKE${randomBase32(16)}`, `:${randomBase62(34)}`);
}

/** `wkt_…`, 56 characters: base32 in lower case, because a host name may carry it. The bytes are 32 random ones. */
export function mintGatewayToken(bytes: Uint8Array = randomBuffer(32)): Minted {
  return minted(`wkt_${base32(bytes).toLowerCase()}`);
}

/** `svc_client_…` (31 characters), or `svc_cli_…` (28) of a workspace's own client of service-cli. An identifier, not a secret. */
export const mintClientId = (use: 'client' | 'cli' = 'client'): string => `svc_${use}_${randomBase62(20)}`;

/** Whether the text has the form of an OAuth client's id; what API keys are called as clients is classified as a key. */
export const isClientId = (text: string): boolean => clientId.test(text);

/** What a person types to approve a device, shown as `XXXX-XXXX`: 34 bits, of letters that form no words. `digest` is that of the eight letters. */
export function mintUserCode(): Minted {
  const letters = randomOf(USER_CODE_LETTERS, 8);
  return { token: `${letters.slice(0, 4)}-${letters.slice(4)}`, digest: digest(letters) };
}

/** The digest of a user code as a person typed it: any case, with or without dashes and spaces. Null when it is none. */
export function userCodeDigest(typed: string): Buffer | null {
  if (typed.length > 64) return null;
  const letters = typed.replace(/[\s-]/g, '').toUpperCase();
  return userCode.test(letters) ? digest(letters) : null;
}
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

export type Credential =
  | { kind: 'api_key'; key_id: string; space: Space; key_type: 'standard' | 'test' }
  | { kind: 'access_key'; key_id: string }
  | { kind: 'oauth_token'; space: Space }
  | { kind: 'ai_token'; space: Space }
  | { kind: 'gateway_token' }
  | { kind: Exclude<TokenFamily, `oauth_token_${Space}`> }
  | { kind: 'malformed' };

const malformed = { kind: 'malformed' } as const;
const apiKey = /^tk_(live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}$/;
const accessKey = /^AKE[A-Z2-7]{16}:[0-9A-Za-z]{40}$/;
const aiToken = /^svcp_(live|test)_[arto]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const clientId = /^svc_(?:client|cli)_[0-9A-Za-z]{20}$/;
const userCode = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;
const gatewayToken = /^wkt_[a-z2-7]{52}$/;
const checkedBody = /^[0-9A-Za-z]{49}$/;
const opaqueBody = /^[0-9A-Za-z_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * What a presented credential is, by prefix, length, alphabet and checksum, before any look-up. Never throws; any text
 * that is not exactly one of the forms (a wrong checksum included) is `malformed`, so one credential has one spelling.
 */
export function classifyCredential(text: string): Credential {
  // A longer text is not worth a regular expression.
  if (text.length > LONGEST_KEY) return malformed;
  if (text.startsWith('tk_')) return classifyApiKey(text);
  if (text.startsWith('AKE'))
    return accessKey.test(text) && checksumHolds(text) ? { kind: 'access_key', key_id: keyIdOf(text) } : malformed;
  if (text.startsWith('svcp_')) return classifyAiToken(text);
  if (text.startsWith('wkt_')) return gatewayToken.test(text) ? { kind: 'gateway_token' } : malformed;
  for (const [family, form] of familyList) {
    if (!text.startsWith(form.prefix)) continue;
    const body = text.slice(form.prefix.length);
    if (!(form.crc ? checkedBody.test(body) && checksumHolds(text) : opaqueBody.test(body))) return malformed;
    if (family === 'oauth_token_live') return { kind: 'oauth_token', space: 'live' };
    if (family === 'oauth_token_test') return { kind: 'oauth_token', space: 'test' };
    return { kind: family };
  }
  return malformed;
}

// Object.entries widens the keys to string; they are the keys of the literal above.
const familyList = Object.entries(families) as [TokenFamily, Body & { prefix: string }][];

function classifyApiKey(text: string): Credential {
  if (!apiKey.test(text) || !checksumHolds(text)) return malformed;
  const key_id = keyIdOf(text);
  return text.startsWith('tk_live_')
    ? { kind: 'api_key', key_id, space: 'live', key_type: 'standard' }
    : { kind: 'api_key', key_id, space: 'test', key_type: 'test' };
}

function classifyAiToken(text: string): Credential {
  if (!aiToken.test(text) || !checksumHolds(text)) return malformed;
  return { kind: 'ai_token', space: text.startsWith('svcp_live_') ? 'live' : 'test' };
}

/** Length of an API key, the longest credential. */
export const LONGEST_KEY = 72;

/** The public part of a text that is taken for an API key or access key. Only the digest tells whether it is one. */
export const keyIdOf = (text: string): string => text.slice(0, text.startsWith('AKE') ? 19 : 20);

/** Whether the text is a well-formed unprefixed link token. */
export function isMailToken(text: string): boolean {
  return opaqueBody.test(text);
}

/** SHA-256 (32 bytes): of a whole credential text, the only form of it that is stored, or of a content. */
export function digest(text: string | Uint8Array): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares two digests in constant time; different lengths are simply unequal. */
export function digestEquals(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

/**
 * Whether the digest is the text's, in constant time. Of every call one credential is judged so: through a text of 32 bytes node gives the digest back in
 * half the time of a buffer of its own.
 */
export function hasDigest(text: string, expected: Uint8Array): boolean {
  own.write(hash('sha256', text, 'binary'), 'latin1');
  return digestEquals(own, expected);
}
const own = Buffer.alloc(32);

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 (IEEE) of the text as six base62 digits, most significant first. A typo and scanner aid, not a security control. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let encoded = '';
  for (let i = 0; i < 6; i++) {
    encoded = digits.charAt(rest % 62) + encoded;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}

/** The body followed by its checksum. */
export function withChecksum(body: string): string {
  return body + checksum(body);
}

function checksumHolds(text: string): boolean {
  return text.endsWith(checksum(text.slice(0, -6)));
}

function minted(token: string): Minted {
  return { token, digest: digest(token) };
}

function mintedKey(key_id: string, secret: string): MintedKey {
  const token = withChecksum(key_id + secret);
  return { token, digest: digest(token), key_id, key_prefix: `${token.slice(0, 11)}...` };
}
