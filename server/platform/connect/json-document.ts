import { parseBounded } from '#server/kernel/bounded-text.ts';

/**
 * The JSON object that a provider answered; undefined for anything else, and for what is deeper or has more members than any of their documents:
 * libraries copy such values level by level.
 */
export function documentIn(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = parseBounded(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
