import type { Entry } from '../document.ts';

/** What an importer makes: entries of a file of ours, and what it could not carry over. */
export type Imported = { secrets: Entry[]; clients: Entry[]; routes: Entry[]; warnings: string[] };

export type Source = Record<string, unknown>;

export const objectOf = (value: unknown): Source =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Source) : {};
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
export const textsOf = (value: unknown): string[] => listOf(value).map(textOf).filter(Boolean);

/** `My Orders API` -> `my-orders-api`; '' when nothing is left. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '');

/** `orders X-Api-Key` -> `ORDERS_API_KEY` */
export const secretNameOf = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .replace(/(^|_)x[-_]/gi, '$1')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, 100)
    .replace(/^_|_$/g, '');

/** The first of `wanted`, `wanted 2`, `wanted 3`, … that isn't taken; it is taken then. */
export function freeName(wanted: string, taken: Set<string>, gap = ' '): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}${gap}${n}`;
    if (taken.has(name.toLowerCase())) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}

/** A secret that the file refers to, read from a variable of its name when it is missing. */
export function referTo(name: string, secrets: Entry[]): string {
  if (!secrets.some((secret) => secret.name === name)) secrets.push({ name, value_from: { env: name.replace(/^(?=[0-9])/, '_') } });
  return `{{secret:${name}}}`;
}
