import type { LogSearch } from './list-search.ts';

export type Place = { id: string; name: string; slug?: string | null };
/** What can be named in the query; the `slug` of a key is its key id. */
export type Known = { routes: readonly Place[]; collections: readonly Place[]; clients: readonly Place[]; keys: readonly Place[] };
export type Typed = { change: Partial<LogSearch>; rest: string; unknown: string[] };

const TOKEN = /(?:([a-z_]+):(?:"([^"]*)"|(\S+)))|"([^"]*)"|(\S+)/gi;

/**
 * What was typed into the filter line: `route:payments key:worker is:failed latency:>800 ip:203.0.113.0/24 "timeout"`. Known words become filters, the rest
 * stays text; a word of this grammar with a value that cannot be right is named in `unknown` and not searched for.
 */
export function readQuery(text: string, known: Known): Typed {
  const change: Partial<LogSearch> = {};
  const rest: string[] = [];
  const unknown: string[] = [];
  for (const [whole, key, quoted, bare, phrase, word] of text.matchAll(TOKEN)) {
    if (key === undefined) {
      rest.push(phrase ?? word ?? '');
      continue;
    }
    const read = READERS[key.toLowerCase()];
    if (!read) {
      rest.push(whole);
      continue;
    }
    const found = read(quoted ?? bare ?? '', known);
    if (found) Object.assign(change, found);
    else unknown.push(whole);
  }
  return { change, rest: rest.filter(Boolean).join(' '), unknown };
}

type Reader = (value: string, known: Known) => Partial<LogSearch> | undefined;

const place = (value: string, places: readonly Place[]) => {
  const wanted = value.toLowerCase();
  const exact = places.find(({ id, name, slug }) => [id, slug, name].some((own) => own?.toLowerCase() === wanted));
  if (exact) return exact.id;
  const starts = places.filter(({ name, slug }) => [slug, name].some((own) => own?.toLowerCase().startsWith(wanted.replace(/\*$/, ''))));
  return starts.length === 1 ? starts[0]?.id : undefined;
};

const READERS: Record<string, Reader> = {
  route: (value, { routes }) => optional('route_id', place(value, routes)),
  collection: (value, { collections }) => optional('collection_id', place(value, collections)),
  client: (value, { clients }) => optional('client_id', place(value, clients)),
  key: (value, { keys }) => optional('api_key_id', place(value, keys)),
  status: (value) => (/^(?:[1-5]\d\d|[2-5]xx)$/i.test(value) ? { status: value.toLowerCase() } : undefined),
  method: (value) => (/^[a-z]{3,10}$/i.test(value) ? { method: value.toUpperCase() } : undefined),
  env: (value) => ({ environment: value }),
  environment: (value) => ({ environment: value }),
  error: (value) => ({ error: value }),
  origin: (value) => (value === 'upstream' || value === 'service' ? { origin: value } : undefined),
  is: (value) => IS[value.toLowerCase()],
  latency: (value) => {
    const ms = /^>?=?(\d{1,8})(?:ms)?$/.exec(value)?.[1];
    return ms === undefined ? undefined : { slower: Number(ms) };
  },
  ip: (value) => (/^[0-9a-f.:]+(?:\/\d{1,3})?$/i.test(value) ? { ip: value } : undefined),
  limited: (value) => (value === 'yes' || value === 'true' ? { limited: true } : undefined),
};

/** `is:failed`, `is:refused`, `is:test`: what a call was, in a word. */
const IS: Record<string, Partial<LogSearch>> = {
  ok: { outcome: 'ok' },
  failed: { outcome: 'failed' },
  refused: { outcome: 'refused' },
  limited: { limited: true },
  test: { mode: 'test' },
};

const optional = <K extends 'route_id' | 'collection_id' | 'client_id' | 'api_key_id'>(
  key: K,
  id: string | undefined,
): Partial<LogSearch> | undefined => (id ? { [key]: id } : undefined);

/** The words of the grammar, for the sentence that corrects a query. */
export const QUERY_WORDS = Object.keys(READERS).filter((word) => word !== 'environment');
