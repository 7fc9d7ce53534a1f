export { confirmDisclosure } from './disclosures.ts';
export { confirmMove, type Move } from './moves.ts';
export { reasonOf } from './reason.shared.ts';
export { asksForReason, missingRight } from './rights.ts';
export { type MemberCtx, REVEAL_BUDGET, recordFailure, spend } from './spend.ts';
