import { SECRET_NAME } from '#server/domain/secrets/schema.ts';

type Naming = { template: string; prefixes: readonly string[]; region: string };

const MOST_NAME = 128;

/** A name that a secret can have: without the prefix that the scope asked for, runs of other characters as `_`. */
export function suggestedName(sourceName: string, { template, prefixes, region }: Naming): string {
  const prefix = prefixes
    .filter((one) => sourceName.startsWith(one) && sourceName.length > one.length)
    .sort((a, b) => b.length - a.length)[0];
  const name = template
    .replaceAll('{name}', () => sourceName.slice(prefix?.length ?? 0))
    .replaceAll('{path}', () => sourceName)
    .replaceAll('{region}', () => region);
  const plain = name
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_/, '')
    .replace(/_$/, '')
    .slice(0, MOST_NAME);
  return SECRET_NAME.test(plain) ? plain : 'SECRET';
}

const STAGES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^prod(?:uction)?$/i, ['production', 'prod']],
  [/^(?:stag|staging|stage)$/i, ['staging', 'stag', 'stage']],
  [/^dev(?:elopment)?$/i, ['development', 'dev']],
  [/^test(?:ing)?$/i, ['test', 'testing']],
];

/** The environment that a segment of the path names, of those that exist; null when none does. */
export function suggestedEnvironment(sourceName: string, existing: ReadonlySet<string>): string | null {
  for (const segment of sourceName.split(/[/._-]+/)) {
    const names = STAGES.find(([stage]) => stage.test(segment))?.[1] ?? [];
    const found = names.find((name) => existing.has(name));
    if (found) return found;
  }
  return null;
}
