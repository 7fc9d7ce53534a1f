// A captured request as it is stored, sealed: written by the gateway, read by the reveal (interface rule 10 §15.3). Without packages.

/** How long a link can be used, and what was sent to it be looked at. */
export const LINK_MS = 5 * 60_000;
/** The longest body that is taken. */
export const LONGEST_CAPTURED = 1024 * 1024;

/** The sealed JSON: `body` as it was sent. */
export type StoredCapture = { method: string; headers: { name: string; value: string }[]; body: string };

/** Where a captured request is sealed: bound to its workspace, space and row. */
export const capturePlace = (row: { id: string; tenant_id: string; sandbox: boolean }) =>
  ({ tenant_id: row.tenant_id, space: row.sandbox ? 'test' : 'live', purpose: 'capture_payload', row_id: row.id }) as const;
