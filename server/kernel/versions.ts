import { Refusal } from './errors.ts';

type Version = { readonly version: string; readonly released_at: string; readonly summary: string };

/** The dated minor versions of /v1, newest first; each would carry transforms down to the one after it (interface rule 64 §7). */
export const VERSIONS: readonly [Version, ...Version[]] = [
  { version: '2026-08-05', released_at: '2026-08-05', summary: 'First public version.' },
];
export const NEWEST = VERSIONS[0].version;

/**
 * The version a request runs under; absent means the newest.
 * @throws Refusal invalid_api_version for an unknown, malformed, empty or contradictory header
 */
export function resolveVersion(header: string | null): string {
  if (header === null) return NEWEST;
  const values = new Set(header.split(',').map((v) => v.trim()));
  const [asked] = values;
  if (values.size === 1 && VERSIONS.some((v) => v.version === asked)) return asked as string;
  throw new Refusal(
    'invalid_api_version',
    `Service-Version must be one of ${VERSIONS.map((v) => v.version).join(', ')}. Omit it to use the newest.`,
  );
}
