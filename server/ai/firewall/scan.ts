import { type Budget, BudgetExceeded, budgetFor } from '../patterns/budget.ts';
import { folded } from '../patterns/text-units.ts';
import { normalize } from './normalize.ts';
import type { CompiledHeuristic, FirewallAction, FirewallRules } from './policy.ts';
import { BUILT_IN_RULES, type BuiltInRule, HIDDEN_UNICODE, hiddenUnicode, ORDERS, PROMPT_IN_TOOL_RESULT } from './rules.ts';

/** A match of a rule, by UTF-16 offsets [start, end) of the text as it was sent. */
export type Hit = {
  rule: string;
  start: number;
  end: number;
  built_in: boolean;
  /** Orders in tool results and documents: nobody wrote them for the model. */
  severity: 'medium' | 'high';
};

/** Where a text comes from: what tools and documents say is data, in which orders are worse than from a person. */
export type Source = 'person' | 'data';

/**
 * Every rule that matches a text, with its first match. Both the text and its normalized form are read.
 * @throws BudgetExceeded when the rules take longer than allowed: refuse the call then
 */
export function scan(
  text: string,
  heuristics: readonly CompiledHeuristic[] = [],
  source: Source = 'person',
  budget: Budget = budgetFor(text.length * 2),
): Hit[] {
  const hits = new Map<string, Hit>();
  const add = (rule: string, { start, end }: { start: number; end: number }, built_in: boolean, severity: Hit['severity'] = 'medium') => {
    if (!hits.has(rule)) hits.set(rule, { rule, start, end, built_in, severity });
  };
  const normalized = normalize(text);
  const forms = [{ text, original: (offset: number) => offset }, ...(normalized ? [normalized] : [])];
  for (const form of forms) {
    for (const { rule, start, end } of builtInHits(form.text, budget))
      add(rule, { start: form.original(start), end: form.original(end) }, true);
    const { text } = form;
    let lower: string | undefined;
    const scanned = { text, lower: () => (lower ??= folded(text)) };
    for (const { name, find } of heuristics) {
      const first = hits.has(name) ? undefined : find(scanned, budget);
      if (first) add(name, { start: form.original(first.start), end: form.original(first.end) }, false);
      budget.check();
    }
  }
  const hidden = hiddenUnicode(text, 0);
  if (hidden) add(HIDDEN_UNICODE, hidden, true);
  const order = source === 'data' ? [...hits.values()].find(({ rule, built_in }) => built_in && ORDERS.has(rule)) : undefined;
  if (order) add(PROMPT_IN_TOOL_RESULT, order, true, 'high');
  return [...hits.values()].sort((a, b) => a.start - b.start || (a.rule < b.rule ? -1 : 1));
}

/** The budget of many texts that each have their own: some may use up theirs. */
const BASE_OF_ALL_MS = 5_000;

/**
 * The hits of texts that are judged one by one, each under its own budget; null for one that takes longer.
 * @throws BudgetExceeded when all of them together take longer than allowed, which is no text's fault
 */
export function scanEach(
  texts: readonly { text: string; source: Source }[],
  heuristics: readonly CompiledHeuristic[] = [],
  whole: Budget = budgetFor(2 * texts.reduce((sum, { text }) => sum + text.length, 0), BASE_OF_ALL_MS),
): (Hit[] | null)[] {
  return texts.map(({ text, source }) => {
    whole.check();
    try {
      return scan(text, heuristics, source);
    } catch (error) {
      if (error instanceof BudgetExceeded) return null;
      throw error;
    }
  });
}

/** Long texts are read in pieces, so that the budget can end the work between them. Pieces overlap by more than the longest match. */
function builtInHits(text: string, budget: Budget): { rule: string; start: number; end: number }[] {
  const found: { rule: string; start: number; end: number }[] = [];
  let open: readonly BuiltInRule[] = BUILT_IN_RULES;
  for (let from = 0; from < text.length && open.length > 0; from += PIECE) {
    const piece = from === 0 && text.length <= PIECE ? text : text.slice(Math.max(0, from - OVERLAP), from + PIECE);
    const base = Math.max(0, Math.min(from, from - OVERLAP));
    const lower = piece.toLowerCase();
    open = open.filter((rule) => {
      if (!rule.needs.every((group) => group.some((part) => lower.includes(part)))) return true;
      const match = rule.find(piece, 0);
      if (match) found.push({ rule: rule.name, start: base + match.start, end: base + match.end });
      budget.check();
      return !match;
    });
    budget.check();
  }
  return found;
}

/** What the firewall decides over the hits of a whole call; undefined without hits. Without a policy that is a warning. */
export const outcomeOf = (hits: readonly Hit[], firewall: Pick<FirewallRules, 'action'>): FirewallAction | undefined =>
  hits.length === 0 ? undefined : firewall.action;

const PIECE = 64 * 1024;
const OVERLAP = 5 * 1024;
