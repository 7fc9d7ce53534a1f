import { X509Certificate } from 'node:crypto';
import { isOnUnnamedCurve, UNNAMED_CURVE } from './named-curve.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;
/** Each takes a quarter of a millisecond to read. */
const MOST = 100;

/** What is wrong with a bundle of authorities in PEM that a connection is to trust, to follow the name of its field; text between the blocks is left out. */
export function authoritiesProblem(pem: string): string | undefined {
  const blocks = [...pem.matchAll(BLOCK)].map(([, body = '']) => Buffer.from(body, 'base64'));
  if (blocks.length === 0 || pem.split('-----BEGIN ').length - 1 !== blocks.length)
    return 'must be certificates in PEM, and nothing else in PEM';
  if (blocks.length > MOST) return `must have at most ${MOST} certificates`;
  for (const der of blocks)
    try {
      if (isOnUnnamedCurve(new X509Certificate(der).publicKey)) return UNNAMED_CURVE;
    } catch {
      return 'must be certificates in PEM: one of them can not be read';
    }
  return undefined;
}
