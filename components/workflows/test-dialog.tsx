'use client';

import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { isRecord } from '#server/domain/workflows/definition.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { sampleOf, stepOf, upstreamOf, withSample } from './document.ts';
import { kindOf } from './step-kinds.ts';
import type { Outputs } from './suggestions.ts';
import type { Editor } from './use-editor.ts';
import { type Detail, failureOf, type Tested, tookText } from './workflow-labels.ts';

type Props = { open: boolean; workflow: Detail; editor: Editor; id: string | undefined; outputs: Outputs; onClose: () => void };

/** Runs one step of the draft, with the values of the last run or of kept samples. What it does is real, and it says so. */
export function TestDialog(props: Props) {
  const step = props.id === undefined ? undefined : stepOf(props.editor.doc, props.id);
  return (
    <Dialog
      open={props.open}
      size="lg"
      onOpenChange={(next) => next || props.onClose()}
      title={`Test ${step?.name || (step ? kindOf(step.type).label : 'the step')}`}
    >
      {props.open && step && <TestForm {...props} id={step.id} />}
    </Dialog>
  );
}

const WARNINGS: Partial<Record<string, string>> = {
  http_request: 'It sends the request, secrets included.',
  route_request: 'It calls the route, which adds its secrets.',
  email: 'It sends a message, to your own verified address only.',
  sms: 'It sends a message, to your own verified number only.',
};

function TestForm({ workflow, editor, id, outputs, onClose }: Props & { id: string }) {
  const client = useTRPCClient();
  const step = stepOf(editor.doc, id);
  const known = new Map(
    upstreamOf(editor.doc, id).flatMap((before) => {
      const one = stepOf(editor.doc, before);
      const value = (one && sampleOf(one)) ?? outputs.get(before);
      return value === undefined ? [] : [[before, value] as const];
    }),
  );
  const [text, setText] = useState(JSON.stringify(Object.fromEntries(known), null, 2));
  const [reason, setReason] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Tested>();
  const [refusal, setRefusal] = useState<ReturnType<typeof refusalOf>>();
  const context = read(text);
  const test = async () => {
    if (!context || !(await editor.save())) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      // Outside of any cache: the answer may hold what the receiver sends back.
      setResult(await client.workflows.testNode.mutate({ id: workflow.id, node_id: id, context }, revealCall(reason)));
    } catch (error) {
      const refused = refusalOf(error);
      setRefusal(refused);
      if (refused.code === 'reveal_reason_required') setReason((now) => now ?? '');
    } finally {
      setBusy(false);
    }
  };
  const warning = WARNINGS[step?.type ?? ''];
  return (
    <>
      {warning && (
        <Callout tone="warn" title="What it does is real">
          {warning}
        </Callout>
      )}
      <Field
        label="Values of earlier steps"
        hint="By the name of the step. From kept samples, else from the last run."
        error={context ? undefined : 'This isn’t valid JSON.'}
      >
        <Textarea mono rows={6} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      {reason !== undefined && (
        <Field label="Reason" required hint="Your workspace asks why a step with a secret is tested. It is recorded in the audit log.">
          <Input value={reason} maxLength={500} placeholder="Ticket or incident" onChange={({ target }) => setReason(target.value)} />
        </Field>
      )}
      {refusal && refusal.code !== 'reveal_reason_required' && (
        <Callout tone="bad" title={refusal.message} requestId={refusal.request_id || undefined} />
      )}
      {editor.saving.state === 'conflict' && <Callout tone="warn" title="The draft isn’t saved: choose whose draft stays first" />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          loading={busy}
          disabledReason={context ? undefined : 'The values aren’t valid JSON.'}
          onClick={() => void test()}
        >
          Test now
        </Button>
      </div>
      {result && <Outcome result={result} onKeep={() => editor.edit((now) => withSample(now, id, result.output))} />}
    </>
  );
}

function Outcome({ result, onKeep }: { result: Tested; onKeep: () => void }) {
  const { status, error, request, output, duration_ms } = result;
  return (
    <section aria-live="polite" className="flex flex-col gap-3 border-line border-t pt-3">
      <p className="flex items-center gap-3">
        <Status state={status === 'succeeded' ? 'ok' : 'failing'}>{status === 'succeeded' ? 'Succeeded' : 'Failed'}</Status>
        <span className="figures text-ink-3 text-xs">{tookText(duration_ms)}</span>
      </p>
      {error && (
        <Callout tone="bad" title={error.message}>
          {failureOf(error.code)}
        </Callout>
      )}
      {request && (
        <CodeBlock
          title="Sent"
          wrap
          snippets={[
            {
              id: 'sent',
              label: 'Sent',
              language: 'http',
              code: [
                `${request.method} ${request.url}`,
                ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
                ...(request.body ? ['', request.body] : []),
              ].join('\n'),
            },
          ]}
        />
      )}
      {output !== undefined && output !== null && (
        <>
          <JsonView value={output as Json} label="Output" />
          {JSON.stringify(output).length <= 32_768 && (
            <div>
              <Button size="sm" onClick={onKeep}>
                Keep as sample
              </Button>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function read(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseExact(text || '{}');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
