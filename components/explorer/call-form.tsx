'use client';

import { Send } from 'lucide-react';
import { type Dispatch, type SetStateAction, useState } from 'react';
import { codeOf } from '#components/shell/call-code.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { AnswerView } from './answer-view.tsx';
import { ConfirmLive } from './confirm-live.tsx';
import type { ApiOperation } from './document.ts';
import { type Draft, linkOf, preparedCall, withoutSecrets, withoutSecretTexts } from './draft.ts';
import { Fields } from './fields.tsx';
import { forbiddenCall } from './forbidden.ts';
import type { Answer } from './send.ts';
import { useSend } from './use-explorer.ts';

export type CallFormProps = { op: ApiOperation; draft: Draft; onDraft: Dispatch<SetStateAction<Draft>> };

/** One operation: what it takes, the call as code, and its answer. Mount it with the operation's id as key, so that no answer outlives its call. */
export function CallForm({ op, draft, onDraft }: CallFormProps) {
  const { api_url, space, slug, role } = useScope();
  const path = usePath();
  const send = useSend();
  const [asking, setAsking] = useState(false);
  const call = preparedCall(op, draft);
  const query = new URLSearchParams(call.query).toString();
  const snippets = codeOf({
    method: op.method,
    url: `${api_url}${call.path}${query ? `?${query}` : ''}`,
    headers: { ...(op.machineOnly ? {} : { Authorization: 'Bearer $SALLYPORT_KEY' }), ...call.headers },
    body: call.body && withoutSecrets(op, call.body),
  });
  const shared = linkOf(op, draft);
  const link = shared && `${globalThis.location?.origin ?? ''}${path(shared)}`;
  const forbidden = op.machineOnly ? undefined : forbiddenCall(role, op);
  const reason =
    op.machineOnly ?? forbidden ?? call.problem ?? (call.missing.length > 0 ? `Fill in ${call.missing.join(', ')}` : undefined);
  const go = (confirmed: boolean) => {
    setAsking(false);
    // What was typed into secret fields is sent once; a refusal may be mended and sent again.
    const onSuccess = ({ status }: Answer) => status < 300 && onDraft((now) => withoutSecretTexts(op, now));
    send.mutate({ ...call, op, confirmed }, { onSuccess });
  };
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <header className="flex min-w-0 flex-col gap-1">
        <h2 className="font-semibold text-base">{op.summary}</h2>
        <p className="flex flex-wrap items-center gap-2">
          <Badge mono>{op.method}</Badge>
          <code className="break-all font-mono text-ink-2 text-xs">/v1{op.path}</code>
          {op.scopes.map((scope) => (
            <Badge key={scope} title="Permission required">
              {scope}
            </Badge>
          ))}
        </p>
      </header>
      {op.machineOnly && <Callout title="Not available in the explorer">{op.machineOnly}</Callout>}
      {forbidden && (
        <Callout
          title="You can’t send this call"
          actions={
            <LinkButton size="sm" href={`/${slug}/settings/roles`}>
              View roles
            </LinkButton>
          }
        >
          {forbidden} The code below works with a key that has this permission.
        </Callout>
      )}
      <form
        className="flex min-w-0 flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason) return;
          if (space === 'live' && op.method !== 'GET') setAsking(true);
          else go(false);
        }}
      >
        <Fields op={op} draft={draft} onDraft={onDraft} />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" variant="primary" icon={<Send />} loading={send.isPending} disabledReason={reason}>
            Send in {space === 'test' ? 'Test' : 'Live'}
          </Button>
          {link && <CopyButton value={link} label="link to this call, without secrets" text="Copy link" size="md" />}
          <span className="text-ink-3 text-xs">Runs with your role and is audited under your name.</span>
        </div>
      </form>
      <MutationError error={send.error} />
      {send.data && <AnswerView answer={send.data} op={op} />}
      <CodeBlock snippets={snippets} />
      <ConfirmLive open={asking} op={op} path={call.path} onAnswer={(yes) => (yes ? go(true) : setAsking(false))} />
    </div>
  );
}
