import { looksLikeCredential } from '#server/domain/routes/config/literal-credential.shared.ts';

/** A literal credential in JSON: where it stands, under which name, and what it looks like. */
export type Finding = { path: readonly (string | number)[]; name: string; text: string; what: string };

/** Every text in the value that looks like a credential. */
export function findingsIn(value: unknown, path: readonly (string | number)[] = []): Finding[] {
  if (typeof value === 'string') {
    const name = String(path.findLast((part) => typeof part === 'string') ?? '');
    const what = looksLikeCredential(name, value);
    return what ? [{ path, name, text: value, what }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? value.map((one, i) => [i, one] as const) : Object.entries(value);
  return entries.flatMap(([part, one]) => findingsIn(one, [...path, part]));
}

/** The value with another text at the path. */
export function replacedAt<T>(value: T, [part, ...rest]: readonly (string | number)[], text: string): T {
  if (part === undefined) return text as T;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>;
  copy[part] = replacedAt(copy[part], rest, text);
  return copy as T;
}
