import { queryText } from '#components/shell/query-text.ts';
import type { ApiOperation } from './document.ts';
import { meaningOf } from './document.ts';

/** What stands in the form: texts by place and name. */
export type Draft = {
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, string>;
};
export const emptyDraft: Draft = { path: {}, query: {}, headers: {}, body: {} };

export type PreparedCall = {
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

/** The call that a form makes; a field of JSON that cannot be read is named in `problem`. */
export function preparedCall(op: ApiOperation, draft: Draft): PreparedCall & { problem?: string; missing: string[] } {
  const body: Record<string, unknown> = {};
  let problem: string | undefined;
  for (const { name, schema } of op.inBody) {
    try {
      const value = meaningOf(schema, draft.body[name] ?? '');
      if (value !== undefined) body[name] = value;
    } catch {
      problem ??= `${name}: this is not valid JSON`;
    }
  }
  const missing = [
    ...op.inPath.filter(({ name }) => !draft.path[name]),
    ...op.inQuery.filter(({ name, required }) => required && !draft.query[name]),
    ...op.inBody.filter(({ name, required }) => required && !draft.body[name]),
  ].map(({ name }) => name);
  return {
    path: pathOf(op, draft.path),
    query: filled(draft.query),
    headers: filled(draft.headers),
    body: op.inBody.length > 0 ? body : undefined,
    missing,
    ...(problem ? { problem } : {}),
  };
}

/** The path with what is filled in; a place that is empty stays as it is written in the document. */
export const pathOf = (op: Pick<ApiOperation, 'path'>, values: Record<string, string>): string =>
  op.path.replace(/\{(\w+)\}/g, (whole, name: string) => (values[name] ? encodeURIComponent(values[name]) : whole));

const filled = (texts: Record<string, string>) => Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

/** A call of the history as a draft of its operation's form. */
export function draftOf(op: ApiOperation, call: { path: string; query: string; body: Record<string, unknown> | null }): Draft {
  const names = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const pattern = new RegExp(`^${op.path.replace(/\{\w+\}/g, '([^/]+)')}$`);
  const values = pattern.exec(call.path)?.slice(1) ?? [];
  return {
    path: Object.fromEntries(names.map((name, i) => [name, values[i] === `{${name}}` ? '' : decodeURIComponent(values[i] ?? '')])),
    query: Object.fromEntries(new URLSearchParams(call.query)),
    headers: {},
    body: Object.fromEntries(
      Object.entries(call.body ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string'
          ? value
          : Array.isArray(value) && value.every((one) => typeof one === 'string')
            ? value.join(', ')
            : JSON.stringify(value, null, 2),
      ]),
    ),
  };
}

/** The form of a link that carries a call (`path`, `query`, `body` as JSON); of anything else, an empty one. */
export function draftFromLink(op: ApiOperation, text: string): Draft {
  try {
    const { path, query, body } = JSON.parse(text) as { path?: unknown; query?: unknown; body?: unknown };
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    return draftOf(op, {
      path: String(path),
      query: typeof query === 'string' ? query : '',
      body: isObject ? (body as Record<string, unknown>) : null,
    });
  } catch {
    return emptyDraft; // a link cut short, or made by hand
  }
}

/** Longer ones are cut by browsers and proxies. */
const LONGEST_LINK = 4_000;

/**
 * The address of the explorer with a form filled in, below the space, for somebody else: without fields that carry secrets, without texts that look like
 * credentials, and without headers. Undefined for a call that is too long for an address, or that cannot be read.
 */
export function linkOf(op: ApiOperation, draft: Draft): string | undefined {
  const harmless = (texts: Record<string, string>, secret: ReadonlySet<string> = new Set()) =>
    Object.fromEntries(Object.entries(texts).filter(([name, text]) => !secret.has(name) && !queryText(text).credential));
  const secret = new Set(op.inBody.filter(({ schema }) => carriesSecret(schema)).map(({ name }) => name));
  const { path, query, body, problem } = preparedCall(op, {
    path: harmless(draft.path),
    query: harmless(draft.query),
    headers: {},
    body: harmless(draft.body, secret),
  });
  if (problem) return undefined;
  const call = JSON.stringify({ path, query: new URLSearchParams(query).toString(), body: body ?? null });
  return call.length > LONGEST_LINK ? undefined : `/explorer?${new URLSearchParams({ op: op.id, call }).toString()}`;
}

/** Marked itself, or holding what is marked. */
export const carriesSecret = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  (('x-secret' in schema && schema['x-secret'] === true) || Object.values(schema).some(carriesSecret));

/** What the headers of an answer mean, for the reader. */
export const HEADER_MEANINGS: Readonly<Record<string, string>> = {
  'x-request-id': 'Names this call in the audit log; quote it when you ask for help.',
  'service-version': 'The dated version of the API that answered.',
  'x-idempotent-replay': 'Nothing was done again: this is the stored answer of the first call with this key.',
  'x-ratelimit-limit': 'Calls allowed in the current window.',
  'x-ratelimit-remaining': 'Calls left in it.',
  'x-ratelimit-reset': 'When it starts anew, in seconds since 1970.',
  'retry-after': 'Seconds to wait before trying again.',
  'cache-control': 'Answers are never kept by caches.',
  'content-type': 'How the body is written.',
  'x-content-type-options': 'Browsers must not guess another type.',
  'referrer-policy': 'Browsers must not pass the address on.',
  allow: 'The methods this path answers.',
  'www-authenticate': 'Which credential is wanted.',
};
