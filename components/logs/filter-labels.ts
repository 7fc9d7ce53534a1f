// What the filters of the log call the kinds of calls.

export const OUTCOME_WORDS = { ok: 'Succeeded', failed: 'Failed', refused: 'Refused by gateway' } as const;
export const MODE_WORDS = {
  route: 'API calls',
  ephemeral: 'Ephemeral proxy',
  wrap_gateway: 'Gateway tokens',
  test: 'Test tab',
  inbound: 'Inbound webhooks',
} as const;
