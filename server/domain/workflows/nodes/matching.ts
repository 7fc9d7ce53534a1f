import { compilePattern, searchWork, UnsupportedPattern } from '#server/ai/patterns/compile.ts';
import type { Search, Searched } from '#server/ai/patterns/search.thread.ts';
import { nextSlice } from '#server/kernel/slices.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import { type Meter, TooLarge } from '../expressions/meter.shared.ts';

/** A pattern that isn't accepted, or a text that is too long for one. */
export class LinearMismatch extends Error {
  override readonly name = 'LinearMismatch';
}

const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 1024 * 1024;
const SEARCH = work<Search, Searched>('server/ai/patterns/search.thread.ts');
/** Of one search. An ordinary pattern takes a mebibyte of text some tens of milliseconds. */
const MS = 5_000;
/** Microseconds of a search that is done here, in a turn of the loop of its own. */
const MOST_HERE = 5_000;
/** Of one workspace: as many as its runs can have steps in progress on a worker. */
const MOST_WAITING = 250;

/**
 * Whether a text has a match of a pattern, in time linear in both (RE2); `owner` is the workspace. What may take longer than 5 ms runs on a thread.
 * @throws LinearMismatch, TooLarge when it takes too long, or all searches of the step do, Refusal dependency_unavailable when too many wait
 */
export async function matchesPattern(pattern: string, text: string, meter: Meter, owner: string): Promise<boolean> {
  if (pattern.length > LONGEST_PATTERN) throw new LinearMismatch(`a pattern can have at most ${LONGEST_PATTERN} characters`);
  if (text.length > LONGEST_TEXT) throw new LinearMismatch('a pattern can search at most 1 MiB of text: use a part of it');
  if (meter.searching <= 0)
    throw new TooLarge('the patterns of this step take longer than 10 seconds to search, the limit: use fewer or simpler ones');
  const most = searchWork(pattern, text.length);
  if (most > MOST_HERE) return onOtherThread(pattern, text, meter, owner);
  meter.searching -= most / 1_000;
  await nextSlice();
  try {
    return compilePattern(pattern).test(text);
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw unsupported(error.message);
    throw error;
  }
}

async function onOtherThread(pattern: string, text: string, meter: Meter, owner: string): Promise<boolean> {
  const searched = await onThread(SEARCH, { pattern, text }, { owner, ms: MS, most: MOST_WAITING }).catch((error: unknown) => {
    if (error instanceof WorkTooSlow || error instanceof WorkTooLarge)
      throw new TooLarge(
        `this pattern takes too long to search ${text.length} characters of text: make the pattern simpler, or search a part of the text`,
      );
    throw error;
  });
  if ('problem' in searched) throw unsupported(searched.problem);
  meter.searching -= searched.ms;
  return searched.found;
}

const unsupported = (problem: string) => new LinearMismatch(`the pattern ${problem}`);
