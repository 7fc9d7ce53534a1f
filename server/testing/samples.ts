import { existsSync } from 'node:fs';
import { families } from '#server/domain/families.ts';
import type { Sample } from './factories.ts';

/** The samples of a family's operations, from its `samples.fixture.ts`. */
export async function samplesOf(family: string): Promise<Record<string, Sample>> {
  const file = new URL(`../domain/${family}/samples.fixture.ts`, import.meta.url);
  if (!existsSync(file)) return {};
  return ((await import(file.href)) as { samples: Record<string, Sample> }).samples;
}

/** One sample per operation id; `every operation has a sample` fails for a row without one. */
export const samples: Record<string, Sample> = Object.assign({}, ...(await Promise.all(families.map(({ name }) => samplesOf(name)))));
