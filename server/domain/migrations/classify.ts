import type { ItemKind } from './register.shared.ts';

/** What a value looks like: it decides how its item is shown and what it may become. */
export function kindOf(text: string | null): ItemKind {
  if (text === null) return 'binary';
  const trimmed = text.trim();
  if (trimmed.startsWith('-----BEGIN ')) return 'pem';
  if (/^(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?):\/\//i.test(trimmed)) return 'database_url';
  if (parsedObject(trimmed)) return 'json';
  const lines = trimmed.split('\n');
  if (lines.length > 1 && lines.every((line) => line.trim() === '' || line.startsWith('#') || /^(?:export )?[A-Za-z_]\w*=/.test(line)))
    return 'dotenv';
  return 'string';
}

/** B: credentials of a database, which an agent presents by itself. A: anything that is fetched over HTTPS. */
export function bucketOf(kind: ItemKind, text: string | null): 'A' | 'B' | null {
  if (kind === 'binary' || kind === 'pem') return 'A';
  if (kind === 'database_url') return 'B';
  const object = kind === 'json' && text !== null ? parsedObject(text) : undefined;
  return object && 'password' in object && ('username' in object || 'user' in object) && ('host' in object || 'engine' in object)
    ? 'B'
    : 'A';
}

const MOST_KEYS = 100;

/** Names of the keys that can be secrets of their own: those of an object with scalar values only. */
export function splitKeys(kind: ItemKind, text: string | null): string[] {
  const object = kind === 'json' && text !== null ? parsedObject(text) : undefined;
  if (!object) return [];
  const entries = Object.entries(object);
  const scalar = entries.every(([, value]) => value !== null && typeof value !== 'object' && value !== '');
  return scalar && entries.length > 0 && entries.length <= MOST_KEYS ? entries.map(([name]) => name) : [];
}

/** The object that a text is; undefined for anything else, lists included. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
