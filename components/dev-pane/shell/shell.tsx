'use client';

import { useEffect, useRef, useState } from 'react';
import { ConfirmLive } from '#components/explorer/confirm-live.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { ClickableText } from './clickable-text.tsx';
import { EntryView } from './entry-view.tsx';
import { Prompt } from './prompt.tsx';
import { SecretPrompt } from './secret-prompt.tsx';
import type { Question } from './session.ts';
import { useShell } from './use-shell.ts';

const FIRST =
  'Run any API call as yourself in this space. Try `routes list` or `help`. Tab completes, arrow keys browse history, Ctrl+L clears, Ctrl+C cancels.';

/** The API as a command line (70 §11). `active`: its tab is in front. An id in an answer goes to `onId`. */
export function Shell({ active, onId }: { active: boolean; onId: (id: string) => void }) {
  const shell = useShell();
  const { operations, entries, question } = shell;
  const [line, setLine] = useState('');
  const [asked, setAsked] = useState<Extract<Question, { kind: 'confirm' }>>();
  // The dialog fades out with what it asked.
  if (question?.kind === 'confirm' && question !== asked) setAsked(question);
  const log = useRef<HTMLDivElement>(null);
  const prompt = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new comes into view, from its beginning where it is long.
  useEffect(() => {
    const last = log.current?.lastElementChild;
    if (log.current && last instanceof HTMLElement) log.current.scrollTop = last.offsetTop - 12;
  }, [entries, question]);
  const type = (text: string) => {
    setLine(text);
    prompt.current?.focus();
  };
  const stop = () => {
    shell.stop();
    // The button goes, and the focus would go with it.
    prompt.current?.focus();
  };
  if (operations.error && !operations.data)
    return (
      <div className="overflow-y-auto p-4">
        <QueryError query={operations} what="API description" />
      </div>
    );
  if (!operations.data) return <Skeleton lines={4} label="Loading the commands" className="p-4" />;
  return (
    <>
      <div
        ref={log}
        role="log"
        aria-label="Shell output"
        aria-live="polite"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable from the keyboard.
        tabIndex={0}
        className="relative flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-3 py-3 text-xs leading-5 focus-visible:-outline-offset-2 lg:px-5"
      >
        {entries.length === 0 && (
          <p className="max-w-prose text-ink-3">
            <ClickableText text={FIRST} onType={type} />
          </p>
        )}
        {entries.map((entry) => (
          <EntryView key={entry.key} entry={entry} onId={onId} onType={type} onStop={stop} />
        ))}
      </div>
      {question?.kind === 'secret' ? (
        <SecretPrompt key={question.field.name} question={question} />
      ) : (
        <Prompt ref={prompt} shell={shell} active={active} line={line} onLine={setLine} />
      )}
      {asked && <ConfirmLive open={question === asked} op={asked.op} path={asked.path} onAnswer={asked.answer} />}
    </>
  );
}
