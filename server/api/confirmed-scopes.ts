import { isByVerb } from '#server/kernel/action-scopes.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { processState } from '#server/kernel/process-state.ts';
import { expandScopes, SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { v1Operations } from './operations.ts';

/**
 * Scopes that open an operation which takes a confirmed login: some of what they promise is refused to a token without one. A rule that a verb decides in
 * single cases doesn't count, since it belongs to nearly every scope that changes something.
 */
export const confirmedScopes = (): ReadonlySet<string> => {
  kept.scopes ??= derived();
  return kept.scopes;
};
const kept = processState('confirmed-scopes', (): { scopes?: ReadonlySet<string> } => ({}));

function derived(): ReadonlySet<string> {
  const asked = v1Operations.filter(({ step_up }) => step_up && !isByVerb(step_up));
  const capabilities = asked.flatMap(({ needs }) => capabilitiesOf(needs));
  return new Set(SCOPE_NAMES.filter((scope) => capabilities.some((capability) => expandScopes([scope]).has(capability))));
}
