'use client';

import { useState } from 'react';
import { DifferencesTable } from '#components/routes/differences-table.tsx';
import { inWords } from '#components/routes/setting-labels.ts';
import { nounOf } from '#components/shell/resources.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { fieldOf, type Plan, spaceWord } from './plan-text.ts';

const FIRST = 10;

/** Current and new values of every item that changes. */
export function ItemChanges({ plan }: { plan: Plan }) {
  const [all, setAll] = useState(false);
  const changed = plan.items.filter((item) => item.action === 'update');
  const shown = all ? changed : changed.slice(0, FIRST);
  return (
    <>
      {shown.map((item) => (
        <SectionCard
          key={item.source_id}
          title={
            <span className="flex flex-wrap items-center gap-2">
              <span className="[overflow-wrap:anywhere]">{item.name}</span> <Badge>{nounOf(item.type)}</Badge>
              {item.type === 'route' && item.enabled && <Badge tone="accent">On in {spaceWord(plan.to)}</Badge>}
            </span>
          }
        >
          <DifferencesTable
            caption={`Changes to ${item.name}`}
            from={`Current ${spaceWord(plan.to)}`}
            to="New"
            rows={item.changes.map((change) => ({
              key: `${change.field} ${change.environment}`,
              label: fieldOf(change),
              from: inWords(change.from),
              to: inWords(change.to),
            }))}
          />
        </SectionCard>
      ))}
      {changed.length > shown.length && (
        <p>
          <Button size="sm" onClick={() => setAll(true)}>
            Show {grouped(changed.length - shown.length)} more
          </Button>
        </p>
      )}
    </>
  );
}
