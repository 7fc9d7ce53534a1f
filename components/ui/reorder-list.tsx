'use client';

import { ArrowDown, ArrowUp, GripVertical } from 'lucide-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import { IconButton } from './button.tsx';
import { cn } from './cn.ts';
import { useFocusAfter } from './focus-after.ts';

export type ReorderItem<Id extends string> = {
  id: Id;
  label: string;
  icon?: ReactNode;
  /** A quiet word beside the label. */
  detail?: ReactNode;
  /** Beside the arrows. */
  actions?: ReactNode;
};

export type ReorderListProps<Id extends string> = {
  label: string;
  items: readonly ReorderItem<Id>[];
  onOrder: (ids: Id[]) => void;
};

/** A list in an order that is the person's own: moved with the arrows of a row, or by dragging the row. */
export function ReorderList<Id extends string>({ label, items, onOrder }: ReorderListProps<Id>) {
  const { box, focusAfter } = useFocusAfter(items.map(({ id }) => id).join(' '));
  const [said, setSaid] = useState('');
  const [dragged, setDragged] = useState<Id>();
  const [over, setOver] = useState<number>();
  const move = (id: Id, to: number) => {
    const others = items.filter((item) => item.id !== id);
    const moved = items.find((item) => item.id === id);
    const place = Math.min(Math.max(to, 0), others.length);
    if (!moved || items[place]?.id === id) return;
    onOrder([...others.slice(0, place), moved, ...others.slice(place)].map((item) => item.id));
    setSaid(`${moved.label} moved to position ${place + 1} of ${items.length}.`);
  };
  const drop = (event: DragEvent, to: number) => {
    event.preventDefault();
    if (dragged !== undefined) move(dragged, to);
    setDragged(undefined);
    setOver(undefined);
  };
  return (
    <div ref={box}>
      <ol aria-label={label} className="divide-y divide-line rounded-md border border-line">
        {items.map((item, at) => (
          <li
            key={item.id}
            data-row={item.id}
            draggable
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = 'move';
              setDragged(item.id);
            }}
            onDragEnd={() => {
              setDragged(undefined);
              setOver(undefined);
            }}
            onDragOver={(event) => {
              if (dragged === undefined) return;
              event.preventDefault();
              setOver(at);
            }}
            onDrop={(event) => drop(event, at)}
            className={cn(
              'flex min-h-10 items-center gap-2 py-1 pr-1 pl-2 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-ink-3',
              dragged === item.id && 'opacity-50',
              dragged !== undefined && over === at && dragged !== item.id && 'bg-accent-soft',
            )}
          >
            <GripVertical aria-hidden className="cursor-grab pointer-coarse:hidden" />
            {item.icon}
            <span className="min-w-0 flex-1 truncate">
              {item.label} {item.detail && <span className="text-ink-3">{item.detail}</span>}
            </span>
            {item.actions}
            {(['up', 'down'] as const).map((way) => {
              const to = way === 'up' ? at - 1 : at + 1;
              return (
                <IconButton
                  key={way}
                  size="sm"
                  data-way={way}
                  label={`Move ${item.label} ${way}`}
                  icon={way === 'up' ? <ArrowUp /> : <ArrowDown />}
                  disabledReason={to < 0 ? 'Already first.' : to >= items.length ? 'Already last.' : undefined}
                  onClick={() => {
                    move(item.id, to);
                    focusAfter(`[data-row="${item.id}"] [data-way="${way}"]`);
                  }}
                />
              );
            })}
          </li>
        ))}
      </ol>
      <p role="status" className="sr-only">
        {said}
      </p>
    </div>
  );
}
