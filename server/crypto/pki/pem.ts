export type PemLabel = 'CERTIFICATE' | 'CERTIFICATE REQUEST' | 'NEW CERTIFICATE REQUEST' | 'X509 CRL' | 'PRIVATE KEY';

/** A PEM block that ends in a newline (RFC 7468, strict form: 64 characters a line). */
export function pemOf(label: PemLabel, der: Uint8Array): string {
  const lines =
    Buffer.from(der.buffer, der.byteOffset, der.byteLength)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The bytes of the one block of a text, or null: what stands around it is left out, a second block or base64 that isn't exact is refused. */
export function derOf(label: PemLabel, text: string): Buffer | null {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from + begin.length);
  if (from < 0 || to < 0 || text.includes('-----BEGIN ', from + begin.length)) return null;
  const body = text.slice(from + begin.length, to).replaceAll(/[\t\n\f\r ]/g, '');
  const der = Buffer.from(body, 'base64');
  return der.length > 0 && der.toString('base64') === body ? der : null;
}
