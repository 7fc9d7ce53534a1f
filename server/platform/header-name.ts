const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MOST = 2_000;
const LONGEST = 64;
const known = new Map<string, string>();

/** A name as CGI and WSGI servers read it: to them `X_Api_Key` and `X-Api-Key` are one variable. */
export const hyphenated = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name);

/**
 * A field name in lower case; '' when it is no token (RFC 9110 §5.1). The same name is the same string every time, so that finding it in a
 * set later neither hashes nor compares its letters. Remembers a bounded number of names, whoever sends them.
 */
export function lowerName(name: string): string {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (!TOKEN.test(name)) return '';
  const lower = name.toLowerCase();
  if (known.size >= MOST || name.length > LONGEST) return lower;
  // Of its own: a name cut out of a head would keep the whole head in memory.
  const own = Buffer.from(name, 'latin1').toString('latin1');
  known.set(own, known.get(lower) ?? own.toLowerCase());
  return known.get(own) as string;
}
