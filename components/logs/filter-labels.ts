// What the filters of the log call the kinds of calls.

export const OUTCOME_WORDS = { ok: 'Succeeded', failed: 'Failed', refused: 'Refused by gateway' } as const;
export const MODE_WORDS = { route: 'API calls', test: 'Test tab' } as const;
