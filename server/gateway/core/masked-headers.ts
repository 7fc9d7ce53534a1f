/** Headers that hold credentials, and what the last word of such a header is. In lower case, hyphenated. */
const HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'dpop', 'apikey']);
const LAST_WORDS = new Set(['key', 'apikey', 'token', 'secret', 'auth', 'signature', 'password']);

/** Whether the value of a header isn't kept: it is a credential, or one of ours. */
export const isMaskedHeader = (name: string): boolean =>
  HEADERS.has(name) || name.startsWith('x-svc-') || LAST_WORDS.has(name.slice(name.lastIndexOf('-') + 1));
