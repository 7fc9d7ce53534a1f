import { createHash, createHmac, createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import type { Workspace } from '#server/testing/workspace.ts';

// Clients that sign, as somebody writes them who has read the documentation and not our code.

/** The key of the worked examples: bytes 00 to 1f. */
export const KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
/** The Ed25519 key with these bytes as its seed. */
export const ED_KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), KEY]),
  format: 'der',
  type: 'pkcs8',
});
export const ED_PUBLIC = 'A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg';

type Material = { hmac: Buffer } | { secret_id: string } | { public_key: string };

/** A client with one credential that signs, as the control plane writes them. */
export async function makeSigner(w: Workspace, material: Material, more: Record<string, unknown> = {}) {
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const client = await db().clients.create({ data: { id: newId(), ...scope, name: 'signer', ip_address: '192.0.2.1' } });
  const credential = await addCredential(w, client.id, material, more);
  return { client, id: credential };
}

export async function addCredential(
  w: Workspace,
  clientId: string,
  material: Material,
  more: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const place = { tenant_id: w.tenant.id, space: 'live', purpose: 'client_credential', row_id: id } as const;
  const sealed = 'hmac' in material ? await keyring().sealValue(place, material.hmac) : undefined;
  const data = 'hmac' in material ? { key_id: id } : { key_id: id, ...material };
  await db().client_credentials.create({
    data: {
      id,
      tenant_id: w.tenant.id,
      sandbox: false,
      client_id: clientId,
      kind: 'public_key' in material ? 'signature_ed25519' : 'signature_hmac',
      data,
      ...(sealed && { secret_ct: sealed.value_ct, cek_wrapped: sealed.cek_wrapped, tmk_version: sealed.tmk_version }),
      ...more,
    },
  });
  return id;
}

export const assign = (w: Workspace, route: { id: string; environment: { id: string } }, clientId: string) =>
  db().route_client_assignments.create({
    data: { tenant_id: w.tenant.id, sandbox: false, route_id: route.id, environment_id: route.environment.id, client_id: clientId },
  });

export const now = () => Math.floor(Date.now() / 1000);
export const nonce = () => randomBytes(16).toString('base64url');

/** The ten lines of a call. */
export type Lines = {
  version: string;
  timestamp: string;
  nonce: string;
  host: string;
  route: string;
  environment: string;
  method: string;
  path: string;
  query: string;
  body: string;
};
export const linesOf = (given: Partial<Omit<Lines, 'body'>> & { body?: string | Buffer } = {}): Lines => {
  const { body = '', ...others } = given;
  const usual = {
    version: 'v1',
    timestamp: String(now()),
    nonce: '',
    host: '',
    route: '',
    environment: '',
    method: 'GET',
    path: '/',
    query: '',
  };
  return { ...usual, ...others, body: createHash('sha256').update(body).digest('hex') };
};
export const textOf = (lines: Lines): string =>
  [
    lines.version,
    lines.timestamp,
    lines.nonce,
    lines.host,
    lines.route,
    lines.environment,
    lines.method,
    lines.path,
    lines.query,
    lines.body,
  ].join('\n');

export const hmacSignature = (lines: Lines, key: Buffer = KEY): string =>
  `v1=${createHmac('sha256', key).update(textOf(lines)).digest('hex')}`;
export const edSignature = (lines: Lines, key: KeyObject = ED_KEY): string =>
  `v1=${sign(null, Buffer.from(textOf(lines)), key).toString('base64url')}`;

/** The headers of a signed call. */
export const signedHeaders = (lines: Lines, more: { key?: Buffer; keyId?: string } = {}): Record<string, string> => ({
  'x-svc-timestamp': lines.timestamp,
  ...(lines.nonce && { 'x-svc-nonce': lines.nonce }),
  ...(lines.environment && { 'x-svc-environment': lines.environment }),
  ...(more.keyId && { 'x-svc-key-id': more.keyId }),
  'x-svc-signature': hmacSignature(lines, more.key),
});
