import { onThread, work } from '#server/platform/threads/pool.ts';
import { nothingTaken, type Taken } from './credentials.ts';
import type { Proposed } from './from-curl.ts';

const READ = work<{ text: string; taken: Taken }, Proposed>('server/domain/import/openapi.thread.ts');

/** `proposalOf` on a thread, for `ms` at most. `owner` is the workspace. @throws what `onThread` throws */
export const proposeFromOpenApi = (text: string, taken: Taken = nothingTaken, owner = 'proposals', ms = 3_000): Promise<Proposed> =>
  onThread(READ, { text, taken }, { owner, ms });
