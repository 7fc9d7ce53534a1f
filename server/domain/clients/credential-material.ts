import type { z } from 'zod';
import {
  generateEd25519,
  generateHmacSecret,
  importHmacSecret,
  parseEd25519,
  parseThumbprint,
  readClientCertificate,
} from '#server/crypto/client-credentials.ts';
import { UNNAMED_CURVE } from '#server/crypto/named-curve.ts';
import { secretByRef } from '#server/domain/secrets/service.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { keyring } from '#server/platform/keys.ts';
import { issueFor } from './authority.ts';
import type { CredentialInput, CredentialKind } from './schema.ts';
import { rangeColumns, warnOfWideRange } from './service.ts';

type Given = z.output<typeof CredentialInput>;

/** Columns of a new credential, what is shown once, and the secret it reads from. */
export type Material = {
  columns: {
    data: Record<string, string>;
    ip_range?: string;
    thumbprint?: string;
    secret_ct?: Uint8Array<ArrayBuffer>;
    cek_wrapped?: Uint8Array<ArrayBuffer>;
    tmk_version?: number;
  };
  reveal?: { certificate_pem?: string; private_key_pem?: string; ca_chain_pem?: string; secret?: string };
  secret_id?: string;
};

type Place = { tx: Tx; ctx: Ctx; client: { id: string; name: string }; id: string };

/** Makes or reads the material of one kind (interface rule 11 §3). @throws Refusal validation_error; never quotes what was given */
export function materialOf(kind: CredentialKind, given: Given, place: Place): Promise<Material> {
  return BY_KIND[kind](given, place);
}

const BY_KIND: Record<CredentialKind, (given: Given, place: Place) => Promise<Material>> = {
  ip: async (given, { ctx }): Promise<Material> => {
    modeIn(given, []);
    const text = given.value ?? given.ip;
    if (text === undefined) throw invalid('data.value', 'required');
    const answer = canonicalAddress(text);
    if (!answer.ok) throw invalid('data.value', answer.problem);
    warnOfWideRange(ctx, answer.value);
    return { columns: rangeColumns(answer.value) };
  },

  mtls_thumbprint: async (given, { tx, ctx, client }): Promise<Material> => {
    if (modeIn(given, ['register', 'issue']) !== 'issue') return registered(ctx, given);
    for (const name of ['certificate_pem', 'thumbprint'] as const)
      if (given[name] !== undefined) throw invalid(`data.${name}`, 'must not be sent with mode issue');
    const issued = await issueFor(tx, ctx, client, given.ttl_days ?? 365);
    const { certificate_pem, private_key_pem, ca_chain_pem } = issued;
    return { columns: certificateColumns(certificate_pem, { serial: true }), reveal: { certificate_pem, private_key_pem, ca_chain_pem } };
  },

  signature_hmac: async (given, place): Promise<Material> => {
    const mode = modeIn(given, ['generate', 'import']);
    if (given.secret_id !== undefined) {
      if (given.secret !== undefined || mode === 'generate')
        throw invalid('data.secret_id', 'must be sent alone: use a stored secret or new material, not both');
      const secret = await secretByRef(place.tx, place.ctx, { id: given.secret_id });
      if (!secret) throw invalid('data.secret_id', 'no such secret');
      if (secret.secret_type !== 'string') throw invalid('data.secret_id', 'must be a string secret');
      return { columns: { data: { key_id: place.id, secret_id: secret.id } }, secret_id: secret.id };
    }
    if (mode === 'generate') {
      const { secret, material } = generateHmacSecret();
      return { columns: { data: { key_id: place.id }, ...(await sealed(place, material)) }, reveal: { secret } };
    }
    if (mode !== 'import') throw invalid('data.mode', 'must be generate or import, unless secret_id is sent');
    const material = importHmacSecret(given.secret ?? '');
    if (!material) throw invalid('data.secret', 'must be at least 32 bytes');
    return { columns: { data: { key_id: place.id }, ...(await sealed(place, material)) } };
  },

  signature_ed25519: async (given, { id }): Promise<Material> => {
    const mode = modeIn(given, ['generate']);
    if (mode === 'generate') {
      if (given.public_key !== undefined) throw invalid('data.public_key', 'must not be sent with mode generate');
      const { public_key, private_key_pem } = generateEd25519();
      return { columns: { data: { public_key, key_id: id } }, reveal: { private_key_pem } };
    }
    const public_key = given.public_key === undefined ? undefined : parseEd25519(given.public_key);
    if (public_key === undefined) throw invalid('data.public_key', 'must be an Ed25519 public key, as SPKI PEM or 32 bytes in base64url');
    return { columns: { data: { public_key, key_id: id } } };
  },
};

function registered(ctx: Ctx, given: Given): Material {
  if (given.ttl_days !== undefined) throw invalid('data.ttl_days', 'applies to mode issue only');
  const thumbprint = given.thumbprint === undefined ? undefined : parseThumbprint(given.thumbprint);
  if (given.thumbprint !== undefined && thumbprint === undefined)
    throw invalid('data.thumbprint', 'must be 64 hex digits: the SHA-256 of the certificate');
  if (given.certificate_pem === undefined) {
    if (thumbprint === undefined) throw invalid('data.certificate_pem', 'requires certificate_pem or thumbprint, or mode issue');
    return { columns: { data: { thumbprint }, thumbprint } };
  }
  const columns = certificateColumns(given.certificate_pem, { serial: false });
  if (thumbprint !== undefined && thumbprint !== columns.thumbprint) throw invalid('data.thumbprint', "doesn't match certificate_pem");
  if (new Date(columns.data.not_after) <= ctx.now) ctx.warnings.push('The certificate has expired. TLS handshakes with it may be refused.');
  return { columns };
}

/** Only the thumbprint and what people recognise the certificate by are kept. */
function certificateColumns(pem: string, { serial }: { serial: boolean }) {
  const read = readClientCertificate(pem);
  if (!read) throw invalid('data.certificate_pem', 'must be exactly one PEM certificate, without a private key');
  if (read === 'unnamed_curve') throw invalid('data.certificate_pem', UNNAMED_CURVE);
  const data = {
    thumbprint: read.thumbprint,
    subject: read.subject.slice(0, 500),
    not_after: read.not_after.toISOString(),
    ...(serial ? { serial: read.serial } : {}),
  };
  return { data, thumbprint: read.thumbprint };
}

async function sealed({ ctx, id }: Place, material: Buffer) {
  try {
    const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'client_credential', row_id: id } as const;
    const { value_ct, cek_wrapped, tmk_version } = await keyring().sealValue(place, material);
    return { secret_ct: value_ct, cek_wrapped, tmk_version };
  } finally {
    material.fill(0);
  }
}

function modeIn(given: Given, modes: readonly NonNullable<Given['mode']>[]): Given['mode'] {
  if (given.mode !== undefined && !modes.includes(given.mode))
    throw invalid('data.mode', modes.length === 0 ? "doesn't apply to this kind" : `must be ${modes.join(' or ')} for this kind`);
  return given.mode;
}
