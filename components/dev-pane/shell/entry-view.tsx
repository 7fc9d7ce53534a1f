'use client';

import { ChevronRight } from 'lucide-react';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Spinner } from '#components/ui/spinner.tsx';
import { AnswerView } from './answer-view.tsx';
import { ClickableText } from './clickable-text.tsx';
import { HelpView } from './help-view.tsx';
import type { Entry, Output } from './session.ts';

type Acts = { onId: (id: string) => void; onType: (line: string) => void };

/** A line as it was typed, without what must not be shown of it, and what came of it. */
export function EntryView({ entry: { line, output }, onStop, ...acts }: Acts & { entry: Entry; onStop: () => void }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {line !== undefined && (
        <p className="flex items-start gap-1.5 font-medium font-mono">
          <ChevronRight aria-hidden className="mt-1 size-3 shrink-0 text-ink-3" />
          <span className="min-w-0 break-words">{line}</span>
        </p>
      )}
      <div className="min-w-0 pl-4.5">
        {output ? (
          <OutputView output={output} {...acts} />
        ) : (
          <p className="flex items-center gap-2 text-ink-3">
            <Spinner /> Running
            <Button size="sm" variant="ghost" onClick={onStop}>
              Stop
            </Button>
          </p>
        )}
      </div>
    </div>
  );
}

function OutputView({ output, onId, onType }: Acts & { output: Output }) {
  switch (output.kind) {
    case 'answer':
      return <AnswerView {...output} onId={onId} onType={onType} />;
    case 'help':
      return <HelpView commands={output.commands} onType={onType} />;
    case 'note':
      return <p className="text-ink-2">{output.text}</p>;
    case 'lines':
      return output.lines.length === 0 ? (
        <p className="text-ink-2">No history on this device.</p>
      ) : (
        <ol>
          {output.lines.map((line) => (
            <li key={line} className="break-words font-mono">
              <ClickableText text={`\`${line.replaceAll('`', '')}\``} onType={onType} />
            </li>
          ))}
        </ol>
      );
    default:
      return (
        <div className="flex min-w-0 flex-col">
          <p className="break-words text-bad-ink">
            <span className="font-medium">{output.what}: </span>
            {output.message}
          </p>
          {output.next && (
            <p className="text-ink-2">
              <ClickableText text={output.next} onType={onType} />
            </p>
          )}
          {output.requestId && (
            <p className="flex flex-wrap items-center gap-1 text-ink-3">
              Request <CopyText value={output.requestId} label="request ID" />
            </p>
          )}
        </div>
      );
  }
}
