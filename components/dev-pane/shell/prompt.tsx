'use client';

import { ArrowRightToLine } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { type Hotkey, useHotkeys } from '#components/ui/hotkeys.ts';
import { Completions } from './completions.tsx';
import { useCompletion } from './use-completion.ts';
import type { useShell } from './use-shell.ts';

type Props = {
  ref: RefObject<HTMLInputElement | null>;
  shell: ReturnType<typeof useShell>;
  active: boolean;
  line: string;
  onLine: (line: string) => void;
};

/** For the keyboard map; the line handles them itself. */
const KEYS = [
  ['tab', 'Complete'],
  ['arrowup', 'Previous line'],
  ['arrowdown', 'Next line'],
  ['ctrl+l', 'Clear output'],
  ['ctrl+c', 'Cancel the call or clear the line'],
].map(([keys = '', label]) => ({ keys, label, group: 'Shell' }) satisfies Hotkey);

/** The line that is being typed, in the space it will run in. */
export function Prompt({ ref: input, shell, active, line, onLine }: Props) {
  const { space } = useScope();
  useHotkeys(KEYS);
  const listId = useId();
  const [caret, setCaret] = useState(line.length);
  const text = line.slice(0, caret);
  const completion = useCompletion(text, shell.commands, shell.sources);
  const [back, setBack] = useState<{ at: number; draft: string }>();
  useEffect(() => {
    // Who moves along the tabs by keyboard keeps their place there.
    if (active && !document.activeElement?.matches('[role="radio"]:focus-visible')) input.current?.focus();
  }, [active, input]);

  const wanted = useRef<number>(undefined);
  const set = (next: string, place = next.length) => {
    onLine(next);
    setCaret(place);
    wanted.current = place;
  };
  // As soon as React has written the text: before that the caret would be moved to its end, and a frame later somebody may have typed on.
  useLayoutEffect(() => {
    if (wanted.current !== undefined) input.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  });
  const complete = (upTo: string) => set(upTo + line.slice(caret), upTo.length);
  const { late, close } = completion;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it comes once, for the text that Tab was pressed at.
  useEffect(() => {
    if (late === undefined) return;
    close();
    complete(late);
  }, [late]);
  const recall = (step: 1 | -1) => {
    const lines = shell.lines();
    const { at, draft } = back ?? { at: lines.length, draft: line };
    const next = at + step;
    if (next < 0 || next > lines.length || (!back && step === 1)) return;
    setBack(next === lines.length ? undefined : { at: next, draft });
    set(lines[next] ?? draft);
  };
  const enter = () => {
    const option = completion.open ? completion.options[completion.chosen] : undefined;
    if (option) return complete(completion.take(option));
    if (shell.isRunning) return;
    completion.close();
    setBack(undefined);
    if (shell.run(line)) set('');
  };
  /** The line completed as far as it can be; undefined where there is nothing to complete. */
  const further = () => {
    const option = completion.open ? completion.options[completion.chosen] : undefined;
    return option ? completion.take(option) : completion.tab();
  };
  const tab = (event: KeyboardEvent) => {
    const upTo = line.trim() === '' ? undefined : further();
    if (upTo === undefined) return; // the focus moves on, as Tab does elsewhere
    event.preventDefault();
    complete(upTo);
  };
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, nativeEvent } = event;
    if (nativeEvent.isComposing || metaKey || altKey) return;
    const takesOver = (act: () => void) => {
      event.preventDefault();
      act();
    };
    if (ctrlKey) {
      if (key === 'l') takesOver(shell.clear);
      else if (key === 'c' && shell.isRunning) takesOver(shell.stop);
      else if (key === 'c' && input.current?.selectionStart === input.current?.selectionEnd) takesOver(() => set(''));
    } else if (key === 'Enter') takesOver(enter);
    else if (key === 'Tab' && !shiftKey) tab(event);
    else if (key === 'Escape' && completion.open) takesOver(completion.close);
    else if (key === 'ArrowUp') takesOver(() => (completion.open ? completion.move(-1) : recall(-1)));
    else if (key === 'ArrowDown') takesOver(() => (completion.open ? completion.move(1) : recall(1)));
  };
  const optionId = (i: number) => `${listId}-${i.toString()}`;
  return (
    <div className="relative flex items-center gap-2 border-line border-t focus-within:border-accent px-3 py-1.5 lg:px-5">
      {completion.open && (
        <Completions completion={completion} listId={listId} optionId={optionId} onTake={complete} onDone={() => input.current?.focus()} />
      )}
      <Badge tone={space === 'test' ? 'test' : 'good'}>{space === 'test' ? 'Test' : 'Live'}</Badge>
      <input
        ref={input}
        role="combobox"
        aria-label={`Command, in ${space === 'test' ? 'Test' : 'Live'}`}
        aria-autocomplete="list"
        aria-expanded={completion.open && completion.options.length > 0}
        aria-controls={listId}
        aria-activedescendant={completion.open && completion.options.length > 0 ? optionId(completion.chosen) : undefined}
        value={line}
        placeholder="routes list"
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        data-1p-ignore=""
        data-lpignore="true"
        onChange={(event) => {
          wanted.current = undefined;
          onLine(event.target.value);
          setCaret(event.target.selectionStart ?? event.target.value.length);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? line.length)}
        onKeyDown={key}
        onBlur={completion.close}
        className="h-7 min-w-0 flex-1 bg-transparent font-mono text-sm outline-none placeholder:text-ink-3 max-md:h-9"
      />
      {/* The keyboard of a phone has no Tab. */}
      <IconButton
        size="sm"
        label="Complete"
        icon={<ArrowRightToLine />}
        className="md:hidden"
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          complete(further() ?? text);
          input.current?.focus();
        }}
      />
    </div>
  );
}
