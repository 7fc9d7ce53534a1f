'use client';

import { useState } from 'react';
import type { z } from 'zod';
import { capitalize } from '#components/ui/capitalize.ts';
import { Checkbox } from '#components/ui/choices.tsx';
import { counted } from '#components/ui/numbers.ts';
import { TestChip } from '#components/ui/test-band.tsx';
import { Time } from '#components/ui/time.tsx';
import type { MemberImpact } from '#server/domain/team/schema.ts';

type Impact = z.output<typeof MemberImpact>;
type Thing = Impact['made'][number];

/** What is to be revoked of what a leaving member made: credentials unless they leave by themselves; what only runs goes on unless somebody chooses. */
export function useRevoking(made: readonly Thing[], you: boolean) {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const isChosen = ({ kind, ends }: Thing) => chosen[kind] ?? (!you && ends === 'revoke');
  return {
    isChosen,
    choose: (kind: string, revoke: boolean) => setChosen((before) => ({ ...before, [kind]: revoke })),
    kinds: [...new Set(made.filter((thing) => thing.may_end && isChosen(thing)).map(({ kind }) => kind))],
  };
}

/** What a leaving member made, by kind, with what to revoke of it. */
export function MadeLeft({ made, you, revoking }: { made: readonly Thing[]; you: boolean; revoking: ReturnType<typeof useRevoking> }) {
  return (
    <div className="flex max-h-80 flex-col gap-3 overflow-y-auto">
      {byKind(made).map((things) => {
        const [first] = things as [Thing, ...Thing[]];
        const verb = first.ends === 'revoke' ? 'revoke' : 'turn off';
        if (!first.may_end)
          return (
            <div key={first.kind} className="flex flex-col gap-1.5">
              <p className="text-sm">{unendable(first, things.length, you)}</p>
              <MadeList made={things} />
            </div>
          );
        return (
          <div key={first.kind} className="flex flex-col gap-1.5">
            <Checkbox
              checked={revoking.isChosen(first)}
              onCheckedChange={(revoke) => revoking.choose(first.kind, revoke)}
              label={`Also ${verb} the ${counted(things.length, first.label)} ${you ? 'you' : 'they'} created`}
              description={
                revoking.isChosen(first)
                  ? 'Takes effect immediately. Everything that uses them stops working.'
                  : `These keep working. ${you ? 'You may still know them.' : 'The person may still know their secrets.'}`
              }
            />
            <MadeList made={things} />
          </div>
        );
      })}
    </div>
  );
}

/** Why something is only listed, and who does something about it. */
const unendable = ({ ends, label }: Thing, count: number, you: boolean): string =>
  ends === null
    ? `${you ? 'You' : 'They'} set up ${counted(count, label)}. Check it in the settings of the workspace.`
    : `You created ${counted(count, label)}, which your role can’t ${ends === 'revoke' ? 'revoke' : 'turn off'}. To end ${count === 1 ? 'it' : 'them'}, ask an Owner to remove you instead.`;

/** Names and last uses, for review. */
export function MadeList({ made }: { made: readonly Thing[] }) {
  return (
    <ul className="flex max-h-40 flex-col gap-1 overflow-y-auto rounded-lg border border-line px-3 py-2">
      {made.map((thing) => (
        <li key={thing.id} className="flex flex-wrap items-baseline gap-x-2">
          <span className="min-w-0 truncate">{thing.name}</span>
          {thing.through && <span className="text-ink-3 text-xs">made by {thing.through}</span>}
          {thing.space === 'test' && <TestChip />}
          {thing.last_used_at && (
            <span className="ml-auto text-ink-3 text-xs">
              <Time value={thing.last_used_at} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What somebody whose role shrinks made with the role they had. */
export function MadeBefore({ made }: { made: readonly Thing[] }) {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-ink-2 text-sm">
        What they created keeps its own access, and they may still know its secrets. Revoke or rotate what shouldn’t.
      </p>
      {byKind(made).map((things) => (
        <div key={things[0]?.kind} className="flex flex-col gap-1">
          <span className="text-sm">{capitalize(counted(things.length, things[0]?.label ?? ''))}</span>
          <MadeList made={things} />
        </div>
      ))}
    </div>
  );
}

const byKind = (made: readonly Thing[]): Thing[][] => [...Map.groupBy(made, ({ kind }) => kind).values()];

/** What ends with a membership. */
export function removalLines({ sessions, apps }: Impact, you: boolean): string[] {
  return [
    you
      ? 'You lose access immediately, in Live and Test. Somebody must invite you to come back.'
      : `They lose access immediately, in Live and Test.${sessions > 0 ? ` ${counted(sessions, 'open session')} will be cut off.` : ''}`,
    ...(apps > 0
      ? [`${counted(apps, 'connected app')} that act${apps === 1 ? 's' : ''} for ${you ? 'you' : 'them'} here will be signed out.`]
      : []),
    `${you ? 'Your' : 'Their'} private views and explorer history in this workspace are deleted. Routes, secrets and everything else ${you ? 'you' : 'they'} created stay.`,
  ];
}
