import { queryText } from '#components/shell/query-text.ts';
import { masked } from '#server/domain/explorer/masking.shared.ts';
import type { ApiOperation, Schema } from './document.ts';
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
      problem ??= `${name} must be valid JSON.`;
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
  const harmless = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).filter(([, text]) => !queryText(text).credential));
  const { path, query, body, problem } = preparedCall(op, {
    path: harmless(draft.path),
    query: harmless(draft.query),
    headers: {},
    body: harmless(withoutSecretTexts(op, draft).body),
  });
  if (problem) return undefined;
  const call = JSON.stringify({ path, query: new URLSearchParams(query).toString(), body: body ?? null });
  return call.length > LONGEST_LINK ? undefined : `/explorer?${new URLSearchParams({ op: op.id, call }).toString()}`;
}

/** A form without what was typed into fields that carry secrets. */
export const withoutSecretTexts = (op: ApiOperation, draft: Draft): Draft => {
  const secret = new Set(op.inBody.filter(({ schema }) => carriesSecret(schema)).map(({ name }) => name));
  return { ...draft, body: Object.fromEntries(Object.entries(draft.body).filter(([name]) => !secret.has(name))) };
};

/** Marked itself, or holding what is marked. */
export const carriesSecret = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  (('x-secret' in schema && schema['x-secret'] === true) || Object.values(schema).some(carriesSecret));

/** A body as it stands in code, which is copied into files: without what its schema marks as secret at any depth, and what looks like a credential. */
export const withoutSecrets = (op: ApiOperation, body: Record<string, unknown>): Record<string, unknown> =>
  masked(body, new Set(op.inBody.flatMap(({ name, schema }) => secretNames(name, schema)))) as Record<string, unknown>;

const secretNames = (name: string, schema: Schema): string[] => [
  ...(schema['x-secret'] ? [name] : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([inner, one]) => secretNames(inner, one)),
  ...[schema.items ?? [], schema.anyOf ?? []].flat().flatMap((one) => secretNames(name, one)),
];
