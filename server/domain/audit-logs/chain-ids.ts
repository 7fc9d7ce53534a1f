import { isUuid } from '#server/kernel/fields.ts';

/** The chain of events that belong to no workspace. */
export const OPERATOR_CHAIN = 'operator';

/** Whether a chain can be one of ours: rows may name any. */
export const isChainId = (id: string): boolean => id === OPERATOR_CHAIN || isUuid(id);

/** Whose rows the operator's chain has where a column must name a workspace. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000';
