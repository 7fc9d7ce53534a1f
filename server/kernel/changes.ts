/** The diff of an audit entry: the named fields that differ, with both values (credential-shaped text is redacted on write). */
export function changesOf(before: object, after: object, fields: readonly string[]): { field: string; from: unknown; to: unknown }[] {
  const a = before as Record<string, unknown>;
  const b = after as Record<string, unknown>;
  return fields
    .filter((f) => f in b && JSON.stringify(a[f], bigints) !== JSON.stringify(b[f], bigints))
    .map((field) => ({ field, from: a[field], to: b[field] }));
}

const bigints = (_: string, v: unknown) => (typeof v === 'bigint' ? v.toString() : v);
