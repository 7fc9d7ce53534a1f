import { linearPattern, UnsupportedPattern } from '#server/ai/patterns/linear-pattern.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Pattern } from './denylist.shared.ts';

/** Whether a name or its tags are denied. */
export type Denies = (entry: { name: string; ref: string; tags: Readonly<Record<string, string>> }) => boolean;

/** Patterns as one judgement. Regular expressions run in linear time, whoever wrote them. @throws Refusal validation_error naming the field */
export function denierOf(patterns: readonly Pattern[], field = 'patterns'): Denies {
  const judges = patterns.map((one, i) => judgeOf(one, `${field}.${i}.pattern`));
  return (entry) => judges.some((denies) => denies(entry));
}

function judgeOf({ pattern, kind }: Pattern, field: string): Denies {
  if (kind === 'tag') {
    const at = pattern.indexOf('=');
    if (at < 1) throw invalid(field, 'must be key=value');
    const [key, value] = [pattern.slice(0, at), globOf(pattern.slice(at + 1))];
    return ({ tags }) => tags[key] !== undefined && value(tags[key]);
  }
  if (kind === 'glob') {
    if (pattern.startsWith('tag:')) return judgeOf({ pattern: pattern.slice(4), kind: 'tag' }, field);
    const matches = globOf(pattern);
    // A Vault secret is named within its mount, and patterns such as sys/* name mounts.
    return ({ name, ref }) => matches(name) || matches(ref);
  }
  try {
    const compiled = linearPattern(pattern);
    return ({ name }) => compiled.matchesEmpty || compiled.find(name, 0, NO_LIMIT).length > 0;
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw invalid(field, error.message);
    throw error;
  }
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

/** A name has at most some thousand characters, and the time is linear in them. */
const NO_LIMIT = { check() {} };
