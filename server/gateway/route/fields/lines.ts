import type { Edited, LineEdit } from '../../core/answer-edit.ts';
import type { Refused } from '../../core/refusal.ts';
import type { FieldAction } from '../../snapshot/field-actions.ts';
import { FieldActionFailed } from './failure.ts';
import type { FieldWork } from './perform.ts';
import { runOnBody } from './run.ts';

const NEWLINE = 0x0a;

/** Runs actions on the lines of a stream (newline-delimited JSON) as they come. */
export const linesOf =
  (work: FieldWork, actions: () => readonly FieldAction[], refusal: (error: FieldActionFailed) => Refused): LineEdit =>
  async (lines) => {
    try {
      return await changeLines(work, actions(), lines);
    } catch (error) {
      if (!(error instanceof FieldActionFailed)) throw error;
      return refusal(error);
    }
  };

/** Each line is a body of its own; blank ones pass. @throws FieldActionFailed */
export async function changeLines(work: FieldWork, actions: readonly FieldAction[], lines: Buffer): Promise<Edited> {
  const pieces: Buffer[] = [];
  const shown: Buffer[] = [];
  let showable = true;
  for (let from = 0; from < lines.length; ) {
    const newline = lines.indexOf(NEWLINE, from);
    const end = newline < 0 ? lines.length : newline;
    const line = lines.subarray(from, end);
    from = newline < 0 ? end : newline + 1;
    const rest = lines.subarray(end, from);
    await work.breathe();
    if (isBlank(line)) {
      pieces.push(line, rest);
      shown.push(line, rest);
      continue;
    }
    const done = await runOnBody(work, actions, 'application/x-ndjson', line);
    pieces.push(...done.pieces, rest);
    if (done.shown) shown.push(...done.shown, rest);
    else showable = false;
  }
  const out = Buffer.concat(pieces);
  // Of what can't be shown in part nothing is: a line that is missing would look like one that never came.
  return { pieces: out.length === 0 ? [] : [out], shown: showable ? shown : null };
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}
