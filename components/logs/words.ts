// What the filters of the log call the kinds of calls.

export const OUTCOME_WORDS = { ok: 'Went through', failed: 'Failed', refused: 'Refused by us' } as const;
export const MODE_WORDS = { route: 'Calls of programs', test: 'Test tab' } as const;
