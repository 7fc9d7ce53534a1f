import { queryText } from '#components/shell/query-text.ts';

/** The part of an API key that lists and logs name it by; no secret. */
const KEY_ID = /^tk_(?:live|test)_[0-9A-Za-z]{12}$/;

/** What of a pasted text stays and may be asked about: an id as it is, of a credential only its beginning (interface rule 70 §10). */
export function idText(text: string): { kept: string; credential: boolean } {
  if (KEY_ID.test(text.trim())) return { kept: text.trim(), credential: false };
  const { kept, credential } = queryText(text.slice(0, 4_000));
  return { kept: kept.slice(0, 100), credential };
}
