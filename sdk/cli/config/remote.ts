import type { Call, Sallyport } from '../../client.ts';
import { paginate } from '../../paginate.ts';
import { CliError } from '../exit.ts';
import { type KindName, oneOf } from './document.ts';

/** A resource as a list answers it. A secret's `name` is the one that templates use. */
export type Row = { id: string; name: string; slug?: string | null } & Record<string, unknown>;

/** The workspace as the Management API shows it. Lists are fetched once, until `forget`. */
export type Remote = {
  send: <T>(method: string, path: string, call?: Omit<Call, 'signal'>) => Promise<T>;
  rows: (kind: KindName) => Promise<readonly Row[]>;
  /** @throws CliError when nothing, or more than one thing, has the name */
  idOf: (kind: KindName, name: string) => Promise<string>;
  /** undefined for an ID that this credential can't see. */
  nameOf: (kind: KindName, id: unknown) => Promise<string | undefined>;
  /** After a change of that kind. */
  forget: (kind: KindName) => void;
};

const LISTS: Readonly<Record<KindName, string>> = {
  environments: '/environments',
  secrets: '/secrets',
  collections: '/collections',
  clients: '/clients',
  routes: '/routes',
};

export const pathOfKind = (kind: KindName): string => LISTS[kind];

export function remoteOf(sallyport: Sallyport, signal: AbortSignal): Remote {
  const lists = new Map<KindName, Promise<readonly Row[]>>();
  const send = async <T>(method: string, path: string, call: Omit<Call, 'signal'> = {}) =>
    (await sallyport.request<T>(method, path, { ...call, signal })).data;
  const rows = (kind: KindName) => {
    const list = lists.get(kind) ?? fetchRows(kind);
    lists.set(kind, list);
    return list;
  };
  async function fetchRows(kind: KindName): Promise<Row[]> {
    if (kind === 'environments') return send<Row[]>('GET', LISTS[kind]);
    const all: Row[] = [];
    const sorted = { sort: 'name', order: 'asc' };
    const pages = paginate((query) => sallyport.request('GET', LISTS[kind], { query: { ...sorted, ...query }, signal }) as never);
    for await (const row of pages as AsyncIterable<Row>) all.push(kind === 'secrets' ? { ...row, name: String(row.shortcode_name) } : row);
    return all;
  }
  return {
    send,
    rows,
    forget: (kind) => void lists.delete(kind),
    nameOf: async (kind, id) => (await rows(kind)).find((row) => row.id === id)?.name,
    idOf: async (kind, name) => {
      const found = (await rows(kind)).filter((row) => row.name === name);
      if (found.length === 0) throw new CliError(`No ${oneOf(kind)} is called ${name}.`);
      if (found.length > 1) throw ambiguous(kind, name, found);
      return found[0]?.id ?? '';
    },
  };
}

export const ambiguous = (kind: KindName, name: string, rows: readonly Row[]) =>
  new CliError(`${rows.length} ${kind} are called ${name}: ${rows.map(({ id }) => id).join(', ')}.`, {
    next_step: 'A file identifies them by name. Rename all but one first.',
  });

/** At most four calls at once: enough to hide the way there and back, and little for the service. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return results;
}
