import { type Space, spaceOf } from '#server/kernel/context.ts';
import { parseExactSteps } from '#server/kernel/lossless-json.ts';
import { paced } from '#server/kernel/slices.ts';
import { keyring } from '#server/platform/keys.ts';
import { isRecord } from '../definition.shared.ts';
import { fitting, isOver, type JsonSize, jsonSize } from './json-size.ts';

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
    return (await paced(parseExactSteps(bytes.toString('utf8')), bytes.length)) as T;
  } finally {
    bytes.fill(0);
  }
}

/** The value of one row sealed for another, as it is. @throws TenantKeyUnavailable, DecryptFailed */
export async function resealValue(place: Place, { id, ...sealed }: StoredValue & { id: string }, rowId: string): Promise<SealedValue> {
  const bytes = await keyring().openValue(placeOf(place, id), sealed);
  try {
    return (await keyring().sealValue(placeOf(place, rowId), bytes)) as SealedValue;
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
/** Of what all its nodes were given: that's kept for people to see, and most of it was an output before. */
export const MOST_INPUTS = 2 * 1024 * 1024;

export type Kept = { value: unknown; size: JsonSize; cut: boolean };
/** Values don't change once they are made, and the same one is an output here and an input there. */
const known = new WeakMap<object, Kept>();

/** An output as its row keeps it: of one that is too large the body is cut, or else its text. Nothing larger than a row keeps is written out for that. */
export function kept(output: unknown): Kept {
  if (typeof output !== 'object' || output === null) return keptOf(output ?? null);
  const found = known.get(output) ?? keptOf(output);
  known.set(output, found);
  return found;
}

function keptOf(output: unknown): Kept {
  const size = jsonSize(output);
  if (size.bytes <= MOST_KEPT && !isOver(size)) return { value: output, size, cut: false };
  const over = isOver(size);
  if (isRecord(output) && output.body !== undefined && (!over || typeof output.body === 'string')) {
    const rest = { ...output, body: '' };
    const room = MOST_KEPT - jsonSize(rest).bytes - 64;
    if (room > 0) return { value: { ...rest, body: cutTo(output.body, room) }, size, cut: true };
  }
  // What no run may have isn't written out at all.
  const value = over && typeof output !== 'string' ? '[left out: larger than an output may be]' : cutTo(output, MOST_KEPT - 64);
  return { value, size, cut: true };
}

/** The beginning of a text, or of a value as JSON, that is at most this long as JSON. */
function cutTo(value: unknown, bytes: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, fitting(text, bytes)).toWellFormed();
}
