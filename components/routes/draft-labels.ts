import type { Draft as Kept } from '#components/trpc/drafts.ts';
import { labelOf } from './setting-labels.ts';
import { placeOf } from './stored-draft.ts';

/** How the fields of a draft are called: `Timeout (ms) in production`. */
export const draftLabels = ({ values, left_out }: Kept): Record<string, string> =>
  Object.fromEntries(
    [...Object.keys(values), ...left_out].map((name) => {
      const [env, field] = placeOf(name);
      return [name, `${labelOf(field)} in ${env}`];
    }),
  );
