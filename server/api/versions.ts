import { Refusal } from '#server/kernel/errors.ts';
import { NEWEST, VERSIONS } from '#server/kernel/versions.ts';

export { NEWEST, VERSIONS };

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
