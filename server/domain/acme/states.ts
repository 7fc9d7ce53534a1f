// The states of ACME's objects and their moves (RFC 8555 §7.1.6). Values in, verdicts out: nothing here knows the database.

export type ChallengeState = 'pending' | 'processing' | 'valid' | 'invalid';
export type AuthorizationState = 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked';
export type OrderState = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
/** `pending` is ours: a key that was handed out and that nothing registered with. It is no account yet. */
export type AccountState = 'pending' | 'valid' | 'deactivated' | 'revoked';

const CHALLENGE: Moves<ChallengeState> = { pending: ['processing', 'invalid'], processing: ['valid', 'invalid'], valid: [], invalid: [] };
const AUTHORIZATION: Moves<AuthorizationState> = {
  pending: ['valid', 'invalid', 'deactivated', 'expired', 'revoked'],
  valid: ['expired', 'deactivated', 'revoked'],
  invalid: [],
  deactivated: [],
  expired: [],
  revoked: [],
};
const ORDER: Moves<OrderState> = {
  pending: ['ready', 'invalid'],
  ready: ['processing', 'invalid'],
  processing: ['valid', 'invalid'],
  valid: [],
  invalid: [],
};
const ACCOUNT: Moves<AccountState> = { pending: ['valid', 'revoked'], valid: ['deactivated', 'revoked'], deactivated: [], revoked: [] };

export const MOVES = { challenge: CHALLENGE, authorization: AUTHORIZATION, order: ORDER, account: ACCOUNT } as const;

/** Whether an object may move from one state to another. */
export const mayMove = <K extends keyof typeof MOVES>(kind: K, from: StateOf<K>, to: StateOf<K>): boolean =>
  (MOVES[kind] as Moves<string>)[from as string]?.includes(to as string) ?? false;

/** An authorization as it is now: what is pending or valid ends with its time. */
export const authorizationState = (status: AuthorizationState, expires: Date, now: Date): AuthorizationState =>
  expires <= now && mayMove('authorization', status, 'expired') ? 'expired' : status;

/**
 * An order as it is now. It is ready when all its authorizations are valid and invalid when one of them can't become valid any more, or when its time is over
 * before it was finalized.
 */
export function orderState(status: OrderState, expires: Date, authorizations: readonly AuthorizationState[], now: Date): OrderState {
  if (status !== 'pending' && status !== 'ready') return status;
  if (expires <= now || authorizations.length === 0) return 'invalid';
  if (authorizations.some((one) => one !== 'pending' && one !== 'valid')) return 'invalid';
  return authorizations.every((one) => one === 'valid') ? 'ready' : 'pending';
}

/** What becomes of an authorization whose challenge was decided: one valid challenge suffices, and one invalid ends it. */
export const decided = (challenge: 'valid' | 'invalid'): AuthorizationState => challenge;

type Moves<S extends string> = Readonly<Record<S, readonly S[]>>;
type StateOf<K extends keyof typeof MOVES> = keyof (typeof MOVES)[K];
