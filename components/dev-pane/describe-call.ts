import type { RecordedCall } from '#components/trpc/recorder.ts';
import { MASK } from '#server/domain/explorer/masking.shared.ts';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';

/** A noted call in terms of the API. */
export type DescribedCall = {
  method: string;
  /** Below /v1 for public calls, else of the dashboard's own plane; ids filled in. */
  path: string;
  query: string;
  body: Record<string, unknown> | undefined;
  /** Whether an API key can make it too. */
  public: boolean;
  status: number;
  /** Of a public call: what the explorer knows it by. */
  operation?: string | undefined;
  summary?: string | undefined;
};

/** Fields of an edit that only the dashboard sends: /v1 has no such check. */
const DASHBOARD_ONLY = new Set(['expected_updated_at']);

/** What a call was; undefined while the list of operations is not there, or for a procedure it does not know. */
export function describeCall(call: RecordedCall, operations: readonly ListedOperation[]): DescribedCall | undefined {
  const { what } = call;
  if ('path' in what)
    return {
      method: what.method,
      path: what.path,
      query: what.query ?? '',
      body: what.body as Record<string, unknown> | undefined,
      public: what.public,
      status: call.status ?? 200,
      ...(what.public ? { operation: operationAt(what.method, what.path, operations) } : {}),
    };
  const row = operations.find(({ procedure }) => procedure === what.procedure);
  if (!row) return undefined;
  const rest = { ...(typeof what.input === 'object' && what.input !== null ? (what.input as Record<string, unknown>) : {}) };
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value ?? ''));
  });
  if (row.public) for (const name of DASHBOARD_ONLY) delete rest[name];
  const left = Object.entries(rest).filter(([, value]) => value !== undefined);
  const isRead = row.method === 'GET';
  return {
    method: row.method,
    path,
    query: isRead ? new URLSearchParams(left.map(([name, value]) => [name, String(value)])).toString() : '',
    body: isRead || left.length === 0 ? undefined : Object.fromEntries(left),
    public: row.public,
    status: call.status ?? row.status,
    operation: row.id,
    summary: row.summary,
  };
}

const operationAt = (method: string, path: string, operations: readonly ListedOperation[]) =>
  operations.find((row) => row.public && row.method === method && new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))?.id;

/** Longer ones are left out of a link: browsers and proxies cut addresses. */
const LONGEST_LINK = 4_000;

/** The explorer with this call filled in, below the space; masked fields stay empty there. */
export function explorerLink({ operation, path, query, body, ...line }: DescribedCall): string | undefined {
  if (!operation || !line.public) return undefined;
  const call = JSON.stringify({ path, query, body: withoutMasks(body) ?? null });
  return `/explorer?${new URLSearchParams({ op: operation, ...(call.length > LONGEST_LINK ? {} : { call }) }).toString()}`;
}

function withoutMasks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (one === MASK ? [] : [[name, withoutMasks(one)]])));
}

const LED_HERE_MS = 10_000;

/** The calls of a page, and the changes it came after: a form that made something goes on to what it made. */
export function ofPage(calls: readonly RecordedCall[], path: string): readonly RecordedCall[] {
  const own = calls.filter(({ page }) => page === path).map(({ at }) => at);
  const ledHere = (at: number) => own.some((mine) => mine >= at && mine - at < LED_HERE_MS);
  return calls.filter(({ page, kind, at }) => page === path || (kind === 'mutation' && ledHere(at)));
}
