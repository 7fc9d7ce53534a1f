import { certificateDer, readCertificate, thumbprintOf } from '#server/crypto/client-credentials.ts';
import { compileRangeTable } from '#server/kernel/address.ts';
import type { ClientMatch, Signer } from './model.ts';
import { defineSlice, epochMs } from './slice.ts';

/** One usable address range of an enabled client, in the order of precedence among equals. */
type ClientRangeRow = { client_id: string; name: string; credential_id: string; ip_range: string; expires_at: number | null };

/** One usable certificate of an enabled client; a thumbprint is enabled once in a space. */
type ClientCertificateRow = { client_id: string; name: string; credential_id: string; thumbprint: string; expires_at: number | null };

/** One usable credential that signs calls, oldest first. */
type SignerRow = {
  client_id: string;
  name: string;
  credential_id: string;
  kind: 'signature_hmac' | 'signature_ed25519';
  public_key: string | null;
  secret_id: string | null;
  secret_ct: string | null;
  cek_wrapped: string | null;
  tmk_version: number | null;
  expires_at: number | null;
};

/** Addresses whose matches are remembered; a scan over many addresses must not fill memory. */
const MAX_REMEMBERED = 10_000;
/** Certificates of clients, in the spelling of a proxy, whose credentials are remembered. */
const MAX_CERTIFIED = 1_000;
const NOBODY: readonly ClientMatch[] = [];

export const clients = defineSlice({
  name: 'clients',
  tables: ['clients', 'client_credentials'],
  queries: {
    client_ranges: `select c.tenant_id, c.sandbox, c.id as client_id, c.name, k.id as credential_id, k.ip_range, ${epochMs('k.expires_at')} as expires_at
    from client_credentials k join clients c on c.id = k.client_id
    where k.tenant_id = any($1) and k.sandbox = any($2) and k.kind = 'ip' and k.enabled and c.enabled and k.ip_range is not null
    order by k.created_at, k.id`,
    client_certificates: `select c.tenant_id, c.sandbox, c.id as client_id, c.name, k.id as credential_id, k.thumbprint, ${epochMs('k.expires_at')} as expires_at
    from client_credentials k join clients c on c.id = k.client_id
    where k.tenant_id = any($1) and k.sandbox = any($2) and k.kind = 'mtls_thumbprint' and k.enabled and c.enabled and k.thumbprint is not null
    order by k.created_at, k.id`,
    // Shared secrets stay sealed, in memory and on disk.
    signers: `select c.tenant_id, c.sandbox, c.id as client_id, c.name, k.id as credential_id, k.kind, k.data->>'public_key' as public_key,
      k.data->>'secret_id' as secret_id, encode(k.secret_ct, 'base64') as secret_ct, encode(k.cek_wrapped, 'base64') as cek_wrapped, k.tmk_version,
      ${epochMs('k.expires_at')} as expires_at
    from client_credentials k join clients c on c.id = k.client_id
    where k.tenant_id = any($1) and k.sandbox = any($2) and k.kind in ('signature_hmac', 'signature_ed25519') and k.enabled and c.enabled
    order by k.created_at, k.id`,
  },
  compile({ client_ranges: ranges, client_certificates: certificates, signers: rows }: ClientRows) {
    const signers = rows.flatMap((row) => signerOf(row) ?? []);
    const signerById = new Map(signers.map((signer) => [signer.credentialId, signer]));
    const find = compileRangeTable(ranges.map((row) => ({ range: row.ip_range, value: clientMatch(row) })));
    const remembered = new Map<string, readonly ClientMatch[]>();
    const byThumbprint = new Map(certificates.map((row) => [row.thumbprint, row]));
    const certified = new Map<string, CertificateMatch>();
    return {
      /** Address credentials that hold this address, best first. */
      clientsAt(ip: string): readonly ClientMatch[] {
        if (ranges.length === 0) return NOBODY;
        let found = remembered.get(ip);
        if (!found) {
          found = find(ip);
          if (remembered.size < MAX_REMEMBERED) remembered.set(ip, found);
        }
        return found;
      },
      /** Whether any client is recognized by a certificate. */
      knowsCertificates: certificates.length > 0,
      /**
       * The credential of a certificate, given as URL-encoded PEM. It is found by a digest that no caller can choose, and a certificate is no secret: how
       * long the search takes tells nothing. Only a certificate that is somebody's is parsed, and then remembered.
       */
      clientByCertificate(text: string): CertificateMatch | null {
        const known = certified.get(text);
        if (known) return known;
        const der = derOf(text);
        const row = der && byThumbprint.get(thumbprintOf(der));
        const found = row ? certificateMatch(row, der) : null;
        if (found && certified.size < MAX_CERTIFIED) certified.set(text, found);
        return found;
      },
      /** Credentials that sign calls, oldest first. */
      signers: signers as readonly Signer[],
      signerById: (id: string): Signer | undefined => signerById.get(id),
    };
  },
  size: (rows) => rows.client_ranges.length + rows.client_certificates.length + rows.signers.length,
});

type ClientRows = { client_ranges: ClientRangeRow[]; client_certificates: ClientCertificateRow[]; signers: SignerRow[] };
/** Good from `beginsAt` (epoch milliseconds) on. */
type CertificateMatch = ClientMatch & { readonly beginsAt: number };

function derOf(text: string): Buffer | undefined {
  try {
    return certificateDer(decodeURIComponent(text));
  } catch {
    return undefined; // no percent-encoding
  }
}

/** The certificate's own dates bound what its credential says (interface rule 12 §5.2). Null when it isn't X.509. */
function certificateMatch(row: ClientCertificateRow, der: Buffer): CertificateMatch | null {
  const read = readCertificate(der);
  if (!read) return null;
  return {
    client: { id: row.client_id, name: row.name },
    credentialId: row.credential_id,
    beginsAt: read.not_before.getTime(),
    // Its last second belongs to it (RFC 5280 §4.1.2.5).
    endsAt: Math.min(row.expires_at ?? Infinity, read.not_after.getTime() + 1_000),
    method: 'mtls_thumbprint',
  };
}

function clientMatch(row: ClientRangeRow): ClientMatch {
  return {
    client: { id: row.client_id, name: row.name },
    credentialId: row.credential_id,
    endsAt: row.expires_at ?? Infinity,
    method: 'ip',
  };
}

function signerOf(row: SignerRow): Signer | undefined {
  const key = keyOf(row);
  const { client_id, name, credential_id, kind, expires_at } = row;
  return key && { client: { id: client_id, name }, credentialId: credential_id, endsAt: expires_at ?? Infinity, method: kind, key };
}

function keyOf({ kind, credential_id, public_key, secret_id, secret_ct, cek_wrapped, tmk_version }: SignerRow): Signer['key'] | undefined {
  if (kind === 'signature_ed25519') return public_key === null ? undefined : { kind: 'ed25519', publicKey: public_key };
  if (secret_id !== null) return { kind: 'secret', secretId: secret_id };
  if (secret_ct === null || cek_wrapped === null || tmk_version === null) return undefined;
  const sealed = { value_ct: Buffer.from(secret_ct, 'base64'), cek_wrapped: Buffer.from(cek_wrapped, 'base64'), tmk_version };
  return { kind: 'hmac', value: { id: credential_id, purpose: 'client_credential', sealed } };
}
