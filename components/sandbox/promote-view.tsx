'use client';

import { parseAsArrayOf, parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { PickStep } from './pick-step.tsx';
import { Promoted } from './promoted.tsx';
import { ReviewStep } from './review-step.tsx';
import type { Picks } from './use-plan.ts';
import { type Item, KINDS, type Plan } from './words.ts';

/** What is picked stands in the address as `route:<id>`: a link can lead to the plan of one thing, and a reload keeps it. */
function picksOf(texts: readonly string[]): Exclude<Picks, 'all'> {
  return texts.flatMap((text) => {
    const [type, id] = text.split(':');
    return type && id && type in KINDS ? [{ type: type as Item['type'], id }] : [];
  });
}

/** Pick, look at the plan, do it, and see what is left to do. Nothing changes before the second step is confirmed. */
export function PromoteView() {
  const { space } = useScope();
  const [texts, setTexts] = useQueryState('items', parseAsArrayOf(parseAsString).withDefault([]));
  // Thousands do not fit into an address.
  const [many, setMany] = useState<Exclude<Picks, 'all'>>();
  const [done, setDone] = useState<Plan>();
  const picks = many ?? picksOf(texts);
  const choose = (chosen: Exclude<Picks, 'all'>) => {
    setDone(undefined);
    setMany(chosen.length > 25 ? chosen : undefined);
    void setTexts(chosen.length > 25 || chosen.length === 0 ? null : chosen.map(({ type, id }) => `${type}:${id}`), { history: 'push' });
  };
  return (
    <Page>
      <PageHeader
        title={space === 'test' ? 'Promote to Live' : 'Copy to Test'}
        description={
          space === 'test'
            ? 'Configuration goes from Test to Live. Values of secrets never do: you store the live ones there, and a route stays off until they are.'
            : 'Configuration goes from Live to Test, to be tried there. Values of secrets, keys and logs stay here; routes arrive switched off.'
        }
      />
      {done ? (
        <Promoted plan={done} onAgain={() => choose([])} />
      ) : picks.length > 0 ? (
        <ReviewStep picks={picks} onBack={() => choose([])} onDone={setDone} />
      ) : (
        <PickStep onPicked={choose} />
      )}
    </Page>
  );
}
