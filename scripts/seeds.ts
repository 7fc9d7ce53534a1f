import { existsSync } from 'node:fs';
import type { Seed } from '../server/kernel/seed.ts';

/** The demo data of these families, from the `seed.ts` of each that has one; a family after those that it refers to. @throws Error for a circle */
export async function seedsOf(families: readonly { name: string }[]): Promise<Seed[]> {
  const left = new Map<string, Seed>();
  for (const { name } of families) {
    const file = new URL(`../server/domain/${name}/seed.ts`, import.meta.url);
    if (existsSync(file)) left.set(name, ((await import(file.href)) as { seed: Seed }).seed);
  }
  const ordered: Seed[] = [];
  while (left.size > 0) {
    const free = [...left].filter(([, { after = [] }]) => after.every((name) => !left.has(name)));
    if (free.length === 0) throw new Error(`Seeds wait for each other: ${[...left.keys()].join(', ')}`);
    for (const [name, seed] of free) {
      ordered.push(seed);
      left.delete(name);
    }
  }
  return ordered;
}
