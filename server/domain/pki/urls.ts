import type { CertificateUrls } from '#server/crypto/pki/extensions.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';

/** What the addresses of a root depend on: all of it stays as it was when the root was made. */
export type Published = { id: string; public_slug: string; sandbox: boolean; publish: boolean };

/**
 * Where relying parties fetch certificates and lists of a root (interface rule 43 §8), without a slash at the end. Certificates carry http where the
 * deployment serves it: a client that checks TLS by what it fetches here must not need TLS to fetch it.
 */
export function publicUrl({ id, public_slug, sandbox }: Published): string {
  const origin = env.PKI_PUB_HTTP ? env.PUBLIC_API_URL.replace(/^https:/, 'http:') : env.PUBLIC_API_URL;
  return `${origin}/pub/${public_slug}/${spaceOf(sandbox) === 'test' ? 'test/' : ''}pki/${id}`;
}

/** What certificates of the root's own key name. */
export const urlsUnderRoot = (root: Published): CertificateUrls =>
  root.publish ? { crl: `${publicUrl(root)}/root.crl`, issuer: `${publicUrl(root)}/root.crt` } : {};

/** What leaves of an intermediate name. */
export const urlsUnder = (root: Published, intermediateId: string): CertificateUrls =>
  root.publish
    ? { crl: crlUrl(root, intermediateId), issuer: `${publicUrl(root)}/issuers/${intermediateId}.crt`, ocsp: `${publicUrl(root)}/ocsp` }
    : {};

export const crlUrl = (root: Published, issuerId: string): string =>
  issuerId === root.id ? `${publicUrl(root)}/root.crl` : `${publicUrl(root)}/crl/${issuerId}.crl`;
