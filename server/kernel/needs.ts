import type { Capability } from './capabilities.ts';

/**
 * What a caller in a workspace must hold: all capabilities of a list, or a combination, one level deep. `any` is any valid credential or session,
 * `client_token` a client token and nothing else, `anonymous` no credential at all.
 */
export type WorkspaceNeeds =
  | readonly Capability[]
  | { all: readonly (Capability | { any: readonly Capability[] })[] }
  | { any: readonly (Capability | { all: readonly Capability[] })[] }
  | 'any'
  | 'client_token'
  | 'anonymous';

/** What an operation of a person needs: their session, or nothing of whoever uses this browser. */
export type PersonNeeds = 'session' | 'visitor';

export type Needs = WorkspaceNeeds | PersonNeeds;

/** The sets of capabilities that each suffice, in the order of their declaration. A word is met by the empty set. */
export function sufficientSets(needs: Needs): readonly (readonly Capability[])[] {
  if (typeof needs === 'string') return [[]];
  if ('any' in needs) return needs.any.map((one) => (typeof one === 'string' ? [one] : one.all));
  const all = 'all' in needs ? needs.all : needs;
  return all.reduce<Capability[][]>(
    (sets, one) => sets.flatMap((set) => (typeof one === 'string' ? [one] : one.any).map((capability) => [...set, capability])),
    [[]],
  );
}

/** Every capability that is named, once. */
export const capabilitiesOf = (needs: Needs): readonly Capability[] => [...new Set(sufficientSets(needs).flat())];

/** Whether the capabilities that a caller holds meet the needs. */
export const isSatisfied = (needs: Needs, held: ReadonlySet<Capability>): boolean =>
  sufficientSets(needs).some((set) => set.every((capability) => held.has(capability)));
