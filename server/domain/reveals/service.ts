export { reasonOf } from './reason.ts';
export { type MemberCtx, REVEAL_BUDGET, recordFailure, spend } from './spend.ts';
