import { type Space, spaceOf } from '#server/kernel/context.ts';
import { keyring } from '#server/platform/keys.ts';
import { isRecord } from '../definition.shared.ts';

type Place = { tenant_id: string; sandbox: boolean };
export type SealedValue = { value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };
export type StoredValue = { value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number };

/** What an execution's row keeps: what its trigger gave it, and outputs that are too large for the rows of their nodes, by run. */
export type ExecutionValue = { input: unknown; large?: Record<string, unknown> };
/** What a node's row keeps. */
export type NodeValue = { input: unknown; output: unknown };

/** Seals a JSON value for a row (interface rule 62 §4.2, purpose workflow_data). @throws TenantKeyUnavailable */
export async function sealValue(place: Place, rowId: string, value: ExecutionValue | NodeValue): Promise<SealedValue> {
  const bytes = Buffer.from(JSON.stringify(value));
  try {
    return (await keyring().sealValue(placeOf(place, rowId), bytes)) as SealedValue;
  } finally {
    bytes.fill(0);
  }
}

/** @throws TenantKeyUnavailable, DecryptFailed */
export async function openValue<T>(place: Place, row: StoredValue & { id: string }): Promise<T> {
  const { value_ct, cek_wrapped, tmk_version } = row;
  const bytes = await keyring().openValue(placeOf(place, row.id), { value_ct, cek_wrapped, tmk_version });
  try {
    return JSON.parse(bytes.toString('utf8')) as T;
  } finally {
    bytes.fill(0);
  }
}

const placeOf = (
  { tenant_id, sandbox }: Place,
  row_id: string,
): { tenant_id: string; space: Space; purpose: 'workflow_data'; row_id: string } => ({
  ...{ tenant_id, space: spaceOf(sandbox), purpose: 'workflow_data', row_id },
});

const MOST_KEPT = 256 * 1024;
/** Of all outputs of an execution together. */
export const MOST_STATE = 5 * 1024 * 1024;

/** An output as its row keeps it: of one that is too large the body is cut, or else its text. */
export function kept(output: unknown): { value: unknown; bytes: number; cut: boolean } {
  const text = JSON.stringify(output ?? null);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_KEPT) return { value: output ?? null, bytes, cut: false };
  if (isRecord(output) && output.body !== undefined) {
    const rest = { ...output, body: '' };
    const room = MOST_KEPT - Buffer.byteLength(JSON.stringify(rest)) - 64;
    const body = typeof output.body === 'string' ? output.body : JSON.stringify(output.body);
    if (room > 0) return { value: { ...rest, body: cutTo(body, room) }, bytes, cut: true };
  }
  return { value: cutTo(text, MOST_KEPT - 64), bytes, cut: true };
}

/** The beginning of a text that is at most this long as JSON. */
function cutTo(text: string, bytes: number): string {
  let end = Math.min(text.length, bytes);
  while (Buffer.byteLength(JSON.stringify(text.slice(0, end))) > bytes) end = Math.floor(end * 0.9);
  return text.slice(0, end).toWellFormed();
}
