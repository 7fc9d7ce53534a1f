import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { hkdf } from './derive.ts';
import { randomBase62, randomBuffer } from './random.ts';
import { secretKey } from './secret-key.ts';
import { DecryptFailed } from './svt1.ts';
import { mintToken } from './tokens.ts';

export type { KeyObject } from 'node:crypto';

// The credentials of on-host agents (interface rule 63 §4). The secret is known to the agent alone; the service keeps two keys derived from it.

/** `svc_agent_` and 22 base62 characters: how an agent names itself. Not a secret. */
export const mintAgentId = (): string => `svc_agent_${randomBase62(22)}`;
const AGENT_ID = /^svc_agent_[0-9A-Za-z]{22}$/;
export const isAgentId = (text: string): boolean => text.length === 32 && AGENT_ID.test(text);

/** A new secret, shown once: `svc_as_` and 43 base64url characters. */
export const mintAgentSecret = (): string => mintToken('agent_secret').token;

/** `auth_key` and `session_root` of a secret, as one buffer of 64 bytes, the caller's to wipe. */
export function agentKeysOf(agentId: string, secret: string): Buffer {
  const derived = (info: string) => Buffer.from(hkdfSync('sha256', secret, agentId, info, 32));
  return Buffer.concat([derived('svc-agent-auth/v1'), derived('svc-agent-session-root/v1')]);
}

/** What signs the requests of an agent, and what the keys of its windows come from. */
export type AgentKeys = { auth: KeyObject; root: KeyObject };

/** The two keys from the 64 bytes of `agentKeysOf`, which are wiped. */
export const splitAgentKeys = (bytes: Buffer): AgentKeys => {
  const keys = { auth: secretKey(Buffer.from(bytes.subarray(0, 32))), root: secretKey(Buffer.from(bytes.subarray(32, 64))) };
  bytes.fill(0);
  return keys;
};

/** The key of one window, which both sides derive; it never travels and is never stored. `sessionRoot` has 32 bytes. */
export const sessionKey = (sessionRoot: KeyObject, agentId: string, window: string): KeyObject =>
  hkdf(sessionRoot, Buffer.from(agentId), `svc-agent-session/v1|${window}`);

export type SignedParts = { method: string; path: string; timestamp: string; nonce: string; body: Uint8Array };

/** HMAC-SHA256 over the request as `SVC-AGENT-V1` lists it; 32 bytes. */
export function agentSignature(authKey: KeyObject, { method, path, timestamp, nonce, body }: SignedParts): Buffer {
  const text = ['SVC-AGENT-V1', method, path, timestamp, nonce, hash('sha256', body, 'hex')].join('\n');
  return createHmac('sha256', authKey).update(text).digest();
}

/** AES-256-GCM as agents open it: nonce of 12 bytes, ciphertext followed by the tag of 16, both base64. */
export type Wrapped = { nonce: string; ciphertext: string };

export function wrapForAgent(key: KeyObject, aad: string, plaintext: Uint8Array): Wrapped {
  const nonce = randomBuffer(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(aad));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { nonce: nonce.toString('base64'), ciphertext: ciphertext.toString('base64') };
}

/** A value under a fresh key of its own, and that key under the window's, both with the same AAD. */
export function wrapValueForAgent(key: KeyObject, aad: string, value: Uint8Array) {
  const content = randomBuffer(32);
  const wrapped = wrapForAgent(key, aad, content);
  const { nonce, ciphertext } = wrapForAgent(secretKey(content), aad, value);
  return { wrapped_cek: wrapped.ciphertext, wrap_nonce: wrapped.nonce, ciphertext, nonce };
}

/** The plaintext, the caller's to wipe. @throws DecryptFailed, whatever is wrong */
export function unwrapFromAgent(key: KeyObject, aad: string, { nonce, ciphertext }: Wrapped): Buffer {
  const [iv, bytes] = [Buffer.from(nonce, 'base64'), Buffer.from(ciphertext, 'base64')];
  if (iv.length !== 12 || bytes.length < 16) throw new DecryptFailed();
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(aad));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
  } catch {
    throw new DecryptFailed();
  }
}

/** Ed25519 of the control plane, from its seed of 32 bytes (RFC 8410 §7). */
export function controlPlaneKeyOf(seed: Uint8Array): { private: KeyObject; pem: string } {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return { private: key, pem: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString() };
}
export const newControlPlaneSeed = (): Buffer => randomBuffer(32);

/** Over the canonical JSON (RFC 8785) of a bundle or manifest without its `sig`; base64. */
export const signDocument = (key: KeyObject, document: Readonly<Record<string, unknown>>): string =>
  sign(null, Buffer.from(canonicalJson(document)), key).toString('base64');

/** What a build of the agent says of itself. `any` stands for a build that runs on every system, such as the script that we serve. */
export type Build = { version: string; os: string; arch: string; sha256: string };

// The first line keeps a signature of a build from passing for one of a bundle, whose canonical JSON begins with a brace.
const buildText = ({ version, os, arch, sha256 }: Build) => Buffer.from(`SVC-AGENT-BUILD-V1\n${version}\n${os}\n${arch}\n${sha256}`);

/** The seal of a build, base64. */
export const signBuild = (key: KeyObject, build: Build): string => sign(null, buildText(build), key).toString('base64');

/** Whether the seal is of this build and key. Never throws. */
export function isSealOf(publicPem: string, build: Build, seal: string): boolean {
  const bytes = Buffer.from(seal, 'base64');
  return bytes.length === 64 && verify(null, buildText(build), publicPem, bytes);
}
