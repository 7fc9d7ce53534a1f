'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { AgentMode } from '#server/domain/agents/modes.shared.ts';
import { MODES } from './labels.ts';
import { gateRefusal, Refused } from './refused.tsx';

type Props = { open: boolean; mode: AgentMode; onClose: () => void; onDone: (id: string) => void };
const OFFERED = ['intercept', 'control', 'server'] as const;

/** The first step: what the agent is for. The second is its page, which has the command to install it. */
export function CreateAgentSheet({ open, mode, onClose, onDone }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} title="New agent" description="The next step installs it on a host.">
      {open && <CreateForm mode={mode} onClose={onClose} onDone={onDone} />}
    </Sheet>
  );
}

function CreateForm({ mode: first, onClose, onDone }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { space } = useScope();
  const [name, setName] = useState('');
  const [mode, setMode] = useState<AgentMode>(first);
  const [environment, setEnvironment] = useState('');
  const [strict, setStrict] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ReturnType<typeof gateRefusal>>();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || name.trim() === '') return;
    setBusy(true);
    setRefusal(undefined);
    try {
      const input = { name: name.trim(), mode, require_verified_build: strict, ...(environment ? { environment } : {}) };
      // Straight to the server: no cache may keep the answer. Its secret isn't shown: installing replaces it.
      const { id } = await client.agents.enrol.mutate(input, revealCall());
      notifyDone(`${name.trim()} created`);
      onDone(id);
    } catch (error) {
      setRefusal(gateRefusal(error));
    }
    setBusy(false);
    void cache.invalidateQueries(trpc.agents.pathFilter());
    void cache.invalidateQueries(trpc.account.pathFilter());
  };
  return (
    <form className="flex grow flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <Field label="Name" required>
        <Input value={name} maxLength={100} placeholder="build-7" autoComplete="off" onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field group label="What is it for?">
        <RadioCards
          value={mode}
          onValueChange={setMode}
          options={OFFERED.map((value) => ({
            value,
            title: MODES[value].title,
            description: `${MODES[value].does} ${MODES[value].secrets}`,
          }))}
        />
      </Field>
      {mode === 'server' && (
        <Callout tone="warn" title="Secrets will be decrypted on your machine">
          Whoever controls that host can read every secret of {space === 'test' ? 'Test' : 'Live'} that its routes use. You confirm who you
          are first.
        </Callout>
      )}
      <Field label="Environment" optional hint="Its calls use the values of this environment.">
        <Select
          value={environment}
          onValueChange={setEnvironment}
          options={[
            { value: '', label: 'The default of each route' },
            ...(environments.data?.data ?? []).map((one) => ({ value: one.name, label: one.name })),
          ]}
        />
      </Field>
      <Checkbox
        checked={strict}
        onCheckedChange={setStrict}
        label="Require a verified build"
        description="A changed program gets no session. Otherwise you are alerted and it goes on."
      />
      {refusal && <Refused refusal={refusal} />}
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={busy}
            disabledReason={name.trim() === '' ? 'Enter a name first' : undefined}
          >
            Create agent
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}
