'use client';

import { useEffect, useRef } from 'react';
import { cn } from '#components/ui/cn.ts';
import type { useCompletion } from './use-completion.ts';

type Props = {
  completion: ReturnType<typeof useCompletion>;
  listId: string;
  optionId: (i: number) => string;
  onTake: (upTo: string) => void;
  onDone: () => void;
};

/** What the word at the caret may become, over the line. */
export function Completions({ completion, listId, optionId, onTake, onDone }: Props) {
  const { options, chosen, looking, problem } = completion;
  const row = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen one comes into view.
  useEffect(() => {
    // The newest browsers answer with a promise, which is nothing to clean up with.
    void row.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div className="popup-surface absolute inset-x-3 bottom-full z-10 mb-1 max-w-2xl rounded-lg p-1 lg:inset-x-5">
      {/* What scrolls is a stop of Tab in some browsers; it closes when the line is left, and the focus would be nowhere. */}
      <div role="listbox" id={listId} aria-label="Completions" tabIndex={-1} className="max-h-56 overflow-y-auto">
        {options.map((option, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the line, which names the active option.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the line.
          <div
            key={option.value}
            ref={i === chosen ? row : undefined}
            id={optionId(i)}
            role="option"
            aria-selected={i === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => {
              onTake(completion.take(option));
              onDone();
            }}
            className={cn('flex cursor-pointer gap-3 rounded-sm px-2 py-0.5 text-xs', i === chosen && 'bg-pressed/70')}
          >
            <span className="shrink-0 font-mono">{option.value}</span>
            <span className="min-w-0 truncate text-ink-3">{option.detail}</span>
          </div>
        ))}
      </div>
      {looking && <p className="px-2 py-1 text-ink-3 text-xs">Searching…</p>}
      {problem && (
        <p role="alert" className="px-2 py-1 text-bad-ink text-xs">
          {problem.message} {problem.next}
        </p>
      )}
    </div>
  );
}
