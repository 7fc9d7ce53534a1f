'use client';

import { Braces } from 'lucide-react';
import { createContext, type KeyboardEvent, useContext, useId, useMemo, useRef, useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { useFieldControl } from '#components/ui/field.tsx';
import { completed, matching, type Suggestion, typedAt } from './suggestions.ts';

/** What the expressions of the step that is open can refer to. */
export const SuggestionsContext = createContext<{ values: readonly Suggestion[]; secrets: readonly string[] }>({ values: [], secrets: [] });

export type ExpressionInputProps = {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  /** Several lines. */
  tall?: boolean;
  /** References stand without braces: a condition. */
  bare?: boolean;
  /** Names of secrets are offered too: where a secret may be named. */
  secrets?: boolean;
  disabled?: boolean;
  label?: string;
};

/** A text in which `{{` offers the values of earlier steps, with what they were in the last run. */
export function ExpressionInput({ value, onChange, placeholder, tall, bare = false, secrets, disabled, label }: ExpressionInputProps) {
  const around = useContext(SuggestionsContext);
  const wired = useFieldControl();
  const list = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const whole = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState<string>();
  const [at, setAt] = useState(0);
  const all = useMemo(
    () => [
      ...around.values,
      ...(secrets && !bare ? around.secrets.map((name) => ({ path: `secret:${name}`, preview: 'sent, never shown', of: 'Secret' })) : []),
    ],
    [around, secrets, bare],
  );
  const offered = typed === undefined || disabled ? [] : matching(all, typed);
  const look = () => {
    const { selectionStart: cursor, selectionEnd, value: text } = box.current ?? { selectionStart: 0, selectionEnd: 0, value: '' };
    const found = cursor === selectionEnd ? typedAt(text, cursor, bare) : undefined;
    setTyped(found && (!bare || found.typed.length > 0) ? found.typed : undefined);
    setAt(0);
  };
  const take = (suggestion: Suggestion) => {
    const cursor = box.current?.selectionStart ?? value.length;
    const next = completed(value, cursor, suggestion.path, bare);
    onChange(next.text);
    setTyped(undefined);
    box.current?.focus();
    // The caret is set once the text is there. Who has gone on to another field meanwhile stays in it.
    requestAnimationFrame(() => {
      if (document.activeElement === box.current) box.current?.setSelectionRange(next.cursor, next.cursor);
    });
  };
  const key = (event: KeyboardEvent) => {
    if (offered.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = offered[at];
    if (step) setAt((at + step + offered.length) % offered.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen && !event.metaKey && !event.ctrlKey) take(chosen);
    else if (event.key === 'Escape') setTyped(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={whole} className="relative min-w-0 flex-1">
      <textarea
        {...wired}
        ref={box}
        rows={tall ? 4 : 1}
        value={value}
        disabled={disabled}
        placeholder={placeholder}
        spellCheck={false}
        autoCapitalize="none"
        aria-label={label}
        aria-haspopup="listbox"
        aria-controls={offered.length > 0 ? list : undefined}
        aria-autocomplete="list"
        aria-activedescendant={offered.length > 0 ? `${list}-${at}` : undefined}
        onChange={(event) => {
          onChange(tall ? event.target.value : event.target.value.replaceAll('\n', ' '));
          requestAnimationFrame(look);
        }}
        onKeyDown={key}
        onClick={look}
        onBlur={({ relatedTarget }) => whole.current?.contains(relatedTarget) || setTyped(undefined)}
        className={cn(
          'field-surface field-sizing-content block max-h-60 w-full resize-none py-1.5 pr-8 pl-2.5 font-mono text-xs leading-5 [overflow-wrap:anywhere]',
          tall ? 'min-h-20' : 'min-h-8',
        )}
      />
      {!disabled && all.length > 0 && (
        <span className="absolute top-0.5 right-0.5">
          <IconButton
            size="sm"
            label="Insert a value"
            icon={<Braces />}
            onClick={() => {
              box.current?.focus();
              setTyped(typed === undefined ? '' : undefined);
              setAt(0);
            }}
          />
        </span>
      )}
      {offered.length > 0 && (
        <div
          id={list}
          role="listbox"
          aria-label="Values"
          className="popup-surface absolute inset-x-0 top-full z-30 mt-1 max-h-56 overflow-y-auto p-1"
        >
          {offered.map((suggestion, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus, and names the option with aria-activedescendant.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text.
            <div
              key={suggestion.path}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              ref={index === at ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion)}
              className={cn('flex min-h-7 items-baseline gap-2 rounded-sm px-2 py-1 text-xs', index === at && 'bg-accent-soft')}
            >
              <span className="min-w-0 flex-1 truncate font-mono text-ink">{suggestion.path}</span>
              <span className="max-w-[45%] truncate text-ink-3">{suggestion.preview}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
