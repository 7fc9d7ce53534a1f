'use client';

import { parseAsArrayOf, parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { PickStep } from './pick-step.tsx';
import { type Item, type Plan, TYPES } from './plan-text.ts';
import { PromotionResult } from './promotion-result.tsx';
import { ReviewStep } from './review-step.tsx';
import type { Picks } from './use-plan.ts';

/** Thousands do not fit into an address: it then says only that there are many, and a reload asks for them again. */
const MANY = 'many';
const MOST_NAMED = 25;

/** What is picked stands in the address as `route:<id>`: a link can lead to the plan of one thing, and a reload keeps it. */
function picksOf(texts: readonly string[]): Exclude<Picks, 'all'> {
  return texts.flatMap((text) => {
    const [type, id] = text.split(':');
    return type && id && TYPES.includes(type as Item['type']) ? [{ type: type as Item['type'], id }] : [];
  });
}

/** Pick, look at the plan, do it, and see what is left to do. Nothing changes before the second step is confirmed. */
export function PromoteView() {
  const { space } = useScope();
  const [texts, setTexts] = useQueryState('items', parseAsArrayOf(parseAsString).withDefault([]));
  const [many, setMany] = useState<Exclude<Picks, 'all'>>([]);
  const [done, setDone] = useState<{ plan: Plan; at: string }>();
  const at = texts.join();
  const picks = at === MANY ? many : picksOf(texts);
  const choose = (chosen: Exclude<Picks, 'all'>) => {
    setDone(undefined);
    setMany(chosen);
    const named = chosen.length > MOST_NAMED ? [MANY] : chosen.map(({ type, id }) => `${type}:${id}`);
    void setTexts(named.length === 0 ? null : named, { history: 'push' });
  };
  return (
    <Page>
      <PageHeader
        title={space === 'test' ? 'Promote to Live' : 'Copy to Test'}
        description={
          space === 'test'
            ? 'Copies configuration from Test to Live without secret values. Routes that need one stay off until you add it.'
            : 'Copies configuration from Live to Test. Secret values, keys and logs aren’t copied, and routes start off.'
        }
      />
      {/* Back leads to where it led before: what is done stands at its own address only. */}
      {done?.at === at ? (
        <PromotionResult plan={done.plan} onAgain={() => choose([])} />
      ) : picks.length > 0 ? (
        <ReviewStep picks={picks} onBack={() => choose([])} onDone={(plan) => setDone({ plan, at })} />
      ) : (
        <PickStep onPicked={choose} />
      )}
    </Page>
  );
}
