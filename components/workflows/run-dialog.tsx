'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { configOf, sampleOf, stepOf, TRIGGER_ID } from './document.ts';
import type { Editor } from './use-editor.ts';
import type { Detail } from './workflow-labels.ts';

type Props = {
  open: boolean;
  workflow: Detail;
  editor: Editor;
  readOnly: boolean;
  /** What the last run was given. */
  last: unknown;
  onClose: () => void;
  onStarted: (id: string) => void;
};

/** Starts a run, of the draft or of what is live, with an input. Its effects are real. */
export function RunDialog(props: Props) {
  return (
    <Dialog
      open={props.open}
      size="md"
      onOpenChange={(next) => next || props.onClose()}
      title="Run the workflow"
      description="What its steps do is real."
    >
      {props.open && <RunForm {...props} />}
    </Dialog>
  );
}

function RunForm({ workflow, editor, readOnly, last, onClose, onStarted }: Props) {
  const trpc = useTRPC();
  const { space } = useScope();
  const queryClient = useQueryClient();
  const trigger = stepOf(editor.doc, TRIGGER_ID);
  const sample = trigger && (sampleOf(trigger) as { data?: unknown } | undefined);
  const [version, setVersion] = useState<'draft' | 'live'>(readOnly ? 'live' : 'draft');
  const [text, setText] = useState(JSON.stringify(sample?.data ?? last ?? {}, null, 2));
  const run = useMutation(
    trpc.workflows.run.mutationOptions({
      onSuccess: ({ id }) => {
        void queryClient.invalidateQueries(trpc.workflows.executions.pathFilter());
        void queryClient.invalidateQueries(trpc.workflows.browseExecutions.pathFilter());
        void queryClient.invalidateQueries(trpc.workflows.usage.pathFilter());
        onStarted(id);
      },
    }),
  );
  const input = read(text);
  const start = async () => {
    if (!input || (version === 'draft' && !readOnly && !(await editor.save()))) return;
    run.mutate({ id: workflow.id, input: input.value, ...(version === 'draft' ? { version: 'draft' as const } : {}) });
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        void start();
      }}
    >
      {!readOnly && (
        <Segmented
          label="Version"
          value={version}
          onValueChange={setVersion}
          options={[
            { value: 'draft', label: 'The draft' },
            { value: 'live', label: workflow.published_at ? `Version ${workflow.version}, live` : 'As stored' },
          ]}
        />
      )}
      <Field
        label="Input"
        hint={
          configOf(trigger ?? { id: '', type: '' }).triggerType === 'manual'
            ? 'JSON. Steps read it as {{trigger.data}}.'
            : 'JSON. Stands in for what the trigger would give, as {{trigger.data}}.'
        }
        error={input ? undefined : 'This isn’t valid JSON.'}
      >
        <Textarea mono rows={8} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      {editor.saving.state === 'conflict' && <Callout tone="warn" title="The draft isn’t saved: choose whose draft stays first" />}
      <MutationError error={run.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="mr-auto">
          <SpaceNote space={space} />
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          keys="mod+enter"
          loading={run.isPending}
          disabledReason={input ? undefined : 'The input isn’t valid JSON.'}
        >
          Run
        </Button>
      </div>
    </form>
  );
}

function read(text: string): { value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}
