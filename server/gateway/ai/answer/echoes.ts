import { scrubbedBytes } from '#server/custody/redaction/scrubbed-bytes.ts';
import { paced, STRIDE, type Steps } from '#server/kernel/slices.ts';

/** An answer that holds our credential is changed, and no other; null for one that can't be searched for how else it is written. */
export async function withoutSecrets(bytes: Buffer, secrets: ReadonlyMap<string, string>): Promise<Buffer | null> {
  const values = [...secrets.values()].filter((value) => value.length >= 6).map((value) => Buffer.from(value));
  return (await paced(holdsAny(bytes, values), bytes.length)) ? scrubbedBytes(secrets, bytes) : bytes;
}

function* holdsAny(bytes: Buffer, values: readonly Buffer[]): Steps<boolean> {
  const longest = Math.max(0, ...values.map(({ length }) => length));
  for (let at = 0; at < bytes.length && values.length > 0; at += STRIDE) {
    const part = bytes.subarray(at, at + STRIDE + longest);
    if (values.some((value) => part.includes(value))) return true;
    yield;
  }
  return false;
}
