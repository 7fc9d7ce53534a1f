import type { State } from '#components/ui/badge.tsx';

export const ACTION_LABELS = { tokenize: 'Tokenize', detokenize: 'Detokenize', decrypt: 'Decrypt' } as const;

/** What became of a token, in the words of the list. */
export const STATES = {
  minted: { label: 'Open', state: 'live' },
  consumed: { label: 'Spent', state: 'ok' },
  expired: { label: 'Expired', state: 'expired' },
  burned: { label: 'Burned', state: 'blocked' },
  revoked: { label: 'Revoked', state: 'off' },
} as const satisfies Record<string, { label: string; state: State }>;
