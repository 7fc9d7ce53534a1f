export { reasonOf } from './reason.shared.ts';
export { type MemberCtx, REVEAL_BUDGET, recordFailure, spend } from './spend.ts';
