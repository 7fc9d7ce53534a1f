// A captured payload as it is stored, sealed: written by the gateway, read by the reveal (interface rule 13 §6). Without packages.

export const SIDES = ['request', 'response'] as const;
export type Side = (typeof SIDES)[number];

/** Why a body isn't there. */
export const BODY_WITHHELD = ['compressed', 'binary', 'partial', 'complex', 'not_read'] as const;
export type BodyWithheld = (typeof BODY_WITHHELD)[number];

/** The sealed JSON of one side. */
export type StoredPayload = {
  headers: { name: string; value: string }[];
  /** Null: there was none, or it isn't kept. */
  body: string | null;
  encoding: 'text' | 'base64' | null;
};

/** Most of a body that is kept, and of the headers. */
export const BODY_KEPT = 32 * 1024;
export const HEADERS_KEPT = 16 * 1024;
/** Payloads go after so many days, or with their row if that is sooner. */
export const PAYLOAD_DAYS = 30;

/** What became of a call's payloads; `pending`: they are on their way to the store. */
export const PAYLOAD_STATES = ['not_captured', 'captured', 'pending', 'expired', 'lost'] as const;
export type PayloadState = (typeof PAYLOAD_STATES)[number];

/** Bits of request_logs.payload_flags. */
export const KEPT_REQUEST = 1;
export const KEPT_RESPONSE = 2;
/** It was to be kept, but the gateway had no memory left for it. */
export const NO_ROOM = 4;

/** Where a side is sealed: bound to its workspace, space and row. */
export const payloadPlace = (row: { id: string; tenant_id: string; sandbox: boolean }) =>
  ({ tenant_id: row.tenant_id, space: row.sandbox ? 'test' : 'live', purpose: 'log_payload', row_id: row.id }) as const;
