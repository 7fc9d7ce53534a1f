import { patientFinder, type Secrets } from './redaction.ts';
import { ScrubbedText } from './scrubbed-text.ts';

/** Shorter values would take half of an answer with them. */
const SHORTEST = 4;

/** Bytes of any length without the values of secrets, in every spelling that `redactor` knows; null when they can't be searched in bearable time. */
export async function scrubbedBytes(secrets: Secrets, bytes: Buffer): Promise<Buffer | null> {
  const longest = Math.max(0, ...[...secrets.values()].map((value) => Buffer.byteLength(value)));
  if (longest < SHORTEST) return bytes;
  const text = new ScrubbedText(patientFinder(secrets, SHORTEST), longest);
  const first = await text.push(bytes);
  const last = first && (await text.end());
  return first && last && (text.changed ? Buffer.concat([first, last]) : bytes);
}
