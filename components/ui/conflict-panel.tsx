'use client';

import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Callout } from './callout.tsx';
import { RadioMark } from './choices.tsx';
import { type Choice, type Difference, inWords } from './conflict.ts';

export type ConflictPanelProps = {
  differences: readonly Difference[];
  /** Names of fields that only I changed. */
  kept: readonly string[];
  /** How a field is called on this form; its wire name in words when absent. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** How a value reads on this form (the name behind an id); undefined leaves it to the value itself. */
  show?: ((field: string, value: unknown) => string | undefined) | undefined;
  onSave: (choices: Record<string, Choice>) => void;
  onDiscard: () => void;
  busy?: boolean;
};

/**
 * Two people edited one thing: what it was, what the other made of it and what is typed here, side by side, with a choice per field.
 * Nothing is saved before the choice is.
 */
export function ConflictPanel({ differences, kept, labels = {}, show, onSave, onDiscard, busy }: ConflictPanelProps) {
  const id = useId();
  const box = useRef<HTMLElement>(null);
  const [choices, setChoices] = useState<Record<string, Choice>>(() =>
    Object.fromEntries(differences.map(({ field, clash }) => [field, clash ? 'mine' : 'theirs'])),
  );
  useEffect(() => box.current?.focus(), []);
  const read = (field: string, value: unknown) => show?.(field, value) ?? words(value);
  const name = (field: string) => labels[field] ?? inWords(field);
  const choice = (field: string, value: Choice) => ({
    name: `${id}-${field}`,
    checked: choices[field] === value,
    onChoose: () => setChoices({ ...choices, [field]: value }),
  });
  return (
    <section ref={box} tabIndex={-1} aria-labelledby={id} className="rounded-lg outline-none">
      <Callout
        tone="warn"
        title={<span id={id}>Someone else saved changes while you were editing</span>}
        actions={
          <>
            <Button size="sm" variant="primary" loading={busy ?? false} onClick={() => onSave(choices)}>
              Save selection
            </Button>
            <Button size="sm" onClick={onDiscard}>
              Discard my changes
            </Button>
          </>
        }
      >
        <p>
          Your changes aren’t saved yet. Choose a version for each field.
          {kept.length > 0 && ` Your other changes are kept: ${kept.map(name).join(', ')}.`}
        </p>
        <ul className="mt-2 flex flex-col gap-2">
          {differences.map((difference) => (
            <li key={difference.field} className="rounded-md border border-line-strong bg-surface p-2.5">
              <div role="radiogroup" aria-labelledby={`${id}-${difference.field}`} className="flex flex-col gap-1.5">
                <p className="text-xs">
                  <span id={`${id}-${difference.field}`} className="font-medium text-ink">
                    {name(difference.field)}
                  </span>
                  <span className="text-ink-3"> was {read(difference.field, difference.base)}</span>
                </p>
                <Version {...choice(difference.field, 'mine')} title={difference.clash ? 'Keep mine' : 'Restore previous'}>
                  {read(difference.field, difference.mine)}
                </Version>
                <Version {...choice(difference.field, 'theirs')} title="Use theirs">
                  {read(difference.field, difference.theirs)}
                </Version>
              </div>
            </li>
          ))}
        </ul>
      </Callout>
    </section>
  );
}

type VersionProps = { name: string; checked: boolean; onChoose: () => void; title: string; children: ReactNode };

function Version({ name, checked, onChoose, title, children }: VersionProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the radio inside renders the control.
    <label className="flex cursor-pointer items-start gap-2 text-sm">
      <RadioMark name={name} checked={checked} onChange={onChoose} />
      <span className="w-20 shrink-0 text-ink-2">{title}</span>
      <span className="min-w-0 font-mono text-ink text-xs leading-5 [overflow-wrap:anywhere]">{children}</span>
    </label>
  );
}

const words = (value: unknown): string => {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return 'nothing';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
};
