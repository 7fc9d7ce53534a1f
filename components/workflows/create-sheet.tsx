'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { isRecord } from '#server/domain/workflows/definition.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { TEMPLATE_CARDS } from './template-cards.ts';
import { TEMPLATES, type TemplateId } from './templates.ts';

type Props = { open: boolean; first: TemplateId; onClose: () => void; onCreated: (id: string) => void };

/** Makes a workflow from a template, or from a file of an export. It is a draft: nothing starts it yet. */
export function CreateWorkflowSheet({ open, first, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New workflow"
      description="It begins as a draft. Nothing starts it before you publish it."
    >
      {open && <CreateForm first={first} onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ first, onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const { space } = useScope();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<TemplateId>(first);
  const [name, setName] = useState('');
  const [file, setFile] = useState<{ name: string; workflow: unknown } | { problem: string }>();
  const done = ({ id }: { id: string }) => {
    void queryClient.invalidateQueries(trpc.workflows.list.pathFilter());
    void queryClient.invalidateQueries(trpc.account.pathFilter());
    onCreated(id);
  };
  const create = useMutation(trpc.workflows.create.mutationOptions({ onSuccess: done }));
  const bring = useMutation(trpc.workflows.import.mutationOptions({ onSuccess: done }));
  const template = TEMPLATES.find(({ id }) => id === chosen) ?? TEMPLATES[TEMPLATES.length - 1];
  const title = name.trim() || (template?.name ?? '');
  const submit = () => {
    if (file && 'workflow' in file)
      bring.mutate({
        ...(name.trim() ? { name: name.trim() } : {}),
        workflow: file.workflow as Parameters<typeof bring.mutate>[0]['workflow'],
      });
    else if (template) create.mutate({ name: title, definition: structuredClone(template.definition) as never });
  };
  const take = async (picked: File | undefined) => {
    if (!picked) return setFile(undefined);
    try {
      const workflow = parseExact(await picked.text());
      if (!isRecord(workflow) || !isRecord(workflow.definition)) throw new Error('no definition');
      setFile({ name: picked.name, workflow });
    } catch {
      setFile({ problem: 'This is no file of an exported workflow.' });
    }
  };
  const error = create.error ?? bring.error;
  return (
    <form
      className="flex grow flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Field
        label="Name"
        optional
        hint={file && 'workflow' in file ? 'That of the file unless you type one.' : `“${template?.name}” unless you type one.`}
      >
        <Input value={name} maxLength={200} onChange={({ target }) => setName(target.value)} />
      </Field>
      <Field group label="Begin with">
        <RadioCards
          options={TEMPLATE_CARDS}
          value={file && 'workflow' in file ? null : chosen}
          onValueChange={(next) => {
            setFile(undefined);
            setChosen(next);
          }}
        />
      </Field>
      {template && !(file && 'workflow' in file) && template.secrets.length + template.routes.length > 0 && (
        <Callout title="Before it can be published it needs">
          {[...template.secrets.map((secret) => `the secret ${secret}`), ...template.routes.map((route) => `a route ${route}`)].join(', ')}.
          You can choose others in the editor.
        </Callout>
      )}
      <Field
        label="Or a file"
        optional
        hint="That Export of a workflow gave you."
        error={file && 'problem' in file ? file.problem : undefined}
      >
        <input
          type="file"
          aria-label="File of an exported workflow"
          accept="application/json,.json"
          onChange={({ target }) => void take(target.files?.[0])}
          className="text-sm"
        />
      </Field>
      <MutationError error={error} />
      {template && !(file && 'workflow' in file) && (
        <ApiEquivalent method="POST" path="/workflows" body={{ name: title, definition: template.definition }} />
      )}
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending || bring.isPending}>
            Create workflow
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}
