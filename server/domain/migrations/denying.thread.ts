import { UnsupportedPattern } from '#server/ai/patterns/compile.ts';
import { linearPattern } from '#server/ai/patterns/linear-pattern.ts';
import type { Pattern } from './denylist.shared.ts';

export type Entry = { name: string; ref: string; tags: Readonly<Record<string, string>> };
export type Judging = { patterns: readonly Pattern[]; entries: readonly Entry[] };
/** Whether each entry is denied, or the first pattern that can't be read. */
export type Judged = { denied: boolean[] } | { index: number; problem: string };

type Judge = (entry: Entry) => boolean;

/** Regular expressions run in linear time, whoever wrote them. */
export function run({ patterns, entries }: Judging): Judged {
  const judges: Judge[] = [];
  for (const [index, pattern] of patterns.entries())
    try {
      judges.push(judgeOf(pattern));
    } catch (error) {
      if (error instanceof UnsupportedPattern) return { index, problem: error.message };
      throw error;
    }
  return { denied: entries.map((entry) => judges.some((denies) => denies(entry))) };
}

function judgeOf({ pattern, kind }: Pattern): Judge {
  if (kind === 'tag') {
    const at = pattern.indexOf('=');
    if (at < 1) throw new UnsupportedPattern('must be key=value');
    const [key, value] = [pattern.slice(0, at), globOf(pattern.slice(at + 1))];
    return ({ tags }) => tags[key] !== undefined && value(tags[key]);
  }
  if (kind === 'glob') {
    if (pattern.startsWith('tag:')) return judgeOf({ pattern: pattern.slice(4), kind: 'tag' });
    const matches = globOf(pattern);
    // A Vault secret is named within its mount, and patterns such as sys/* name mounts.
    return ({ name, ref }) => matches(name) || matches(ref);
  }
  const compiled = linearPattern(pattern);
  return ({ name }) => compiled.matchesEmpty || compiled.find(name, 0, NO_LIMIT, 1).length > 0;
}

/** `*` stands for any text. Greedy from the left with the last part at the end: linear, since no part is looked for twice. */
function globOf(pattern: string): (text: string) => boolean {
  const parts = pattern.split(/\*+/);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    let from = first.length;
    const end = text.length - last.length;
    for (const part of parts.slice(1, -1)) {
      const at = text.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  };
}

/** The deadline of the thread ends what takes too long. */
const NO_LIMIT = { check() {} };
