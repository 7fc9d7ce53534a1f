import { Bot, KeyRound, UserRound, Wrench } from 'lucide-react';
import { actorOf, type Entry, sentenceOf } from './words.ts';

const icons = { user: UserRound, api_key: KeyRound, system: Bot, operator: Wrench } as const;

/** Who, as an icon and a name. */
export function Actor({ entry }: { entry: Pick<Entry, 'actor'> }) {
  const Icon = icons[entry.actor.type as keyof typeof icons] ?? UserRound;
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <span className="truncate">{actorOf(entry)}</span>
    </span>
  );
}

/** "dana@acme.example changed route payments". */
export function Sentence({ entry }: { entry: Entry }) {
  const { verb, thing, name } = sentenceOf(entry);
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-1">
      <Actor entry={entry} />
      <span className="font-normal text-ink-2">
        {verb} {thing}
      </span>
      {name && <span className="min-w-0 font-normal [overflow-wrap:anywhere]">{name}</span>}
    </span>
  );
}
