import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { digest } from '#server/crypto/tokens.ts';

/** What of a tool's definition a model acts on; the rest may change without anybody approving it again. */
export type PinnedParts = { name: string; description?: string | undefined; inputSchema?: unknown; outputSchema?: unknown };

/**
 * SHA-256 over the canonical JSON of those parts in lower-case hex; absent members are left out (interface rule 52 §10). Numbers count by their values: 1.0 is 1,
 * and one that no double has is not the double beside it.
 */
export function toolHash({ name, description, inputSchema, outputSchema }: PinnedParts): string {
  return digest(canonicalJson({ name, description, inputSchema, outputSchema })).toString('hex');
}
