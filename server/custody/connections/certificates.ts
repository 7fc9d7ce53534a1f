import { openUnder, type StoredValue } from '#server/crypto/envelope.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import type { TlsMaterial } from '#server/platform/http-out/connector.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { sealedOrRefused } from '../material.ts';
import type { ClientTls } from './token-endpoint.ts';

/** The sealed value of a certificate secret. */
export type StoredCertificate = {
  /** The leaf and its chain in order; '' when there is only a key. */
  certificate_pem: string;
  /** PKCS #8, without a passphrase. */
  private_key_pem: string | null;
  /** What was uploaded, for a download as it was. */
  original: { content: string; private_key?: string | undefined; passphrase?: string | undefined; format?: string | undefined };
};

export const decodeCertificate = (bytes: Buffer): StoredCertificate => JSON.parse(bytes.toString('utf8')) as StoredCertificate;

/** What a TLS client presents. */
export const clientMaterial = ({ certificate_pem, private_key_pem }: StoredCertificate): TlsMaterial =>
  private_key_pem === null ? {} : { cert: certificate_pem, key: private_key_pem };

type Row = StoredValue & { id: string };

/** The certificate of a secret in an environment, for a token endpoint; undefined when there is none with a key. @throws Refusal tenant_sealed */
export async function clientTls(
  space: Pick<HotCtx, 'tenant_id' | 'sandbox'>,
  secretId: string,
  environment: string,
): Promise<ClientTls | undefined> {
  const [row] = await ownRows<Row>(space, CERTIFICATE, secretId, environment);
  if (!row) return undefined;
  const place = { tenant_id: space.tenant_id, space: spaceOf(space.sandbox), purpose: 'secret_value' as const, row_id: row.id };
  const bytes = openUnder(await keyring().tmk(space.tenant_id, row.tmk_version).catch(sealedOrRefused), place, row);
  try {
    const stored = decodeCertificate(bytes);
    return stored.private_key_pem === null || stored.certificate_pem === ''
      ? undefined
      : { tls: clientMaterial(stored), identity: `token:${row.id}` };
  } finally {
    bytes.fill(0);
  }
}

const CERTIFICATE = ownQuery(
  'custody-certificate',
  `select v.id, v.value_ct, v.cek_wrapped, v.tmk_version
   from secret_environments e join secrets s on s.id = e.secret_id and s.secret_type = 'certificate'
   join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
   where e.tenant_id = $1 and e.sandbox = $2 and e.secret_id = $3::uuid and e.environment_name = $4 and v.value_ct is not null and v.cek_wrapped is not null`,
);
