'use client';

import { useState } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { parsed, refusalIn } from './answer.ts';
import type { ApiOperation } from './document.ts';
import type { Answer } from './send.ts';

/** The answer of a call: status in words, body, and each header with what it is for. */
export function AnswerView({ answer, op }: { answer: Answer; op: ApiOperation }) {
  const [part, setPart] = useState<'body' | 'headers'>('body');
  const refusal = refusalIn(answer);
  const said = op.responses.find(([status]) => status === String(answer.status))?.[1];
  return (
    <section aria-label="Response" className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={answer.status < 300 ? 'good' : answer.status < 500 ? 'warn' : 'bad'}>
          {answer.status} {answer.status < 300 ? 'succeeded' : 'failed'}
        </Badge>
        <span className="figures text-ink-3 text-xs">{answer.duration_ms} ms</span>
        <CopyText value={answer.request_id} label="request ID" className="text-xs" />
        <span className="ml-auto">
          <Segmented
            label="Response part"
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
        <Callout tone="warn" title={refusal.message}>
          {refusal.next ?? `Status meaning: ${said}.`}
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

function pretty(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** What the headers of an answer mean, for the reader. */
const HEADER_MEANINGS: Readonly<Record<string, string>> = {
  'x-request-id': 'Identifies this call in the audit log. Include it in support requests.',
  'service-version': 'API version that answered.',
  'x-idempotent-replay': 'Replayed from the first call with this idempotency key.',
  'x-ratelimit-limit': 'Calls allowed in the current window.',
  'x-ratelimit-remaining': 'Calls left in the current window.',
  'x-ratelimit-reset': 'When the window resets, as a Unix timestamp.',
  'retry-after': 'Seconds to wait before retrying.',
  'cache-control': 'Responses are never cached.',
  'content-type': 'Format of the body.',
  'x-content-type-options': 'Stops browsers from guessing the content type.',
  'referrer-policy': 'Stops browsers from sending a referrer.',
  allow: 'Methods this path allows.',
  'www-authenticate': 'Credential type required.',
};
