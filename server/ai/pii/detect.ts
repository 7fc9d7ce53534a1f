import { type Budget, BudgetExceeded, budgetFor } from '../patterns/budget.ts';
import { ENTITIES } from './entities/catalogue.ts';
import { type Entity, hasContext } from './entities/entity.ts';
import type { CompiledPolicy } from './policy.ts';
import { type PiiAction, type Span, winners } from './span.ts';

/**
 * The spans of a text that act under the policy, in order and without overlap.
 * @throws BudgetExceeded when the recognizers take longer than allowed
 */
export const detect = (text: string, policy: CompiledPolicy): Span[] => winners(candidates(text, policy));

/** Every match that begins at `from` or later, overlapping ones and whitelisted ones included. What is before `from` is context. */
export function candidates(text: string, policy: CompiledPolicy, from = 0, budget: Budget = budgetFor(text.length - from)): Span[] {
  const found = builtInCandidates(text, policy.builtIns, from, budget);
  for (const recognizer of policy.recognizers) for (const span of recognizer.find(text, from, budget)) addTo(found, span);
  return found;
}

/** Bounds the memory of what is judged at once. */
function addTo(found: Span[], span: Span): void {
  if (found.push(span) > MOST_CANDIDATES) throw new BudgetExceeded('The text has too many matches.');
}
const MOST_CANDIDATES = 500_000;

/** Matches of the built-in detectors alone. */
export function builtInCandidates(text: string, action: PiiAction, from = 0, budget: Budget = budgetFor(text.length - from)): Span[] {
  const found: Span[] = [];
  const lower = needsContext(text, from) ? text.toLowerCase() : '';
  for (const detector of ENTITIES) {
    const { context } = detector;
    if (context && !context.some((word) => lower.includes(word))) continue;
    for (const range of detector.find(text, from))
      if (!context || hasContext(text, range, context)) addTo(found, spanOf(detector, range, action));
    budget.check();
  }
  return found;
}

/** Every detector that asks for context finds numbers. */
const needsContext = (text: string, from: number): boolean => DIGITS.test(from === 0 ? text : text.slice(from));
const DIGITS = /\d/;

function spanOf(
  { entity, format, confidence, validated }: Entity,
  { start, end }: { start: number; end: number },
  action: PiiAction,
): Span {
  // Policies can't spare credentials, and a whitelist of all built-ins only records them.
  const own: PiiAction = entity === 'CREDENTIAL' ? 'redact' : action === 'whitelist' ? 'warn' : action;
  return { start, end, entity, action: own, format, confidence, validated, recognizer_id: null };
}
