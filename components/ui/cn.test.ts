import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { extendTailwindMerge } from 'tailwind-merge';
import { cn } from './cn.ts';

const theirs = extendTailwindMerge({ extend: { theme: { text: ['2xs'], shadow: ['overlay'] } } });

/** Every utility in a string of the dashboard's code, variants and all: the library keeps only one of a utility said twice. */
const words = [
  ...new Set(
    ['components', 'app']
      .flatMap((folder) => fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|ui\/cn\.ts/.test(file))
      .flatMap((file) => [...fs.readFileSync(file, 'utf8').matchAll(/(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1/g)])
      .flatMap(([, , text = '']) => text.split(/\s+/))
      .filter((word) => /^[-\w@[&*!][^\s<>{}$'"`]*$/.test(word) && theirs(word, word) === word),
  ),
];
const variantOf = (word: string) => /^(?:(?:\[[^\]]*\]|\([^)]*\)|[^:[(])+:)*/.exec(word)?.[0] ?? '';

test('of any two class names of the dashboard the same stay as with a library of all of Tailwind', () => {
  assert.ok(words.includes('size-3.5!') && words.includes('max-md:hidden') && words.length > 500, `${words.length} words were read`);
  const byVariant = Map.groupBy(words, variantOf);
  const wrong: string[] = [];
  let overridden = 0;
  for (const group of byVariant.values()) {
    for (const a of group) {
      for (const b of group) {
        const mine = cn(a, b);
        if (mine !== theirs(a, b)) wrong.push(`${a} ${b}: ${mine}, not ${theirs(a, b)}`);
        if (a !== b && mine === b) overridden++;
      }
    }
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} pairs`);
  assert.ok(overridden > 5_000, `${overridden} pairs say the same property twice`);
});

test('whole lists of class names keep their order, and one variant does not take away from another', () => {
  assert.equal(cn('flex h-7 px-2 text-xs', 'h-9', { 'px-0': true, hidden: false }), 'flex text-xs h-9 px-0');
  assert.equal(cn('p-1 hover:p-2', 'hover:p-3', 'px-4'), 'p-1 hover:p-3 px-4');
  assert.equal(cn('[&>svg]:size-4 size-4!', '[&>svg]:size-3', 'size-3'), 'size-4! [&>svg]:size-3 size-3');
});
