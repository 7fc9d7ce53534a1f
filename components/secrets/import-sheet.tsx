'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { isPlanRefusal, PlanPanel } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { ImportedEnv } from '#server/domain/secrets/schema.ts';
import { FileButton } from './file-button.tsx';
import { collectionOptions, environmentOptions, NO_COLLECTION, useCollections, useEnvironments } from './use-environments.ts';
import { ValueInput } from './value-input.tsx';

/** A .env file becomes secrets in two steps: first the names it would make, then, of those, the chosen ones. */
export function ImportEnvSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Import .env"
      description="Each NAME=value line becomes a secret. You review the list first."
    >
      {open && <ImportForm onDone={onClose} />}
    </Sheet>
  );
}

function ImportForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const environments = useEnvironments();
  const label = useEnvironmentLabel();
  const collections = useCollections();
  const [content, setContent] = useState('');
  const [chosenEnvironment, setEnvironment] = useState<string>();
  const [collection, setCollection] = useState(NO_COLLECTION);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const environment = chosenEnvironment ?? (environments?.find((one) => one.is_default) ?? environments?.[0])?.name;
  const place = { ...(environment ? { environment } : {}), ...(collection === NO_COLLECTION ? {} : { collection_id: collection }) };

  const propose = useMutation(trpc.secrets.importEnv.mutationOptions({ gcTime: 0, onSuccess: () => setLeft(new Set()) }));
  const store = useMutation(
    trpc.secrets.importEnv.mutationOptions({
      gcTime: 0,
      onSuccess: ({ created }) => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`${counted(created.length, 'secret')} created`);
        onDone();
      },
    }),
  );
  const proposal = propose.data;
  const wanted = proposal?.created.map(({ name }) => name).filter((name) => !left.has(name)) ?? [];
  const edit = (text: string) => {
    setContent(text);
    propose.reset();
    store.reset();
  };
  return (
    <div className="flex grow flex-col gap-5">
      <Field
        label=".env content"
        required
        action={<FileButton onFile={(file) => void file.text().then(edit)} />}
        hint="Supports comments, quotes, export and multi-line values. Variables aren’t expanded."
      >
        <ValueInput value={content} onChange={edit} />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Environment">
          <Select options={environmentOptions(environments, label)} value={environment ?? null} onValueChange={setEnvironment} />
        </Field>
        <Field label="Collection">
          <Select options={collectionOptions(collections)} value={collection} onValueChange={setCollection} />
        </Field>
      </div>
      <MutationError error={propose.error} />
      {proposal && <Proposal proposal={proposal} left={left} onLeft={setLeft} />}
      {store.error &&
        (isPlanRefusal(refusalView(store.error)) ? (
          <PlanPanel refusal={refusalView(store.error)} />
        ) : (
          <MutationError error={store.error} />
        ))}
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onDone}>Cancel</Button>
          {proposal ? (
            <Button
              variant="primary"
              loading={store.isPending}
              disabledReason={wanted.length === 0 ? 'Select at least one secret' : undefined}
              onClick={() => store.mutate({ content, ...place, dry_run: false, only: wanted })}
            >
              Create {counted(wanted.length, 'secret')}
            </Button>
          ) : (
            <Button
              variant="primary"
              loading={propose.isPending}
              disabledReason={content.trim() === '' ? 'Paste a .env file' : undefined}
              onClick={() => propose.mutate({ content, ...place, dry_run: true })}
            >
              Preview
            </Button>
          )}
        </div>
      </SheetFooter>
    </div>
  );
}

type ProposalProps = { proposal: z.output<typeof ImportedEnv>; left: ReadonlySet<string>; onLeft: (left: ReadonlySet<string>) => void };

function Proposal({ proposal, left, onLeft }: ProposalProps) {
  const label = useEnvironmentLabel();
  const toggle = (name: string) => {
    const next = new Set(left);
    if (!next.delete(name)) next.add(name);
    onLeft(next);
  };
  return (
    <div className="flex flex-col gap-3">
      <fieldset className="rounded-lg border border-line-strong">
        <legend className="float-left w-full border-line border-b px-3 py-2 font-medium">
          {proposal.created.length === 0
            ? 'No new secrets in this file'
            : `${counted(proposal.created.length, 'new secret')} in ${label(proposal.environment)}`}
        </legend>
        <div className="clear-both flex max-h-64 flex-col gap-1.5 overflow-y-auto px-3 py-2 empty:hidden">
          {proposal.created.map(({ name }) => (
            <Checkbox
              key={name}
              checked={!left.has(name)}
              onCheckedChange={() => toggle(name)}
              label={<span className="font-mono text-xs">{name}</span>}
            />
          ))}
        </div>
      </fieldset>
      {proposal.skipped.length > 0 && (
        <Callout title={`${counted(proposal.skipped.length, 'secret')} skipped`}>
          <ul>
            {proposal.skipped.map(({ name, reason }) => (
              <li key={name}>
                <span className="font-mono text-xs">{name}</span>: {reason}
              </li>
            ))}
          </ul>
        </Callout>
      )}
      {proposal.refused.length > 0 && (
        <Callout tone="warn" title={`${counted(proposal.refused.length, 'line')} couldn’t be imported`}>
          <ul>
            {proposal.refused.map(({ line, name, reason }) => (
              <li key={line}>
                Line {line}
                {name && (
                  <>
                    {' '}
                    <span className="font-mono text-xs">{name}</span>
                  </>
                )}
                : {reason}
              </li>
            ))}
          </ul>
        </Callout>
      )}
    </div>
  );
}
