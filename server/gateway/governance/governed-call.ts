import type { AiCode } from '#server/ai/codes.ts';
import type { Call } from '../core/call.ts';
import type { Presented } from './presented.ts';
import type { Principal, TokenFacts } from './principal.ts';

/** What authentication and limits of both AI planes note of a call. A plane's own state has these members first. */
export type GovernedState = {
  presented: Presented | null;
  /** The token as soon as it is known, also of a call that is refused by it. */
  token: TokenFacts | null;
  /** Who calls; null until everything of the authentication held. */
  principal: Principal | null;
  authFailure: AiCode | null;
  /** The agent among whose parallel calls this one is. */
  parallelOf: string | null;
};

export const newGovernedState = (): GovernedState => ({
  presented: null,
  token: null,
  principal: null,
  authFailure: null,
  parallelOf: null,
});

export type GovernedCall = Call<GovernedState>;
