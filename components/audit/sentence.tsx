import { Bot, KeyRound, UserRound, Wrench } from 'lucide-react';
import { cn } from '#components/ui/cn.ts';
import { actorOf, type Entry, sentenceOf } from './words.ts';

const icons = { user: UserRound, api_key: KeyRound, system: Bot, operator: Wrench } as const;

function ActorIcon({ entry, className }: { entry: Pick<Entry, 'actor'>; className: string }) {
  const Icon = icons[entry.actor.type as keyof typeof icons] ?? UserRound;
  return <Icon aria-hidden className={cn('size-3.5 text-ink-3', className)} />;
}

/** Who, as an icon and a name. */
export function Actor({ entry }: { entry: Pick<Entry, 'actor'> }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <ActorIcon entry={entry} className="shrink-0" />
      <span className="truncate">{actorOf(entry)}</span>
    </span>
  );
}

/** "dana@acme.example changed route payments". */
export function Sentence({ entry }: { entry: Entry }) {
  const { verb, thing, name } = sentenceOf(entry);
  return (
    <span className="min-w-0 [overflow-wrap:anywhere]">
      <ActorIcon entry={entry} className="mr-1.5 inline-block align-[-0.15em]" />
      {actorOf(entry)}{' '}
      <span className="font-normal text-ink-2">
        {verb} {thing}
      </span>
      {name && <span className="font-normal"> {name}</span>}
    </span>
  );
}
