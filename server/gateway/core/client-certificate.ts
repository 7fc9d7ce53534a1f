import type { IncomingMessage } from 'node:http';
import { lowerName } from '#server/platform/header-name.ts';
import type { Network } from '#server/platform/http-out/networks.ts';
import { isFromTrustedProxy } from './client-address.ts';

/** Who ends TLS tells the caller's certificate in this header (CLIENT_CERT_HEADER, in lower case). */
export type CertificateHeader = { readonly name: string; readonly trustedProxies: readonly Network[] };

/**
 * What is told of the certificate of the caller's TLS connection, or undefined: URL-encoded PEM of one certificate, unread. The proxy that ended TLS made
 * sure that the caller has its key; who isn't a trusted proxy could send anybody's, so its header counts for nothing. Neither do two of them: a proxy that
 * adds to a header of its caller, instead of replacing it, says nothing (interface rule 12 §5.2).
 */
export function presentedCertificate(req: IncomingMessage, { name, trustedProxies }: CertificateHeader): string | undefined {
  let value: string | undefined;
  const raw = req.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    if (lowerName(raw[i] as string) !== name) continue;
    if (value !== undefined) return undefined;
    value = raw[i + 1] as string;
  }
  // Some proxies send the header empty when the caller has no certificate.
  return value && isFromTrustedProxy(req, trustedProxies) ? value : undefined;
}
