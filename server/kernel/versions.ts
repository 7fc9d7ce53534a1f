import { Refusal } from './errors.ts';

/** The dated minor versions of /v1, oldest first; each later one would carry transforms down to the one before (interface rule 64 §7). */
export const VERSIONS = [{ version: '2026-08-05', released_at: '2026-08-05', summary: 'First public version.' }] as const;
export const NEWEST: string = VERSIONS.at(-1)!.version;

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
