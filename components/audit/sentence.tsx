import { Bot, KeyRound, UserRound, Wrench } from 'lucide-react';
import { Avatar } from '#components/ui/avatar.tsx';
import { cn } from '#components/ui/cn.ts';
import { actorOf, type Entry, sentenceOf } from './entry-text.ts';

const icons = { api_key: KeyRound, system: Bot, operator: Wrench } as const;

/** A person by their photo or first letter, everybody else by what they are. */
function ActorIcon({ entry, className }: { entry: Pick<Entry, 'actor'>; className: string }) {
  const { type, photo } = entry.actor;
  if (type === 'user') return <Avatar name={actorOf(entry)} picture={photo} round className={cn('size-4.5', className)} />;
  const Icon = icons[type as keyof typeof icons] ?? UserRound;
  return <Icon aria-hidden className={cn('inline-block size-3.5 text-ink-3', className)} />;
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
      <ActorIcon entry={entry} className="-mt-0.5 mr-1.5 align-middle" />
      {actorOf(entry)}{' '}
      <span className="font-normal text-ink-2">
        {verb} {thing}
      </span>
      {name && <span className="font-normal"> {name}</span>}
    </span>
  );
}
