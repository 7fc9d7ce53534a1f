import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseFault } from './fault.ts';

// sslmode as libpq means it: `require` encrypts and believes any certificate, `verify-ca` checks who issued it, `verify-full` also for whom.

/** Options for tls.connect; null is no encryption. `host` is what the certificate must be made for. */
export function tlsOptions(
  { sslmode = 'require', ca_cert_pem: ca }: { sslmode?: string | undefined; ca_cert_pem?: string | undefined },
  host: string,
): (ConnectionOptions & { rejectUnauthorized: boolean }) | null {
  if (sslmode === 'disable') return null;
  return {
    // Without SNI for addresses (RFC 6066 §3); the name is then checked against `host`.
    host,
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    rejectUnauthorized: sslmode !== 'require',
    ...(sslmode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

const TLS_CODES =
  /^(?:ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|ERR_OSSL_)/;

/** The fault that an error of TLS is; undefined when it is none. */
export function tlsFault(error: unknown): DatabaseFault | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || !TLS_CODES.test(code)) return undefined;
  const text = MEANINGS.find(([pattern]) => pattern.test(code))?.[1] ?? 'The TLS handshake with the database failed.';
  return new DatabaseFault('database_unreachable', 'tls', text, { code });
}

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/ALTNAME|HOSTNAME_MISMATCH/, "The database's certificate is for another name."],
  [/EXPIRED|NOT_YET_VALID/, "The database's certificate is not valid at this time."],
  [/SELF_SIGNED|UNABLE_TO|DEPTH_ZERO|CERT_/, "The database's certificate is not issued by a CA that is trusted here."],
  [/OSSL|PEM/, 'The CA certificate can not be read.'],
];

/** Some drivers check certificates of names only; for an address they would check another one. @throws DatabaseFault */
export function refuseAddress({ sslmode }: { sslmode?: string | undefined }, host: string): void {
  if (sslmode === 'verify-full' && isIP(host) !== 0)
    throw new DatabaseFault('database_unreachable', 'tls', 'sslmode verify-full takes a host name, not an address, with this engine.');
}
