'use client';

import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { cn } from './cn.ts';
import { CopyButton } from './copy.tsx';
import { counted } from './numbers.ts';
import { Scroll } from './scroll.tsx';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type JsonViewProps = {
  value: Json;
  /** Levels that start open. */
  depth?: number;
  /** Makes each leaf a button; called with its path. */
  onPick?: (path: (string | number)[], value: Json) => void;
  label?: string;
  className?: string;
};

/** A JSON value as a tree that folds. Long arrays show a hundred at a time, long strings are cut until asked for. */
export function JsonView({ value, depth = 2, onPick, label = 'JSON', className }: JsonViewProps) {
  return (
    <div className={cn('group/json relative min-w-0 overflow-hidden rounded-lg border border-line-strong bg-surface', className)}>
      <CopyButton value={JSON.stringify(value, null, 2)} label={label} className="absolute top-1 right-1 z-10 bg-surface" />
      <Scroll role="group" aria-label={label} className="max-h-120 overflow-auto py-2.5 pr-9 pl-1.5 font-mono text-xs leading-6">
        <Node value={value} path={[]} depth={depth} onPick={onPick} last />
      </Scroll>
    </div>
  );
}

type NodeProps = { value: Json; path: (string | number)[]; depth: number; onPick: JsonViewProps['onPick']; last: boolean };

const BATCH = 100;

function Node({ value, path, depth, onPick, last }: NodeProps) {
  const [open, setOpen] = useState(depth > 0);
  const [shown, setShown] = useState(BATCH);
  const key = path.at(-1);
  const name = typeof key === 'string' && <span className="text-(--code-key)">{JSON.stringify(key)}</span>;
  const comma = !last && <span className="text-ink-3">,</span>;

  if (isLeaf(value)) {
    return (
      <div className="pl-4.5 [overflow-wrap:anywhere]">
        {name}
        {name && ': '}
        <Leaf value={value} onPick={onPick && (() => onPick(path, value))} path={path} />
        {comma}
      </div>
    );
  }

  const array = Array.isArray(value);
  const entries: [string | number, Json][] = array ? value.map((item, index) => [index, item]) : Object.entries(value);
  const [left, right] = array ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="pl-4.5">
        {name}
        {name && ': '}
        {left}
        {right}
        {comma}
      </div>
    );
  }
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex items-start rounded-xs pr-1 text-left hoverable:bg-subtle focus-visible:-outline-offset-2"
      >
        <ChevronRight
          aria-hidden
          className={cn('mt-1.5 mr-1 ml-0.5 size-3 shrink-0 text-ink-3 transition-transform', open && 'rotate-90')}
        />
        <span>
          {name}
          {name && ': '}
          {left}
          {!open && (
            <span className="text-ink-3">
              {' '}
              {counted(entries.length, array ? 'item' : 'key')} {right}
            </span>
          )}
        </span>
      </button>
      {open && (
        <>
          <div className="ml-2 border-line border-l pl-1.5">
            {entries.slice(0, shown).map(([entryKey, item], index) => (
              <Node
                key={entryKey}
                value={item}
                path={[...path, entryKey]}
                depth={depth - 1}
                onPick={onPick}
                last={index === entries.length - 1}
              />
            ))}
            {entries.length > shown && (
              <button
                type="button"
                onClick={() => setShown(shown + BATCH)}
                className="ml-4.5 rounded-xs text-accent-ink underline-offset-2 hover:underline"
              >
                Show {Math.min(BATCH, entries.length - shown)} more of {entries.length - shown}
              </button>
            )}
          </div>
          <div className="pl-4.5">
            {right}
            {comma}
          </div>
        </>
      )}
    </div>
  );
}

/** A number that keeps its digits is an object that writes itself. */
const isLeaf = (value: Json): value is Exclude<Json, object> =>
  value === null || typeof value !== 'object' || typeof (value as { toJSON?: unknown }).toJSON === 'function';

const CUT = 240;

function Leaf({
  value,
  onPick,
  path,
}: {
  value: string | number | boolean | null;
  onPick: (() => void) | undefined;
  path: (string | number)[];
}) {
  const [whole, setWhole] = useState(false);
  const long = typeof value === 'string' && value.length > CUT && !whole;
  const text = JSON.stringify(long ? value.slice(0, CUT) : value);
  const ink =
    typeof value === 'string'
      ? 'text-(--code-string)'
      : typeof value === 'number' || (value !== null && typeof value === 'object')
        ? 'text-(--code-number)'
        : 'text-(--code-word)';
  return (
    <>
      {onPick ? (
        <button
          type="button"
          onClick={onPick}
          title={`Choose ${path.join('.') || 'value'}`}
          className={cn(
            'min-h-6 min-w-6 rounded-xs text-left hoverable:bg-accent-soft hoverable:outline-1 hoverable:outline-accent-line',
            ink,
          )}
        >
          {text}
        </button>
      ) : (
        <span className={ink}>{text}</span>
      )}
      {long && (
        <button type="button" onClick={() => setWhole(true)} className="ml-1 rounded-xs text-accent-ink underline-offset-2 hover:underline">
          {value.length - CUT} more characters
        </button>
      )}
    </>
  );
}
