import type { Budget } from '../patterns/budget.ts';
import { UnsupportedPattern } from '../patterns/compile.ts';
import { linearPattern } from '../patterns/linear-pattern.ts';
import { folded } from '../patterns/text-units.ts';

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

/** A text that rules are looked for in; `lower` is it in lower case, of the same length. */
export type ScannedText = { text: string; lower: () => string };

export type CompiledHeuristic = {
  name: string;
  /** Its first match. */
  find: (scanned: ScannedText, budget: Budget) => { start: number; end: number } | undefined;
};

/** What judges the prompts of a call, as it is stored. */
export type FirewallRules = {
  id: string | null;
  name: string | null;
  version: number | null;
  heuristics: readonly Heuristic[];
  canary: boolean;
  action: FirewallAction;
};

/** Of calls without a policy: the built-in rules run, and warn at most. */
export const BUILT_IN_FIREWALL: FirewallRules = { id: null, name: null, version: null, heuristics: [], canary: false, action: 'warn' };

export function firewallRules({ id, name, version, heuristics, canary_enabled, action }: FirewallPolicy): FirewallRules {
  return { id, name, version, heuristics, canary: canary_enabled, action };
}

/** @throws UnsupportedPattern, whose message continues the name of the field */
export function compileHeuristic({ name, kind, pattern, flags = 'i' }: Heuristic): CompiledHeuristic {
  if (kind === 'keyword') return { name, find: keyword(pattern) };
  const compiled = linearPattern(pattern, { ignoreCase: flags.includes('i'), multiline: flags.includes('m'), dotAll: flags.includes('s') });
  if (compiled.matchesEmpty) throw new UnsupportedPattern('matches the empty string, so it would match everywhere');
  const find: CompiledHeuristic['find'] = ({ text }, budget) => compiled.find(text, 0, budget, 1)[0];
  if (!flags.includes('y')) return { name, find };
  // Sticky: it matches at the beginning of the text or not at all.
  return {
    name,
    find(scanned, budget) {
      const first = find(scanned, budget);
      return first?.start === 0 ? first : undefined;
    },
  };
}

function keyword(pattern: string): CompiledHeuristic['find'] {
  const word = folded(pattern);
  return ({ lower }) => {
    const start = lower().indexOf(word);
    return start === -1 ? undefined : { start, end: start + word.length };
  };
}
