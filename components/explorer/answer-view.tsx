'use client';

import { useState } from 'react';
import { nextStepOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import type { ApiOperation } from './document.ts';
import { HEADER_MEANINGS } from './draft.ts';
import type { Answer } from './use-explorer.ts';

/** The answer of a call: status in words, body, and each header with what it is for. */
export function AnswerView({ answer, op }: { answer: Answer; op: ApiOperation }) {
  const [part, setPart] = useState<'body' | 'headers'>('body');
  const said = op.responses.find(([status]) => status === String(answer.status))?.[1];
  return (
    <section aria-label="Answer" className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={answer.status < 300 ? 'good' : answer.status < 500 ? 'warn' : 'bad'}>
          {answer.status} {answer.status < 300 ? 'done' : 'refused'}
        </Badge>
        <span className="figures text-ink-3 text-xs">{answer.duration_ms} ms</span>
        <CopyText value={answer.request_id} label="request id" className="text-xs" />
        <span className="ml-auto">
          <Segmented
            label="Part of the answer"
            size="sm"
            options={[
              { value: 'body', label: 'Body' },
              { value: 'headers', label: `Headers (${answer.headers.length})` },
            ]}
            value={part}
            onValueChange={setPart}
          />
        </span>
      </div>
      {answer.status >= 400 && said && (
        <Callout tone="warn" title={messageOf(answer.body)}>
          {nextOf(answer.body) ?? `This status stands for ${said}.`}
        </Callout>
      )}
      {part === 'body' ? (
        <CodeBlock snippets={[{ id: 'body', label: 'Body', language: 'json', code: pretty(answer.body) }]} wrap />
      ) : (
        <dl className="divide-y divide-line rounded-lg border border-line-strong bg-surface">
          {answer.headers.map(([name, value]) => (
            <div key={name} className="px-3 py-2">
              <dt className="font-mono text-ink-2 text-xs">{name}</dt>
              <dd className="break-all font-mono text-xs">{value}</dd>
              {HEADER_MEANINGS[name] && <dd className="mt-0.5 text-ink-3 text-xs">{HEADER_MEANINGS[name]}</dd>}
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pretty(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

const messageOf = (text: string) =>
  (parsed(text) as { error?: { message?: string } } | undefined)?.error?.message ?? 'The call was refused.';

/** What to do about it, where the pages know. */
const nextOf = (text: string) => nextStepOf((parsed(text) as { error?: { type?: string } } | undefined)?.error?.type ?? '');
