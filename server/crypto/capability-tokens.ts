import type { KeyObject } from 'node:crypto';
import { createHmac } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { subKey } from './derive.ts';
import { randomBase62 } from './random.ts';
import { checksum, digest, digestEquals, withChecksum } from './tokens.ts';

/** What a capability token may be used for, as its text and its signature name it (interface rule 50 §6.1). */
export type CapabilityKind = 'agent' | 'read' | 'tool' | 'oneshot';
export type CapabilityEnv = 'live' | 'test';

const LETTERS = { agent: 'a', read: 'r', tool: 't', oneshot: 'o' } as const satisfies Record<CapabilityKind, string>;
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter as string, kind as CapabilityKind]));

/** Why a text is no capability token; the first that applies, in this order. */
export type CapabilityFault =
  | 'empty'
  | 'bad_prefix'
  | 'malformed'
  | 'bad_env'
  | 'bad_kind'
  | 'bad_random'
  | 'bad_crc_format'
  | 'crc_mismatch';
export type ParsedCapability = { env: CapabilityEnv; kind: CapabilityKind } | { fault: CapabilityFault };

/** A token at its birth: `token` (51 characters, 190 random bits) is shown once; `digest` is SHA-256 of it, `prefix` its first 16 characters. */
export function mintCapability(env: CapabilityEnv, kind: CapabilityKind): { token: string; digest: Buffer; prefix: string } {
  const body = `svcp_${env}_${LETTERS[kind]}_${randomBase62(32)}`;
  const token = `${body}_${withChecksum(body).slice(-6)}`;
  return { token, digest: digest(token), prefix: token.slice(0, PREFIX_LENGTH) };
}

export const PREFIX_LENGTH = 16;

/** What a presented text says of itself, before any look-up. Never throws. */
export function parseCapability(text: string): ParsedCapability {
  if (text === '') return { fault: 'empty' };
  if (!text.startsWith('svcp_')) return { fault: 'bad_prefix' };
  // A longer text isn't worth taking apart.
  const parts = text.length > MOST_CHARACTERS ? [] : text.split('_');
  const [, env, letter = '', random = '', crc = ''] = parts;
  if (parts.length !== 5) return { fault: 'malformed' };
  if (env !== 'live' && env !== 'test') return { fault: 'bad_env' };
  const kind = KINDS.get(letter);
  if (!kind) return { fault: 'bad_kind' };
  if (!/^[0-9A-Za-z]{32}$/.test(random)) return { fault: 'bad_random' };
  if (!/^[0-9A-Za-z]{6}$/.test(crc)) return { fault: 'bad_crc_format' };
  if (crc !== checksum(text.slice(0, -7))) return { fault: 'crc_mismatch' };
  return { env, kind };
}

const MOST_CHARACTERS = 512;

/** What the signature of a capability token covers: everything that says what it may do, and until when. */
export type Capability = {
  tenant_id: string;
  env: CapabilityEnv;
  kind: CapabilityKind;
  gateway_id: string;
  /** Null for tokens of a whole gateway. */
  agent_id: string | null;
  token_hash: Uint8Array;
  dpop_jkt: string | null;
  expires_at: Date;
  scope: object;
};

/**
 * HMAC-SHA256 under a sub-key of the workspace's master key, as base64url (interface rule 50 §6.4): who can write the database but not reach the master key
 * can't widen a token. Synchronous, about 5 µs.
 */
export function capabilityHmac(masterKey: KeyObject, capability: Capability): string {
  return createHmac('sha256', subKey(masterKey, 'svc/capability-hmac/v1')).update(signedText(capability)).digest('base64url');
}

/** Whether a stored signature is the capability's, in constant time. The empty one of a token that ended never is. */
export function capabilityHolds(masterKey: KeyObject, capability: Capability, stored: string): boolean {
  return digestEquals(Buffer.from(capabilityHmac(masterKey, capability)), Buffer.from(stored));
}

function signedText({ tenant_id, env, kind, gateway_id, agent_id, token_hash, dpop_jkt, expires_at, scope }: Capability): string {
  return [
    'svc-ai-cap-v1',
    tenant_id,
    env,
    kind,
    gateway_id,
    agent_id ?? '-',
    Buffer.from(token_hash).toString('hex'),
    dpop_jkt ?? '-',
    expires_at.toISOString(),
    canonicalJson(scope as never),
  ].join('\n');
}
