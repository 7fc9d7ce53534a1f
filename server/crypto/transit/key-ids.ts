/** The `kid` of a version in tokens and JWKs (interface rule 40 §5.3). */
export const kidOf = (keyId: string, version: number): string => `${keyId}.v${version}`;

/** The key ID and version that a `kid` names, or undefined. */
export function parseKid(kid: string): { key_id: string; version: number } | undefined {
  const match = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.v([1-9][0-9]{0,8})$/.exec(kid);
  return match ? { key_id: match[1] as string, version: Number(match[2]) } : undefined;
}
