import { type Capability, ROLE_MATRIX } from './role-matrix.ts';

/** Every act that takes one of these asks a person to confirm (interface rule 22 §5.4). */
const ALWAYS_CONFIRMED: readonly Capability[] = [
  'agent:reset_fingerprint',
  'kms:revoke',
  'kms:rotate',
  'kms:unseal',
  'oauth_client:create',
  'oauth_client:rotate',
  'policy:create',
  'policy:delete',
  'policy:update',
  'scim_credential:create',
  'sso:manage',
  'tenant:change_slug',
  'tenant:delete',
  'tenant:transfer',
  'transit:destroy',
];

/** Reveals that the matrix shows as an ordinary right: Class B for Owners and Admins all the same (interface rule 32 §2). */
const ALWAYS_REVEALED: readonly Capability[] = ['audit_log:read_details'];

/** Only machines hold the first. People see the same access tokens by the second, so both are of one class. */
const TWINS: readonly (readonly [Capability, Capability])[] = [['secret:read_oauth_token', 'secret:reveal']];

/**
 * What people reach only by a reveal, or only by an act that always asks them to confirm. A machine that holds one of these uses it unasked, so granting it
 * asks instead. The classes are those of reveals: A is open to Editors too. Its test compares this map with the operation table.
 */
export const GUARDED: ReadonlyMap<Capability, 'A' | 'B'> = guarded();

function guarded(): ReadonlyMap<Capability, 'A' | 'B'> {
  const found = new Map<Capability, 'A' | 'B'>();
  for (const [capability, cells] of ROLE_MATRIX) {
    if (cells.owner === 'B') found.set(capability, 'B');
    else if (cells.editor === 't') found.set(capability, 'A');
  }
  for (const capability of [...ALWAYS_CONFIRMED, ...ALWAYS_REVEALED]) found.set(capability, 'B');
  for (const [machine, person] of TWINS) found.set(machine, found.get(person) ?? 'B');
  return found;
}

/** A capability that somebody or something gets, for everything or on one thing only: `vault:detokenize on …`. */
export type Grant = Capability | `${Capability} on ${string}`;

/** The guarded grants that a change brings, and whether one of them is of class B. What was held for everything was held on each thing. */
export function newlyGuarded(before: Iterable<Grant>, after: Iterable<Grant>): { grants: readonly Grant[]; class_b: boolean } {
  const had = new Set<Grant>(before);
  const grants = [...new Set(after)].filter(
    (grant) => GUARDED.has(capabilityOf(grant)) && !had.has(grant) && !had.has(capabilityOf(grant)),
  );
  return { grants, class_b: grants.some((grant) => GUARDED.get(capabilityOf(grant)) === 'B') };
}

const capabilityOf = (grant: Grant) => grant.split(' on ', 1)[0] as Capability;
