import type { Budget } from '../patterns/budget.ts';
import { linearPattern, UnsupportedPattern } from '../patterns/linear-pattern.ts';
import { folded } from '../patterns/word-list.ts';

/** A rule of a workspace (interface rule 50 §8). */
export type Heuristic = { name: string; kind: 'regex' | 'keyword'; pattern: string; flags?: string | undefined };

/** A firewall policy as it is stored. */
export type FirewallPolicy = {
  id: string;
  name: string;
  version: number;
  heuristics: readonly Heuristic[];
  canary_enabled: boolean;
  action: FirewallAction;
};

export type FirewallAction = 'block' | 'warn' | 'tag';

export type CompiledHeuristic = {
  name: string;
  find: (text: string, from: number, budget: Budget) => { start: number; end: number }[];
};

export type CompiledFirewall = {
  id: string | null;
  name: string | null;
  version: number | null;
  heuristics: readonly CompiledHeuristic[];
  canary: boolean;
  action: FirewallAction;
};

/** Of calls without a policy: the built-in rules run, and warn at most. */
export const BUILT_IN_FIREWALL: CompiledFirewall = { id: null, name: null, version: null, heuristics: [], canary: false, action: 'warn' };

/** @throws UnsupportedPattern, whose message continues the name of the field */
export function compileFirewall(policy: FirewallPolicy): CompiledFirewall {
  const { id, name, version, canary_enabled, action } = policy;
  return { id, name, version, heuristics: policy.heuristics.map(compileHeuristic), canary: canary_enabled, action };
}

/** @throws UnsupportedPattern */
export function compileHeuristic({ name, kind, pattern, flags = 'i' }: Heuristic): CompiledHeuristic {
  if (kind === 'keyword') return { name, find: keyword(pattern) };
  const compiled = linearPattern(pattern, { ignoreCase: flags.includes('i'), multiline: flags.includes('m'), dotAll: flags.includes('s') });
  if (compiled.matchesEmpty) throw new UnsupportedPattern('matches the empty string, so it would match everywhere');
  if (!flags.includes('y')) return { name, find: compiled.find };
  // Sticky: each match begins where the one before it ended, the first at the beginning.
  return {
    name,
    find(text, from, budget) {
      let next = 0;
      return compiled.find(text, 0, budget).filter(({ start, end }) => {
        if (start !== next) return false;
        next = end;
        return start >= from;
      });
    },
  };
}

function keyword(pattern: string): CompiledHeuristic['find'] {
  const word = folded(pattern);
  return (text, from) => {
    const lower = folded(text);
    const found: { start: number; end: number }[] = [];
    for (let at = lower.indexOf(word, from); at !== -1 && found.length < MOST_KEYWORDS; at = lower.indexOf(word, at + word.length))
      found.push({ start: at, end: at + word.length });
    return found;
  };
}

const MOST_KEYWORDS = 100;
