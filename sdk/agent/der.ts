// The little of DER (X.690) that certificates of the local authority need.

export type Der = Buffer<ArrayBufferLike>;

/** One element: tag, length, content. */
export function element(tag: number, ...content: Uint8Array[]): Der {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const length: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length, ...length), body]);
}

export const sequence = (...parts: Uint8Array[]): Der => element(0x30, ...parts);
export const setOf = (...parts: Uint8Array[]): Der => element(0x31, ...parts);
export const octets = (content: Uint8Array): Der => element(0x04, content);
export const text = (content: string): Der => element(0x0c, Buffer.from(content));
export const yes = (): Der => element(0x01, Buffer.of(0xff));
export const explicit = (number: number, content: Uint8Array): Der => element(0xa0 | number, content);
export const bits = (content: Uint8Array, unused = 0): Der => element(0x03, Buffer.of(unused), content);

/** A positive number of any size, by its big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  return element(0x02, (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits);
}

/** `1.2.840.10045.4.3.2`. */
export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part % 128];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(0x80 | (left % 128));
    bytes.push(...digits);
  }
  return element(0x06, Buffer.from(bytes));
}

/** UTCTime to 2049 and GeneralizedTime after it (RFC 5280 §4.1.2.5). */
export function time(at: Date): Der {
  const digits = at.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return at.getUTCFullYear() < 2050 ? element(0x17, Buffer.from(`${digits.slice(2)}Z`)) : element(0x18, Buffer.from(`${digits}Z`));
}

export function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
