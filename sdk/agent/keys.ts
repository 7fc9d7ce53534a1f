import { createDecipheriv, createHash, createHmac, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';

// The keys that agent and control plane both derive from the agent's secret, and what is signed and opened with them. None of them is ever written to disk.

export type AgentKeys = { agentId: string; auth: Buffer; root: Buffer };

/** The two keys of a secret: one signs requests, the other is the root of the keys of windows. */
export function keysOf(agentId: string, secret: string): AgentKeys {
  return { agentId, auth: derived(secret, agentId, 'svc-agent-auth/v1'), root: derived(secret, agentId, 'svc-agent-session-root/v1') };
}

/** The key of one window, such as `2026-10-01T12`, that secrets of its bundle are wrapped under. */
export function windowKey(keys: AgentKeys, window: string): Buffer {
  return derived(keys.root, keys.agentId, `svc-agent-session/v1|${window}`);
}

function derived(key: string | Buffer, salt: string, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, 32));
}

export type SignedRequest = { method: string; path: string; body: string };

/** Headers that sign a request. `timestamp` is in Unix seconds; `nonce` is 32 hex characters, used once. */
export function signatureHeaders(
  keys: AgentKeys,
  { method, path, body }: SignedRequest,
  timestamp = Math.floor(Date.now() / 1000),
  nonce = randomBytes(16).toString('hex'),
): Record<string, string> {
  const text = ['SVC-AGENT-V1', method, path, String(timestamp), nonce, sha256(body)].join('\n');
  return {
    'x-svc-agent-id': keys.agentId,
    'x-svc-agent-timestamp': String(timestamp),
    'x-svc-agent-nonce': nonce,
    'x-svc-agent-signature': createHmac('sha256', keys.auth).update(text).digest('hex'),
  };
}

/** Lower-case hex. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Opens AES-256-GCM with the tag at the end. Throws when the key, the nonce or the additional data isn't the one it was sealed with. */
export function openSealed(key: Buffer, nonce: string, sealed: string, additional: string | Buffer): Buffer {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'), { authTagLength: 16 });
  decipher.setAAD(typeof additional === 'string' ? Buffer.from(additional) : additional);
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
}

/** Whether `document.sig` is the control plane's Ed25519 signature over the canonical document without it. `publicKey` is PEM. */
export function isSignedBy(publicKey: string, document: Record<string, unknown>): boolean {
  const { sig, ...rest } = document;
  return typeof sig === 'string' && isSignatureOf(publicKey, Buffer.from(canonicalJson(rest)), sig);
}

/** Ed25519; the signature in base64. */
export function isSignatureOf(publicKey: string, content: Uint8Array, signature: string): boolean {
  try {
    return verify(null, content, createPublicKey(publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** RFC 8785: members in the order of their UTF-16 code units, numbers and strings as JSON.stringify writes them. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** What the release key signs of a build, and so what a build reports about itself. The file is the same on every platform. */
export function buildStatement(version: string, digest: string): string {
  return ['SVC-AGENT-BUILD-V1', version, 'any', 'any', digest].join('\n');
}
