'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Problem } from '#server/domain/workflows/definition.shared.ts';
import { stepOf } from './document.ts';
import type { Editor } from './use-editor.ts';
import type { Detail } from './workflow-labels.ts';

type Props = {
  open: boolean;
  workflow: Detail;
  editor: Editor;
  /** Known here; the server also knows routes, environments and secrets. */
  problems: readonly Problem[];
  onClose: () => void;
  onGo: (step: string) => void;
};

/** Makes the draft the live version, or says what keeps it from being one. */
export function PublishDialog({ open, workflow, editor, problems, onClose, onGo }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [note, setNote] = useState('');
  const publish = useMutation(
    trpc.workflows.publish.mutationOptions({
      onSuccess: async (live) => {
        notifyDone(`Version ${live.version} is live`);
        setNote('');
        onClose();
        await queryClient.invalidateQueries({ queryKey: trpc.workflows.get.queryKey({ id: live.id }) });
        void queryClient.invalidateQueries(trpc.workflows.versions.pathFilter());
        void queryClient.invalidateQueries(trpc.workflows.list.pathFilter());
      },
    }),
  );
  const errors = problems.filter(({ severity }) => severity === 'error');
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  const go = async () => {
    if (await editor.save())
      publish.mutate({ id: workflow.id, base_version: editor.baseVersion(), ...(note.trim() === '' ? {} : { note: note.trim() }) });
  };
  return (
    <Dialog
      open={open}
      size="md"
      onOpenChange={(next) => {
        if (next) return;
        publish.reset();
        onClose();
      }}
      title={errors.length > 0 ? 'This can’t be published yet' : 'Publish the draft?'}
      description={
        errors.length > 0
          ? undefined
          : workflow.enabled
            ? 'Its trigger starts the new version from now on. Runs that have begun end with theirs.'
            : 'It is enabled with it: from now on its trigger starts it.'
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={publish.isPending}
            disabledReason={
              errors.length > 0
                ? 'Correct the problems first.'
                : editor.saving.state === 'conflict'
                  ? 'Choose whose draft stays first.'
                  : undefined
            }
            onClick={() => void go()}
          >
            Publish
          </Button>
        </>
      }
    >
      <Problems title="To correct" problems={errors} editor={editor} onGo={onGo} />
      <Problems title="To consider" problems={warnings} editor={editor} onGo={onGo} />
      {editor.saving.state === 'failed' && <Callout tone="bad" title={editor.saving.message} />}
      {errors.length === 0 && (
        <Field label="Note" optional hint="What changed, for the list of versions.">
          <Input value={note} maxLength={500} onChange={({ target }) => setNote(target.value)} />
        </Field>
      )}
      <MutationError error={publish.error} />
    </Dialog>
  );
}

function Problems({
  title,
  problems,
  editor,
  onGo,
}: {
  title: string;
  problems: readonly Problem[];
  editor: Editor;
  onGo: (step: string) => void;
}) {
  if (problems.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 font-medium">{title}</h3>
      <ul className="flex flex-col gap-1">
        {problems.map(({ node_id, severity, message }) => {
          const step = node_id === null ? undefined : stepOf(editor.doc, node_id);
          const text = node_id === null ? capitalize(message) : `${step?.name || node_id}: ${message}`;
          return (
            <li key={text} className="flex items-start gap-2 [&_svg]:mt-1 [&_svg]:size-3.5 [&_svg]:shrink-0">
              {severity === 'error' ? (
                <CircleAlert aria-hidden className="text-bad-ink" />
              ) : (
                <TriangleAlert aria-hidden className="text-warn-ink" />
              )}
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</span>
              {step && (
                <Button size="sm" variant="ghost" onClick={() => onGo(step.id)}>
                  Go to step
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
