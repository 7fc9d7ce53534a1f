'use client';

import { Search } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { cn } from '#components/ui/cn.ts';
import { Dialog } from '#components/ui/dialog.tsx';
import { Input } from '#components/ui/input.tsx';
import { KINDS, STEP_KINDS, type StepKind } from './step-kinds.ts';

type Props = { open: boolean; onClose: () => void; onPick: (kind: StepKind) => void };

/** Chooses what kind of step to add: type to find, arrows to move, Enter to take. */
export function StepPalette({ open, onClose, onPick }: Props) {
  return (
    <Dialog open={open} onOpenChange={(next) => next || onClose()} title="Add a step">
      {open && <Kinds onPick={onPick} />}
    </Dialog>
  );
}

const OFFERED = STEP_KINDS.filter((kind) => kind !== 'trigger');

function Kinds({ onPick }: Pick<Props, 'onPick'>) {
  const list = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const wanted = query.trim().toLowerCase();
  const found = OFFERED.filter((kind) => `${KINDS[kind].label} ${KINDS[kind].words} ${kind}`.toLowerCase().includes(wanted));
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[at];
    if (step && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === 'Enter' && chosen) onPick(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <Input
        icon={<Search />}
        role="combobox"
        aria-label="Find a step"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${at}` : undefined}
        placeholder="Find a step"
        value={query}
        onKeyDown={key}
        onChange={({ target }) => {
          setQuery(target.value);
          setAt(0);
        }}
      />
      {found.length === 0 && <p className="py-4 text-center text-ink-3">No kind of step is called that.</p>}
      <div id={list} role="listbox" aria-label="Steps" className="-mx-1 flex flex-col">
        {found.map((kind, index) => {
          const { label, about, icon: Icon } = KINDS[kind];
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and names the option with aria-activedescendant.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
            <div
              key={kind}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              onPointerMove={() => setAt(index)}
              onClick={() => onPick(kind)}
              className={cn('flex items-center gap-3 rounded-md px-2 py-1.5', index === at && 'bg-accent-soft')}
            >
              <Icon aria-hidden className="size-4 shrink-0 text-ink-2" />
              <span className="min-w-0">
                <span className="block font-medium text-sm">{label}</span>
                <span className="block text-ink-2 text-xs">{about}</span>
              </span>
            </div>
          );
        })}
      </div>
    </>
  );
}
